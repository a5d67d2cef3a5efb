"""The daemon of one wheel: builds the edges and runs them together."""
