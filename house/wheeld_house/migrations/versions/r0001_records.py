"""The first schema: wheels, records, alarms, collectors, and the views for readers."""

from __future__ import annotations

from wheeld_house.migrations import execute

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the database to this version of the schema."""
    execute(__file__)
