"""The root of every error that `wheeld` defines. Imports nothing, so that every layer may use it."""

from __future__ import annotations


class WheeldError(Exception):
    """Something that this program knows how to name went wrong. The message is written for a person."""
