"""Compares what was published with what truly happened. The rules of the comparison are docs/rulebook.md's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import msgspec

EVIDENCE_SLACK_US = 1_000
"""A void may not be published before its evidence; two simulators round that instant apart."""
LAPS_SLACK = 0.02
"""Truths give laps with two decimals."""


def verdicts(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """The `result` and `void` lines of a replay's output."""
    decoded = [msgspec.json.decode(line) for line in lines]
    return [line for line in decoded if line["topic"] in ("result", "void")]


def differences(published: list[dict[str, Any]], truth: Sequence[Mapping[str, Any]]) -> list[str]:
    """One sentence for each way in which the verdicts are not the truth; empty when every one is right."""
    found: list[str] = []
    for place, (verdict, outcome) in enumerate(zip_longest(published, truth), start=1):
        if verdict is None or outcome is None:
            return [*found, f"outcome {place}: published {_brief(verdict)}, truth {outcome}"]
        found += [f"outcome {place}: {problem}; truth {outcome}" for problem in _problems(verdict, outcome)]
    return found


def _problems(verdict: dict[str, Any], outcome: Mapping[str, Any]) -> list[str]:
    payload, topic = verdict["payload"], verdict["topic"]
    if topic != outcome["kind"]:
        return [f"published {_brief(verdict)}"]
    if topic == "result":
        right_number = payload["number"] == outcome["number"]
        least = 0 if "R2" in payload["unproven"] else 3
        proven = least <= payload["laps"] <= outcome["laps"] + LAPS_SLACK
        return ([] if right_number else [f"number {payload['number']}"]) + (
            [] if proven else [f"laps {payload['laps']}"]
        )
    problems = [] if payload["cause"] == outcome["cause"] else [f"cause {payload['cause']}"]
    if verdict["t"] > (outcome.get("deadline_t") or verdict["t"]):
        problems.append(f"published {verdict['t'] - outcome['deadline_t']} µs too late")
    if verdict["t"] < outcome["evidence_t"] - EVIDENCE_SLACK_US:
        problems.append(f"published {outcome['evidence_t'] - verdict['t']} µs before its evidence")
    return problems


def _brief(verdict: dict[str, Any] | None) -> str:
    if verdict is None:
        return "nothing"
    payload = verdict["payload"]
    return f"{verdict['topic']} {payload.get('number', payload.get('cause'))} at {verdict['t']}"
