"""What is not known of a configuration, because its key is wrong or missing: rules that do not read it are judged all
the same, so that a file with several mistakes is mended in one round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeVar, cast

import msgspec
from msgspec import structs

from wheeld.errors import WheeldError

S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T")


class UnknownError(WheeldError):
    """A rule reads what is not known, and cannot be judged."""


def without(whole: S, unknown: Collection[str]) -> S:
    """The same, but that these fields are not known: who reads one gets UnknownError."""
    if not unknown:
        return whole

    def read(part: S, name: str) -> object:
        if name in unknown:
            raise UnknownError(name)
        return super(kind, part).__getattribute__(name)

    kind = msgspec.defstruct("Part", [], bases=(type(whole),), namespace={"__getattribute__": read})
    return cast("S", kind(**structs.asdict(whole)))


def judged(rule: Iterator[T]) -> list[T]:
    """What a rule finds, up to where it needs what is not known."""
    found: list[T] = []
    try:
        for each in rule:
            found.append(each)  # noqa: PERF402  what was found before the error counts
    except UnknownError:
        pass
    return found
