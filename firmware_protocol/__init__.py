"""The wire between sensor board and host, protocol version 1: pure functions and state machines, no I/O, no clock."""
