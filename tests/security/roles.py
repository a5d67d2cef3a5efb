"""The table of roles in docs/interfaces.md, as data: who may read and publish which topics, and give which commands.

It is the second statement of what `wheeld/broker/roles.py` says; the tests compare the two, and the broker with both.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[2] / "docs" / "interfaces.md"
SITE = "campione"


class PageRole(NamedTuple):
    """One row: `pattern` is the user with `{table}` where the name of a table stands, if it does."""

    pattern: str
    reads: tuple[str, ...]
    publishes: tuple[str, ...]
    gives: tuple[str, ...]

    def user(self, table: str) -> str:
        """The user of this role at a table."""
        return self.pattern.format(table=table)

    def rights(self, table: str) -> set[tuple[str, str]]:
        """Each right at one table, as the broker's list writes it: "read" or "write", and a topic filter."""
        reads = {("read", filter_of(leaf, table)) for leaf in self.reads}
        given = tuple(f"cmd/{self.user(table)}/{name}" for name in self.gives)
        return reads | {("write", filter_of(leaf, table)) for leaf in (*self.publishes, *given)}


def filter_of(leaf: str, table: str) -> str:
    """The topic filter of a leaf at one table."""
    if leaf == "response":
        return f"reply/{SITE}/{table}/#"
    return leaf if leaf.startswith("wheel/") else f"wheel/v1/{SITE}/{table}/{leaf}"


def roles() -> list[PageRole]:
    """Every row of the table."""
    section = PAGE.read_text().split("\n## Roles\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| .+? \| `(.+?)` \| (.+?) \| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    return [PageRole(user, *(tuple(re.findall(r"`(.+?)`", cell)) for cell in cells)) for user, *cells in rows]
