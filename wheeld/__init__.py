"""wheeld, the open controller for real roulette wheels."""
