"""Values of a configuration that are unknown, because their keys are wrong or missing. Rules that do not read unknown
values are still judged, so that a person can correct several mistakes at one time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeVar, cast

import msgspec
from msgspec import structs

from wheeld.errors import WheeldError

S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T")


class UnknownError(WheeldError):
    """A rule reads an unknown value and cannot be judged."""


def without(whole: S, unknown: Collection[str]) -> S:
    """Return a copy with these fields unknown. Reading one of them raises UnknownError."""
    if not unknown:
        return whole

    def read(part: S, name: str) -> object:
        if name in unknown:
            raise UnknownError(name)
        return super(kind, part).__getattribute__(name)

    kind = msgspec.defstruct("Part", [], bases=(type(whole),), namespace={"__getattribute__": read})
    return cast("S", kind(**structs.asdict(whole)))


def judged(rule: Iterator[T]) -> list[T]:
    """Return what a rule finds before it reads an unknown value."""
    found: list[T] = []
    try:
        for each in rule:
            found.append(each)  # noqa: PERF402  results before the error are kept
    except UnknownError:
        pass
    return found
