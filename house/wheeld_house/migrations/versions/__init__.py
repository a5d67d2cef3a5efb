"""The steps, in their order: `revision` and `down_revision` in each."""
