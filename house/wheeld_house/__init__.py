"""The programs of a house. The collector keeps every record of every wheel's feed in PostgreSQL, and the fleet page
shows the records. No wheel needs these programs to play."""
