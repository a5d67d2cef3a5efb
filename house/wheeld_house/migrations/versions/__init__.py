"""The steps. In each step, `revision` is its number, and `down_revision` the number of the step before it."""
