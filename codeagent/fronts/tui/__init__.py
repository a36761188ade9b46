"""The full-screen front."""
