"""Messages and truths written by hand."""

from __future__ import annotations

from typing import Any

from hw_sim.campaign.black_box import HeardMessage
from hw_sim.table import Outcome

EVIDENCE_US, DEADLINE_US = 10_000_000, 12_000_000
OUT_US = 15_000_000
"""When a number was out: after a void's usual time, and before a result's."""


def _utc(t_us: int) -> str:
    return f"2026-11-20T18:00:{t_us / 1e6:09.6f}Z"


def evidence(t_us: int) -> dict[str, str]:
    """The member of a void's payload that dates its evidence."""
    return {"evidence_at": _utc(t_us)}


def result(number: int, t: int = 20_000_000, **more: Any) -> HeardMessage:
    return HeardMessage(t, "result", {"number": number, "label": str(number), "laps": 7.5, "coup": 1, **more})


def void(cause: str, t: int = 11_000_000, **more: Any) -> HeardMessage:
    at = {"at": _utc(t), "evidence_at": _utc(t), "evidence": {}}
    return HeardMessage(t, "void", {"cause": cause, "coup": 1, "laps_needed": 3, **at, **more})


def notice(name: str, t: int, coup: int = 1, **figures: Any) -> HeardMessage:
    return HeardMessage(t, "notice", {"notice": name, "coup": coup, "figures": figures})


def state(name: str, t: int, bets: str = "closed") -> HeardMessage:
    return HeardMessage(t, "table", {"state": name, "bets": bets})


def came_out(number: int, laps: float = 8.0) -> Outcome:
    return {"kind": "result", "number": number, "laps": laps, "beams": 2, "out_t": OUT_US, "scenario": "valid"}


def was_down(since_us: int) -> Outcome:
    return {**came_out(17), "down_t": since_us}


def was_void(cause: str) -> Outcome:
    return {
        "kind": "void",
        "cause": cause,
        "evidence_t": EVIDENCE_US,
        "deadline_t": DEADLINE_US,
        "scenario": cause,
    }
