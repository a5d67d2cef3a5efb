"""The journal: an SQLite file. Each record is linked in a chain, and is stored before anything is published."""
