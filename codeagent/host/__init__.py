"""The only hands: files, processes, searches, git."""
