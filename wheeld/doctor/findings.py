"""What is wrong with a wheel's sensors, and what to do: one function per rule, each limit with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from wheeld.core.clock import HostTime
from wheeld.core.pockets import POCKETS, ROTOR_ORDER, index_of
from wheeld.doctor.geometry import SPREAD_DEG, Learned, Spin, apart_deg, order_of, pockets_off, ran_with_rotor, real
from wheeld.doctor.signals import KEPT_MAX, Signals

OFF_DEG = 2.0
"""A beam so far from its configured angle changes the measured speed of the ball by a few percent from beam to beam."""
DOUBLES_SHARE, MISSED_SHARE = 0.05, 0.05
"""Of a beam's pulses: a few in a thousand are usual, one in twenty is a badly set sensor."""
DEAD_SHARE = 0.2
"""Of the busiest beam's passes: a dead beam's wire picks up fewer. The worst aimed beam sees every second pass."""
SKIPPED_SHARE = 0.002
JITTER_BORNE_MS = {37: 1.2, 74: 1.5, 148: 2.0, 296: 3.0, 592: 3.0}
"""By sectors of the encoder, or as many as the nearest that has fewer: how much its edges may jitter, sigma, so that at
30 turns a minute the rotor's place is right within a third of a pocket (docs/wheels.md 3.3)."""
RPM = (10.0, 30.0)
"""What makers of wheels recommend (Mercury 360: 10 to 30)."""
STEADY = {
    "beam": "spin the ball and keep hands away; then check the beam's mounting and threshold",
    "reader": "leave the ball in its pocket, without moving it, until the rotor has turned a few times more",
}
"""What to do when single measurements differ."""
PULSES_MIN = 20
"""Of the busiest beam: fewer are too few to compare the others with."""
ERROR_US = 1_000
"""An error of the sensing clock above this is 0.2° of a rotor at 30 rpm: harmless, but without an explanation."""

MIRRORED = (
    "the ball ran with the rotor, or the beams are numbered the other way round; give the ball's direction with "
    "--ball cw or --ball ccw"
)
"""Mirrored angles turn R1 into its opposite (Art. 10). Only the person who threw the ball knows its direction."""
SWAPPED = "the ball ran with the rotor: A and B of the encoder may be swapped"
"""With A and B swapped an encoder reports the opposite direction and mirrored sectors."""
CABLE = "check shielding, ground and length of the cable"
GPIO_ADVICE = {
    "host_stalls": "the computer stood still: check its load, its power supply and its storage",
    "late_edges": "the computer was too busy to date them: reduce its load",
    "lost_edges": "more edges came than the computer could read: reduce its load, or mend a line that bounces",
    "link_faults": "edges were lost or came late: reduce the computer's load",
    "encoder_violations": "check the encoder's lines A, B and Z: thresholds, gap to the disc, and rotor_ticks",
    "pulses_too_short": "spikes on a beam or reader: check its threshold, the shielding of its wire, and min_pulse_us",
    "pulses_too_long": "a beam or reader stays blocked: check it for dirt, its light, and sensors_active_low",
}
"""By counter. Pins of the computer itself have no line that could be damaged."""


Code: TypeAlias = Literal[
    "ball_elsewhere",
    "beam_dead",
    "beam_doubles",
    "beam_misses",
    "beam_silent",
    "beam_works",
    "beams_mirrored",
    "button_not_pressed",
    "button_pressed",
    "clock_error",
    "clock_unknown",
    "edges_lost",
    "encoder_jitter",
    "encoder_swapped",
    "encoder_works",
    "index_silent",
    "line_counter",
    "line_good",
    "object_seen",
    "place_right",
    "place_unsteady",
    "place_wrong",
    "places_swapped",
    "pulse_width",
    "pulses_few",
    "reader_misses",
    "reader_silent",
    "reader_works",
    "readers_blind",
    "rotor_speed",
    "rotor_unturned",
    "sectors_missing",
    "sensor_broken",
    "sensor_silent",
    "sensor_unknown",
    "too_old",
]
"""What kind of finding it is. It stands in journals: a code keeps its meaning, whatever its text becomes."""


class Finding(msgspec.Struct, frozen=True):
    """One thing that a technician should know. `level`: `ok`; `look` at it; `wrong`, no coup can be relied on.

    `what` was found, and what to `do`. `is_angle`: about an angle in the configuration, which learning may correct.
    """

    level: Literal["ok", "look", "wrong"]
    code: Code
    what: str
    do: str = ""
    is_angle: bool = False


def of_signals(signals: Signals, *, beams: int, readers: int, violations: int = 0) -> Iterator[Finding]:
    """Findings from the counts of a wheel with so many beams and readers. `violations`: how often the lines of an
    encoder on pins broke their order."""
    yield from _sensors(signals)
    if beams:
        yield from _beams(signals, beams)
    if readers:
        yield from _readers(signals, readers)
    if signals.ticks:
        yield from _encoder(signals, violations)
    if signals.rpm is not None and not RPM[0] <= signals.rpm <= RPM[1]:
        yield Finding(
            "look",
            "rotor_speed",
            f"the rotor turns at {signals.rpm:.1f} rpm",
            f"turn it at {RPM[0]:g} to {RPM[1]:g} rpm, as makers recommend",
        )
    if signals.is_object_present:
        yield Finding(
            "wrong",
            "object_seen",
            "the object sensor sees a body in the cylinder",
            "remove it, or clean the sensor's window",
        )
    if signals.dropped:
        what = f"{signals.dropped} edges, pulses and sightings are too old to learn from"
        yield Finding("look", "too_old", what, f"watch for a shorter time: only the latest {KEPT_MAX} are kept")


def of_buttons(signals: Signals, wired: Iterable[str]) -> Iterator[Finding]:
    """How often each button was pressed: those `wired` to pins, and those that a board reported."""
    for name in sorted({*wired, *signals.buttons}):
        if count := signals.buttons[name]:
            yield Finding("ok", "button_pressed", f"button {name}: {count} presses")
        else:
            yield Finding(
                "look", "button_not_pressed", f"button {name} was not pressed", "press it once, to see that it works"
            )


def of_geometry(
    learned: Sequence[Learned], configured_deg: Sequence[float], kind: str, *, ball_given: bool = False
) -> Iterator[Finding]:
    """Learned angles compared with the configured ones; `kind` is `beam` or `reader`.

    `ball_given`: the technician gave the ball's direction. Without it, a mirrored order is the only finding, because
    it may come from the ball's direction and not from the beams.
    """
    if kind == "beam" and not ball_given and order_of(learned, configured_deg) == "mirrored":
        yield Finding(
            "wrong",
            "beams_mirrored",
            "the beams follow each other in the opposite order of beams_deg",
            MIRRORED,
            is_angle=True,
        )
        return
    places = {each.index: each.angle_deg for each in learned}
    for each in learned:
        if each.index < len(configured_deg):
            yield _place(each, configured_deg[each.index], kind, places)
        else:
            yield Finding(
                "wrong",
                "sensor_unknown",
                f"{kind} {each.index} is not in the configuration",
                f"add its angle to {kind}s_deg",
            )


def _place(each: Learned, wanted_deg: float, kind: str, places: Mapping[int, float]) -> Finding:
    """The finding of one sensor; `places`: the angles of all of its kind."""
    off_deg = apart_deg(each.angle_deg, wanted_deg)
    if each.spread_deg > SPREAD_DEG:
        what = f"{kind} {each.index}: single measurements differ by {each.spread_deg:g}°"
        return Finding("look", "place_unsteady", what, STEADY[kind])
    if abs(off_deg) <= OFF_DEG:
        return Finding("ok", "place_right", f"{kind} {each.index} stands at {each.angle_deg:g}° ± {each.spread_deg:g}°")
    if (other := _stands_at(wanted_deg, places)) is not None:
        what = f"{kind} {each.index} stands where {kind} {other} should stand, at {each.angle_deg:g}°"
        return Finding(
            "wrong",
            "places_swapped",
            what,
            "their wires are swapped: swap them back, or learn the angles with --learn",
            is_angle=True,
        )
    what = f"{kind} {each.index} stands at {each.angle_deg:g}°, {abs(off_deg):.1f}° from {kind}s_deg"
    return Finding("wrong", "place_wrong", what, f"learn the angles with --learn, or move the {kind}", is_angle=True)


def of_way(
    spins: Sequence[Spin], beams: Sequence[Learned], configured_deg: Sequence[float], *, ball_given: bool
) -> Iterator[Finding]:
    """Whether the encoder may report the wrong direction: a ball seldom runs with the rotor, and never each time."""
    balls = real(spins)
    by_ball = ball_given and ran_with_rotor(spins)
    if by_ball or (not ball_given and len(balls) > 1 and order_of(beams, configured_deg) == "mirrored"):
        how = "by the direction given with --ball" if by_ball else f"in {len(balls)} spins, by the order of the beams"
        yield Finding(
            "look", "encoder_swapped", f"{SWAPPED} ({how})", "swap A and B of the encoder, or throw against the rotor"
        )


def of_number(readers: Sequence[Learned], configured_deg: Sequence[float], number: int) -> Iterator[Finding]:
    """Whether the ball may lie in another pocket than the `number` that the technician gave."""
    if pockets := pockets_off(readers, configured_deg):
        do = "check where the ball lies and give that number; if the encoder was moved, correct readers_deg"
        yield Finding("wrong", "ball_elsewhere", elsewhere(pockets, number), do, is_angle=True)


def elsewhere(pockets: int, number: int) -> str:
    """Where the ball lies, as a text, when the readers stand where the file has them."""
    there = ROTOR_ORDER[(index_of(number) - pockets) % POCKETS]
    return f"by readers_deg the ball lies in {there}, not in {number}: the readers are {abs(pockets)} pockets off"


def of_clock(clock: HostTime | None) -> Iterator[Finding]:
    """How well the sensing clock is known."""
    if clock is None:
        yield Finding(
            "wrong",
            "clock_unknown",
            "the board's clock was never compared",
            "the board does not answer: check its cable and the port",
        )
        return
    error_us, drift_ppm = clock.error_ns / 1e3, clock.rate_ppb / 1e3
    level: Literal["ok", "look"] = "ok" if error_us <= ERROR_US else "look"
    do = "" if level == "ok" else "the computer is busy or the line is slow: reduce the load"
    yield Finding(level, "clock_error", f"sensing clock: error up to {error_us:.0f} µs, drift {drift_ppm:+.1f} ppm", do)


def of_pulses(widths_us: Mapping[str, tuple[int, int]]) -> Iterator[Finding]:
    """How long the ball blocks each beam and reader on a pin."""
    for name, (narrowest_us, widest_us) in sorted(widths_us.items()):
        yield Finding(
            "ok", "pulse_width", f"{name} is blocked for {narrowest_us / 1e3:.1f} to {widest_us / 1e3:.1f} ms"
        )


def of_link(counters: Mapping[str, int], harmless: frozenset[str], part: str = "link") -> Iterator[Finding]:
    """Counters of `part` that should be 0 on a good line; those named in `harmless` need not be."""
    bad = {name: count for name, count in counters.items() if count and name not in harmless}
    for name, count in sorted(bad.items()):
        do = GPIO_ADVICE.get(name, "check the wires to the pins and the computer's load") if part == "gpio" else CABLE
        yield Finding("look", "line_counter", f"{part}: {name.replace('_', ' ')}: {count}", do)
    if not bad:
        yield Finding("ok", "line_good", f"{part}: nothing lost, nothing damaged")


def _sensors(signals: Signals) -> Iterator[Finding]:
    for name, is_faulty in sorted(signals.faults.items()):
        if is_faulty:
            yield Finding("wrong", "sensor_broken", f"{name} is reported as broken", "check its wire and its supply")


def _beams(signals: Signals, beams: int) -> Iterator[Finding]:
    passes = {beam: count - signals.doubles[beam] for beam, count in signals.pulses.items()}
    most = max(passes.values(), default=0)
    if most < PULSES_MIN:
        yield Finding(
            "look", "pulses_few", f"the busiest beam has {most} pulses", f"spin the ball until it has {PULSES_MIN}"
        )
        return
    for beam in range(beams):
        count, doubles = signals.pulses[beam], signals.doubles[beam]
        if count == 0:
            yield Finding(
                "wrong", "beam_silent", f"beam {beam} never pulsed", "check its wire, its light and its number"
            )
        elif passes[beam] < DEAD_SHARE * most:
            what = f"beam {beam}: {count} pulses, another has {most}: it is dead, and these are strays"
            yield Finding("wrong", "beam_dead", what, "check its wire, its light and its number")
        elif doubles > DOUBLES_SHARE * count:
            do = "its threshold is at the ball's edge: aim it at the ball's middle, or debounce it"
            yield Finding("look", "beam_doubles", f"beam {beam} pulses twice: {doubles} of {count}", do)
        elif passes[beam] < (1 - MISSED_SHARE) * most - 1:
            what = f"beam {beam} misses passes: {count} pulses, others {most}"
            yield Finding("look", "beam_misses", what, "aim it and clean it")
        else:
            yield Finding("ok", "beam_works", f"beam {beam}: {count} pulses")
    for beam in sorted(set(signals.pulses) - set(range(beams))):
        what = f"beam {beam} pulsed, but the configuration has {beams} beams"
        yield Finding("wrong", "sensor_unknown", what, "add it to beams_deg")


def _readers(signals: Signals, readers: int) -> Iterator[Finding]:
    if not signals.sightings:
        yield Finding(
            "look", "readers_blind", "no reader saw the ball", "lay it in a pocket and let the rotor turn a few times"
        )
        return
    most = max(signals.sightings.values())
    for reader in range(readers):
        count = signals.sightings[reader]
        if count == 0:
            do = "check its wire, its light and its height"
            yield Finding("wrong", "reader_silent", f"reader {reader} never saw the ball", do)
        elif count < most / 2:
            what = f"reader {reader} saw the ball {count} times, another {most}"
            yield Finding("look", "reader_misses", what, "aim it and clean it")
        else:
            yield Finding("ok", "reader_works", f"reader {reader}: {count} sightings")


def _encoder(signals: Signals, violations: int) -> Iterator[Finding]:
    edges = sum(signals.edges.values())
    if not edges and violations:
        what = "A and B of the encoder change, but Z never shows where the rotor stands"
        yield Finding(
            "wrong", "index_silent", what, "check wire, supply and gap of Z, and whether rotor_ticks is this encoder's"
        )
        return
    if edges < signals.ticks:
        yield Finding("look", "rotor_unturned", f"{edges} encoder edges, less than a turn", "turn the rotor")
        return
    unseen = signals.ticks - len(signals.ticks_seen)
    if unseen > 0:
        what = f"{unseen} of {signals.ticks} sectors never came in {edges} edges"
        yield Finding(
            "wrong", "sectors_missing", what, "check whether rotor_ticks is this encoder's, and clean its marks"
        )
    elif signals.skipped_edges > SKIPPED_SHARE * edges:
        what = f"encoder: {signals.skipped_edges} of {edges} edges lost"
        yield Finding("look", "edges_lost", what, "check the gap to its disc and its threshold")
    else:
        yield Finding("ok", "encoder_works", f"encoder: {edges} edges, every sector seen")
    yield _jitter(signals)


def _jitter(signals: Signals) -> Finding:
    borne_ms = max((ms for ticks, ms in JITTER_BORNE_MS.items() if ticks <= signals.ticks))
    jitter_ms = signals.jitter_us / 1e3
    what = f"encoder: its edges jitter by {jitter_ms:.1f} ms; {signals.ticks} sectors bear {borne_ms:g} ms"
    if jitter_ms <= borne_ms:
        return Finding("ok", "encoder_jitter", what)
    return Finding(
        "look", "encoder_jitter", what, "check its disc, its gap and its bearing: sightings may not be placed"
    )


def _stands_at(wanted_deg: float, places: Mapping[int, float]) -> int | None:
    """Which sensor stands at that angle."""
    return next((index for index, deg in places.items() if abs(apart_deg(deg, wanted_deg)) <= OFF_DEG), None)
