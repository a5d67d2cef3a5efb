"""Sensors, buttons and lamps on the GPIO of the computer itself. `firmware_protocol/gpio.md` shows the wiring."""
