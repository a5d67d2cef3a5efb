"""The schema of the database, as steps of alembic in plain SQL. docs/collector.md describes it."""
