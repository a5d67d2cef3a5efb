"""The page's words for states, causes and members of messages. A name for which there is no word is shown unchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping

STATES: Mapping[str, str] = {
    "closed": "table closed",
    "faites_vos_jeux": "faites vos jeux",
    "ball_running": "the ball runs",
    "rien_ne_va_plus": "rien ne va plus",
    "ball_on_obstacle": "the ball lies on an obstacle",
    "awaiting_chef": "the chef must confirm the number",
    "operations": "operations",
    "rien_va": "the coup was void",
    "suspended": "play suspended",
}
BETS: Mapping[str, str] = {"open": "bets open", "closed": "bets closed", "locked": "bets locked"}
CAUSES: Mapping[str, str] = {
    "same_direction": "the ball turned with the rotor",
    "early_launch": "launched before the operations were done",
    "too_few_laps": "too few laps",
    "rotor_stopped_running": "the rotor stopped while the ball ran",
    "rotor_stopped_before_drop": "the rotor stopped before the ball fell",
    "foreign_object": "a foreign object in the cylinder",
    "chef": "declared by the chef",
    "breakdown": "a breakdown",
}
RULED: Mapping[str, str] = {
    "stands": "the verdict stands",
    "void": "the coup is void",
    "number": "another number",
    "other": "as the reason says",
}
KINDS: Mapping[str, str] = {"result": "result", "void": "void", "ruling": "ruling of the direction", "table": "state"}
COLOURS: Mapping[str, str] = {"rouge": "red", "noir": "black", "vert": "green"}
MEASURES: Mapping[str, str] = {
    "laps": "the laps of the ball",
    "direction": "the direction of the ball",
    "pocket": "the ball's place in its pocket",
    "passes": "the passes of the ball",
    "rotor": "the rotor",
    "sight": "what the sensors saw",
    "slowing": "how the ball slowed down",
    "time": "the time of the launch",
}
DIRECTIONS: Mapping[str, str] = {"cw": "clockwise", "ccw": "counter-clockwise"}
ALARMS: Mapping[str, str] = {
    "conflict": "another message under a number that is stored",
    "chain": "a message that does not follow the last record",
    "rolled_back": "the wheel has fewer messages than are stored",
    "lost": "numbers are lost for ever",
    "late": "a message came although its number counted as lost",
    "split": "a checkpoint of other messages than those that are stored",
    "signature": "a message without a valid signature of the wheel",
    "edited": "a message that was edited: its hash is wrong",
    "foreign": "a message of another table",
    "test": "a message of a bench table at a live one, or of a live table at a bench one",
    "malformed": "a message that cannot be read",
}
SENSORS: Mapping[str, str] = {
    "rotor": "the rotor's sensor",
    "rotor/place": "the place of the pockets",
    "reader": "the readers",
    "object": "the object sensor",
    "link": "the line to the sensors",
    "head": "the wheel head",
    "head/sensors": "the wheel head's sensors",
}
_NUMBERED = re.compile(r"(beam|reader)/([0-9]{1,3})")
UNITS: Mapping[str, str] = {"us": "µs", "ms": "ms", "ns": "ns", "s": "s", "deg": "degrees", "rpm": "turns a minute"}
"""Units, by the last part of a member's name."""
NEEDS: Mapping[str, str] = {
    "alarm": "open alarm",
    "failing": "sensor fails",
    "suspended": "out of service",
    "silent": "silent",
}
"""Why a person must look at a wheel, the most important first."""
MEMBERS: Mapping[str, str] = {
    "schema": "kind and version of the message",
    "seq": "number in the feed",
    "at": "time of the message",
    "t_us": "sensing clock (µs)",
    "coup_id": "id of the coup",
    "boot_id": "start of the daemon",
    "test": "bench table",
    "label": "number as printed",
    "half": "low or high",
    "parity": "even or odd",
    "finals_plein": "finals, en plein",
    "finals_cheval": "finals, à cheval",
    "laps": "laps proven",
    "laps_needed": "laps needed",
    "ball_direction": "direction of the ball",
    "rotor_direction": "direction of the rotor",
    "rotor_rpm": "turns of the rotor in a minute",
    "launched_at": "launched",
    "bets_closed_at": "bets closed",
    "left_track_at": "the ball left the track",
    "number_at": "number proven",
    "late_s": "published late by (s)",
    "unproven": "rules that no sensor proved",
    "confirmed_by": "confirmed by",
    "confirmed_user": "confirmed from",
    "confirmed_reason": "reason of the confirmation",
    "margin": "margin (0 to 1)",
    "margin_of": "measure with this margin",
    "without": "sensors left out",
    "failing": "sensors that fail",
    "words": "words for the players",
    "why": "why",
    "evidence_at": "time of the evidence",
    "by": "by",
    "user": "sender at the broker",
    "ruled_as": "ruling",
    "about": "about coup",
    "prev": "hash of the message before",
    "hash": "hash",
    "waiting_for": "the table waits for",
    "waiting_codes": "what it waits for, as codes",
    "since": "in this state since",
    "offset": "offset (pockets)",
    "gap": "numbers that are lost",
}
"""Names of members in words. Other names are shown with spaces instead of underscores."""
_VALUES: Mapping[str, Mapping[str, str]] = {
    "cause": CAUSES,
    "state": STATES,
    "bets": BETS,
    "colour": COLOURS,
    "margin_of": MEASURES,
    "ruled_as": RULED,
    "ball_direction": DIRECTIONS,
    "rotor_direction": DIRECTIONS,
    "parity": {"pair": "even", "impair": "odd"},
    "half": {"manque": "low", "passe": "high"},
}
RED = frozenset({1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36})
DOUBLE_ZERO = 37
"""The number that messages have for the pocket "00"."""
TEXT_MAX = 500
ITEMS_MAX = 100
DEPTH_MAX = 4


def colour_of(number: object) -> str:
    """Return the word for the colour of a number. Empty if the value is not a number of a wheel."""
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= DOUBLE_ZERO:
        return ""
    return "green" if number in (0, DOUBLE_ZERO) else "red" if number in RED else "black"


def label_of(number: object, label: object = None) -> str:
    """Return the number as it is printed on the wheel."""
    if isinstance(label, str) and label:
        return label[:8]
    return "00" if number == DOUBLE_ZERO else str(number)[:8] if isinstance(number, int) else ""


def text_of(value: object) -> str:
    """Return the text in a member of a message. Empty if the value is not a text. A long text is cut."""
    return cut(value) if isinstance(value, str) else ""


def sensors_of(value: object) -> list[str]:
    """Return people's names for a list of sensors in a message. Values that are not texts are left out."""
    return (
        [sensor_of(cut(each)) for each in value[:ITEMS_MAX] if isinstance(each, str)] if isinstance(value, list) else []
    )


def cut(text: str) -> str:
    """Return the text, cut at the length that the page shows."""
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}…"


def sensor_of(name: str) -> str:
    """Return people's name for a sensor. People count beams and readers from 1: "beam/2" is beam 3."""
    numbered = _NUMBERED.fullmatch(name)
    return f"{numbered[1]} {int(numbered[2]) + 1}" if numbered else SENSORS.get(name, name)


def member_of(name: str) -> str:
    """Return the name of a member in words, with its unit."""
    first, _, last = name.rpartition("_")
    words = f"{first} ({UNITS[last]})" if first and last in UNITS else name
    return MEMBERS.get(name, cut(words).replace("_", " "))


def said(name: str, value: object, depth: int = 0) -> str:
    """Return the value of a member in words."""
    if value is None:
        return "not known, or does not apply"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        word = sensor_of(value) if name in ("failing", "without", "sensor") else _VALUES.get(name, {}).get(value, value)
        return cut(word) or "empty"
    if isinstance(value, (int, float)):
        return cut(repr(value))
    if depth >= DEPTH_MAX:
        return "…"
    if isinstance(value, list):
        more = ["…"] if len(value) > ITEMS_MAX else []
        items = [said(name, each, depth + 1) for each in value[:ITEMS_MAX]] + more
        joint = "; " if any(isinstance(each, dict) for each in value) else ", "
        return cut_long(joint.join(items)) or "none"
    if isinstance(value, dict):
        pairs = list(value.items())[:ITEMS_MAX]
        return cut_long(", ".join(f"{member_of(key)} {said(key, each, depth + 1)}" for key, each in pairs)) or "none"
    return "…"


def cut_long(text: str) -> str:
    """Return the words of a list, cut at ten times the length of a single text."""
    return text if len(text) <= 10 * TEXT_MAX else f"{text[: 10 * TEXT_MAX]}…"


def age(seconds: float | None) -> str:
    """Return in words how long ago something was, in one unit."""
    if seconds is None:
        return "never"
    if seconds < 1:
        return "now"
    for unit, length in (("day", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            count = int(seconds // length)
            return f"{count} {unit}{'s' if unit == 'day' and count != 1 else ''} ago"
    return f"{int(seconds)} s ago"
