"""The login names with which the people at a simulated table send commands: those of the roles in `docs/interfaces.md`.

A broker with an access list accepts a name only from its own user. The demo's broker has no access list.
"""

from __future__ import annotations

_LOGINS = {"chef": "chef-{table}", "table": "table-system-{table}", "direction": "direction"}


def command_leaf(by: str, name: str, table: str) -> str:
    """Return the topic, below the table's root, on which the person `by` sends the command `name`."""
    return f"cmd/{_LOGINS[by].format(table=table)}/{name}"
