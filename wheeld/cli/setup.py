"""`wheeld setup`: asks, shows what it would do, and does it."""

from __future__ import annotations

import argparse
import datetime
import socket
import sys
from collections.abc import Callable
from functools import partial
from itertools import chain

from wheeld.cli.doctor import serial_lines
from wheeld.cli.failure import catalogue_of, fail, warn
from wheeld.config.validation import wrong_port
from wheeld.core.catalogue import Text
from wheeld.exits import Exit
from wheeld.setup.answers import Answers
from wheeld.setup.broker import hosts_known
from wheeld.setup.computer import Computer, SetupError
from wheeld.setup.configuration import checked
from wheeld.setup.places import BrokerPlaces, Places
from wheeld.setup.plan import plan_of
from wheeld.setup.problems import PORTS, problems, refuse
from wheeld.setup.questions import Here, Shape, ask_all, take_defaults, value_of
from wheeld.setup.steps import Action, carry_out, shown

KEYS: dict[str, tuple[str, Shape]] = {
    "name": ("setup.name", "text"),
    "site": ("table.site", "text"),
    "table": ("table.id", "text"),
    "house": ("table.house", "text"),
    "game": ("table.game", "text"),
    "unproven": ("table.unproven", "text"),
    "board": ("sensors.port", "text"),
    "head": ("head.product", "text"),
    "head_line": ("head.port", "text"),
    "ticks": ("wheel.rotor_ticks", "number"),
    "beams": ("wheel.beams_deg", "angles"),
    "readers": ("wheel.readers_deg", "angles"),
    "rotor_direction": ("wheel.rotor_direction", "text"),
    "broker": ("mqtt.host", "text"),
    "broker_port": ("mqtt.port", "number"),
    "ca_file": ("mqtt.ca_file", "text"),
    "username": ("mqtt.username", "text"),
    "password_file": ("mqtt.password_file", "text"),
    "cert_file": ("mqtt.cert_file", "text"),
    "key_file": ("mqtt.key_file", "text"),
}
"""The key and the shape of the answer that each option gives."""
SENSORS = {"board": "board", "head": "head", "pins": "pins", "simulated": "simulated"}
BROKERS = {"house_broker": "house", "broker": "existing"}
YES = frozenset({"", "y", "yes", "o", "oui", "s", "si", "sì"})
"""The words for yes in every language: a person may answer in another language than the locale's. Enter alone means
yes, too."""


def setup(
    options: argparse.Namespace,
    computer: Computer | None = None,
    ask: Callable[[str], str] | None = None,
) -> Exit:
    """Set the wheel up. `ask` asks a person a question. Without `ask`, and without a terminal or with `--yes`, setup
    takes the defaults.

    Raises ConfigError, OSError.
    """
    computer = computer or Computer()
    if ask is None and sys.stdin.isatty() and not options.yes:
        ask = input
    try:
        return _setup(options, computer, ask)
    except SetupError as wrong:
        return fail(wrong.text, Exit.USAGE, options)
    except EOFError:
        sys.stdout.write("\n")
        return fail(Text("nobody answered: nothing was done"), Exit.USAGE, options)


def _setup(options: argparse.Namespace, computer: Computer, ask: Callable[[str], str] | None) -> Exit:
    catalogue = catalogue_of(options)
    answers = _answered(options, computer, ask)
    broker = BrokerPlaces(computer)
    plan = plan_of(answers, computer, datetime.datetime.now(datetime.UTC))
    sys.stdout.write(shown(plan, catalogue))
    if options.dry_run:
        return Exit.OK
    places = Places(computer, answers.setup().name)
    if any(step.does or step.action is Action.UNKNOWN for step in plan):
        if not computer.is_ours():
            raise SetupError(
                Text("setup writes files below /etc and starts services: run it as root (--dry-run needs no root)")
            )
        if not options.yes:
            if ask is None:
                why = catalogue.say(
                    "nothing was done, because nobody can answer here: give --yes to do it without asking"
                )
                sys.stdout.write(f"{why}\n")
                return Exit.USAGE
            if ask(f"{catalogue.say('do that? [Y/n]')} ").strip().lower() not in YES:
                sys.stdout.write(f"{catalogue.say('nothing was done')}\n")
                return Exit.OK
        carry_out(plan, computer)
    say = catalogue.say
    lines = [
        say(
            "{file} has no problems: `{command}` prints what it means",
            file=places.configuration,
            command=f"wheeld check-config {places.name}",
        )
    ]
    differing = [step for step in plan if step.action is Action.DIFFERS]
    lines += [say("not changed: {what} {why}", what=step.what, why=catalogue.say_text(step.why)) for step in differing]
    if checked(places).mqtt.ca_file == broker.authority:
        lines += [
            say(
                "copy to every device {authority}, and the device's own certificate and key from {directory}",
                authority=broker.authority,
                directory=broker.house,
            ),
            say("watch the table:"),
            f"  wheeld watch {places.name}",
        ]
    lines += [say("start the wheel:"), f"  systemctl enable --now wheeld@{places.name}"]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return Exit.OK


def _answered(options: argparse.Namespace, computer: Computer, ask: Callable[[str], str] | None) -> Answers:
    """Return all answers. What this computer lacks for the given ones is said before the first question."""
    answers, catalogue = given(options), catalogue_of(options)
    refuse(answers, computer)
    ports = [(key, answers.get(key)) for key in PORTS]
    for note in chain.from_iterable(wrong_port(key, str(port)) for key, port in ports if port):
        warn(catalogue.say_text(note))
    hosts = hosts_known(computer) or (socket.gethostname(),)
    here = Here(hosts, serial_lines(), BrokerPlaces(computer).authority, partial(problems, computer=computer))
    if ask is None:
        take_defaults(answers, here, unasked=options.yes or options.dry_run)
    else:
        ask_all(answers, here, ask, print, catalogue)
    return answers


def given(options: argparse.Namespace) -> Answers:
    """Return the answers of the file and of the options. If both answer a question, the option counts. Raises
    ConfigError, OSError."""
    answers = Answers() if options.answers is None else Answers.read(options.answers)
    for option, (key, shape) in KEYS.items():
        if (text := getattr(options, option)) is not None:
            answers.put(key, value_of(text, shape))
    for key, choices in (("setup.sensors", SENSORS), ("setup.broker", BROKERS)):
        for option, choice in choices.items():
            if getattr(options, option):
                answers.put(key, choice)
    if options.broker_name:
        answers.put("setup.broker_names", options.broker_name)
    return answers
