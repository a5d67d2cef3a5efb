"""The names under which the people at a simulated table send commands: those that `docs/interfaces.md` gives the roles.

A broker with an access list would let nobody use another's. The demo's has none.
"""

from __future__ import annotations

_LOGINS = {"chef": "chef-{table}", "table": "table-system-{table}", "direction": "direction"}


def command_leaf(by: str, name: str, table: str) -> str:
    """The topic, below the table's root, on which the person `by` gives the command `name`."""
    return f"cmd/{_LOGINS[by].format(table=table)}/{name}"
