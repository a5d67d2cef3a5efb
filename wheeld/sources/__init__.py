"""What sees the wheel: a board, pins, or the wheel's own head, each turned into observations."""
