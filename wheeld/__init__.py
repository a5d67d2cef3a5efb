"""wheeld, the open controller for real roulette wheels."""

from typing import Final

VERSION: Final = "0.1.0"
"""The same version as in pyproject.toml. To ask Python for it would cost a daemon 2 MB, and make the start of a command
slower by a fifth."""
