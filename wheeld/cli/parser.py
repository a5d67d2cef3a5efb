"""The command line of `wheeld`: its commands, options and help, with examples."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from wheeld.cli.failure import notify_failure
from wheeld.core.catalogue import Catalogue, translatable
from wheeld.exits import Exit
from wheeld.screen.locale import LANGUAGES, language_here

RELEASE_KEY = Path("/etc/wheeld/release.pub")
"""The public key of the releases, on a wheel. It is not beside the program: a release must not bring its own key."""

_WHEEL = "the wheel's name, as in wheeld@NAME, or the file of its configuration"
_WHEEL_OR_TABLE = f"{_WHEEL}; or SITE/TABLE of a wheel that is not on this computer"

_ABOUT = """\
wheeld observes one real roulette wheel: it reads the sensors, decides by the house's regulation whether
each coup is valid or void, and publishes each verdict over MQTT with its article. It stores everything in
its journal before it publishes it.

Each wheel has a name. The wheel campione-03 has the configuration /etc/wheeld/campione-03.toml, the secrets
/etc/credstore/wheeld.campione-03.* and the journal that the configuration names. It runs as the unit
wheeld@campione-03.
"""

_EXITS = """
exit codes: wheeld help exit-codes
"""

_EXAMPLES = """\
examples:
  wheeld setup                              set up a wheel: the command asks what it needs to know
  wheeld check-config campione-03           what its configuration means, or everything that is wrong in it
  wheeld run campione-03                    run the wheel, as systemd does
  wheeld status campione-03                 does the wheel run, what does it wait for, what is wrong?
  wheeld replay evening.jsonl.gz            what the regulation says about a recorded evening
  wheeld journal verify campione-03         is the journal whole and unchanged?
  wheeld journal export campione-03 --coup 812 | wheeld replay -
  wheeld --version --verify                 is this program the one that was released?
"""

_RUN = """\
Run one wheel until SIGTERM or SIGINT. After SIGUSR1 it reads its configuration again, as soon as no coup runs.
Logs are JSON lines on standard error. If the broker or the board is not there yet, the daemon waits for it. It
ends if it cannot write the journal.
"""

_CHECK = """\
Validate a configuration and print what it means, one sentence in each line. If there are problems, all of them
are reported, each with its line in the file. Only the files that the configuration names are opened.
"""

_STATUS = """\
Say whether a wheel of this computer runs and since when, what it waits for and what is wrong. If it does not
run, say why it ended and what to do; the exit code is then 3, as that of systemctl status.
"""

_LOGS = """\
Print the log of a wheel of this computer, oldest first, each line in words. Only root and the users in the
group systemd-journal can read it.
"""

_REPLAY = """\
Apply the regulation to an observation log, as the daemon does, and print every message that the daemon
would publish: one line for people, or with --jsonl one JSON object in each line,
{"t":…,"topic":…,"payload":{…}}. The same log always gives the same bytes.
"""

_REPLAY_EXAMPLES = """\
examples:
  wheeld replay evening.jsonl.gz | grep void
  wheeld replay evening.jsonl.gz --jsonl -o messages.jsonl
  hw-sim record --seed 7 --out evening.jsonl && wheeld replay evening.jsonl
"""

_JOURNAL = """\
Read a journal, also while its daemon runs, and change nothing in it. Only seal, adopt and migrate write in the
journal, and restore makes one: stop the daemon before these. A running daemon seals its journal itself.
"""

_JOURNAL_EXAMPLES = """\
examples:
  wheeld journal verify campione-03
  wheeld journal show campione-03 --coup 812
  wheeld journal show campione-03 --topic void
  wheeld journal show campione-03 --last 10
  wheeld journal export campione-03 --coup 812 -o coup-812.jsonl
  wheeld journal backup campione-03 /mnt/backup/campione-03-monday.sqlite
  wheeld journal seal campione-03 --why inspection
"""


_DOCTOR = """\
List serial ports and GPIO chips. With a wheel, also listen to that wheel's sensors. Each second it prints
what they report, and at the end (or at Ctrl-C) what is wrong and what to do.
To find the angles of the beams, turn the rotor and spin the ball freely against it, a few times. To find the angles
of the readers, lay the ball in a pocket, give its number with --number, and turn the rotor both ways. Angles are
measured from beam 1, which keeps its own angle.
The exit code is 65 if something is wrong, and 3 if somebody should look at something. The result is stored in the
wheel's journal, if the wheel has one already.
"""

_DOCTOR_EXAMPLES = """\
examples:
  wheeld doctor
  wheeld doctor campione-03 --by Rossi
  wheeld doctor campione-03 --seconds 180 --learn
  wheeld doctor campione-03 --number 0 --learn
"""

_WATCH = """\
Show what a table publishes, one line for each message. Each message is checked as the settlement system checks it:
by number, chain and hash. First comes the state that the broker keeps, with its age. The command only listens, and
acknowledges nothing. With --from-seq it asks the wheel for earlier messages: the broker's access list must allow this.
If you name a wheel of this computer, the table and the broker are those of its configuration, and the login is the
one that `wheeld setup` made for the table's system. Options replace these.
"""

_WATCH_EXAMPLES = """\
examples:
  wheeld watch campione-03
  wheeld watch campione/campione-03 --host broker --ca-file ca.crt --cert-file inspector.crt --key-file inspector.key
  wheeld watch campione/campione-03 --from-seq 1 | grep void
"""

_RULE = """\
Send the wheel the direction's ruling on a coup that has its verdict, and print the wheel's answer. The verdict stays
as it was published. The ruling is published beside it, with who ruled and why. Log in with a name that has the role
`direction` (see wheeld acl): other names are refused.
"""

_RULE_EXAMPLES = """\
examples:
  wheeld rule campione/campione-03 --coup 812 --as stands --by Bianchi --reason "seen by the camera" --host broker \\
      --ca-file ca.crt --cert-file direction.crt --key-file direction.key
  wheeld rule campione/campione-03 --coup 812 --as 17 --by Bianchi --reason "the reader saw the pocket beside"
"""

_PAGE = """\
Serve the pages of one wheel: / for the people who look after the wheel, and /display for players. With --chef or
--bouler, also serve that person's panel on a port of its own, to everybody who gives its token. The pages get their
data from the broker; with --socket also what the sensors see. This is a program of its own: if it fails, the wheel
goes on. An argument @FILE stands for the options in that file, one word in each line. A FILE may be credential:NAME,
as in a configuration.
"""

_PAGE_EXAMPLES = """\
examples:
  wheeld page campione/campione-03 --socket /run/wheeld/campione-03.monitor
  wheeld page campione/campione-03 --chef 127.0.0.1:8401 --token-file chef.token
  wheeld page @/etc/wheeld-page/campione-03
"""

PAGE = "127.0.0.1:8400"
"""The default address. Only this computer can reach it: to serve the network, a person gives another address."""


_SETUP = """\
Set up a wheel on this computer: its configuration, its keys and, with --house-broker, a broker (mosquitto) with
certificates for the wheel and for every device. It asks what the options and the file of answers do not say.
Without a terminal, or with --yes, it takes the defaults. It shows its plan first. If you run it again, it
changes nothing that exists, and a second wheel uses the same broker. A file of answers is a configuration, as far as
you know it, with a section [setup]: name, sensors (board, pins, head or simulated), broker (house or existing),
broker_names.
"""

_SETUP_EXAMPLES = """\
examples:
  wheeld setup
  wheeld setup bench-01 --simulated --house-broker
  wheeld setup campione-03 --answers campione-03.answers.toml --dry-run
  wheeld setup campione-03 --board /dev/wheeld/0042 --ticks 148 --beams 4 --readers 30,150,270 --house-broker
"""

COUPS_MAX = 1_000
"""The most coups of `--last`, about one evening. The command replays each of them."""
_ACL = """\
Print the access list of the broker (mosquitto) for one table or several: who may publish and who may
subscribe to which topics. Of a wheel, the list also has the users to whom its configuration gives a role ([mqtt]
users). All tables of a broker must be in one list.
"""

_ACL_EXAMPLES = """\
examples:
  wheeld acl campione/campione-03 campione/campione-04 -o wheeld.acl
  wheeld acl campione-03 -o wheeld.acl
then make mosquitto the only user who can read the list (it warns about any other list):
  install -o mosquitto -g mosquitto -m 600 wheeld.acl /etc/mosquitto/wheeld.acl
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with all commands."""
    whole = _Parser(prog="wheeld", description=_ABOUT, epilog=_EXAMPLES)
    whole.add_argument("--version", action="store_true", help="print the version")
    whole.add_argument("--verify", action="store_true", help="with --version: compare the program with its release")
    whole.add_argument(
        "--release-key",
        metavar="FILE",
        type=Path,
        default=RELEASE_KEY,
        help=f"with --verify: the public key of the releases (default: {RELEASE_KEY})",
    )
    whole.set_defaults(do=lambda _: whole.error("the following arguments are required: COMMAND"))
    commands = whole.add_subparsers(title="commands", metavar="COMMAND")
    _add_setup(commands)
    _add_wheel(_command(commands, "run", "run.run", "run one wheel", _RUN))
    about = "validate a configuration and print what it means"
    check = _command(commands, "check-config", "check.check", about, _CHECK)
    _add_wheel(check)
    _add_language(check)
    status = _command(commands, "status", "unit.status", "say whether a wheel runs, and what is wrong", _STATUS)
    _add_wheel(status)
    _add_language(status)
    logs = _command(commands, "logs", "unit.logs", "print a wheel's log in words", _LOGS)
    _add_wheel(logs)
    logs.add_argument("--lines", metavar="N", type=_number(), default=50, help="print the last N lines (default: 50)")
    logs.add_argument("--follow", action="store_true", help="then print new lines as they come, until Ctrl-C")
    about = "apply the regulation to a recorded log"
    replay = _command(commands, "replay", "replay.replay", about, _REPLAY, _REPLAY_EXAMPLES)
    replay.add_argument("file", metavar="FILE", help="the log, as text or gzip; - means standard input")
    replay.add_argument("--jsonl", action="store_true", help="print JSON lines for programs, not lines for people")
    replay.add_argument("--facts", action="store_true", help="also print every fact that the law applied")
    _add_language(replay)
    replay.add_argument("--lenient", action="store_true", help="skip malformed lines and count them")
    _add_output(replay)
    _add_journal(commands)
    _add_watch_and_rule(commands)
    _add_page(commands)
    _add_doctor(commands)
    acl = _command(commands, "acl", "acl.acl", "print the access list of the broker", _ACL, _ACL_EXAMPLES)
    acl.add_argument("tables", metavar="WHEEL", type=_wheel_or(_named_table), nargs="+", help=_WHEEL_OR_TABLE)
    _add_output(acl)
    pages: dict[str, Callable[[], str]] = {"commands": whole.format_help, "exit-codes": exit_codes}
    about = "print the commands, or what each exit code means"
    page = commands.add_parser("help", help=about, description=f"{about.capitalize()}.")
    page.add_argument("page", nargs="?", choices=pages, default="commands", help="which page (default: commands)")
    page.set_defaults(do=lambda options: _print_page(pages[options.page]()))
    return whole


_NAME = "argument (?P<name>.+?): "
_WRONG = {
    _NAME + r"invalid choice: (?P<value>.+?) \(choose from (?P<choices>.+)\)": translatable(
        "{name}: {value} is not one of {choices}"
    ),
    _NAME + "invalid (int|float) value: (?P<value>.+)": translatable("{name}: {value} is not a number"),
    _NAME + "expected .+": translatable("{name}: its value is missing"),
    _NAME + "not allowed with argument (?P<other>.+)": translatable("give {name} or {other}, not both"),
    "the following arguments are required: (?P<names>.+)": translatable("missing: {names}"),
    "one of the arguments (?P<names>.+) is required": translatable("missing: one of {names}"),
    "unrecognized arguments: (?P<names>.+)": translatable("unknown: {names}"),
}
"""The messages of argparse, each with the text that a person reads instead. The messages of argparse exist in one
language only, and change with the version of Python."""


def _on_call(name: str) -> Callable[[Any], Any]:
    """Return the function "module.function" of `wheeld.cli`. Its module is imported at the call: to import all modules
    takes half a second, and a command needs only one."""
    module, function = name.split(".")

    def call(argument: Any) -> Any:
        return getattr(import_module(f"wheeld.cli.{module}"), function)(argument)

    return call


_FILE, _ADDRESS = _on_call("places.named_file"), _on_call("places.address")
_BY, _WHY = _on_call("person.person"), _on_call("person.sentence")


class _Parser(argparse.ArgumentParser):
    """A parser that keeps the line breaks of descriptions and examples. It reports errors in the screen's language."""

    def __init__(self, *, epilog: str | None = None, **kwargs: object) -> None:
        """`epilog`: the examples, or an empty text. After it, the help says where the exit codes are explained."""
        end = None if epilog is None else epilog + _EXITS
        super().__init__(formatter_class=_Formatter, epilog=end, **kwargs)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        """Print the usage of the command and what is wrong, and exit."""
        say = Catalogue(language_here()).say
        found = ((re.fullmatch(theirs, message.replace("'", "")), ours) for theirs, ours in _WRONG.items())
        said = next((say(ours, **match.groupdict()) for match, ours in found if match), message)
        self.print_usage(sys.stderr)
        notify_failure(said)
        self.exit(2, f"{self.prog}: {said}\n")


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=100)


Commands = argparse._SubParsersAction


def exit_codes() -> str:
    """Return the table of the exit codes, for people."""
    return "\n".join(["exit codes of wheeld:", *(f"  {code.value:<4}{code.text}" for code in Exit), ""])


def _print_page(text: str) -> Exit:
    sys.stdout.write(text)
    return Exit.OK


def _add_setup(commands: Commands[_Parser]) -> None:
    about = "set up a wheel, and its broker, on this computer"
    setup = _command(commands, "setup", "setup.setup", about, _SETUP, _SETUP_EXAMPLES)
    setup.add_argument("name", metavar="NAME", nargs="?", help="the wheel's name: it runs as wheeld@NAME")
    setup.add_argument("--answers", metavar="FILE", type=Path, help="a file of answers (TOML)")
    setup.add_argument("--dry-run", action="store_true", help="show the plan, and change nothing")
    setup.add_argument("--yes", action="store_true", help="ask nothing: take the defaults, and do what the plan says")
    setup.add_argument("--site", help="the casino's name, a part of every topic")
    setup.add_argument("--table", metavar="ID", help="the table's name, a part of every topic (default: NAME)")
    setup.add_argument("--house", help="the house whose regulation counts")
    setup.add_argument("--game", help="the game of this house")
    sees = setup.add_mutually_exclusive_group()
    sees.add_argument("--board", metavar="LINE", help="a sensor board on this serial line sees the wheel")
    sees.add_argument("--head", metavar="PRODUCT", help="the wheel's own head sees it")
    sees.add_argument("--pins", action="store_true", help="sensors on the pins of this computer see it")
    sees.add_argument("--simulated", action="store_true", help="a simulated board (wheeld-sim), for a bench table")
    setup.add_argument("--head-line", metavar="LINE", help="the serial line, or the URL, of the head")
    setup.add_argument("--unproven", help="what happens to a coup that the head cannot prove")
    setup.add_argument("--ticks", metavar="N", help="sectors of the rotor's encoder in one turn")
    setup.add_argument("--beams", metavar="ANGLES", help="the beams' angles, like 0,90,180,270; or how many")
    setup.add_argument("--readers", metavar="ANGLES", help="the readers' angles; or how many")
    setup.add_argument("--rotor-direction", metavar="WAY", help="the direction in which a Fair wheel turns: cw or ccw")
    broker = setup.add_mutually_exclusive_group()
    broker.add_argument("--house-broker", action="store_true", help="a new broker on this computer (mosquitto)")
    broker.add_argument("--broker", metavar="HOST", help="a broker that exists already")
    setup.add_argument("--broker-port", metavar="PORT", help="the port of that broker (default: 8883)")
    setup.add_argument(
        "--broker-name",
        metavar="HOST",
        action="append",
        help="a name or an address by which devices reach the new broker (may be repeated; default: the computer's)",
    )
    setup.add_argument("--ca-file", metavar="FILE", help="the certificate of the authority that signed the broker's")
    setup.add_argument("--username", metavar="NAME", help="the wheel's user name at the broker")
    setup.add_argument("--password-file", metavar="FILE", help="the file with the password")
    setup.add_argument("--cert-file", metavar="FILE", help="the wheel's certificate, instead of a password")
    setup.add_argument("--key-file", metavar="FILE", help="the private key of that certificate")
    _add_language(setup)


def _add_journal(commands: Commands[_Parser]) -> None:
    journal = commands.add_parser(
        "journal", help="verify, show, export or seal what was stored", description=_JOURNAL, epilog=_JOURNAL_EXAMPLES
    )
    parts = journal.add_subparsers(title="commands", metavar="COMMAND", required=True)
    verify = _add_part(parts, "verify", "check every record, the seals and the evidence")
    verify.add_argument(
        "--public-key",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="the public key of the seals (may be repeated; default: the wheel's, /etc/wheeld/NAME.pub)",
    )
    verify.add_argument(
        "--head", metavar="N:HEX", type=_on_call("journal.noted_head"), help="a record and its head, as noted elsewhere"
    )
    verify.add_argument(
        "--each-signature",
        action="store_true",
        help="check also the signature of each message, and not only that of the end, which covers every record",
    )
    show = _add_part(parts, "show", "list the stored messages and events, oldest first")
    show.add_argument("--last", metavar="N", type=_number(COUPS_MAX), help="the last N coups, each with a drawing")
    show.add_argument("--coup", metavar="N", type=int, help="only messages about this coup")
    show.add_argument("--from-seq", metavar="N", type=int, help="only messages of the feed, from this number on")
    show.add_argument("--topic", metavar="TOPIC", action="append", help='only this topic, or "event" (may be repeated)')
    show.add_argument("--jsonl", action="store_true", help="print JSON lines for programs, not lines for people")
    _add_language(show)
    export = _add_part(parts, "export", "write one coup's observation log, for wheeld replay")
    export.add_argument("--coup", metavar="N", type=int, required=True, help="the coup's number")
    _add_output(export)
    seal = _add_part(parts, "seal", "sign everything that is stored so far")
    seal.add_argument(
        "--key", metavar="FILE", type=Path, help="the private key, Ed25519, as PEM or base64 (default: the wheel's)"
    )
    seal.add_argument("--why", metavar="TEXT", type=_WHY, required=True, help="why the journal is sealed")
    seal.add_argument("--by", metavar="NAME", type=_BY, help="who seals it (default: your login name)")
    backup = _add_part(parts, "backup", "copy the journal, also while its daemon runs, and verify the copy")
    backup.add_argument("to", metavar="COPY", type=Path, help="the file of the copy; it must not exist yet")
    adopt = _add_part(parts, "adopt", "continue the feed after numbers that this journal has lost")
    known, about = _on_call("journal.known_message"), "the last message that other systems have"
    adopt.add_argument("--after", metavar="SEQ[:HASH]", type=known, required=True, help=about)
    adopt.add_argument(
        "--far", action="store_true", help="allow a step of more than a million numbers; nobody can undo it"
    )
    adopt.add_argument("--key", metavar="FILE", type=Path, help="the private key (default: the wheel's)")
    adopt.add_argument("--why", metavar="TEXT", type=_WHY, required=True, help="the reason, which is published")
    adopt.add_argument("--by", metavar="NAME", type=_BY, help="who adopts the numbers (default: your login name)")
    about = "make a lost journal again from the records that the house has, after it has verified them"
    restore = _command(parts, "restore", "journal.restore", about, f"{about.capitalize()}.", _JOURNAL_EXAMPLES)
    restore.add_argument("wheel", metavar="WHEEL", help="the wheel's name or configuration; it must have no journal")
    about = "the records, as `wheeld-house records` wrote them"
    restore.add_argument("--from-house", metavar="FILE", type=Path, required=True, help=about)
    restore.add_argument(
        "--why", metavar="TEXT", type=_WHY, default="the journal was lost", help="the reason, which is stored"
    )
    restore.add_argument("--by", metavar="NAME", type=_BY, help="who restores it (default: your login name)")
    _add_part(parts, "migrate", "bring a journal of an earlier version up to date")


def _command(
    commands: Commands[_Parser], name: str, do: str, about: str, description: str, examples: str = ""
) -> argparse.ArgumentParser:
    """Add a command that does the function `do`, and return its parser. `about`: what it does, in one line."""
    command = commands.add_parser(name, help=about, description=description, epilog=examples)
    command.set_defaults(do=_on_call(do))
    return command


def _add_output(command: argparse.ArgumentParser) -> None:
    command.add_argument("-o", "--output", metavar="FILE", type=Path, help="write there rather than to standard output")


def _add_wheel(command: argparse.ArgumentParser, *, about: str = _WHEEL, required: bool = True) -> None:
    """Add the name of a wheel. A `-c` before the name is accepted, because earlier versions of `run` and `doctor`
    needed it."""
    command.add_argument("wheel", metavar="WHEEL", nargs=None if required else "?", help=about)
    command.add_argument("-c", "--config", action="store_true", help=argparse.SUPPRESS)


def _add_language(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--language",
        choices=LANGUAGES,
        default=language_here(),
        help="the language of texts for people (default: the locale's, else en)",
    )


def _add_part(parts: Commands[_Parser], name: str, about: str) -> argparse.ArgumentParser:
    """Add the command `name` of a journal, the function of that name in `wheeld.cli.journal`."""
    do = _on_call(f"journal.{name}")
    part = _command(parts, name, f"journal.{name}", about, f"{about.capitalize()}.", _JOURNAL_EXAMPLES)
    part.add_argument("file", metavar="JOURNAL", help="the wheel's name or configuration, or a journal's file")

    def with_journal(options: argparse.Namespace) -> Any:
        """Replace the name of a wheel by its journal's file, and add its key if the command signs or verifies."""
        # This import is late, as in `_on_call`.
        from wheeld.config.instance import journal_of, public_keys_of, signing_key_of  # noqa: PLC0415

        if "key" in options:
            options.key = options.key or signing_key_of(options.file)
        if "public_key" in options:
            options.public_key = options.public_key or public_keys_of(options.file)
        options.file = journal_of(options.file)
        return do(options)

    part.set_defaults(do=with_journal)
    return part


def _add_watch_and_rule(commands: Commands[_Parser]) -> None:
    about = "show what a table publishes over MQTT"
    watch = _command(commands, "watch", "watch.watch", about, _WATCH, _WATCH_EXAMPLES)
    watch.add_argument("table", metavar="WHEEL", type=_wheel_or(_table), help=_WHEEL_OR_TABLE)
    _add_broker(watch)
    watch.set_defaults(host=None)
    watch.add_argument("--public-key", metavar="FILE", type=Path, help="accept only messages that this key signed")
    watch.add_argument("--test", action="store_true", help="for a bench table: accept only messages marked as tests")
    _add_language(watch)
    watch.add_argument("--from-seq", metavar="N", type=_number(), help="begin with this number (1: show all messages)")
    watch.add_argument("--count", metavar="N", type=_number(), help="stop after this many messages")
    rule = _command(commands, "rule", "rule.rule", "send the direction's ruling on a coup", _RULE, _RULE_EXAMPLES)
    rule.add_argument("table", metavar="SITE/TABLE", type=_table, help="as in [table] site and id")
    _add_broker(rule)
    rule.add_argument("--coup", metavar="N", type=_number(), required=True, help="the coup that the ruling is about")
    ruled, about = _on_call("rule.ruled_as"), "stands, void, other (the reason says what), or the number that counts"
    rule.add_argument("--as", dest="ruled", metavar="RULING", type=ruled, required=True, help=about)
    rule.add_argument("--by", metavar="NAME", type=_BY, required=True, help="the person who rules")
    rule.add_argument("--reason", metavar="TEXT", type=_WHY, required=True, help="why the direction rules so")
    _add_language(rule)


def _add_broker(command: argparse.ArgumentParser) -> None:
    """Add the options for the broker's address and for the login."""
    command.add_argument("--host", default="localhost", help="the broker's address (default: localhost)")
    command.add_argument("--port", type=_number(65_535), help="the broker's port (default: 1883, with TLS 8883)")
    command.add_argument("--username", metavar="NAME", help="the user name at the broker")
    command.add_argument("--password-file", metavar="FILE", type=_FILE, help="the file with the password")
    about = "the certificate of the authority that signed the broker's; turns TLS on"
    command.add_argument("--ca-file", metavar="FILE", type=_FILE, help=about)
    command.add_argument("--cert-file", metavar="FILE", type=_FILE, help="our own certificate, for TLS")
    command.add_argument("--key-file", metavar="FILE", type=_FILE, help="the private key of that certificate")


def _add_page(commands: Commands[_Parser]) -> None:
    page = commands.add_parser(
        "page",
        help="serve the wheel's pages: live, for players, for the chef, for the bouler",
        description=_PAGE,
        epilog=_PAGE_EXAMPLES,
        fromfile_prefix_chars="@",
    )
    page.add_argument("table", metavar="SITE/TABLE", type=_table, help="as in [table] site and id")
    page.add_argument(
        "--listen",
        metavar="ADDRESS:PORT",
        type=_ADDRESS,
        default=PAGE,
        help=f"serve the live page and the display there (default: {PAGE})",
    )
    page.add_argument(
        "--name",
        metavar="NAME",
        action="append",
        default=[],
        help="a name of this computer in your network, with which browsers may open the live page and the panel (may "
        "be repeated; default: the computer's own name, and its addresses)",
    )
    page.add_argument(
        "--display", metavar="ADDRESS:PORT", type=_ADDRESS, help="serve the players' display there, and nothing else"
    )
    page.add_argument("--socket", metavar="FILE", type=Path, help="the wheel's [monitor] socket, on this computer")
    page.add_argument("--state", metavar="DIR", type=Path, help="the directory in which the last 200 numbers are kept")
    _add_broker(page)
    page.add_argument(
        "--frame-of",
        metavar="ORIGIN",
        type=_on_call("places.origin_here"),
        help="the origin, on this computer, whose pages may show these pages in a frame; the simulator's bench page "
        "does so (default: none)",
    )
    page.add_argument("--metrics", metavar="ADDRESS:PORT", type=_ADDRESS, help="serve the metrics there")
    for role, token in (("chef", "--token-file"), ("bouler", "--bouler-token-file")):
        panel = page.add_argument_group(f"the {role}'s panel")
        panel.add_argument(
            f"--{role}", metavar="ADDRESS:PORT", type=_ADDRESS, help="serve the panel there, and nowhere else"
        )
        panel.add_argument(f"--{role}-username", metavar="NAME", help=f"its name at the broker (default: {role}-TABLE)")
        panel.add_argument(f"--{role}-password-file", metavar="FILE", type=_FILE, help="the file with its password")
        panel.add_argument(f"--{role}-cert-file", metavar="FILE", type=_FILE, help="its certificate for the broker")
        panel.add_argument(f"--{role}-key-file", metavar="FILE", type=_FILE, help="the private key of that certificate")
        panel.add_argument(token, metavar="FILE", type=_FILE, help="the token: whoever knows it may use the panel")
    both = page.add_argument_group("both panels")
    both.add_argument("--panel-cert-file", metavar="FILE", type=_FILE, help="the panels' certificate, for HTTPS")
    both.add_argument("--panel-key-file", metavar="FILE", type=_FILE, help="the private key of that certificate")
    about = "an authority: only browsers with a certificate that it signed may use the chef's panel"
    both.add_argument("--panel-client-ca-file", metavar="FILE", type=_FILE, help=about)
    page.set_defaults(do=_page)


def _page(options: argparse.Namespace) -> Exit:
    try:
        from wheeld.cli.page import page  # noqa: PLC0415  only this command needs a web server
    except ImportError as wrong:
        sys.stderr.write(f"wheeld: the pages need {wrong.name}, which is not installed: pip install 'wheeld[page]'\n")
        return Exit.NO_INPUT
    return page(options)


def _add_doctor(commands: Commands[_Parser]) -> None:
    about = "list what is connected, listen to the sensors, find their angles"
    doctor = _command(commands, "doctor", "doctor.doctor", about, _DOCTOR, _DOCTOR_EXAMPLES)
    _add_wheel(doctor, about=f"listen to this wheel (stop it first): {_WHEEL}", required=False)
    doctor.add_argument("--seconds", metavar="N", type=_number(86_400), default=60, help="how long (default: 60)")
    doctor.add_argument("--learn", action="store_true", help="write the found angles into the wheel's configuration")
    doctor.add_argument("--number", metavar="N", type=_pocket, help="the ball lies in this pocket: find the readers")
    doctor.add_argument("--ball", choices=("cw", "ccw"), help="the direction of the ball (default: against the rotor)")
    doctor.add_argument("--by", metavar="NAME", type=_BY, help="who runs the doctor (default: your login name)")
    _add_language(doctor)


def _pocket(text: str) -> int:
    from wheeld.core.pockets import number_of  # noqa: PLC0415  this import is late, as in `_on_call`

    try:
        return number_of(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number that is printed on a wheel") from None


def _table(text: str) -> str:
    """Return SITE/TABLE. Wildcards are refused, because a feed belongs to one table."""
    if not re.fullmatch(r"[^/+#\0]+/[^/+#\0]+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not SITE/TABLE, like campione/campione-03")
    return text


def names_wheel(text: str) -> bool:
    """Return whether the text names a wheel of this computer, and not SITE/TABLE."""
    return "/" not in text or text.endswith(".toml")


def _wheel_or(table: Callable[[str], str]) -> Callable[[str], str]:
    """Return what reads the name of a wheel of this computer, or SITE/TABLE with `table`."""
    return lambda text: text if names_wheel(text) else table(text)


def _named_table(text: str) -> str:
    """Return SITE/TABLE if `[table]` accepts both names. They are written into a file that grants rights."""
    from wheeld.core.setting import NAME_PATTERN  # noqa: PLC0415  this import is late, as in `_on_call`

    if not re.fullmatch(f"{NAME_PATTERN}/{NAME_PATTERN}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not SITE/TABLE, like campione/campione-03")
    return text


def _number(most: int = 2**53) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isdecimal() or len(text) > 16 or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {most}")
        return int(text)

    return number
