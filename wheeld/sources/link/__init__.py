"""Byte lines: serial ports, network addresses, and the supervisor that opens them again."""
