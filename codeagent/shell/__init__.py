"""Reading shell lines, never running them."""
