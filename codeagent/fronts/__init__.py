"""Fronts: the ways to use the agent."""
