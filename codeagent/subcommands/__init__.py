"""Subcommands: one file each, `run(argv, environ) -> int`."""
