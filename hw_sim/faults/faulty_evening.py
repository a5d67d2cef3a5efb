"""Adds faults to a clean evening, in the order in which they would happen: sensor, board, cable, clock."""

from __future__ import annotations

import math
import random
from collections import ChainMap, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import cycle

import msgspec

from hw_sim.evening import Evening, repeatable
from hw_sim.events import BallPass, End, RotorEdge, SensorState, Sighting, SimEvent, Switched, TableCommand
from hw_sim.faults import beams, encoder, frames, readers
from hw_sim.faults.effects import CleanReadings, Effects, Fault, Strike, Window
from hw_sim.faults.rates import KINDS, Rates
from hw_sim.table import BOUNCES_US, Outcome
from hw_sim.world import T_US, us

_FUNCTIONS = ChainMap(*map(vars, (beams, readers, encoder, frames)))
FAULTS: dict[str, Fault] = {kind: _FUNCTIONS[kind] for kind in KINDS}
"""The functions of the faults. Each has the name of its kind."""


@dataclass(frozen=True)
class FaultyEvening:
    """An evening as faulty sensors report it, in time order with `End` last, and the strikes of their faults.

    All times are those of the drifting sensing clock: the times of the world, multiplied by `scale`. `truth` is the
    truth of the clean evening, with its times on that clock. The marks of the evening keep the times of the world.
    """

    events: list[SimEvent]
    strikes: list[Strike]
    truth: list[Outcome]
    scale: float


def add_faults(evening: Evening, seed: str, rates: Rates, *, without: frozenset[str] = frozenset()) -> FaultyEvening:
    """Return the evening with faults at these rates, without the kinds in `without`.

    Each fault gets only the clean evening and has its own random numbers from the seed. So if one kind is left out, all
    other faults stay the same.
    """
    clean, effects = CleanReadings.of(evening), Effects()
    for kind, fault in FAULTS.items():
        rate = rates.of(kind)
        if rate and kind not in without:
            fault(clean, repeatable(f"{seed} {kind}"), rate, effects)
    events: list[SimEvent] = [
        *(event for event in evening.world.direct_events if not isinstance(event, BallPass)),
        *effects.self_tests,
        *_edges(clean, effects),
        *_reported(clean, effects, clean.passes, effects.false_passes),
        *_reported(clean, effects, clean.sightings, effects.false_sightings),
    ]
    events.sort(key=T_US)
    down: list[Window] = []  # windows that overlap are joined
    for window in sorted(effects.down, key=lambda w: w.from_us):
        if down and window.from_us <= down[-1].to_us:
            down[-1] = Window(down[-1].from_us, max(down[-1].to_us, window.to_us))
        else:
            down.append(window)
    for window in down:
        hidden = window.cut(events)
        # Commands arrive, because they do not use this link. Pulses are lost. Objects and self-tests are states, so the
        # board reports them when the link is up again.
        commands = [event for event in hidden if isinstance(event, TableCommand)]
        states = (event for event in hidden if isinstance(event, Switched | SensorState))
        late = [msgspec.structs.replace(event, t_us=window.to_us) for event in states]
        fails, works = SensorState(window.from_us, "link", ok=False), SensorState(window.to_us, "link", ok=True)
        shown: list[SimEvent] = [fails, *commands, works, *late]
        window.put(events, shown)
    for window in effects.repeated:
        # Only frames come twice, and commands do not come in frames.
        events_twice = [e for e in window.cut(events) for _ in range(1 if isinstance(e, TableCommand) else 2)]
        window.put(events, events_twice)
    for window, order_seed in effects.late:
        # All observations of the window get the time of the last one. Those of one sensor stay in order. Those of
        # different sensors are in a random order.
        here = window.cut(events)
        told: list[SimEvent] = [event for event in here if isinstance(event, TableCommand)]
        queues: dict[object, deque[SimEvent]] = {}
        turns = []
        for event in (event for event in here if not isinstance(event, TableCommand)):
            turns.append((type(event), getattr(event, "beam", None), getattr(event, "reader", None)))
            queues.setdefault(turns[-1], deque()).append(msgspec.structs.replace(event, t_us=here[-1].t_us))
        random.Random(order_seed).shuffle(turns)  # noqa: S311  nothing here is secret
        window.put(events, [*told, *(queues[turn].popleft() for turn in turns)])
    return _on_sensing_clock(clean, effects, Window(0, clean.end_us - 1).cut(events))


def _edges(clean: CleanReadings, effects: Effects) -> list[RotorEdge]:
    edges = list(clean.edges)
    if effects.offsets_us:
        offsets = zip(edges, cycle(effects.offsets_us), strict=False)
        edges = [RotorEdge(edge.t_us + off_us, edge.tick, edge.direction) for edge, off_us in offsets]
    for place in reversed(effects.lost_edges):
        del edges[place]
    ticks = clean.evening.world.layout.rotor_ticks
    for window, by in effects.slips:
        window.put(edges, [RotorEdge(e.t_us, (e.tick + by) % ticks, e.direction) for e in window.cut(edges)])
    return edges


def _reported(
    clean: CleanReadings, effects: Effects, true: Iterable[BallPass | Sighting], false: Iterable[BallPass | Sighting]
) -> Iterator[BallPass | Sighting]:
    """Yield what beams or readers report. They truly see `true`, and faults make them also see `false`."""
    is_down = clean.evening.world.is_silent
    for seen in (*true, *(seen for seen in false if not is_down(seen.seen_by, seen.t_us))):
        silent = (window for name, window in effects.silent if name == seen.seen_by)
        if seen not in effects.missed and not any(window.covers(seen.t_us) for window in silent):
            late = (by for name, window, by in effects.delayed if name == seen.seen_by and window.covers(seen.t_us))
            yield msgspec.structs.replace(seen, t_us=seen.t_us + max(late, default=0))


def _on_sensing_clock(clean: CleanReadings, effects: Effects, events: list[SimEvent]) -> FaultyEvening:
    """Return the evening with the times of the drifting sensing clock, and with the host's readings of UTC."""
    events.append(End(clean.end_us))
    if effects.readings:
        events = sorted([*effects.readings, *events], key=T_US)
    strikes = sorted(effects.strikes, key=lambda strike: strike.from_us)
    truth, scale = [_told(clean, effects, outcome) for outcome in clean.evening.truth], effects.scale
    if scale != 1.0:
        events = [
            RotorEdge(round(event.t_us * scale), event.tick, event.direction)
            if isinstance(event, RotorEdge)  # faster than `replace`, and nearly all events are edges
            else msgspec.structs.replace(event, t_us=round(event.t_us * scale))
            for event in events
        ]
        strikes = [replace(s, from_us=round(s.from_us * scale), to_us=round(s.to_us * scale)) for s in strikes]
    return FaultyEvening(events, strikes, truth, scale)


def _told(clean: CleanReadings, effects: Effects, outcome: Outcome) -> Outcome:
    """Return the outcome with its times on the sensing clock, and with the faults that struck before its number was
    out: `down_t` if the link was down or the encoder slipped, `readers_dead` if no reader worked."""
    scale = effects.scale
    if outcome["kind"] != "result":
        evidence_us, deadline_us = outcome["evidence_t"] * scale, outcome["deadline_t"] * scale
        return {**outcome, "evidence_t": round(evidence_us), "deadline_t": math.ceil(deadline_us)}
    launched_us = max((us(run.t_s) for run in clean.evening.world.runs if us(run.t_s) < outcome["out_t"]), default=0)
    down = [one.from_us for one in effects.down if one.to_us > launched_us and one.from_us < outcome["out_t"]]
    down += [window.from_us for window, _ in effects.slips if launched_us < window.from_us < outcome["out_t"]]
    out_us, closed_us = outcome["out_t"] * scale, outcome["closed_t"] * scale
    told: Outcome = {**outcome, "out_t": round(out_us), "closed_t": math.ceil(closed_us)}
    if down:
        told["down_t"] = math.floor(min(down) * scale)
    dead = (one for one in effects.strikes if one.fault == "dead_readers")
    if any(one.from_us < outcome["out_t"] and launched_us < one.to_us for one in dead):
        told["readers_dead"] = True
    strays = [one.from_us for one in effects.strikes if one.fault == "stray"]
    if "disturbed" in outcome and (
        looks_like_passes := [t_us for t_us in strays if 0 < outcome["out_t"] - t_us < BOUNCES_US]
    ):
        told["stray_t"] = round(max(looks_like_passes) * scale)
    return told
