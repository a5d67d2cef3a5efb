"""wheeld, the open controller for real roulette wheels."""

from typing import Final

VERSION: Final = "0.1.0"
"""The same as in pyproject.toml. Asking Python for it costs a daemon 2 MB, and every command a fifth of its start."""
