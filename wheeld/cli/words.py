"""Messages in a line for people: what `replay` and `journal show` print without `--jsonl`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

Payload: TypeAlias = dict[str, Any]


def describe(topic: str, payload: bytes) -> str:
    """Topic, coup and what is said; a payload that is not of these topics as it is."""
    try:
        said = msgspec.json.decode(payload, type=dict[str, Any])
        text = _WORDS[topic](said)
    except (msgspec.MsgspecError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return f"{topic:<7} {payload.decode(errors='replace')}"
    coup = f"coup {said['coup']}" if "coup" in said else ""
    return f"{topic:<7} {coup:<9} {text}".rstrip()


def _result(said: Payload) -> str:
    laps = "laps not proven" if said["laps"] is None else f"{said['laps']:g} laps"
    way = "" if said["ball_direction"] is None else f", ball {said['ball_direction']}"
    confirmed = f", confirmed by {said['confirmed_by']}" if said.get("confirmed_by") else ""
    return f"{said['announcement']} ({laps}{way}{confirmed})"


def _void(said: Payload) -> str:
    return f"{said['words']}: {said['cause']}, {said['article']} — {said['why']}"


def _table(said: Payload) -> str:
    return f"{said['state']}, bets {said['bets']}: {said['waiting_for']}"


def _notice(said: Payload) -> str:
    return f"{said['notice']}: {said['text']}"


def _board(said: Payload) -> str:
    return f"{said['state']}, numbers {' '.join(map(str, said['numbers'])) or 'none yet'}"


def _reply(said: Payload) -> str:
    return f"{said['name']} {'done' if said['done'] else 'refused'}: {said['why']}".rstrip(": ")


def _fact(said: Payload) -> str:
    figures = ", ".join(f"{name} {value}" for name, value in said["figures"].items())
    return f"{said['text']} → {said['state']}{f' ({figures})' if figures else ''}"


_WORDS: dict[str, Callable[[Payload], str]] = {
    "result": _result,
    "void": _void,
    "table": _table,
    "notice": _notice,
    "board": _board,
    "reply": _reply,
    "fact": _fact,
}
