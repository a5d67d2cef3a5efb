"""The values that a campaign keeps of each coup. They are small, and they are the same each time the campaign is
repeated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from hw_sim.campaign.comparison import ComparedSpan, Kind
from hw_sim.campaign.slices import Slice
from hw_sim.events import SensorState
from hw_sim.faults import GROSS
from hw_sim.world import World

FAULT_KNOWN_US = 3_000_000
"""The longest time from the start or the end of a sensor's fault until a message reports the fault or the fault has an
effect."""


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One outcome with its verdict. One of the two may be missing. `truth` and `verdict`: "result", the cause of a
    void, or "nothing".

    `number` is the true number, `verdict_number` the published one. `delay_us` is the time in µs from a void's evidence
    to its verdict, and `allowed_us` the time to its deadline. `margin` is the published margin of the verdict.
    """

    coup: str
    scenario: str
    kind: Kind
    truth: str
    verdict: str
    beams: int
    number: int | None
    verdict_number: int | None
    laps_run: float | None
    laps_seen: float | None
    delay_us: int | None
    allowed_us: int | None
    margin: float | None
    margin_of: str | None


@dataclass(frozen=True, slots=True)
class EarlyWarning:
    """An early warning of the daemon, or a missing one. `of`: `foreseen` (a void for too few laps came after the
    warning), `unforeseen` (such a void came without a warning), `false` (after the warning the coup was valid), `moot`
    (after the warning it was void by another cause), `leaving` (a forecast of the time at which the ball leaves the
    track).

    `before_left_us` and `before_void_us`: the time from the warning until the ball left the track, and until the void.
    `error_us`: the forecast time minus the true one.
    """

    coup: str
    of: Literal["foreseen", "unforeseen", "false", "moot", "leaving"]
    before_left_us: int | None = None
    before_void_us: int | None = None
    error_us: int | None = None


@dataclass(frozen=True, slots=True)
class IdleSuspension:
    """A suspension of an idle table that no person ordered and no gross fault explains. `failing`: the sensors that the
    message names."""

    coup: str
    t_us: int
    failing: tuple[str, ...]


def idle_suspensions(evening: str, compared: ComparedSpan, part: Slice) -> Iterator[IdleSuspension]:
    """Yield the idle suspensions of one span. `part` is the evening that was played."""
    if not compared.suspensions:
        return
    scale = part.faulty.scale
    explained = [(one.from_us, one.to_us) for one in part.faulty.strikes if one.fault in GROSS]
    explained += [
        (round(seen.t_us * scale),) * 2 for seen in part.evening.world.direct_events if isinstance(seen, SensorState)
    ]
    explained += [
        (round(t_s * scale * 1e6),) * 2
        for slipped in part.evening.world.slipped
        for t_s in (slipped.from_s, slipped.to_s)
    ]
    for message in compared.suspensions:
        if not any(from_us <= message.t <= to_us + FAULT_KNOWN_US for from_us, to_us in explained):
            failing = tuple(message.payload.get("failing", ()))
            yield IdleSuspension(f"{evening}/{compared.span.index}", message.t, failing)


def rows(evening: str, compared: ComparedSpan, beams: int) -> Iterator[VerdictRow]:
    """Yield the rows of one span."""
    for each in compared.comparisons:
        outcome, verdict = each.outcome or {}, each.verdict
        payload = verdict.payload if verdict else {}
        evidence_t, deadline_t = outcome.get("evidence_t"), outcome.get("deadline_t")
        voids = each.kind in ("right", "late", "premature") and verdict is not None and evidence_t is not None
        yield VerdictRow(
            coup=f"{evening}/{compared.span.index}",
            scenario=outcome.get("scenario", ""),
            kind=each.kind,
            truth=_name(outcome.get("kind"), outcome.get("cause")),
            verdict=_name(verdict.topic if verdict else None, payload.get("cause")),
            beams=beams,
            number=outcome.get("number"),
            verdict_number=payload.get("number"),
            laps_run=outcome.get("laps"),
            laps_seen=payload.get("laps"),
            delay_us=verdict.t - evidence_t if voids and verdict and evidence_t is not None else None,
            allowed_us=deadline_t - evidence_t if voids and deadline_t and evidence_t is not None else None,
            margin=payload.get("margin"),
            margin_of=payload.get("margin_of"),
        )


def _name(kind: str | None, cause: str | None) -> str:
    return "nothing" if kind is None else kind if kind == "result" else str(cause)


def early_warnings(evening: str, compared: ComparedSpan, world: World, scale: float) -> Iterator[EarlyWarning]:
    """Yield the early warnings of one span, compared with the outcomes of their coups. `scale`: see `FaultyEvening`."""
    coup = f"{evening}/{compared.span.index}"
    foreseen = {n.payload["coup"]: n for n in reversed(compared.notices) if n.payload["notice"] == "void_foreseen"}
    for each in compared.comparisons:
        if each.verdict is not None:
            notice = foreseen.get(each.verdict.payload["coup"])
            cause = (each.outcome or {}).get("cause")
            if notice is None:
                if cause == "too_few_laps":
                    yield EarlyWarning(coup, "unforeseen")
            elif each.outcome is not None and each.outcome["kind"] == "result":
                yield EarlyWarning(coup, "false")
            elif each.outcome is None or cause != "too_few_laps":
                yield EarlyWarning(coup, "moot")
            else:
                yield EarlyWarning(coup, "foreseen", each.outcome["evidence_t"] - notice.t, each.verdict.t - notice.t)
    for notice in compared.notices:
        if notice.payload["notice"] == "leaving_foreseen":
            left_us = _left_us(world, notice.t, scale)
            if left_us is not None:
                yield EarlyWarning(
                    coup, "leaving", left_us - notice.t, None, notice.payload["figures"]["leaves_us"] - left_us
                )


def _left_us(world: World, t_us: int, scale: float) -> int | None:
    """Return when the ball that ran at `t_us` left the track. None if a hand blocked it, or if no ball ran."""
    t_s = t_us / scale / 1e6
    for run, after in pairwise([*world.runs, None]):
        if run is not None and run.t_s <= t_s <= run.end_s:
            until_s = after.t_s if after is not None else float("inf")
            fell = any(run.end_s <= fall.left_s <= until_s for fall in world.falls)
            return round(run.end_s * scale * 1e6) if fell else None
    return None
