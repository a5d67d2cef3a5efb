"""Sensors, buttons and lamps on the GPIO of the computer itself, wired as `firmware_protocol/gpio.md` says."""
