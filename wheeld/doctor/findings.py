"""Finds what is wrong with a wheel's sensors, and what to do. Each rule is a function. Each limit has its reason."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from wheeld.core.catalogue import Catalogue, Part, Text, translatable
from wheeld.core.names import sensor_text
from wheeld.core.observations import OBJECT, Direction
from wheeld.core.pockets import PocketLayout, label_of
from wheeld.doctor.geometry import (
    SPREAD_DEG,
    TURNS_MIN,
    Learned,
    Order,
    Spin,
    apart_deg,
    order_of,
    pockets_off,
    ran_with_rotor,
    real,
    widest_deg,
)
from wheeld.doctor.signals import KEPT_MAX, Signals
from wheeld.sources.clock import OSCILLATOR_PPM_MAX, HostTime

OFF_DEG = 2.0
"""How far a sensor may be from its configured angle. A beam this far off changes the measured speed of the ball by a
few percent from beam to beam."""
DOUBLES_SHARE, MISSED_SHARE = 0.05, 0.05
"""The shares of double pulses and of missed passes that a beam may have. A few in a thousand are usual. One in twenty
means that the beam is badly adjusted."""
DEAD_SHARE = 0.2
"""A share of the passes of the busiest beam. A beam with fewer passes than this share is dead, and its few pulses are
false: its wire receives them. Even a badly aimed beam sees every second pass."""
SKIPPED_SHARE = 0.002
"""The share of its edges that an encoder may lose."""
JITTER_BORNE_MS = {1: 1.2, 2: 1.5, 4: 2.0, 8: 3.0, 16: 3.0}
"""How much the edges of an encoder may jitter (sigma), by its number of sectors in a pocket. Between two of these
numbers the smaller one counts. With this jitter the rotor's place at 30 rpm is right within a third of a pocket
(docs/wheels.md 3.3)."""
RPM = (10.0, 30.0)
"""The speeds that makers of wheels recommend, in turns per minute (Mercury 360: 10 to 30)."""
STEADY = {
    "beam": Text("spin the ball and keep hands away; then check the beam's mounting and threshold"),
    "reader": Text("leave the ball in its pocket, without moving it, until the rotor has turned a few times more"),
}
"""What to do if the measurements of one sensor differ, by its kind."""
BOTH_WAYS: dict[Direction, Text] = {
    "cw": Text("leave the ball in its pocket, and turn the rotor clockwise too, {count} times", {"count": TURNS_MIN}),
    "ccw": Text(
        "leave the ball in its pocket, and turn the rotor counter-clockwise too, {count} times", {"count": TURNS_MIN}
    ),
}
"""What to do, by the direction in which the rotor has not turned often enough."""
PULSES_MIN = 30
"""The fewest passes that the busiest beam must have. With fewer, a beam that misses one pass in ten looks like a beam
that the ball had already passed when the spins began."""
ERROR_US = 1_000
"""The largest usual error of the sensing clock. In this time a rotor at 30 rpm turns by 0.2°. A larger error is
harmless, but it has a cause that should be found."""

MIRRORED = Text(
    "the ball ran with the rotor, two beams are swapped, or all are numbered in the opposite direction; give the "
    "ball's direction with --ball cw or --ball ccw"
)
"""With mirrored angles, R1 (Art. 10) would use the opposite of each direction of the ball. Only the person who launched
the ball knows its direction."""
SWAPPED = Text("the ball ran with the rotor: A and B of the encoder may be swapped")
"""If A and B are swapped, an encoder reports the opposite direction and mirrored sectors."""
READERS_MIRRORED = Text(
    "the readers follow each other in the opposite order of readers_deg: A and B of the encoder, or two readers, are "
    "swapped"
)
BY_HAND = Text(
    "turn the rotor clockwise by hand: if the doctor's line for each second then says counter-clockwise, swap A and B"
)
"""A person can see from above in which direction the rotor turns, even if everything else is wrong."""
CABLE = Text("check shielding, ground and length of the cable")
PINS = Text("check the wires to the pins and the computer's load")
GPIO_ADVICE = {
    "host_stalls": Text("the computer stood still: check its load, its power supply and its storage"),
    "late_edges": Text("the computer was too busy to date the edges in time: reduce its load"),
    "lost_edges": Text(
        "more edges came than the computer could read: reduce its load, or repair a line with too many edges"
    ),
    "link_faults": Text("edges were lost or came late: reduce the computer's load"),
    "encoder_violations": Text("check the encoder's lines A, B and Z: thresholds, gap to the disc, and rotor_ticks"),
    "pulses_too_short": Text(
        "spikes on a beam or reader: check its threshold, the shielding of its wire, and min_pulse_us"
    ),
    "pulses_too_long": Text("a beam or reader stays blocked: check it for dirt, its light, and sensors_active_low"),
}
"""What to do if a counter of the pins is not 0, by its name. For the other counters of the pins, `PINS` says what to
do."""
PACE = Text("no oscillator differs so much: a simulator sets this pace; a real board has a fault")
BOARD_ADVICE = {
    "clock_drift": PACE,
    "clock_step": PACE,
    "host_stalls": GPIO_ADVICE["host_stalls"],
    "link_faults": Text("each line above with board.link_fault says why"),
    "lost_events": Text(
        "the board keeps events for a short time, and nobody fetched them while the wheel was stopped: run this "
        "command again at once; if events are lost again, check its cable"
    ),
    "resets": Text("check the power and cable of the sensor board"),
}
"""What to do if a counter of the board is not 0 for which its cable is not the cause. For the other counters of the
board, `CABLE` says what to do."""


Code: TypeAlias = Literal[
    "ball_elsewhere",
    "beam_dead",
    "beam_doubles",
    "beam_misses",
    "beam_silent",
    "beam_works",
    "beams_mirrored",
    "board_refused",
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
"""The kind of a finding. Journals contain it, so a code keeps its meaning even if its text changes."""


Level: TypeAlias = Literal["ok", "look", "wrong"]
LEVELS: dict[Level, str] = {
    "ok": translatable("ok"),
    "look": translatable("look"),
    "wrong": translatable("wrong"),
}


class Finding(msgspec.Struct, frozen=True):
    """One thing that a technician should know. `level`: `look` means that he should check it, and `wrong` that no coup
    is reliable.

    `found`: what was found. `mend`: what to do. `is_angle`: whether an angle in the configuration may be wrong, so that
    learning may correct it.
    """

    level: Level
    code: Code
    found: Text
    mend: Text | None = None
    is_angle: bool = False

    @property
    def what(self) -> str:
        """Return what was found, in English, as the journal stores it."""
        return Catalogue("en").say_text(self.found)

    def line(self, catalogue: Catalogue) -> str:
        """Return the whole finding as one line for a screen."""
        text = self.found if self.mend is None else found_and_mend(self.found, self.mend)
        return f"{catalogue.say(LEVELS[self.level]):>5}  {catalogue.say_text(text)}"


def found_and_mend(found: Text, mend: Text) -> Text:
    """Return one text that says what was found, and what to do."""
    return Text("{first}; {second}", {"first": found, "second": mend})


def of_signals(signals: Signals, *, beams: int, readers: int, violations: int = 0) -> Iterator[Finding]:
    """Yield the findings from the counts of `signals`. `beams` and `readers`: how many the wheel has. `violations`: how
    often the lines of an encoder on pins changed in a wrong order."""
    for name, is_faulty in sorted(signals.faults.items()):
        if is_faulty:
            what = Text("{name} is reported as broken", {"name": sensor_text(name)})
            yield Finding("wrong", "sensor_broken", what, Text("check its wire and its supply"))
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
            Text("the rotor turns at {rpm} rpm", {"rpm": round(signals.rpm, 1)}),
            Text("turn it at {least} to {most} rpm, as makers recommend", {"least": RPM[0], "most": RPM[1]}),
        )
    if signals.stands.get(OBJECT):
        yield Finding(
            "wrong",
            "object_seen",
            Text("the object sensor sees a body in the cylinder"),
            Text("remove it, or clean the sensor's window"),
        )
    if signals.dropped:
        what = Text("{count} edges, pulses and sightings are too old to learn from", {"count": signals.dropped})
        do = Text("watch for a shorter time: only the latest {most} are kept", {"most": KEPT_MAX})
        yield Finding("look", "too_old", what, do)


def of_buttons(signals: Signals, wired: Iterable[str]) -> Iterator[Finding]:
    """Yield how often each button was pressed: each button that is `wired` to a pin or that a board reported."""
    for name in sorted({*wired, *signals.buttons}):
        if count := signals.buttons[name]:
            yield Finding(
                "ok", "button_pressed", Text("button {name}: {count} presses", {"name": name, "count": count})
            )
        else:
            what = Text("button {name} was not pressed", {"name": name})
            yield Finding("look", "button_not_pressed", what, Text("press it once, to see that it works"))


def of_geometry(
    learned: Sequence[Learned], configured_deg: Sequence[float], kind: str, learn: Text, *, ball_given: bool = False
) -> Iterator[Finding]:
    """Compare learned angles with the configured ones, and yield the findings. `kind` is `beam` or `reader`. `learn`:
    what to do to learn the angles, with the whole command (`to_learn`).

    `ball_given`: whether the technician gave the ball's direction. If he did not, and the order of the beams is
    mirrored, this is the only finding, because its cause may be the ball's direction and not the beams.
    """
    if kind == "beam" and not ball_given and order_of(learned, configured_deg) == "mirrored":
        yield Finding(
            "wrong",
            "beams_mirrored",
            Text("the beams follow each other in the opposite order of beams_deg"),
            MIRRORED,
            is_angle=True,
        )
        return
    for each in learned:
        at: dict[str, Part] = {
            "sensor": sensor_text(f"{kind}/{each.index}"),
            "angle": each.angle_deg,
            "spread": each.spread_deg,
            "key": f"{kind}s_deg",
        }
        near = (n for n, deg in enumerate(configured_deg) if abs(apart_deg(each.angle_deg, deg)) <= OFF_DEG)
        other = next(near, None)
        if each.index >= len(configured_deg):
            what, do = Text("{sensor} is not in the configuration", at), Text("add its angle to {key}", at)
            yield Finding("wrong", "sensor_unknown", what, do)
        elif each.spread_deg > SPREAD_DEG:
            what = Text("{sensor}: its angle is known only to ± {spread}°", at)
            yield Finding("look", "place_unsteady", what, STEADY[kind])
        elif each.lacks is not None and other in (None, each.index):
            what = Text("{sensor} is at {angle}°, measured in one direction of the rotor only", at)
            yield Finding("look", "place_unsteady", what, BOTH_WAYS[each.lacks])
        elif abs(off_deg := apart_deg(each.angle_deg, configured_deg[each.index])) <= OFF_DEG:
            yield Finding("ok", "place_right", Text("{sensor} is at {angle}° ± {spread}°", at))
        elif other is not None:
            where = {**at, "other": sensor_text(f"{kind}/{other}")}
            what = Text("{sensor} is where {other} should be, at {angle}°", where)
            # Learning refuses another order of the sensors.
            do = Text("if A and B of the encoder are right, their wires are swapped: swap them back")
            yield Finding("wrong", "places_swapped", what, do, is_angle=True)
        else:
            what = Text("{sensor} is at {angle}°, {off}° from {key}", {**at, "off": round(abs(off_deg), 1)})
            do = Text("{learn}, or move the sensor", {"learn": learn})
            yield Finding("wrong", "place_wrong", what, do, is_angle=True)


def to_learn(wheel: str, number: int | None = None) -> Text:
    """Return what to do to learn the angles of the beams, or those of the readers by a ball in the pocket of `number`.
    `wheel`: the wheel as the command line names it."""
    command = ["wheeld", "doctor", wheel, "--seconds", "180", "--learn"]
    if number is None:
        return Text("learn the angles with `{command}`", {"command": shlex.join(command)})
    at: dict[str, Part] = {"number": label_of(number)}
    at["command"] = shlex.join([*command, "--number", label_of(number)])
    return Text("put the ball into pocket {number} and learn the angles with `{command}`", at)


def of_lying(readers: Sequence[Learned], configured_deg: Sequence[float], learn: Text) -> Iterator[Finding]:
    """Yield the findings of readers that saw a lying ball, if the technician did not name its pocket. Then only the
    angles between the readers are known. They show whether readers are swapped."""
    measured = steady(readers)
    off_deg = [apart_deg(each.angle_deg, configured_deg[each.index]) for each in measured]
    if off_deg and widest_deg(off_deg) > 2 * OFF_DEG:
        yield from (each for each in of_geometry(measured, configured_deg, "reader", learn) if each.level == "wrong")


def steady(readers: Iterable[Learned]) -> list[Learned]:
    """Return the readers that saw the ball often enough, and always in one place."""
    return [each for each in readers if each.count >= TURNS_MIN and each.spread_deg <= SPREAD_DEG]


def in_places(readers: Iterable[Learned], configured_deg: Sequence[float]) -> bool:
    """Return whether each reader stands where one of the readers should stand, as it does if only wires are swapped."""
    return all(any(abs(apart_deg(each.angle_deg, deg)) <= OFF_DEG for deg in configured_deg) for each in readers)


def of_way(
    spins: Sequence[Spin],
    beams: Sequence[Learned],
    configured_deg: Sequence[float],
    *,
    ball_given: bool,
    readers: Order,
) -> Iterator[Finding]:
    """Yield a finding if the encoder may report the wrong direction. A ball rarely runs with the rotor, and never in
    every spin. `readers`: the order of the readers. If A and B of the encoder are swapped, both the readers and the
    beams are mirrored."""
    balls, are_mirrored = real(spins), readers == "mirrored"
    by_ball = ball_given and ran_with_rotor(spins)
    by_beams = not ball_given and order_of(beams, configured_deg) == "mirrored"
    if are_mirrored and (by_ball or by_beams):
        what = Text(
            "beams and readers follow each other in the opposite order: A and B of the encoder are swapped, or all "
            "angles were counted counter-clockwise"
        )
        yield Finding("wrong", "encoder_swapped", what, BY_HAND)
    elif by_ball or (by_beams and len(balls) > 1):
        what = Text("{swapped} (by the direction given with --ball)", {"swapped": SWAPPED})
        if not by_ball:
            seen: dict[str, Part] = {"swapped": SWAPPED, "count": len(balls)}
            what = Text("{swapped} (in {count} spins, by the order of the beams)", seen)
        yield Finding("look", "encoder_swapped", what, BY_HAND)
    elif are_mirrored and not beams:
        yield Finding("look", "encoder_swapped", READERS_MIRRORED, BY_HAND)


def of_direction(signals: Signals, one_way: Direction | None) -> Iterator[Finding]:
    """Yield a finding if a rotor turns in one direction only, and the encoder reports the other one."""
    if one_way is None or not signals.edges:
        return
    other: Direction = "ccw" if one_way == "cw" else "cw"
    if signals.edges[other] > signals.edges[one_way]:
        what = Text("the encoder reports a direction in which this rotor never turns: A and B may be swapped")
        yield Finding("wrong", "encoder_swapped", what, BY_HAND)


def of_number(
    readers: Sequence[Learned], configured_deg: Sequence[float], pockets: PocketLayout, number: int
) -> Iterator[Finding]:
    """Yield a finding if the ball seems to lie in another pocket than that of the `number` that the technician gave."""
    if off := pockets_off(readers, configured_deg, pockets.pocket_deg):
        do = Text("check where the ball lies and give that number; if the encoder was moved, correct readers_deg")
        yield Finding("wrong", "ball_elsewhere", elsewhere(off, pockets, number), do, is_angle=True)


def elsewhere(off: int, pockets: PocketLayout, number: int) -> Text:
    """Return the text that names the pocket in which the ball lies if `readers_deg` is right. `off`: by how many
    pockets the learned readers differ from `readers_deg`."""
    there = pockets.order[(pockets.index_of[number] - off) % pockets.count]
    return Text(
        "by readers_deg the ball lies in {there}, not in {number}: the readers' angles are wrong by {pockets} pockets",
        {"there": label_of(there), "number": label_of(number), "pockets": abs(off)},
    )


def of_clock(clock: HostTime | None) -> Iterator[Finding]:
    """Yield a finding about the accuracy of the sensing clock."""
    if clock is None:
        yield Finding(
            "wrong",
            "clock_unknown",
            Text("the board's clock was never compared"),
            Text("the board does not answer: check its cable and the port"),
        )
        return
    error_us, drift_ppm = round(clock.error_ns / 1e3), round(clock.rate_ppb / 1e3, 1)
    what = Text("sensing clock: error up to {error} µs, drift {drift} ppm", {"error": error_us, "drift": drift_ppm})
    if clock.error_ns / 1e3 <= ERROR_US:
        yield Finding("ok", "clock_error", what)
    elif abs(clock.rate_ppb) > OSCILLATOR_PPM_MAX * 1_000:
        yield Finding("look", "clock_error", what, PACE)
    else:
        do = Text("the computer is busy or the line is slow: reduce the load")
        yield Finding("look", "clock_error", what, do)


def of_pulses(widths_us: Mapping[str, tuple[int, int]]) -> Iterator[Finding]:
    """Yield the shortest and the longest time for which the ball blocked each beam and reader on a pin."""
    for name, (narrowest_us, widest_us) in sorted(widths_us.items()):
        widths: dict[str, Part] = {"least": round(narrowest_us / 1e3, 1), "most": round(widest_us / 1e3, 1)}
        what = Text("{name} is blocked for {least} to {most} ms", {"name": sensor_text(name), **widths})
        yield Finding("ok", "pulse_width", what)


def of_link(counters: Mapping[str, int], harmless: frozenset[str], part: str = "link") -> Iterator[Finding]:
    """Yield a finding for each counter of `part` that should be 0 and is not, or else one that says that nothing is
    wrong. Counters in `harmless` may have any value."""
    bad = {name: count for name, count in counters.items() if count and name not in harmless}
    for name, count in sorted(bad.items()):
        do = GPIO_ADVICE.get(name, PINS) if part == "gpio" else BOARD_ADVICE.get(name, CABLE)
        counter: dict[str, Part] = {"first": name.replace("_", " "), "second": count}
        counted: dict[str, Part] = {"first": part, "second": Text("{first}: {second}", counter)}
        yield Finding("look", "line_counter", Text("{first}: {second}", counted), do)
    if not bad:
        yield Finding("ok", "line_good", Text("{part}: nothing lost, nothing damaged", {"part": part}))


def _beams(signals: Signals, beams: int) -> Iterator[Finding]:
    passes = {beam: count - signals.doubles[beam] for beam, count in signals.pulses.items()}
    most = max(passes.values(), default=0)
    if most < PULSES_MIN:
        what = Text("the busiest beam has {count} pulses", {"count": most})
        yield Finding(
            "look", "pulses_few", what, Text("spin the ball until one beam has {count} pulses", {"count": PULSES_MIN})
        )
        return
    for beam in range(beams):
        count, doubles, passed = signals.pulses[beam], signals.doubles[beam], passes.get(beam, 0)
        seen: dict[str, Part] = {
            "sensor": sensor_text(f"beam/{beam}"),
            "count": count,
            "doubles": doubles,
            "most": most,
        }
        if count == 0:
            yield Finding("wrong", "beam_silent", Text("{sensor} never pulsed", seen), _BEAM_WIRE)
        elif passed < DEAD_SHARE * most:
            what = Text(
                "{sensor} has {count} pulses, another beam has {most}: it does not see the ball, and its pulses are "
                "false",
                seen,
            )
            yield Finding("wrong", "beam_dead", what, _BEAM_WIRE)
        elif doubles > DOUBLES_SHARE * count:
            what = Text("{sensor} pulses twice in one pass: {doubles} of its {count} pulses are second ones", seen)
            do = Text("its threshold is at the ball's edge: aim it at the ball's middle, or debounce it")
            yield Finding("look", "beam_doubles", what, do)
        elif passed < (1 - MISSED_SHARE) * most - 1:
            what = Text("{sensor} misses passes: it has {count} pulses, another beam {most}", seen)
            yield Finding("look", "beam_misses", what, _AIM)
        else:
            yield Finding("ok", "beam_works", Text("{sensor}: {count} pulses", seen))
    for beam in sorted(set(signals.pulses) - set(range(beams))):
        seen = {"sensor": sensor_text(f"beam/{beam}"), "count": beams}
        what = Text("{sensor} pulsed, but the configuration has {count} beams", seen)
        yield Finding("wrong", "sensor_unknown", what, Text("add it to beams_deg"))


_BEAM_WIRE = Text("check its wire, its light and its number")
_AIM = Text("aim it and clean it")


def _readers(signals: Signals, readers: int) -> Iterator[Finding]:
    if not signals.sightings:
        do = Text("lay the ball in a pocket and let the rotor turn a few times")
        yield Finding("look", "readers_blind", Text("no reader saw the ball"), do)
        return
    most = max(signals.sightings.values())
    for reader in range(readers):
        count = signals.sightings[reader]
        seen: dict[str, Part] = {"sensor": sensor_text(f"reader/{reader}"), "count": count, "most": most}
        if count == 0:
            do = Text("check its wire, its light and its height")
            yield Finding("wrong", "reader_silent", Text("{sensor} never saw the ball", seen), do)
        elif count < most / 2:
            what = Text("{sensor} saw the ball {count} times, another reader {most} times", seen)
            yield Finding("look", "reader_misses", what, _AIM)
        else:
            yield Finding("ok", "reader_works", Text("{sensor}: {count} sightings", seen))


def _encoder(signals: Signals, violations: int) -> Iterator[Finding]:
    edges = sum(signals.edges.values())
    counted: dict[str, Part] = {"edges": edges, "sectors": signals.ticks, "lost": signals.skipped_edges}
    if not edges and violations:
        what = Text("A and B of the encoder change, but Z never shows where the rotor is")
        do = Text("check wire, supply and gap of Z, and whether rotor_ticks is the number of sectors of this encoder")
        yield Finding("wrong", "index_silent", what, do)
        return
    if edges < signals.ticks:
        what = Text("{edges} encoder edges, less than a turn", counted)
        yield Finding("look", "rotor_unturned", what, Text("turn the rotor"))
        return
    unseen = signals.ticks - len(signals.ticks_seen)
    if unseen > 0:
        what = Text("{unseen} of {sectors} sectors never came in {edges} edges", {**counted, "unseen": unseen})
        do = Text("check whether rotor_ticks is the number of sectors of this encoder, and clean the encoder's marks")
        yield Finding("wrong", "sectors_missing", what, do)
    elif signals.skipped_edges > SKIPPED_SHARE * edges:
        do = Text("check the gap to its disc and its threshold")
        yield Finding("look", "edges_lost", Text("encoder: {lost} of {edges} edges lost", counted), do)
    else:
        yield Finding("ok", "encoder_works", Text("encoder: {edges} edges, every sector seen", counted))
    a_pocket = signals.ticks / signals.pockets.count
    borne_ms = max((ms for sectors, ms in JITTER_BORNE_MS.items() if sectors <= a_pocket))
    jitter_ms = signals.jitter_us / 1e3
    what = Text(
        "encoder: its edges jitter by {jitter} ms; with {sectors} sectors, up to {borne} ms is harmless",
        {"jitter": round(jitter_ms, 1), "sectors": signals.ticks, "borne": borne_ms},
    )
    if jitter_ms <= borne_ms:
        yield Finding("ok", "encoder_jitter", what)
    else:
        do = Text("check its disc, its gap and its bearing: it may be unknown in which pocket the ball was seen")
        yield Finding("look", "encoder_jitter", what, do)
