"""Questions, pickers and notices that lie over the conversation."""
