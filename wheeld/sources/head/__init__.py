"""A commercial wheel head: its line, and its events as observations."""
