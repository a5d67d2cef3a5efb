"""The smallest wheel that a configuration can describe, for tests to which it does not matter which one it is."""

from __future__ import annotations

WHEEL = """\
[wheel]
rotor_ticks = 148
beams_deg = [0, 90]
readers_deg = [30]
"""
NO_BOARD = """\
[sensors]
port = "/dev/none"
"""


def table(site: str, name: str, game: str = "roulette") -> str:
    """The section of a table of Campione."""
    return f'[table]\nsite = "{site}"\nid = "{name}"\nhouse = "campione"\ngame = "{game}"\n'
