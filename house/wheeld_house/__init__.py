"""The collector of a house: it keeps every record of every wheel's feed in PostgreSQL. No wheel needs it to play."""
