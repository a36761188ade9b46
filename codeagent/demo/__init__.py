"""The sample project and its recording."""
