"""For the fleet page: an index of verdicts, in which the page searches, and the acknowledgement of alarms."""

from __future__ import annotations

from wheeld_house.migrations import execute

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the database to this version of the schema."""
    execute(__file__)
