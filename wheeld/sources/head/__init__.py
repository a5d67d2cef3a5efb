"""A commercial wheel's own head."""
