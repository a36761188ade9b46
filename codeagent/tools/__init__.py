"""Tools: everything that the model can do."""
