"""Models: everything that can answer a request."""
