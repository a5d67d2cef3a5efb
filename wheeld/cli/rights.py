"""Lets a command that runs as root do something with only the rights of another user."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def rights_of(user: int, groups: Sequence[int]) -> Iterator[None]:
    """Give root only the rights of a user for the block. New files get the first of `groups`. Raises OSError."""
    former, group = os.getgroups(), os.getegid()
    os.setgroups(groups)
    os.setegid(groups[0])
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(group)
        os.setgroups(former)
