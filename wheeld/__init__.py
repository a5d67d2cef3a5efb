"""wheeld, the open controller for real roulette wheels."""

from typing import Final

VERSION: Final = "0.1.0"
"""As in pyproject.toml. Python's own way to ask for it costs a daemon 2 MB, and every command a fifth of its start."""
