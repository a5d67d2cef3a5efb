"""Structured damage to good inputs, by seed: flips, cuts, splices, repeats, tokens that are difficult for parsers.

A corpus is a directory of small files, one input each: inputs that reach each branch, and every input that ever found a
defect. Each form of the suite plays all of it unchanged, before inputs are drawn from it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
BYTES_MAX = 70_000
"""A little more than the longest line or payload that any reader accepts."""

NUMBERS = (
    b"0", b"-0", b"-1", b"1.5", b"1e400", b"-1e400", b"1e-400", b"255", b"256", b"65536", b"2147483648",
    b"9007199254740992", b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809",
    b"18446744073709551615", b"18446744073709551616", b"9" * 40, b"9" * 5000, b"NaN", b"nan", b"inf", b"-inf",
    b"Infinity", b"0x7f", b"1_0", b"007",
)  # fmt: skip
TEXTS = (
    b'""', b"null", b"true", b"{}", b"[]", b"[" * 20_000, b'{"a":' * 20_000, b'"\\ud800"', b'"\\u0000"', b"\x00",
    b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"\x1b[2J", b"\r", b"\n", b"\\", b'"', b"'", b"#", b"=",
    b",", b":", b"a" * 5000, "é".encode(), b"../../etc/passwd", b"1970-01-01T00:00:00Z", b"0001-01-01T00:00:00+14:00",
    b"9999-12-31T23:59:59-14:00", b"2026-02-30T00:00:00Z",
)  # fmt: skip


def kept(target: str) -> dict[str, bytes]:
    """The corpus of one target, by file name."""
    inputs = {path.name: path.read_bytes() for path in sorted((CORPUS / target).iterdir())}
    assert inputs, f"no corpus of {target}"
    return inputs


def drawn(target: str, seed: str, count: int, tokens: Sequence[bytes] = ()) -> Iterator[tuple[str, bytes]]:
    """The corpus unchanged, then `count` inputs made from it: (where it comes from, the input)."""
    corpus = kept(target)
    yield from corpus.items()
    for number in range(count):
        where = f"{target}, seed {seed}/{number}"
        yield where, Mutator(random.Random(where), list(corpus.values()), tokens).draw()


class Mutator:
    """Makes an input from the corpus by one to four steps of damage."""

    def __init__(self, rng: random.Random, corpus: Sequence[bytes], tokens: Sequence[bytes] = ()) -> None:
        self.rng = rng
        self._corpus = corpus
        self._tokens = [*NUMBERS, *TEXTS, *tokens, *tokens]
        self._ways = (self._flip, self._cut, self._splice, self._repeat, self._token, self._value, self._value)

    def draw(self) -> bytes:
        """A damaged input."""
        data = self.rng.choice(self._corpus)
        for _ in range(self.rng.choice((1, 1, 2, 4))):
            data = self.rng.choice(self._ways)(data)[:BYTES_MAX]
        return data

    def _flip(self, data: bytes) -> bytes:
        changed = bytearray(data or b"\0")
        for _ in range(self.rng.choice((1, 1, 1, 8))):
            changed[self.rng.randrange(len(changed))] ^= 1 << self.rng.randrange(8)
        return bytes(changed)

    def _cut(self, data: bytes) -> bytes:
        start, end = self._part(data)
        return data[:start] + data[end:]

    def _repeat(self, data: bytes) -> bytes:
        start, end = self._part(data)
        times: int = self.rng.choice((2, 3, 50))
        return data[:start] + data[start:end] * times + data[end:]

    def _splice(self, data: bytes) -> bytes:
        other = self.rng.choice(self._corpus)
        start, end = self._part(other)
        here = self.rng.randrange(len(data) + 1)
        return data[:here] + other[start:end] + data[self.rng.choice((here, len(data))) :]

    def _token(self, data: bytes) -> bytes:
        start, end = self._part(data)
        return data[:start] + self.rng.choice(self._tokens) + data[self.rng.choice((start, end)) :]

    def _value(self, data: bytes) -> bytes:
        """Another value in the place of one: between a separator and the next."""
        starts = [at + 1 for at, byte in enumerate(data) if byte in b":=[,"]
        if not starts:
            return self._token(data)
        start = self.rng.choice(starts)
        end = next((at for at in range(start, len(data)) if data[at] in b",}]\n"), len(data))
        return data[:start] + self.rng.choice(self._tokens) + data[end:]

    def _part(self, data: bytes) -> tuple[int, int]:
        start = self.rng.randrange(len(data) + 1)
        return start, min(len(data), start + self.rng.choice((1, 2, 8, 64, 1000)))
