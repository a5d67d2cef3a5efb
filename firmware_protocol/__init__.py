"""The protocol between sensor board and host, version 1: functions and state machines, without I/O and clock."""
