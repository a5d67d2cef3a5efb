"""The outside world: asyncio, the disk, the broker, the line to the board."""
