"""What the machine says, as lines of a script: what a person at the table reads, and what programs pay on.

Times, counters, hashes and measured figures are left out: they differ between a board and pins. What a person reads of
them stands in the texts. `board` is left out too, for it repeats `table` and the verdicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wheeld.core.step import Reply

Payload = dict[str, Any]
FIGURES = ("number", "who", "before", "minutes_served", "without", "used_again")
"""Those of notices that no sensor measures, so that they are the same on every wheel."""


def lines_of(topic: str, payload: Payload) -> list[str]:
    """The lines for one message; none for a topic that repeats others."""
    of_topic = {"table": _table, "result": _result, "void": _void, "notice": _notice}
    return list(of_topic[topic](payload)) if topic in of_topic else []


def reply_line(reply: Reply) -> str:
    """The line for the answer to a command."""
    return f"reply: {reply.name} {'done' if reply.done else 'refused'}" + (f": {reply.why}" if reply.why else "")


def _table(payload: Payload) -> Iterator[str]:
    last = "" if payload["last_number"] is None else f", last number {payload['last_number']}"
    yield f"table: {payload['state']}, bets {payload['bets']}{last}{_named(payload, 'last_coup', 'bouler')}"
    yield f"  waits for ({', '.join(payload['waiting_codes'])}): {payload['waiting_for']}"
    yield from _people(payload)


def _result(payload: Payload) -> Iterator[str]:
    yield f"result: coup {payload['coup']}, number {payload['number']}: {payload['announcement']}"
    laps = "laps not reported" if payload["laps"] is None else f"{payload['laps']:g} laps proven"
    yield f"  {laps}, {payload['laps_needed']} needed{_named(payload, 'unproven', 'without')}"
    if payload["confirmed_by"]:
        yield f'  confirmed by {payload["confirmed_by"]}: "{payload["confirmed_reason"]}"'


def _void(payload: Payload) -> Iterator[str]:
    article = payload["article"] or "no article"
    yield f'void: coup {payload["coup"]}, {payload["cause"]}, {payload["rule"]}, {article}: "{payload["words"]}"'
    yield f"  why: {payload['why']}{_named(payload, 'case', 'without')}"
    yield from _people(payload)


def _notice(payload: Payload) -> Iterator[str]:
    yield f"notice: {payload['notice']}: {payload['text']}"
    given = ((name, payload["figures"].get(name)) for name in FIGURES)
    figures = [f"{name} {value}" for name, value in given if value not in (None, "")]
    if figures:
        yield f"  {', '.join(figures)}"
    yield from _people(payload)


def _people(payload: Payload) -> Iterator[str]:
    if payload["by"]:
        yield f"  by {payload['by']}" + (f': "{payload["reason"]}"' if payload["reason"] else "")


def _named(payload: Payload, *members: str) -> str:
    """The members that say something."""
    found = ((name, payload[name]) for name in members if payload[name])
    return "".join(f"; {name} {', '.join(value) if isinstance(value, list) else value}" for name, value in found)
