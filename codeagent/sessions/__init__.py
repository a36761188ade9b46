"""Session logs: written, found, read back."""
