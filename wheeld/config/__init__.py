"""The configuration file: its sections, its reader, and the rules that its values must follow."""
