"""`wheeld-house setup`: its options and questions."""

from __future__ import annotations

import argparse
import datetime
import re
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from wheeld_house.settings import SettingsError, check_keys, raw_public_key
from wheeld_house.setup.computer import DIFFERS, HouseComputer, HouseStep
from wheeld_house.setup.plan import HousePlan, NewWheel

Ask: TypeAlias = Callable[[str], str]
_LEVEL = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
WHEEL = re.compile(rf"({_LEVEL})/({_LEVEL})")
CABINET = re.compile(rf"(?!(?:broker|collector)\Z){_LEVEL}")
"""Names that a cabinet may have: not `broker` and `collector`, because these are other users of the broker."""
HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?")
ACCEPTED = {
    "--wheel": "it must be SITE/TABLE, each of letters, digits, '.', '_' and '-'",
    "--cabinet": "it must be a name of letters, digits, '.', '_' and '-', other than broker and collector",
    "--broker-name": "it must be the name or the address of a computer",
}
"""What each option accepts, as a text for people."""
FIRST_CABINET = "cabinet-1"
TRIES = 3


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    setup = commands.add_parser(
        "setup",
        help="set up the house on this computer, or add a wheel to it",
        description="Make the database, the broker of the house, the settings and the services, and add a wheel. Asks "
        "for what no option says, shows its plan, and asks before it does anything. Done again it changes nothing.",
    )
    setup.add_argument("--wheel", metavar="SITE/TABLE", help="a wheel to add")
    setup.add_argument(
        "--key", type=Path, metavar="FILE", help="its public key, carried here: /etc/wheeld/NAME.pub of its computer"
    )
    setup.add_argument(
        "--cabinet",
        metavar="NAME",
        help=f"the cabinet whose broker the wheel uses (default for the first wheel: {FIRST_CABINET})",
    )
    setup.add_argument("--test", action="store_true", help="it is a bench table")
    setup.add_argument(
        "--broker-name",
        action="append",
        metavar="HOST",
        help="a name or address by which the cabinets' computers reach this one; their bridges use the first",
    )
    setup.add_argument("--yes", action="store_true", help="ask nothing: take defaults, and do it")
    setup.add_argument("--dry-run", action="store_true", help="show the plan, and do nothing")
    setup.set_defaults(run=run)


def run(options: argparse.Namespace, computer: HouseComputer | None = None, ask: Ask | None = None) -> int:
    """Set the house up. `ask` asks a person a question. Raises SettingsError, OSError."""
    computer = computer or HouseComputer()
    if not computer.is_ours():
        raise SettingsError("setup reads keys, writes files below /etc and starts services: run it as root")
    if ask is None and sys.stdin.isatty() and not options.yes:
        ask = input
    plan = HousePlan(computer, datetime.datetime.now(datetime.UTC))
    plan.check()
    try:
        hosts, wheel = _hosts(options, plan, ask), _wheel(options, plan, ask)
        steps = plan.steps(hosts, wheel)
        sys.stdout.write(shown(steps))
        if options.dry_run:
            return 0
        todo = [step.do for step in steps if step.do is not None]
        if todo and not options.yes:
            said = None if ask is None else ask("do that? [Y/n] ").strip().lower()
            if said not in ("", "y", "yes"):
                why = ", because nobody can answer here: give --yes to do it without asking" if said is None else ""
                sys.stdout.write(f"nothing was done{why}\n")
                return 2 if said is None else 0
        for do in todo:
            do()
    except EOFError:
        sys.stdout.write("\n")
        raise SettingsError("nobody answered: nothing was done") from None
    # Tell what a person must do next.
    lines = [f"not changed: {step.what} {step.why}" for step in steps if step.action == DIFFERS]
    changed = [step.what for step in steps if step.do is not None]
    for folder in sorted(plan.cabinets.iterdir()):
        if any(what.startswith(f"{folder}/") for what in changed):
            cabinet = folder.name
            lines += [
                f"carry {folder} to the computer with the broker of {cabinet}. There, as root, in its directory:",
                f"  install -o mosquitto -g mosquitto -m 600 {cabinet}/{cabinet}* /etc/mosquitto/certs/",
                f"  install -m 644 {cabinet}/bridge.conf /etc/mosquitto/conf.d/",
                "  systemctl restart mosquitto",
            ]
    sys.stdout.write("\n".join([*lines, "the page, on this computer: http://127.0.0.1:8500/\n"]))
    return 0


def shown(steps: list[HouseStep]) -> str:
    """Return the plan for people, one line for each step."""
    return "".join(f"  {step.action:<7}  {step.what:<58}  {step.why}\n" for step in steps)


def _hosts(options: argparse.Namespace, plan: HousePlan, ask: Ask | None) -> tuple[str, ...]:
    given, known = tuple(options.broker_name or ()), plan.hosts()
    if known:
        if not set(given) <= set(known):
            raise SettingsError(f"the broker's certificate is for {', '.join(known)}: other names need a new authority")
        return known
    if not given:
        question = "the name or address by which the cabinets' computers reach this one"
        given = (_answer(question, HOST, ask, default=socket.gethostname(), option="--broker-name"),)
    for host in given:
        _checked(host, HOST, "--broker-name")
    return given


def _wheel(options: argparse.Namespace, plan: HousePlan, ask: Ask | None) -> NewWheel | None:
    known = plan.wheels()
    keys = [(each.name, each.public_key()) for each in known if Path(each.public_key_file or "").is_file()]
    check_keys(keys)
    name = options.wheel
    if name is None and known and (ask is None or not (name := ask("a wheel to add, SITE/TABLE [none]: ").strip())):
        return None
    name = name or _answer("the first wheel, SITE/TABLE", WHEEL, ask, option="--wheel")
    site, table = _checked(name, WHEEL, "--wheel").groups()
    if any(each.table == table and each.site != site for each in known):
        raise SettingsError(f"another site has a table {table}: give one of the two another id")
    cabinet = plan.cabinet_of(name)
    if cabinet is not None and options.cabinet not in (None, cabinet):
        raise SettingsError(f"{name} is in {cabinet} already: move it by hand, in the access list and the bridge files")
    if cabinet is None:
        # Only people know which broker a further wheel uses. From a wrong broker, no record of the wheel would come.
        names = plan.cabinet_names()
        question = "the cabinet whose broker it uses" + (f", such as {', '.join(names)}" if names else "")
        default = "" if names else FIRST_CABINET
        cabinet = options.cabinet or _answer(question, CABINET, ask, default=default, option="--cabinet")
        _checked(cabinet, CABINET, "--cabinet")
    file, kept = options.key, plan.key_of(table)
    if file is None and not kept.exists():
        question = "its public key, a file carried here: /etc/wheeld/NAME.pub of its computer"
        file = Path(_answer(question, re.compile(r".+"), ask, option="--key"))
    check_keys([*keys, (name, raw_public_key(file or kept))])
    key = None if file is None else file.read_bytes()
    return NewWheel(site=site, table=table, cabinet=cabinet, key=key, test=options.test)


def _answer(question: str, accepted: re.Pattern[str], ask: Ask | None, *, option: str, default: str = "") -> str:
    """Ask until the answer is good, at most TRIES times. If nobody can answer, use the default. Raises EOFError,
    SettingsError."""
    for _ in range(TRIES if ask else 1):
        said = ask(f"{question}{f' [{default}]' if default else ''}: ").strip() if ask else ""
        if accepted.fullmatch(said or default):
            return said or default
    if ask:
        raise SettingsError(f"none of {TRIES} answers to this question can be used: nothing was done; give {option}")
    raise SettingsError(f"{question}: give {option}")


def _checked(text: str, accepted: re.Pattern[str], option: str) -> re.Match[str]:
    if (found := accepted.fullmatch(text)) is None:
        raise SettingsError(f"{text!r} cannot be {option}: {ACCEPTED[option]}")
    return found
