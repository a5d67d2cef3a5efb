"""`wheeld-house`: sets up a house, collects and shows its records, and proves its coups to people outside it."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from getpass import getpass
from pathlib import Path

import psycopg
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from wheeld_house import proofs, records
from wheeld_house.collector import Collector
from wheeld_house.database import RecordStore
from wheeld_house.migrate import migrate
from wheeld_house.page.password import password_hash
from wheeld_house.page.settings import LISTEN, read_page_settings
from wheeld_house.settings import HouseSettings, SettingsError, check_keys, read_settings
from wheeld_house.setup import command as setup

FAILED, USAGE = 1, 2


def main(words: list[str] | None = None) -> int:
    """Do what the command line asks. Returns the exit code."""
    words = sys.argv[1:] if words is None else words
    try:
        "".join(words).encode()
    # Python makes characters that UTF-8 does not have if a byte of the command line is not UTF-8.
    except UnicodeEncodeError:
        print("wheeld-house: an argument of this command is not a text in UTF-8", file=sys.stderr)
        return USAGE
    options = parser().parse_args(words)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    try:
        return int(options.run(options) or 0)
    except (SettingsError, LookupError) as wrong:
        print(f"wheeld-house: {wrong}", file=sys.stderr)
        return USAGE
    except (psycopg.Error, SQLAlchemyError, OSError) as wrong:
        # Details that only a programmer needs are left out.
        told = str(wrong.orig if isinstance(wrong, DBAPIError) else wrong).strip()
        if isinstance(wrong, OSError) and wrong.filename:
            told = f"{wrong.filename}: {wrong.strerror}"
        print(f"wheeld-house: {told}", file=sys.stderr)
        return FAILED


async def _collect(settings: HouseSettings) -> None:
    check_keys((wheel.name, wheel.public_key()) for wheel in settings.wheels)
    collector = Collector(settings, RecordStore(settings.database, settings.name))
    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, collector.stop)
    await collector.run()


def _demo(options: argparse.Namespace) -> int:
    try:
        from wheeld_house import demo  # noqa: PLC0415  the demo needs the simulator, which is optional
    except ModuleNotFoundError as missing:
        raise SettingsError(f"the demo needs {missing.name}: install wheeld-house[demo]") from None
    return demo.run(wheels=options.wheels, coups=options.coups)


def _password(_: argparse.Namespace) -> None:
    try:
        print(password_hash(getpass("Password: ")))
    except EOFError:
        raise SettingsError("no password was given: give the command again, and type one") from None


def _page(options: argparse.Namespace) -> None:
    try:
        from wheeld_house.page.serve import serve  # noqa: PLC0415  the page is optional: no collector needs it
    except ModuleNotFoundError as missing:
        raise SettingsError(f"the page needs {missing.name}: install wheeld-house[page]") from None
    asyncio.run(serve(read_page_settings(options.settings, database=options.database, listen=options.listen)))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    whole = argparse.ArgumentParser(prog="wheeld-house", description=__doc__)
    commands = whole.add_subparsers(dest="command", required=True)
    collect = commands.add_parser("collect", help="collect until SIGTERM")
    collect.add_argument("settings", type=Path, help="the TOML file with the settings")
    collect.set_defaults(run=lambda options: asyncio.run(_collect(read_settings(options.settings))))
    migrating = commands.add_parser("migrate", help="bring the database to the schema of this program")
    migrating.add_argument("database", help="the connection string, of a user who may make schemas and roles")
    migrating.set_defaults(run=lambda options: migrate(options.database))
    setup.add(commands)
    proofs.add(commands)
    records.add(commands)
    page = commands.add_parser("page", help="show every wheel in a browser until SIGTERM")
    page.add_argument("settings", type=Path, nargs="?", help="the TOML file with the settings of the page")
    page.add_argument("--database", help="the connection string, instead of the one in the settings")
    page.add_argument("--listen", metavar="HOST:PORT", help=f"the address (default, if no settings name it: {LISTEN})")
    page.set_defaults(run=_page)
    password = commands.add_parser("password", help="ask for a password, and print its hash for the settings")
    password.set_defaults(run=_password)
    demo = commands.add_parser(
        "demo",
        help="a house on this computer, until Ctrl-C",
        description="Start PostgreSQL in a folder that is removed at the end, a broker, simulated wheels with their "
        "daemons, and a collector. Show each verdict when it is in the database.",
    )
    demo.add_argument("--coups", type=int, default=0, metavar="N", help="end after N verdicts (0: at Ctrl-C)")
    demo.add_argument("--wheels", type=int, default=3, metavar="N", help="how many, 1 to 36 (default 3)")
    demo.set_defaults(run=_demo)
    return whole
