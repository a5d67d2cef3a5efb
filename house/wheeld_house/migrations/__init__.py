"""The schema of the database, as steps of alembic in plain SQL. docs/collector.md describes it.

No step can be undone: records, checkpoints and acknowledgements are never removed. Restore a backup instead.
"""

from __future__ import annotations

from pathlib import Path

from alembic import op


def execute(step: str) -> None:
    """Execute the SQL file beside the file `step`. It has several statements, so the driver gets it unchanged."""
    sql = Path(step).with_suffix(".sql").read_text(encoding="utf-8")
    connection = op.get_bind().connection.driver_connection
    assert connection is not None, "alembic runs a step on a connection"
    connection.execute(sql)
