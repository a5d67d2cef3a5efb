"""Brings the database to the schema of this program: `wheeld-house migrate`, which the database's owner runs."""

from __future__ import annotations

from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

LOCK = 0x77686565
"""The number of an advisory lock of PostgreSQL. If two programs migrate at the same time, one waits for the other."""


def migrate(database: str) -> None:
    """Do the steps that the database does not have yet. Raises psycopg.Error, SQLAlchemyError."""
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(database), poolclass=NullPool)
    config = _config()
    with engine.connect() as connection:
        connection.exec_driver_sql(f"select pg_advisory_xact_lock({LOCK})")
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()


def newest() -> str | None:
    """Return the version of the schema to which this program brings the database."""
    head: str | None = ScriptDirectory.from_config(_config()).get_current_head()
    return head


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    return config
