"""Byte lines: serial ports, network addresses, and what opens them again."""
