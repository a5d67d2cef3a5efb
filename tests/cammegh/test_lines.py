"""Bytes into lines: wherever they are cut, whatever stands between."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.cammegh.lines import CAUSES, LINE_BYTES_MAX, LineDecoder

GOOD = b"*X;4;146; 9;0;158;0"


@pytest.mark.parametrize("end", [b"\r\n", b"\r", b"\n", b"\r\r\n"])
def test_a_line_ends_with_cr_lf_or_both(end: bytes) -> None:
    assert LineDecoder().feed(GOOD + end + b" 6" + end) == [GOOD.decode(), " 6"]


@pytest.mark.parametrize(
    ("data", "lines", "rejected"),
    [
        (b"*X;4;14*X;" + GOOD + b"\r\n", [GOOD.decode()], {"torn": 2}),
        (b"35" + GOOD + b"\r\n", [GOOD.decode()], {"torn": 1}),
        (GOOD + GOOD + b"\n", [GOOD.decode()], {"torn": 1}),
        (b"**\r\n", ["*"], {"torn": 0}),
        (b"\xff" + b"6\r\n" + GOOD + b"\r\n", [GOOD.decode()], {"not_text": 1}),
        (b"*X;\x002\r\n7\r\n", ["7"], {"not_text": 1}),
        (b"x" * 500 + b"\r\n" + GOOD + b"\r\n", [GOOD.decode()], {"too_long": 1}),
        (b"x" * 500 + GOOD + b"\r\n", [GOOD.decode()], {"torn": 1}),
    ],
)
def test_what_is_no_line_is_counted_and_the_next_one_is_good(
    data: bytes, lines: list[str], rejected: dict[str, int]
) -> None:
    decoder = LineDecoder()
    assert decoder.feed(data) == lines
    assert decoder.rejected == {**dict.fromkeys(CAUSES, 0), **rejected}


def test_an_endless_line_is_dropped_up_to_the_next_beginning() -> None:
    decoder = LineDecoder()
    for _ in range(10):
        assert decoder.feed(b"x" * LINE_BYTES_MAX) == []
    assert decoder.feed(b"y" + GOOD + b"\r\n") == [GOOD.decode()]
    assert decoder.rejected["too_long"] == 1


def test_a_long_tail_is_cut_at_its_last_beginning() -> None:
    decoder = LineDecoder()
    assert decoder.feed(b"x" * LINE_BYTES_MAX + GOOD[:9]) == []
    assert decoder.feed(GOOD[9:] + b"\r\n") == [GOOD.decode()]


def test_reset_forgets_the_unfinished_line() -> None:
    decoder = LineDecoder()
    decoder.feed(GOOD[:7])
    decoder.reset()
    assert decoder.feed(GOOD + b"\r") == [GOOD.decode()]
    assert sum(decoder.rejected.values()) == 0


@given(st.lists(st.sampled_from([GOOD, b"*P OK", b"27", b" 6", b"*Y;1;123", b"", b"00;0"])), st.data())
def test_cut_anywhere_the_lines_are_the_same(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\r\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=9)))
    whole, chopped, bytewise = LineDecoder(), LineDecoder(), LineDecoder()
    expected = [line.decode() for line in lines if line]
    assert whole.feed(stream) == expected
    borders = [0, *cuts, len(stream)]
    parts = [stream[a:b] for a, b in pairwise(borders)]
    assert [line for part in parts for line in chopped.feed(part)] == expected
    assert [line for byte in stream for line in bytewise.feed(bytes([byte]))] == expected


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=5))
def test_noise_never_hurts_what_follows_it(noise: bytes, cuts: list[int]) -> None:
    decoder = LineDecoder()
    for a, b in zip([0, *sorted(cuts)], [*sorted(cuts), 400], strict=True):
        decoder.feed(noise[a:b])
    assert decoder.feed(GOOD + b"\r\n")[-1] == GOOD.decode()
