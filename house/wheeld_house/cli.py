"""`wheeld-house`: collects the records of a house, keeps its database, and proves its coups to others."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from pathlib import Path

import psycopg
from sqlalchemy.exc import SQLAlchemyError

from wheeld_house import demo, proofs
from wheeld_house.collector import Collector
from wheeld_house.database import RecordStore
from wheeld_house.migrate import migrate
from wheeld_house.settings import HouseSettings, SettingsError, read_settings

FAILED, USAGE = 1, 2


def main(words: list[str] | None = None) -> int:
    """Do what the words of the command line say. Returns the exit code."""
    options = _parser().parse_args(words)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    try:
        return int(options.run(options))
    except (SettingsError, LookupError) as wrong:
        print(f"wheeld-house: {wrong}", file=sys.stderr)
        return USAGE
    except (psycopg.Error, SQLAlchemyError, OSError) as wrong:
        print(f"wheeld-house: {wrong}", file=sys.stderr)
        return FAILED


def _migrate(options: argparse.Namespace) -> int:
    migrate(options.database)
    return 0


def _collect(options: argparse.Namespace) -> int:
    asyncio.run(_collecting(read_settings(options.settings)))
    return 0


async def _collecting(settings: HouseSettings) -> None:
    for wheel in settings.wheels:
        wheel.public_key()
    collector = Collector(settings, RecordStore(settings.database, settings.name))
    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, collector.stop)
    await collector.run()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="wheeld-house", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    collect = commands.add_parser("collect", help="collect until SIGTERM")
    collect.add_argument("settings", type=Path, help="the TOML file with the settings")
    collect.set_defaults(run=_collect)
    migrating = commands.add_parser("migrate", help="bring the database to the schema of this program")
    migrating.add_argument("database", help="the connection string, of a user who may make schemas and roles")
    migrating.set_defaults(run=_migrate)
    proofs.add(commands)
    demo.add(commands)
    return parser
