"""The .agent/ directory: guidelines, the memory index, topics, the system prompt."""
