"""A session as one HTML file that needs nothing else: for reading, mailing and keeping."""
