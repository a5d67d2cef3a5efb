"""What the fleet page needs: an index of verdicts that it searches, and the acknowledgement of alarms."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make everything. The file has several statements, so it goes to the driver as it is."""
    sql = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    connection = op.get_bind().connection.driver_connection
    assert connection is not None, "alembic runs a step on a connection"
    connection.execute(sql)


def downgrade() -> None:
    """Refuse: who acknowledged an alarm, and why, is not removed."""
    raise NotImplementedError("acknowledgements are never removed: restore a backup")
