"""A commercial wheel head: its line, and the conversion of its events to observations."""
