"""The daemon of one wheel: builds all parts and runs them together."""
