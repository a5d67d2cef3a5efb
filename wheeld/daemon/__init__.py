"""The daemon: builds the edges and runs them together."""
