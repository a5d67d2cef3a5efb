"""docs/feed-vectors.json is what the program makes today, and wheeld.feed finds in each case what the file says."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.documents.vectors import FILE, payload_of, text, vectors
from wheeld.core.messages.chain import GENESIS, verify_link
from wheeld.feed import FeedError, Manner
from wheeld.feed.message import ed25519, read_json, read_message
from wheeld.feed.order import Order

VECTORS = vectors()
KEY = base64.b64decode(VECTORS["public_key"])
MESSAGES: list[dict[str, Any]] = VECTORS["messages"]


def test_the_file_is_up_to_date() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "python -m tests.documents.vectors writes it anew"
    read_json(FILE.read_bytes())  # as strictly as the page wants a consumer to read


def test_the_messages_are_as_the_page_says() -> None:
    """With a hash and a signature of its own, not by the program's code."""
    prev = GENESIS
    for message in MESSAGES:
        payload = message["payload"].encode()
        assert hashlib.sha256(payload[: message["hashed_bytes"]]).hexdigest() == message["hash"]
        assert payload[message["hashed_bytes"] :].startswith(b',"hash":"')
        Ed25519PublicKey.from_public_bytes(KEY).verify(
            base64.b64decode(message["signature"]), message["hash"].encode("ascii")
        )
        assert message["prev"] == prev
        prev = verify_link(payload, prev)


def found(case: dict[str, Any]) -> str:
    """What wheeld.feed finds."""
    order = Order(0, None, Manner(tell=lambda _: None))
    for one in MESSAGES[: case["stored"]]:
        order.take(read_message(one["topic"], one["payload"].encode(), root=VECTORS["root"]), 0.0)
    verify = ed25519(KEY) if case["key"] else None
    try:
        message = read_message(case["topic"], payload_of(case), root=VECTORS["root"], verify=verify)
        if lost := order.lost_before(message):
            return lost.fault
        if order.take(message, 0.0):
            return "next"
        return "repeat" if order.seq is not None and message.seq <= order.seq else "gap"
    except FeedError as error:
        return error.fault


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["what"])
def test_the_feed_finds_what_the_file_says(case: dict[str, Any]) -> None:
    assert found(case) == case["finds"]


def test_every_fault_of_one_message_has_a_case() -> None:
    kinds = {"malformed", "foreign", "test", "edited", "signature", "chain", "conflict", "lost"}
    assert {case["finds"] for case in VECTORS["cases"]} == {*kinds, "next", "repeat", "gap"}
