"""The wire between sensor board and host, protocol version 1: functions and state machines, without I/O or clock."""
