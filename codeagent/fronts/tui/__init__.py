"""The full-screen front, made with Textual."""
