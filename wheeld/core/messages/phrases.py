"""The phrases for people at the table: what it waits for, and the number in French or English (R4)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from wheeld.core.catalogue import translatable
from wheeld.core.facts import Awaited
from wheeld.core.pockets import NumberFacts

AWAITED: dict[Awaited, str] = {
    Awaited.NO_LAUNCH: translatable("do not launch yet: a launch would be void"),
    Awaited.CLEAR_OBJECT: translatable("remove the foreign object"),
    Awaited.REPAIR: translatable("repair {sensors}"),
    Awaited.START_WHEEL: translatable("start the wheel, which has stopped its game"),
    Awaited.BLOCK_BALL: translatable("stop the ball before it enters a pocket"),
    Awaited.BALL_AT_REST: translatable("the ball to come to rest: it still runs or falls"),
    Awaited.CLEAR_OBSTACLE: translatable("make sure that no ball lies on an obstacle"),
    Awaited.OBJECT_LEVEL: translatable("report of the object sensor, whether the cylinder is clear"),
    Awaited.TURN_ROTOR: translatable("turn the rotor, so that a reader can see the ball"),
    Awaited.DIRECTION: translatable("word of the direction, which suspended play"),
    Awaited.TOUT_VA: translatable('"{tout_va}", when you see the ball in its pocket'),
    Awaited.OPERATIONS_DONE: translatable("end of operations"),
    Awaited.OPEN: translatable("opening of the table"),
    Awaited.LAUNCH: translatable("launch of the ball"),
    Awaited.RIEN_NE_VA_PLUS: translatable('"rien ne va plus"'),
    Awaited.NUMBER: translatable("the number"),
    Awaited.FALL_OR_STOP: translatable("fall of the ball or stop of the rotor; no bet is added or withdrawn"),
    Awaited.CONFIRM: translatable(
        'confirmation by the chef: at least {laps} laps of the ball, which no sensor proves; otherwise "{void}"'
    ),
    Awaited.RESUME: translatable("resumption of play"),
}
"""What a table waits for. `{laps}`: how many laps the chef confirms. The text of `PUT_BACK` is in `core/table.py`."""
MEND = translatable("{mend} ({what})")
MEND_SENSOR = translatable("{sensor}: {mend} ({what})")
"""The texts of `REPAIR` if the trouble is known: `MEND` for a line to sensors, `MEND_SENSOR` for a sensor."""
NUMBER_SEEN = translatable(
    'confirmation by the chef: the number seen ({number}), which is not proven, or another; otherwise "{void}"'
)
NUMBER_UNSEEN = translatable('the number by the chef, because no sensor proves it; otherwise "{void}"')
"""The texts of `CONFIRM` if the number itself is not proven (R3b)."""
NUMBER_PROVEN = translatable('confirmation by the chef: the number {number}, or another; otherwise "{void}"')
"""The text of `CONFIRM` if everything is proven, but the chef confirms each number at this table."""


class Announcements(msgspec.Struct, frozen=True, kw_only=True):
    """How the bouler announces a number in `language` (R4). `names`: the numbers in words, from 0 on. `chances`: the
    name of each simple chance, if it is not the French one. `conjunction`: the word before the last chance."""

    language: str
    names: tuple[str, ...]
    chances: Mapping[str, str] = {}
    conjunction: str

    def announce(self, facts: NumberFacts) -> str:
        """Return the number with its simple chances: "Trente-deux, rouge, pair et passe". A zero has no chances."""
        name = self.names[facts.number].capitalize()
        if facts.colour is None or facts.parity is None or facts.half is None:
            return name
        chances = (facts.colour, facts.parity, facts.half)
        colour, parity, half = (self.chances.get(chance, chance) for chance in chances)
        return f"{name}, {colour}, {parity} {self.conjunction} {half}"


# fmt: off
IN_FRENCH = Announcements(
    language="French",
    names=(
        "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze",
        "treize", "quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf", "vingt", "vingt et un",
        "vingt-deux", "vingt-trois", "vingt-quatre", "vingt-cinq", "vingt-six", "vingt-sept", "vingt-huit",
        "vingt-neuf", "trente", "trente et un", "trente-deux", "trente-trois", "trente-quatre", "trente-cinq",
        "trente-six",
    ),
    conjunction="et",
)
IN_ENGLISH = Announcements(
    language="English",
    names=(
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
        "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "twenty-one",
        "twenty-two", "twenty-three", "twenty-four", "twenty-five", "twenty-six", "twenty-seven", "twenty-eight",
        "twenty-nine", "thirty", "thirty-one", "thirty-two", "thirty-three", "thirty-four", "thirty-five",
        "thirty-six", "double zero",
    ),
    chances={"rouge": "red", "noir": "black", "pair": "even", "impair": "odd", "manque": "low", "passe": "high"},
    conjunction="and",
)
# fmt: on
