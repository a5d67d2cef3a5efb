"""`wheeld-house setup`: asks, shows what it would do, and does it."""
