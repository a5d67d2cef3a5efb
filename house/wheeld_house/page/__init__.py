"""The fleet page of a house: every wheel at a glance, each coup with its evidence, and the alarms."""
