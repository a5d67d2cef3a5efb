"""The sensor board on a serial line."""
