"""The plain front: append-only lines."""
