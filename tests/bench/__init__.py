"""Measures the real program: `python -m tests.bench` prints the table. Ratios come from one run, turn about."""
