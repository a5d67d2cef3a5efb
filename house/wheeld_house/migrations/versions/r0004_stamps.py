"""Time-stamps of checkpoints."""

from __future__ import annotations

from wheeld_house.migrations import execute

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the database to this version of the schema."""
    execute(__file__)
