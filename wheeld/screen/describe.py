"""Messages as lines for people: what `replay`, `watch` and `journal show` print, in the language of the screen.

Some words are used at the table in one language only, and are not translated: the announcement of a number, "rien va".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from wheeld.core.catalogue import Catalogue, Language, translatable
from wheeld.core.names import sensor_text
from wheeld.core.pockets import label_of
from wheeld.screen.language import translation
from wheeld.screen.locale import LANGUAGES
from wheeld.screen.terminal import printable

Payload: TypeAlias = dict[str, Any]

STATES = {
    "closed": translatable("table closed"),
    "faites_vos_jeux": translatable("faites vos jeux"),
    "ball_running": translatable("the ball runs"),
    "rien_ne_va_plus": translatable("rien ne va plus"),
    "ball_on_obstacle": translatable("the ball lies on an obstacle"),
    "awaiting_chef": translatable("the chef must confirm the number"),
    "operations": translatable("operations"),
    "rien_va": translatable("the coup was void"),
    "suspended": translatable("play suspended"),
}
BETS = {
    "open": translatable("bets open"),
    "closed": translatable("bets closed"),
    "locked": translatable("bets locked"),
}
DIRECTIONS = {"cw": translatable("ball clockwise"), "ccw": translatable("ball counter-clockwise")}
RULED = {
    "stands": translatable("the verdict stands"),
    "void": translatable("the coup is void"),
    "number": translatable("the number is {number}"),
    "other": translatable("another ruling"),
}
LATE_BETS = {"yes": translatable("late bet accepted"), "no": translatable("late bet refused")}
TOPICS = {
    "result": translatable("result"),
    "void": translatable("void"),
    "ruling": translatable("ruling"),
    "table": translatable("table"),
    "notice": translatable("notice"),
    "board": translatable("board"),
}
TOPIC_WIDTH, COUP_WIDTH = 9, 10
"""The widths of two columns. The longest word for a topic in any language fits, and the number of a coup at the end of
a long evening."""


class Screen:
    """Gives texts in one language: those of the program, and those of a message, which it translates if necessary."""

    def __init__(self, language: Language, body: Payload) -> None:
        self.catalogue = Catalogue(language)
        said = body.get("language")
        # If a message does not name a known language, it is shown as it is.
        source = next((each for each in LANGUAGES if each == said), language)
        self._translation = None if source == language else translation(source, language)

    def told(self, text: str) -> str:
        """Return a text of the message in the screen's language."""
        return text if self._translation is None else self._translation.of(text)


def minute(at: str) -> str:
    """Return an instant of a message as people read it: "2026-11-20 18:00 UTC"."""
    return f"{at[:16].replace('T', ' ')} UTC"


def describe(topic: str, payload: bytes, language: Language) -> str:
    """Return topic, coup and content of a message as printable text. A payload that does not fit its topic is shown as
    it is."""
    try:
        body = msgspec.json.decode(payload, type=dict[str, Any])
        screen = Screen(language, body)
        catalogue = screen.catalogue
        text = _LINES[topic](body, screen)
        if body.get("test"):
            text = catalogue.say("TEST: {text}", text=text)
        name = catalogue.say(TOPICS[topic]) if topic in TOPICS else topic
        coup = catalogue.say("coup {coup}", coup=body["coup"]) if "coup" in body else ""
    except (msgspec.MsgspecError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return printable(f"{topic:<{TOPIC_WIDTH}} {payload.decode(errors='replace')}")
    return printable(f"{name:<{TOPIC_WIDTH}} {coup:<{COUP_WIDTH}} {text}".rstrip())


def numbered(number: object, announcement: str) -> str:
    """Return a number in digits and as it is announced: people misread words more easily than digits."""
    return f"{number} · {announcement}"


def _result(body: Payload, screen: Screen) -> str:
    catalogue = screen.catalogue
    laps = body["laps"]
    parts = [catalogue.say("laps not proven")]
    if laps is not None:
        parts = [catalogue.say("{laps} laps", laps=catalogue.decimal(laps))]
    if body["ball_direction"] is not None:
        parts.append(catalogue.say(DIRECTIONS[body["ball_direction"]]))
    if body.get("confirmed_by"):
        parts.append(catalogue.say("confirmed by {person}", person=body["confirmed_by"]))
    return f"{numbered(label_of(body['number']), body['announcement'])} ({', '.join(parts)})"


def _ruling(body: Payload, screen: Screen) -> str:
    ruled = screen.catalogue.say(RULED[body["ruled_as"]], number=body["label"])
    return f"{numbered(str(body['about']), ruled)}: {body['reason']} ({body['by']})"


def _table(body: Payload, screen: Screen) -> str:
    catalogue = screen.catalogue
    state, bets = catalogue.say(STATES[body["state"]]), catalogue.say(BETS[body["bets"]])
    parts = [state, bets]
    if body.get("without"):
        sensors = [catalogue.say_text(sensor_text(sensor)) for sensor in body["without"]]
        parts.append(catalogue.say("left out: {sensors}", sensors=catalogue.listed(sensors)))
    steps = catalogue.say("waiting for: {steps}", steps=screen.told(body["waiting_for"]))
    return f"{', '.join(parts)} — {steps}"


def _notice(body: Payload, screen: Screen) -> str:
    if body["notice"] == "late_bet":
        return f"{screen.catalogue.say(LATE_BETS[body['figures']['accepted']])}: {body['reason']} ({body['by']})"
    return screen.told(body["text"])


def _board(body: Payload, screen: Screen) -> str:
    catalogue = screen.catalogue
    numbers = " ".join(map(label_of, body["numbers"])) or catalogue.say("none yet")
    return catalogue.say("{state}, numbers: {numbers}", state=catalogue.say(STATES[body["state"]]), numbers=numbers)


def _event(body: Payload, _: Screen) -> str:
    """Return an event record in English, for technicians and laboratories. They read the service's log in English,
    too."""
    who = f" by {body['by']}" if body["by"] else ""
    why = f": {body['why']}" if body["why"] else ""
    shown = {name: _plain(value) for name, value in body["details"].items()}
    if "sensor" in shown:
        shown["sensor"] = Catalogue("en").say_text(sensor_text(str(body["details"]["sensor"])))
    details = ", ".join(f"{name} {value}" for name, value in shown.items())
    return f"{body['event']}{who}{why}{f' ({details})' if details else ''}"


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name} {_plain(each)}" for name, each in value.items())
    if isinstance(value, list):
        apart = "; " if any(isinstance(each, dict) for each in value) else " "
        return apart.join(map(_plain, value)) or "none"
    if value is None:
        return "unknown"
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _fact(body: Payload, _: Screen) -> str:
    """Return a fact in English, as on the page of the law."""
    figures = ", ".join(f"{name} {value}" for name, value in body["figures"].items())
    return f"{body['text']} → {body['state']}{f' ({figures})' if figures else ''}"


_LINES: dict[str, Callable[[Payload, Screen], str]] = {
    "result": _result,
    "void": lambda body, screen: f"{body['words']} — {screen.told(body['why'])}",
    "ruling": _ruling,
    "table": _table,
    "notice": _notice,
    "board": _board,
    "reply": lambda body, screen: f"{body['name']} {'✓' if body['done'] else '✗'} {screen.told(body['why'])}".rstrip(),
    "fact": _fact,
    "event": _event,
}
