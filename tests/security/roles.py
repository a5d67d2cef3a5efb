"""The table of roles in docs/interfaces.md, as data: who may read and publish which topics."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[2] / "docs" / "interfaces.md"
SITE = "campione"


class Role(NamedTuple):
    """One row: `user` and the leaves with `{table}` where the name of a table stands."""

    user: str
    reads: tuple[str, ...]
    publishes: tuple[str, ...]

    def rights(self, table: str) -> set[tuple[str, str]]:
        """Each right at one table, as the broker's list writes it: "read" or "write", and a topic filter."""
        reads = {("read", filter_of(leaf, table)) for leaf in self.reads}
        return reads | {("write", filter_of(leaf, table)) for leaf in self.publishes}


def filter_of(leaf: str, table: str) -> str:
    """The topic filter of a leaf at one table."""
    if leaf == "response":
        return f"reply/{SITE}/{table}/#"
    return leaf if leaf.startswith("wheel/") else f"wheel/v1/{SITE}/{table}/{leaf}"


def roles() -> list[Role]:
    """Every row of the table."""
    section = PAGE.read_text().split("\n## Roles\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| .+? \| `(.+?)` \| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    return [Role(user, *(tuple(re.findall(r"`(.+?)`", cell)) for cell in cells)) for user, *cells in rows]
