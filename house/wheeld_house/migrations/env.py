"""Lets alembic run the steps, all in one transaction, on the connection that `migrate` gives it."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    version_table="wheeld_house_version",
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
