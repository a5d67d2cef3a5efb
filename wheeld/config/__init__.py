"""The configuration file: its sections, how it is read, what it must mean."""
