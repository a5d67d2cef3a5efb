"""The monitor: what the wheel's sensors see, told on a Unix socket of this computer while somebody listens."""
