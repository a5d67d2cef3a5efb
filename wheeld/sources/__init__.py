"""The sources that observe the wheel: a board, pins, or the wheel's own head. Each produces observations."""
