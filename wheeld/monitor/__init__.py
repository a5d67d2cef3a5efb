"""The monitor: sends what the wheel's sensors see to the listeners of a Unix socket of this computer."""
