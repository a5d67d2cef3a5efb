"""The base of every error that `wheeld` defines. This module imports nothing, so that every layer may use it."""

from __future__ import annotations


class WheeldError(Exception):
    """An error that this program describes in a message for people."""
