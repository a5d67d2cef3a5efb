"""Lays lies over a clean evening, in the order in which they would come about: sensor, board, cable, clock."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import cycle

import msgspec

from hw_sim.evening import Evening, repeatable
from hw_sim.events import BallPass, End, ForeignObject, Person, RotorEdge, SensorState, Sighting, SimEvent
from hw_sim.faults import beams, encoder, frames, readers
from hw_sim.faults.effects import Fault, Harm, Lies, Scene, Window
from hw_sim.faults.rates import KINDS, Rates
from hw_sim.table import Outcome
from hw_sim.world import T_US

FAULTS: dict[str, Fault] = {
    "missed": beams.missed,
    "doubled": beams.doubled,
    "stray": beams.stray,
    "stuck_on": beams.stuck_on,
    "stuck_off": beams.stuck_off,
    "chatter": beams.chatter,
    "dead_reader": readers.dead_reader,
    "bounce": readers.bounce,
    "touch": readers.touch,
    "lost_tick": encoder.lost_tick,
    "jitter": encoder.jitter,
    "slip": encoder.slip,
    "drift": frames.drift,
    "clock_step": frames.clock_step,
    "reset": frames.reset,
    "lost_frame": frames.lost_frame,
    "repeated_frame": frames.repeated_frame,
    "late_frame": frames.late_frame,
}
assert tuple(FAULTS) == KINDS


@dataclass(frozen=True)
class Spoilt:
    """An evening as worse sensors tell it, in time order, `End` last; and where they lied.

    All times are the sensing clock's, which drifts: the world's times `scale`. `truth` is what happened, as ever, with
    its evidence and deadlines on that clock; whoever looks for a mark in the log multiplies it.
    """

    events: list[SimEvent]
    harms: list[Harm]
    truth: list[Outcome]
    scale: float


def spoil(night: Evening, seed: str, rates: Rates, *, without: frozenset[str] = frozenset()) -> Spoilt:
    """The evening with faults at these rates but those named in `without`.

    Each fault has its own luck from the seed and sees only the clean evening: leaving one out changes no other.
    """
    scene, lies = Scene.of(night), Lies()
    for kind, fault in FAULTS.items():
        rate = rates.of(kind)
        if rate and kind not in without:
            fault(scene, repeatable(f"{seed} {kind}"), rate, lies)
    events: list[SimEvent] = [
        *_told(scene, lies),
        *_edges(scene, lies),
        *_passes(scene, lies),
        *_sightings(scene, lies),
    ]
    events.sort(key=T_US)
    for window in _merged(lies.down):
        window.put(events, _silenced(window, window.cut(events)))
    for window in lies.repeated:
        window.put(events, _twice(window.cut(events)))
    for window, luck in lies.late:
        window.put(events, _bunched(window.cut(events), random.Random(luck)))  # noqa: S311  nothing here is secret
    return _dated(scene, lies, Window(0, scene.end_us - 1).cut(events))


def _told(scene: Scene, lies: Lies) -> list[SimEvent]:
    return [*(event for event in scene.night.world.told if not isinstance(event, BallPass)), *lies.told]


def _edges(scene: Scene, lies: Lies) -> list[RotorEdge]:
    edges = list(scene.edges)
    if lies.offsets_us:
        offsets = zip(edges, cycle(lies.offsets_us), strict=False)
        edges = [RotorEdge(edge.t_us + off_us, edge.tick, edge.direction) for edge, off_us in offsets]
    for place in reversed(lies.lost_edges):
        del edges[place]
    ticks = scene.night.world.layout.rotor_ticks
    for slip in lies.slips:
        here = Window(slip.from_us, slip.to_us)
        here.put(edges, [RotorEdge(e.t_us, (e.tick + slip.by) % ticks, e.direction) for e in here.cut(edges)])
    return edges


def _passes(scene: Scene, lies: Lies) -> list[BallPass]:
    seen = [*scene.passes, *(pulse for pulse in lies.pulses if not _is_down(scene, f"beam/{pulse.beam}", pulse.t_us))]
    return [p for p in seen if p not in lies.missed and not _is_silent(lies, f"beam/{p.beam}", p.t_us)]


def _sightings(scene: Scene, lies: Lies) -> list[Sighting]:
    caught = (seen for seen in lies.catches if not _is_down(scene, f"reader/{seen.reader}", seen.t_us))
    return [s for s in [*scene.sightings, *caught] if not _is_silent(lies, f"reader/{s.reader}", s.t_us)]


def _is_down(scene: Scene, sensor: str, t_us: int) -> bool:
    return scene.night.world.is_silent(sensor, t_us)


def _is_silent(lies: Lies, sensor: str, t_us: int) -> bool:
    return any(name == sensor and window.from_us <= t_us <= window.to_us for name, window in lies.silent)


def _merged(windows: Iterable[Window]) -> list[Window]:
    """Windows that overlap are one: the link is down from the first one's beginning to the last one's end."""
    merged: list[Window] = []
    for window in sorted(windows, key=lambda w: w.from_us):
        if merged and window.from_us <= merged[-1].to_us:
            merged[-1] = Window(merged[-1].from_us, max(merged[-1].to_us, window.to_us))
        else:
            merged.append(window)
    return merged


def _silenced(window: Window, hidden: list[SimEvent]) -> list[SimEvent]:
    """The link is down: people are heard (they speak by other ways), pulses are gone for good; what has a state and not
    only an instant, bodies and self-tests, is told by the board when it is back."""
    heard = [event for event in hidden if isinstance(event, Person)]
    states = [
        msgspec.structs.replace(event, t_us=window.to_us)
        for event in hidden
        if isinstance(event, ForeignObject | SensorState)
    ]
    down, up = SensorState(window.from_us, "link", ok=False), SensorState(window.to_us, "link", ok=True)
    return [down, *heard, up, *states]


def _twice(events: list[SimEvent]) -> list[SimEvent]:
    """Everything but what people said: their words don't come in frames."""
    return [event for event in events for _ in range(1 if isinstance(event, Person) else 2)]


def _bunched(events: list[SimEvent], rng: random.Random) -> list[SimEvent]:
    """What the sensors saw takes the last one's time; each sensor's own observations stay in order, of different
    sensors any may come first."""
    people: list[SimEvent] = [event for event in events if isinstance(event, Person)]
    queues: dict[object, deque[SimEvent]] = {}
    turns = []
    for event in events:
        if not isinstance(event, Person):
            turns.append(_sensor(event))
            queues.setdefault(turns[-1], deque()).append(msgspec.structs.replace(event, t_us=events[-1].t_us))
    rng.shuffle(turns)
    return [*people, *(queues[turn].popleft() for turn in turns)]


def _sensor(event: SimEvent) -> object:
    return type(event), getattr(event, "beam", None), getattr(event, "reader", None)


def _dated(scene: Scene, lies: Lies, events: list[SimEvent]) -> Spoilt:
    """All times as the drifting clock reads them, and what the host reads on it."""
    events.append(End(scene.end_us))
    if lies.readings:
        events = sorted([*lies.readings, *events], key=T_US)
    harms, truth, scale = sorted(lies.harms, key=lambda harm: harm.from_us), scene.night.truth, lies.scale
    if scale != 1.0:
        events = [_redated(event, scale) for event in events]
        harms = [replace(h, from_us=round(h.from_us * scale), to_us=round(h.to_us * scale)) for h in harms]
        truth = [_outcome_redated(outcome, scale) for outcome in truth]
    return Spoilt(events, harms, truth, scale)


def _outcome_redated(outcome: Outcome, scale: float) -> Outcome:
    if outcome["kind"] == "result":
        return outcome
    evidence_us, deadline_us = outcome["evidence_t"] * scale, outcome["deadline_t"] * scale
    return {**outcome, "evidence_t": round(evidence_us), "deadline_t": math.ceil(deadline_us)}


def _redated(event: SimEvent, scale: float) -> SimEvent:
    t_us = round(event.t_us * scale)
    if isinstance(event, RotorEdge):  # all but a few: the general way takes longer
        return RotorEdge(t_us, event.tick, event.direction)
    return msgspec.structs.replace(event, t_us=t_us)
