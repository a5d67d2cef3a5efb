"""A second maker of wheel heads, made up: everything of it is in this package, and one row of `HEADS`.

Its lines have a sum, so each counts alone. It says what happens when it happens, and its rotor four times a second:

    RUN,7,cw*3F       game 7: the ball was launched, and runs clockwise
    LAP,3*1A          so many laps so far
    OFF,7*..          the ball has left the track
    WIN,7,24*..       it lies in 24
    BET,8*..          game 8 is awaited
    ROT,21.5,ccw*..   the rotor's speed in turns a minute, and its direction
    BAD,1*..          a sensor of its own fails; 0: all work
"""

from __future__ import annotations

from wheeld.core.heads import HEADS, Head

PRODUCT = "girella-1"
ROW = Head(
    name="Girella 1",
    reader="tests.girella.reader",
    run_after_us=0,
    run_within_us=200_000,
    number_within_us=20_000_000,
)


def add() -> None:
    """The line of the table that it needs, as its package would come with one in `wheeld/core/heads.py`."""
    HEADS[PRODUCT] = ROW
