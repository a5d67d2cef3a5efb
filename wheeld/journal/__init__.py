"""The journal: SQLite on disk, every record chained, written before anything is published."""
