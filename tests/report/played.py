"""Coups of simulated wheels, thousands in a second: as a `Wheel` for trials, or written to a journal as a daemon would.

Runs and falls are those of the simulator. What a daemon would make of them is made here by hand, because a real table
plays ninety coups in a second; `test_reading` compares the two on an evening that a real table played.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from hw_sim.fall import Bias, fall
from hw_sim.rotor import SimRotor
from hw_sim.wheel import POCKETS, BallRun, Track
from wheeld.core.facts import Cause, Fact
from wheeld.core.instants import ClockState
from wheeld.core.messages.writer import MessageWriter
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.core.setting import Header, TableSetting, from_header
from wheeld.core.step import CoupLog, Step
from wheeld.core.table_state import Called, Coup, TableState
from wheeld.core.tracking.evidence import Evidence, Margin, Seen
from wheeld.journal.opening import Owner, open_to_write
from wheeld_report import reading, wheel

START_UTC_US = 1_800_000_000_000_000
COUP_S = 60.0
"""From one coup to the next."""
BEAMS_DEG, READERS_DEG, TICKS = (0.0, 90.0, 180.0, 270.0), (30.0, 150.0, 270.0), 37
POOL = 60
"""Different runs of a level wheel, each turned by quarters at random, as its beams stand: a run takes ten times as long
to reckon as a fall. On a tilted wheel every run is another one."""
ASIDE_DEG, JITTER_S = 0.5, 0.0005
"""How far beams stand from their angles, and how much the time of a pass scatters (standard deviations)."""
MISS = 0.0005
"""Of passes and sightings, at a wheel in good order (hw_sim/faults/rates.py)."""
VOIDS = 0.02
BOULERS = ("Rossi", "Bianchi", "Verdi", "Neri")
BOULER_COUPS = 30
STANDINGS, NOTICES = 4, 2
"""Other messages of each coup, as many as a table has."""
SLOWING_PER_S = 0.002
NINE = frozenset(POCKETS[5:14])
BIASED = Bias(NINE, 1.5)


@dataclass(frozen=True)
class Fault:
    """What is wrong with a wheel that is played."""

    bias: Bias | None = None
    bias_late: bool = False
    """Only in the second half."""
    tilt_deg: float = 0.0
    blind_beam: float = 0.0
    """Part of the passes that beam 1 misses."""
    blind_reader: float = 0.0
    """Part of the sightings that reader 1 misses."""
    rotor_lost: float = 0.0
    """Part of its speed that the rotor has lost at the end."""
    one_way: float = 0.0
    """Part of the launches of the first bouler that go clockwise, beyond a half."""
    slipping: float = 0.0
    """Part of the coups whose number the chef has to name, as where the encoder slips."""
    slips_late: bool = False
    """Only in the second half."""
    low_late: float = 0.0
    """Part of the verdicts of the second half that are nearly another verdict."""
    late_beam_s: float = 0.0
    """By how much beam 1 is late."""
    signature: float = 0.0
    """Part of the first bouler's balls that come to rest a third of the rotor, give or take four pockets, after the
    number before."""
    more_voids: float = 1.0
    """How many times as many voids in the second half."""


@dataclass
class Played:
    """One coup. `passes`: time in s since the launch, and beam. `number` None: void, by `cause`."""

    number: int | None
    forward: bool
    bouler: str
    laps: float = 0.0
    rev_s: float = 0.25
    rest_s: float = 0.0
    passes: list[tuple[float, int]] = field(default_factory=list)
    sightings: list[tuple[float, int]] = field(default_factory=list)
    cause: str = ""
    margin: float = 1.0
    is_chefs_word: bool = False


def play(seed: int, coups: int, fault: Fault = Fault()) -> Iterator[Played]:
    """So many valid coups of one wheel in good order, but for its fault; and voids between them."""
    rng = random.Random(f"played {seed}")
    track = replace(Track.draw(rng), tilt_deg=fault.tilt_deg)
    aside_deg = [rng.gauss(0, ASIDE_DEG) for _ in BEAMS_DEG]
    pool = [_run(track, rng) for _ in range(POOL)]
    last: int | None = None
    for at in range(coups):
        bouler = BOULERS[at // BOULER_COUPS % len(BOULERS)]
        while rng.random() < VOIDS * (fault.more_voids if at >= coups / 2 else 1):
            last = None
            yield Played(None, forward=True, bouler=bouler, cause=rng.choice(("too_few_laps", "breakdown")))
        forward = rng.random() < 0.5 + (fault.one_way if bouler == BOULERS[0] else 0)
        run, passes = _run(track, rng, 1 if forward else -1) if fault.tilt_deg else rng.choice(pool)
        quarters = 0 if fault.tilt_deg else rng.randrange(4)
        if forward != (run.turning == 1):  # the mirrored run
            passes = [(t_s, -beam % 4) for t_s, beam in passes]
        rev_s = rng.uniform(10, 20) / 60 * (1 - fault.rotor_lost * at / coups)
        bias = fault.bias if at >= coups / 2 or not fault.bias_late else None
        fallen = fall(run, SimRotor(rng.random(), -run.turning * rev_s, SLOWING_PER_S), rng, bias)
        number = fallen.number
        if last is not None and bouler == BOULERS[0] and rng.random() < fault.signature:
            number = POCKETS[(POCKETS.index(last) + 12 + rng.randint(-4, 4)) % len(POCKETS)]
        last = number
        turned = _sensed([(t_s, (beam + quarters) % 4) for t_s, beam in passes], aside_deg, rng, fault, forward=forward)
        seen = [one for one in turned if rng.random() >= MISS + (fault.blind_beam if one[1] == 1 else 0)]
        yield Played(
            number=number,
            forward=forward,
            bouler=bouler,
            laps=run.laps,
            rev_s=rev_s,
            rest_s=fallen.rest_s,
            passes=seen,
            margin=0.1 if at >= coups / 2 and rng.random() < fault.low_late else 1.0,
            is_chefs_word=rng.random() < fault.slipping and (at >= coups / 2 or not fault.slips_late),
            sightings=list(_sightings(fallen.rest_s, rev_s, rng, fault, forward=not forward)),
        )


def _run(track: Track, rng: random.Random, turning: int | None = None) -> tuple[BallRun, list[tuple[float, int]]]:
    turning = turning or rng.choice((1, -1))
    run = BallRun.free(track, 0.0, rng.random(), turning, rng.uniform(1.3, 2.6))
    return run, list(run.passes(BEAMS_DEG))


def _sensed(
    passes: list[tuple[float, int]], aside_deg: list[float], rng: random.Random, fault: Fault, *, forward: bool
) -> list[tuple[float, int]]:
    """As sensors report them that stand a little aside, and are never quite as quick."""
    found = []
    for at, (t_s, beam) in enumerate(passes):
        quarter_s = passes[max(1, at)][0] - passes[max(1, at) - 1][0]
        moved_s = aside_deg[beam] / 90 * quarter_s * (1 if forward else -1)
        found.append((t_s + moved_s + rng.gauss(0, JITTER_S) + (fault.late_beam_s if beam == 1 else 0), beam))
    return found


def _sightings(
    rest_s: float, rev_s: float, rng: random.Random, fault: Fault, *, forward: bool
) -> Iterator[tuple[float, int]]:
    """Of the ball that turns with the rotor, until three are seen over half a turn, as R3 asks."""
    sign = 1 if forward else -1
    order = sorted(range(len(READERS_DEG)), key=lambda reader: sign * READERS_DEG[reader])
    first, found = rng.randrange(len(order)), 0
    at_s = rest_s + rng.random() / 3 / rev_s
    for step in range(30):
        reader = order[(first + step) % len(order)]
        if rng.random() >= MISS + (fault.blind_reader if reader == 1 else 0):
            found += 1
            yield at_s, reader
        if found == 3:
            return
        at_s += 1 / 3 / rev_s  # the readers are a third of a turn apart


def wheel_of(played: list[Played]) -> wheel.WheelRecord:
    """As `reading` makes it of the journal of these coups."""
    made = wheel.WheelRecord(site="campione", table="campione-03", test=False, pockets=SINGLE_ZERO, layout=LAYOUT)
    valid = sum(one.number is not None for one in played)
    count = min(valid, reading.LOGS_MAX)
    sampled = {valid * each // count for each in range(count)}
    for at, one in enumerate(played):
        at_utc_us = START_UTC_US + round(at * COUP_S * 1e6)
        if one.number is None:
            made.voids.append(wheel.VoidCoup(at_utc_us=at_utc_us, cause=one.cause))
            continue
        made.coups.append(_coup(one, at, at_utc_us))
        if len(made.coups) - 1 in sampled:
            made.runs.append(_run_of(one, at_utc_us))
    return made


LAYOUT = wheel.SensorPlaces(BEAMS_DEG, READERS_DEG, TICKS)


def _coup(one: Played, at: int, at_utc_us: int) -> wheel.ValidCoup:
    assert one.number is not None
    seen_s = one.sightings[0][0]
    return wheel.ValidCoup(
        at_utc_us=at_utc_us,
        coup=at + 1,
        pocket=POCKETS.index(one.number),
        laps=one.laps,
        rotor_rpm=one.rev_s * 60,
        ball_direction="cw" if one.forward else "ccw",
        bouler=one.bouler,
        ball_s=one.passes[-1][0] - one.passes[0][0],
        rest_s=one.sightings[-1][0] - seen_s,
        margin=one.margin,
        margin_of="direction",
        is_chefs_word=one.is_chefs_word,
        sightings=tuple(wheel.LoggedSighting(round(t_s * 1e6), reader) for t_s, reader in one.sightings),
    )


def _run_of(one: Played, at_utc_us: int) -> wheel.LoggedRun:
    passes = [(round(t_s * 1e6), beam) for t_s, beam in one.passes]
    before = [t_us for t_us, beam in passes[:-1] if beam == passes[-1][1]]
    return wheel.LoggedRun(
        at_utc_us=at_utc_us,
        ball_direction="cw" if one.forward else "ccw",
        last_beam=passes[-1][1],
        last_lap_s=(passes[-1][0] - before[-1]) / 1e6 if before else None,
        slowing=SLOWING_PER_S,
        passes=tuple(passes),
    )


def write_journal(path: Path, played: list[Played], *, test: bool = False, table: str = "campione-03") -> None:
    """The journal of these coups, by the program's own writers: what `reading` has to read."""
    setting = from_header(msgspec.json.decode(msgspec.json.encode(_header(table, test=test)), type=Header))
    state = TableState()
    writer = MessageWriter(setting, "b", state, ClockState(utc_us=START_UTC_US))
    owner = Owner(setting.site, setting.table, test=test)
    with closing(open_to_write(path, owner=owner, at_utc_us=START_UTC_US)) as journal:
        journal.database.execute("PRAGMA synchronous = OFF")  # no power fails here
        for at, one in enumerate(played):
            step = _step(writer, setting, state, at, one)
            journal.append(step, START_UTC_US + step.messages[-1].t_us)


def _header(table: str, *, test: bool) -> dict[str, object]:
    return {
        "kind": "wheel",
        "format": 1,
        "site": "campione",
        "table": table,
        "test": test,
        "house": "campione",
        "game": "roulette",
        "wheel": "french",
        "rotor_ticks": TICKS,
        "beams_deg": BEAMS_DEG,
        "readers_deg": READERS_DEG,
        "min_laps": 3,
        "started": "2027-01-15T08:00:00Z",
        "last_number": 0,
    }


def _step(writer: MessageWriter, setting: TableSetting, state: TableState, at: int, one: Played) -> Step:
    """One coup: where the table stands, and the verdict with its log."""
    begin_us = round(at * COUP_S * 1e6)
    state.coup, state.spinning.who = at + 1, one.bouler
    messages = [message for _ in range(STANDINGS) for message in writer.standing(begin_us, "", (), (), with_board=True)]
    messages += [writer.notice(begin_us, "number_seen", "", {"reader": 1}) for _ in range(NOTICES)]
    if one.number is None:
        state.current = Coup()
        cause = next(each for each in Cause if each.value == one.cause)
        messages.append(
            writer.void(begin_us + 20_000_000, cause, "", Evidence(Fact.LEFT_TRACK_SHORT, begin_us + 20_000_000, {}))
        )
        return Step(messages=tuple(messages))
    seen_us = [begin_us + round(t_s * 1e6) for t_s, _ in one.sightings]
    ball, rotor = ("cw", "ccw") if one.forward else ("ccw", "cw")
    state.current = Coup(
        launched_us=begin_us + round(one.passes[0][0] * 1e6),
        bets_closed_us=begin_us + 5_000_000,
        left_track_us=begin_us + round(one.passes[-1][0] * 1e6),
        directions={"ball_direction": ball, "rotor_direction": rotor},
    )
    index = POCKETS.index(one.number)
    sightings = [Seen(t_us, reader, index, 0.0, 0.0) for t_us, (_, reader) in zip(seen_us, one.sightings, strict=True)]
    called = Called(one.number, seen_us[0], 0, one.laps, one.rev_s * 60, sightings, Margin(1.0, "direction"), ())
    messages.append(writer.result(seen_us[-1], one.number, called, None))
    return Step(messages=tuple(messages), coup_logs=(CoupLog(at + 1, "result", _log(setting, begin_us, one)),))


def _log(setting: TableSetting, begin_us: int, one: Played) -> bytes:
    """Passes, sightings and the edges of a rotor that loses speed, in the order of their times."""
    header = msgspec.json.encode(msgspec.structs.asdict(setting) | {"kind": "wheel", "format": 1})
    lines = [
        *((t_s, b'{"kind":"ball","t":%d,"beam":%d}', beam) for t_s, beam in one.passes),
        *((t_s, b'{"kind":"pocket","t":%d,"reader":%d}', reader) for t_s, reader in one.sightings),
    ]
    direction = b"ccw" if one.forward else b"cw"
    edge = b'{"kind":"rotor","t":%d,"tick":%d,"direction":"' + direction + b'"}'
    t_s, tick, step = 0.0, 0, -1 if one.forward else 1
    while t_s < one.sightings[-1][0]:
        lines.append((t_s, edge, tick % TICKS))
        tick += step
        t_s += 1 / (TICKS * one.rev_s * (1 - SLOWING_PER_S * t_s))
    lines.sort()
    return b"\n".join([header, *(form % (begin_us + round(t_s * 1e6), which) for t_s, form, which in lines), b""])
