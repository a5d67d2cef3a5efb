"""`wheeld acl`: prints the broker's access list, for tables that are named or that configurations describe."""

from __future__ import annotations

import argparse
import sys

from wheeld.broker.acl import access_list, same_names
from wheeld.broker.roles import TableAccess
from wheeld.cli.failure import fail
from wheeld.cli.parser import names_wheel
from wheeld.config.instance import wheel_of
from wheeld.config.reading import load
from wheeld.core.catalogue import Text
from wheeld.exits import Exit


def acl(options: argparse.Namespace) -> Exit:
    """Write the list. Raises ConfigError, KeyFileError or OSError."""
    tables = [_access(name) for name in options.tables]
    if same := ", ".join(same_names(tables)):
        why = Text(
            "two tables are called {name}, so their users would have the same names: make an access list for each "
            "table",
            {"name": same},
        )
        return fail(why, Exit.USAGE, options)
    text = access_list(tables)
    if options.output is None:
        sys.stdout.write(text)
    else:
        options.output.write_text(text, encoding="utf-8")
    return Exit.OK


def _access(name: str) -> TableAccess:
    if not names_wheel(name):
        site, table = name.split("/")
        return TableAccess.of(site, table)
    config = load(*wheel_of(name))
    return TableAccess.of(config.table.site, config.table.table, config.mqtt.users)
