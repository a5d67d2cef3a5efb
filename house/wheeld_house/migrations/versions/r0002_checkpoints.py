"""Checkpoints of the wheels and cosignatures of the witnesses."""

from __future__ import annotations

from wheeld_house.migrations import execute

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the database to this version of the schema."""
    execute(__file__)
