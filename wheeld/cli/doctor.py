"""`wheeld doctor`: what is connected, what each sensor reports, what is wrong with it and what to do."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import structs
from serial.tools import list_ports

from wheeld.cli.failure import fail
from wheeld.cli.person import user
from wheeld.config.instance import WheelFiles, wheel_of
from wheeld.config.reading import load, parse
from wheeld.config.sections import Config
from wheeld.core.catalogue import Catalogue, Language, Part, Text, translatable
from wheeld.core.names import sensor_text
from wheeld.core.observations import DOOR, OBJECT, Sighting
from wheeld.core.pockets import label_of
from wheeld.core.setting import TableSetting
from wheeld.daemon.identity import digest_of_file
from wheeld.doctor import refusals
from wheeld.doctor.bench import Bench
from wheeld.doctor.findings import (
    Finding,
    in_places,
    of_buttons,
    of_clock,
    of_direction,
    of_geometry,
    of_link,
    of_lying,
    of_number,
    of_pulses,
    of_signals,
    of_way,
    steady,
    to_learn,
)
from wheeld.doctor.geometry import (
    Geometry,
    Learned,
    at_rest,
    in_some_pocket,
    learn_beams,
    learn_readers,
    order_of,
    spins_of,
)
from wheeld.doctor.record import found_record, is_open, store
from wheeld.doctor.rewrite import RewriteError, replace_file, with_angles
from wheeld.doctor.signals import Signals
from wheeld.exits import Exit
from wheeld.journal.rows import JournalError
from wheeld.journal.seal import KeyFileError
from wheeld.ports import EventRecord, PinsError
from wheeld.service.logs import log_to_stderr
from wheeld.sources.link.serial_link import holder_of

DEVICES = Path("/dev")
HARMLESS = frozenset(
    {"hellos", "events", "duplicate_events", "early_frames", "opened", "edges", "status", "bare", "reply", "bonus"}
    | {"before_identity", "unasked"}  # what a board still sends to the daemon that was stopped
    | {"board_overwritten_events"}  # since it was switched on; of those that we miss there are `lost_events`
)
"""Counters that also rise on a line without faults."""
LINES = {"board": "link", "gpio": "link", "head": "head"}
"""For each source, the sensor whose state shows whether the source reports. If a source is silent, its counters are not
reported as good."""


def doctor(options: argparse.Namespace) -> Exit:
    """List what is connected. With a wheel, also listen to its sensors, print what is wrong, and store this in
    its journal.

    Raises ConfigError, JournalError, KeyFileError, OSError.
    """
    try:
        return _doctor(options, Catalogue(options.language))
    except PinsError as wrong:
        sys.stderr.write(f"wheeld: {wrong}\n")
        return Exit.BAD_CONFIG


def _doctor(options: argparse.Namespace, catalogue: Catalogue) -> Exit:
    if options.wheel is None:
        return _list(catalogue)
    wheel = wheel_of(options.wheel)
    config = load(*wheel)
    pockets = config.table.profile.pockets
    if options.number not in (None, *pockets.order):
        sys.stderr.write(f"wheeld: --number {label_of(options.number)}: it is not on the wheel ({pockets.printed})\n")
        return Exit.USAGE
    if is_open(config.journal.path):
        return fail(
            Text(
                "the daemon of this wheel runs and uses the sensors: stop it with `{stop}`, and start it afterwards "
                "with `{start}`",
                {
                    "stop": f"systemctl stop wheeld@{wheel.config.stem}",
                    "start": f"systemctl start wheeld@{wheel.config.stem}",
                },
            ),
            Exit.NOT_OPENED,
            options,
        )
    _list(catalogue)
    log_to_stderr("warning")
    signals = Signals(config.table.rotor_ticks, pockets)
    bench = Bench(config, signals.take)
    try:
        asyncio.run(bench.watch(options.seconds, lambda: print(live(signals, config, catalogue), flush=True)))
    except KeyboardInterrupt:
        print()
    learned, before = learn(signals, config, options), digest_of_file(wheel.config)
    found = list(findings(signals, bench, config, learned, options.wheel, ball_given=options.ball is not None))
    try:
        return tell(found, learned, config, wheel, options)
    finally:  # the journal gets what was found, even if the configuration cannot be written
        after = digest_of_file(wheel.config)
        by = options.by or user()
        record = found_record(found, learned, signals, by=by, configuration=after, rewritten=after != before)
        keep(config, record, catalogue)


def _list(catalogue: Catalogue) -> Exit:
    for text in connected():
        print(catalogue.say_text(text))
    return Exit.OK


def tell(
    found: Sequence[Finding], learned: Geometry, config: Config, wheel: WheelFiles, options: argparse.Namespace
) -> Exit:
    """Print what was found. With `--learn`, also write what was learned. Raises OSError, ConfigError."""
    for number, each in enumerate(found):
        # One command learns all angles of beams or readers: it is printed once.
        is_again = each.is_angle and each.mend in [earlier.mend for earlier in found[:number]]
        shown = structs.replace(each, mend=None) if is_again else each
        print(shown.line(Catalogue(options.language)))
    if options.learn:
        return write(
            wheel, config, learned, ball_given=options.ball is not None, found=found, language=options.language
        )
    levels = {each.level for each in found}
    return Exit.BAD_DATA if "wrong" in levels else Exit.LOOK if "look" in levels else Exit.OK


def keep(config: Config, happened: EventRecord, catalogue: Catalogue) -> None:
    """Store the event record in the wheel's journal if there is one, and print that it is stored.

    Raises JournalError, KeyFileError, OSError, after it has printed that the record is not stored.
    """
    path = config.journal.path
    try:
        if not path.exists():
            print(
                catalogue.say("not stored: there is no journal {file} yet; the daemon makes it when it runs", file=path)
            )
            return
        store(config, happened)
    except (JournalError, KeyFileError, OSError):
        sys.stderr.write(f"wheeld: {catalogue.say('what was found is not stored')}\n")
        raise
    print(catalogue.say("{file}: what was found is stored, by {person}", file=path, person=happened.by))


def serial_lines() -> tuple[str, ...]:
    """Return the path of each serial port. For a USB port this is the udev name with its serial number, if there is
    one.

    This name stays the same if the cable is plugged in elsewhere, or in another order.
    """
    named = [(DEVICES / "wheeld" / (port.serial_number or ""), port.device) for port in sorted(list_ports.comports())]
    return tuple(str(name) if name.is_char_device() else device for name, device in named)


def connected() -> Iterator[Text]:
    """Yield one line for each serial port and GPIO chip of this computer."""
    ports = sorted(list_ports.comports())
    for port in ports:
        port_and_what = port.device if port.description == "n/a" else f"{port.device}: {port.description}"
        if port.serial_number:
            named = {"port": port_and_what, "number": port.serial_number}
            yield Text("serial port {port}, serial number {number}", named)
        else:
            yield Text("serial port {port}", {"port": port_and_what})
        if holder := holder_of(port.device):
            named = {"port": port.device, "number": holder[0], "command": holder[1]}
            yield Text("{port}: process {number} uses this port ({command})", named)
    if not ports:
        yield Text("no serial port: a sensor board that is plugged in has one")
    for chip in sorted(DEVICES.glob("gpiochip*")):
        yield Text("GPIO chip {chip}", {"chip": str(chip)})


CYLINDER = {
    True: translatable("cylinder object"),
    False: translatable("cylinder clear"),
    None: translatable("cylinder not reported"),
}
DOOR_STANDS = {True: translatable("door open"), False: translatable("door closed")}
TURNS = {"cw": translatable("clockwise"), "ccw": translatable("counter-clockwise"), None: ""}


def live(signals: Signals, config: Config, catalogue: Catalogue) -> str:
    """Return on one line what each sensor has reported so far."""
    told: list[Text] = []
    if signals.faults.get("rotor"):
        told.append(Text("rotor not known"))
    elif not signals.rpm:
        told.append(Text("rotor stands"))
    else:
        way = TURNS[signals.direction]
        rpm = f"{signals.rpm:.1f}"  # always one decimal: the line is printed each second and must not change its width
        told.append(Text("rotor {rpm} rpm {way}", {"rpm": rpm, "way": Text(way) if way else "?"}))
    if config.table.beams_deg:
        told.append(Text("beams {counts}", {"counts": _counts(signals.pulses, len(config.table.beams_deg))}))
    if config.table.readers_deg:
        told.append(Text("readers {counts}", {"counts": _counts(signals.sightings, len(config.table.readers_deg))}))
    if config.head is not None:
        phase = signals.phase or Text("silent")
        counted: dict[str, Part] = {"phase": phase, "laps": signals.head_laps, "numbers": str(signals.head_numbers)}
        told.append(Text("head {phase}, laps {laps}, numbers {numbers}", counted))
    if buttons := _buttons(signals, config):
        counts = " ".join(f"{name} {signals.buttons[name]}" for name in buttons)
        told.append(Text("buttons {counts}", {"counts": counts}))
    if signals.active:
        # Each name is that of a sensor that is blocked, or of a button that is held.
        active = tuple(
            Text("button {name}", {"name": name.removeprefix("button/")})
            if name.startswith("button/")
            else sensor_text(name)
            for name in sorted(signals.active)
        )
        told.append(Text("blocked or held at the start: {sensors}", {"sensors": active}))
    told.append(Text(CYLINDER[signals.stands.get(OBJECT)]))
    if (is_open := signals.stands.get(DOOR)) is not None:
        told.append(Text(DOOR_STANDS[is_open]))
    return "  ".join([f"{signals.seconds:6.0f} s", *map(catalogue.say_text, told)])


def _counts(counts: Mapping[int, int], sensors: int) -> str:
    return " ".join(str(counts[index]) for index in range(sensors))


def _buttons(signals: Signals, config: Config) -> list[str]:
    """Return the buttons on pins, and all buttons that were pressed: the configuration does not list a board's
    buttons."""
    return sorted({*signals.buttons, *(() if config.gpio is None else config.gpio.buttons)})


def learn(signals: Signals, config: Config, options: argparse.Namespace) -> Geometry:
    """Find the beams' angles from the spins, and the readers' angles if the technician named the ball's pocket."""
    wheel = config.table
    spins = spins_of([seen for seen in signals.kept if not isinstance(seen, Sighting)], ball=options.ball)
    readers: list[Learned] = []
    if options.number is not None:
        readers = _lying(signals, wheel, options.number)
    beams = learn_beams(spins, wheel.beams_deg) if wheel.beams_deg else []
    return Geometry(beams, readers, spins, options.number)


def _lying(signals: Signals, wheel: TableSetting, number: int) -> list[Learned]:
    """Return each reader's angle, if the ball lies in the pocket of `number`."""
    if not wheel.rotor_ticks:
        return []
    lying = at_rest(signals.kept)
    return learn_readers(lying, wheel.rotor_ticks, wheel.profile.pockets, number, wheel.rotor_direction)


def findings(
    signals: Signals, bench: Bench, config: Config, learned: Geometry, given: str, *, ball_given: bool
) -> Iterator[Finding]:
    """Yield everything that was found. The link comes first, because its faults explain the other findings. `given`:
    the wheel as the command line names it."""
    wheel = config.table
    source = bench.source
    if source.refused:
        yield Finding("wrong", "board_refused", *source.refused)
        return
    for name, works in sorted(source.sensors.items()):
        if not works:
            what = Text("{name} does not work, or reports nothing", {"name": sensor_text(name)})
            mend = Text("check its cable, its supply, its port")
            if source.unavailable:
                mend = Text("a line cannot be opened: {why}", {"why": "; ".join(source.unavailable)})
            yield Finding("wrong", "sensor_silent", what, mend)
    if source.unavailable and not source.sensing.is_up:
        return  # what else is wrong follows from that
    yield from of_clock(bench.clock)
    for part, line in LINES.items():
        heard = source.sensors.get(line, True)
        listed = of_link(source.counters[part], HARMLESS, part) if part in source.counters else ()
        yield from (each for each in listed if heard or each.level != "ok")
    violations = source.counters.get("gpio", {}).get("encoder_violations", 0)
    beams, readers = len(wheel.beams_deg), len(wheel.readers_deg)
    yield from of_signals(signals, beams=beams, readers=readers, violations=violations)
    yield from of_buttons(signals, _buttons(signals, config))
    yield from of_pulses(source.pulse_widths_us)
    number, pockets, seen = learned.number, wheel.profile.pockets, learned.readers
    if number is None:
        seen = in_some_pocket(_lying(signals, wheel, pockets.order[0]), wheel.readers_deg, pockets)
    order = order_of(steady(seen), wheel.readers_deg)
    way = [*of_direction(signals, wheel.rotor_direction)] or [
        *of_way(learned.spins, learned.beams, wheel.beams_deg, ball_given=ball_given, readers=order)
    ]
    yield from way
    are_mirrored = order == "mirrored" and not in_places(steady(seen), wheel.readers_deg)
    if any(each.level == "wrong" or are_mirrored for each in way):
        return  # with the wrong direction, all angles are mirrored and cannot be compared
    yield from of_geometry(learned.beams, wheel.beams_deg, "beam", to_learn(given), ball_given=ball_given)
    learn = to_learn(given, pockets.order[0] if number is None else number)
    if number is None:
        yield from of_lying(seen, wheel.readers_deg, learn)
    else:
        elsewhere = [*of_number(seen, wheel.readers_deg, pockets, number)]
        yield from elsewhere or of_geometry(seen, wheel.readers_deg, "reader", learn)


def write(
    wheel: WheelFiles,
    config: Config,
    learned: Geometry,
    *,
    ball_given: bool,
    language: Language,
    found: Sequence[Finding] = (),
) -> Exit:
    """Write the learned angles into the file, unless `found` or the angles themselves show a reason against it.

    The former file is kept beside it. Raises OSError, ConfigError.
    """
    path, table, catalogue = wheel.config, config.table, Catalogue(language)
    against = [
        *refusals.of_findings(found),
        *refusals.of_beams(learned.beams, learned.spins, table.beams_deg, ball_given=ball_given),
    ]
    if (number := learned.number) is not None and not table.rotor_ticks:
        against.append(
            Text(
                "--number finds the readers with the encoder's help, and without rotor_ticks there is no encoder: "
                "leave --number out"
            )
        )
    elif number is not None:
        pockets = table.profile.pockets
        against += refusals.of_readers(
            learned.readers, learned.spins, table.readers_deg, pockets=pockets, number=number, ball_given=ball_given
        )
    if against:
        sys.stderr.writelines(f"wheeld: {path}: {catalogue.say_text(each)}\n" for each in against)
        return Exit.BAD_DATA
    angles: dict[str, list[float]] = {}
    try:
        angles |= _angles("beam", learned.beams, len(table.beams_deg))
        angles |= _angles("reader", learned.readers, len(table.readers_deg))
        if not angles:
            raise RewriteError(Text("the sensors saw too little to find angles: spin a few times, and give --number"))
        before = path.read_bytes().decode()
        after = with_angles(before, angles)
    except RewriteError as wrong:
        sys.stderr.write(f"wheeld: {path}: {catalogue.say_text(wrong.text)}\n")
        return Exit.BAD_DATA
    parse(after, name=str(path), directory=path.parent, credentials=wheel.credentials)
    former = replace_file(path, after.encode())
    for key, values in angles.items():
        line = f"{key} = {values}"
        print(
            catalogue.say(
                "{file}: {line}; the earlier file is kept as {former}", file=path, line=line, former=former.name
            )
        )
    return Exit.OK


def _angles(kind: str, learned: list[Learned], configured: int) -> dict[str, list[float]]:
    """Return the key of the file with its new angles, or an empty dict if no angle was learned. Raises RewriteError for
    a dead or unknown sensor."""
    found, wanted = {each.index for each in learned}, set(range(configured))
    if not found:
        return {}
    if odd := sorted(found ^ wanted):
        at: dict[str, Part] = {"sensor": sensor_text(f"{kind}/{odd[0]}")}
        if odd[0] in found:
            raise RewriteError(Text("{sensor} is not in the configuration: nothing is written until it is there", at))
        raise RewriteError(Text("{sensor} reports nothing: nothing is written until it reports", at))
    return {f"{kind}s_deg": [each.angle_deg for each in learned]}
