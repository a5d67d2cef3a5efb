"""wheeld, the open controller for real roulette wheels."""

from typing import Final

VERSION: Final = "0.1.0"
"""As in pyproject.toml. To ask Python for it would cost a daemon 2 MB, and every command a fifth of its start."""
