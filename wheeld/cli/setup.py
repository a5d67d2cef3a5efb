"""`wheeld setup`: asks, shows what it would do, and does it."""

from __future__ import annotations

import argparse
import datetime
import socket
import sys
from collections.abc import Callable, Sequence

from wheeld.cli.doctor import serial_lines
from wheeld.cli.failure import fail
from wheeld.config.sections import Config
from wheeld.core.catalogue import Text
from wheeld.exits import Exit
from wheeld.setup.answers import Answers
from wheeld.setup.computer import Computer, SetupError
from wheeld.setup.configuration import checked
from wheeld.setup.places import BrokerPlaces, Places
from wheeld.setup.plan import plan_of
from wheeld.setup.questions import Here, Shape, ask_all, take_defaults, value_of
from wheeld.setup.steps import Action, Step, carry_out, shown

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
"""By option, the answer that it gives."""
SENSORS = {"board": "board", "head": "head", "pins": "pins", "simulated": "simulated"}
BROKERS = {"house_broker": "house", "broker": "existing"}


def setup(
    options: argparse.Namespace,
    computer: Computer | None = None,
    ask: Callable[[str], str] | None = None,
) -> Exit:
    """Set the wheel up. `ask` puts a question to a person; None: there is nobody, and defaults are taken.

    Raises ConfigError, OSError.
    """
    computer = computer or Computer()
    if ask is None and sys.stdin.isatty() and not options.yes:
        ask = input
    try:
        return _setup(options, computer, ask)
    except SetupError as wrong:
        return fail(str(wrong), Exit.USAGE, options)
    except EOFError:
        sys.stdout.write("\n")
        return fail(Text("nobody answers: nothing was done"), Exit.USAGE, options)


def _setup(options: argparse.Namespace, computer: Computer, ask: Callable[[str], str] | None) -> Exit:
    answers = given(options)
    here = Here(socket.gethostname(), serial_lines())
    if ask is None:
        take_defaults(answers, here)
    else:
        ask_all(answers, here, ask, print)
    plan = plan_of(answers, computer, datetime.datetime.now(datetime.UTC))
    sys.stdout.write(shown(plan))
    if options.dry_run:
        return Exit.OK
    places = Places(computer, answers.setup().name)
    if any(step.does or step.action is Action.UNKNOWN for step in plan):
        if not computer.is_ours():
            raise SetupError("setup writes below /etc and starts services: do it as root (--dry-run needs no root)")
        if not options.yes and (ask is None or ask("do that? [y/N] ").strip().lower() not in ("y", "yes")):
            sys.stdout.write("nothing was done\n" if ask else "nothing was done: --yes does it without a question\n")
            return Exit.OK
        carry_out(plan, computer)
    sys.stdout.write("".join(f"{line}\n" for line in _next(places, checked(places), plan)))
    return Exit.OK


def given(options: argparse.Namespace) -> Answers:
    """The answers of the file and of the options, which go before it. Raises ConfigError, OSError."""
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


def _next(places: Places, config: Config, plan: Sequence[Step]) -> list[str]:
    """What is left to a person."""
    lines = [f"{places.configuration} is good: `wheeld check-config` says what it means"]
    differing = [step for step in plan if step.action is Action.DIFFERS]
    lines += [f"left alone: {step.what} {step.why}" for step in differing]
    broker, table, port = BrokerPlaces(places.computer), config.table, config.mqtt.port
    if config.mqtt.ca_file == broker.authority:
        user = f"table-system-{table.table}"
        test = " --test" if table.test else ""
        lines += [
            f"every device gets {broker.authority}, and its own certificate and key from {broker.house}",
            "watch the table:",
            f"  wheeld watch {table.site}/{table.table}{test} --port {port} --ca-file {broker.authority} \\",
            f"    --cert-file {broker.user_certificate(user)} --key-file {broker.user_key(user)}",
        ]
    return [*lines, "start the wheel:", f"  systemctl enable --now wheeld@{places.name}"]
