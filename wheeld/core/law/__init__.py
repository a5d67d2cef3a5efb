"""The law of the table: facts, guards, the total table of rows, and its generated page."""
