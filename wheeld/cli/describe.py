"""Messages as lines for people: what `replay`, `watch` and `journal show` print."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

Payload: TypeAlias = dict[str, Any]


def describe(topic: str, payload: bytes) -> str:
    """Topic, coup and content of a message; a payload that is not one of these topics' as it is."""
    try:
        body = msgspec.json.decode(payload, type=dict[str, Any])
        text = _LINES[topic](body)
    except (msgspec.MsgspecError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return f"{topic:<7} {payload.decode(errors='replace')}"
    coup = f"coup {body['coup']}" if "coup" in body else ""
    return f"{topic:<7} {coup:<9} {text}".rstrip()


def _result(body: Payload) -> str:
    laps = "laps not proven" if body["laps"] is None else f"{body['laps']:g} laps"
    way = "" if body["ball_direction"] is None else f", ball {body['ball_direction']}"
    confirmed = f", confirmed by {body['confirmed_by']}" if body.get("confirmed_by") else ""
    return f"{body['announcement']} ({laps}{way}{confirmed})"


def _void(body: Payload) -> str:
    return f"{body['words']}: {body['cause']}, {body['article']} — {body['why']}"


def _table(body: Payload) -> str:
    return f"{body['state']}, bets {body['bets']}: {body['waiting_for']}"


def _notice(body: Payload) -> str:
    return f"{body['notice']}: {body['text']}"


def _board(body: Payload) -> str:
    return f"{body['state']}, numbers {' '.join(map(str, body['numbers'])) or 'none yet'}"


def _reply(body: Payload) -> str:
    return f"{body['name']} {'done' if body['done'] else 'refused'}: {body['why']}".rstrip(": ")


def _fact(body: Payload) -> str:
    figures = ", ".join(f"{name} {value}" for name, value in body["figures"].items())
    return f"{body['text']} → {body['state']}{f' ({figures})' if figures else ''}"


_LINES: dict[str, Callable[[Payload], str]] = {
    "result": _result,
    "void": _void,
    "table": _table,
    "notice": _notice,
    "board": _board,
    "reply": _reply,
    "fact": _fact,
}
