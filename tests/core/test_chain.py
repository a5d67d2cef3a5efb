"""The chain over the feed: every way to tamper with it shows."""

from __future__ import annotations

import hashlib
import re

import msgspec
import pytest

from tests.core.evening import Evening
from wheeld.core.messages.chain import (
    GENESIS,
    ChainError,
    close_with_hash,
    hash_of,
    signature,
    signed,
    unsigned,
    verify_link,
)

SEQUENCED = {"result", "void", "table"}


@pytest.fixture(scope="module")
def feed() -> list[bytes]:
    """A coup and a void, as published."""
    evening = Evening().open()
    evening.coup(8)
    evening.say("operations_done")
    evening.void_by_chef()
    return [message.bytes for message in evening.published if message.topic in SEQUENCED]


def broken_at(feed: list[bytes]) -> tuple[int, str]:
    """Index and error text of the first link that does not hold."""
    prev = GENESIS
    for index, payload in enumerate(feed):
        try:
            prev = verify_link(payload, prev)
        except ChainError as error:
            return index, str(error)
    return -1, ""


def test_vector() -> None:
    """Worked by another tool: SHA-256 of everything before `,"hash":`."""
    digest = "2c75213bdb8a54fab792ee8d0335e5ce48905f205b3ae78cc81ac937f1333ce4"
    payload = b'{"seq":1,"prev":"' + b"0" * 64 + b'"}'
    assert hashlib.sha256(payload[:-1]).hexdigest() == digest
    closed = payload[:-1] + b',"hash":"' + digest.encode() + b'"}'
    assert close_with_hash(payload) == (closed, digest)
    assert verify_link(closed, "0" * 64) == digest


def test_the_feed_as_published_holds(feed: list[bytes]) -> None:
    assert len(feed) > 8
    assert broken_at(feed) == (-1, "")


def test_seq_has_no_gaps_and_prev_is_the_hash_before(feed: list[bytes]) -> None:
    decoded = [msgspec.json.decode(payload) for payload in feed]
    assert [payload["seq"] for payload in decoded] == list(range(1, len(feed) + 1))
    assert [payload["prev"] for payload in decoded] == [GENESIS, *(payload["hash"] for payload in decoded[:-1])]


def test_a_message_edited_is_named(feed: list[bytes]) -> None:
    for index, payload in enumerate(feed):
        edited = re.sub(rb'"coup":(\d)', rb'"coup":9', payload, count=1)
        assert edited != payload
        at, problem = broken_at([*feed[:index], edited, *feed[index + 1 :]])
        assert (at, "edited" in problem) == (index, True), problem


def test_a_message_edited_and_closed_again_breaks_the_next(feed: list[bytes]) -> None:
    body = feed[3].rpartition(b',"hash":')[0].replace(b'"coup":1', b'"coup":9')
    forged, _ = close_with_hash(body + b"}")
    assert broken_at([*feed[:3], forged, *feed[4:]])[0] == 4


def test_a_message_removed_shows_at_its_place(feed: list[bytes]) -> None:
    for index in range(len(feed) - 1):
        at, problem = broken_at([*feed[:index], *feed[index + 1 :]])
        assert (at, "removed" in problem) == (index, True), problem


def test_two_messages_swapped_show(feed: list[bytes]) -> None:
    for index in range(len(feed) - 1):
        swapped = [*feed[:index], feed[index + 1], feed[index], *feed[index + 2 :]]
        assert broken_at(swapped)[0] == index


@pytest.mark.parametrize("cut", [1, 2, 3, 30, 66, 70, 75, 100])
def test_a_message_cut_short_shows(feed: list[bytes], cut: int) -> None:
    with pytest.raises(ChainError, match="cut"):
        verify_link(feed[0][:-cut], GENESIS)


@pytest.mark.parametrize("end", [b"x", b" ", b"\n"])
def test_a_byte_added_at_the_end_shows(feed: list[bytes], end: bytes) -> None:
    with pytest.raises(ChainError):
        verify_link(feed[0] + end, GENESIS)


def test_a_message_without_a_hash_is_no_link() -> None:
    with pytest.raises(ChainError, match="no hash"):
        verify_link(b'{"seq":1}', GENESIS)


def test_every_single_byte_counts(feed: list[bytes]) -> None:
    payload = feed[0]
    for at in range(len(payload)):
        wrong = bytearray(payload)
        wrong[at] ^= 1
        with pytest.raises(ChainError):
            verify_link(bytes(wrong), GENESIS)


def test_a_signature_closes_a_message_and_changes_nothing_else(feed: list[bytes]) -> None:
    in_base64 = b"A" * 86 + b"=="
    for payload in feed:
        closed = signed(payload, in_base64)
        decoded = msgspec.json.decode(closed)
        assert decoded.pop("signature").encode() == signature(closed) == in_base64
        assert decoded == msgspec.json.decode(payload)
        assert unsigned(closed) == payload == unsigned(payload)
        assert signature(payload) is None
        assert hash_of(closed) == hash_of(payload) == decoded["hash"].encode()
    assert broken_at([signed(payload, in_base64) for payload in feed]) == (-1, "")


def test_what_is_no_signature_breaks_the_chain(feed: list[bytes]) -> None:
    for wrong in (b"", b"A" * 85 + b"==", b"A" * 86, b"!" * 86 + b"=="):
        with pytest.raises(ChainError, match="no hash at its end"):
            verify_link(signed(feed[0], wrong), GENESIS)
