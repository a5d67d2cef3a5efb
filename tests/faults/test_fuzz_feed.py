"""A hostile broker: for any payload only FeedError comes out, and never a message that the wheel did not publish."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from tests.faults.fuzz_mutate import drawn, kept
from tests.feed.wheel import ROOT
from wheeld.feed.message import FeedError, read_message
from wheeld.feed.order import Manner, Order
from wheeld.screen.describe import describe

TOKENS = (
    b'"seq":1', b'"seq":2', b'"seq":-1', b'"seq":1.0', b'"seq":true', b'"prev":"', b'"hash":"', b'","signature":"',
    b'"why":"seq 1 to 9999999999999999 again"', b'"why":"the last one is 0"', b'"id":"feed-1"', b'"done":true',
    b'"site":"campione"', b'"table":"campione-04"', b'"schema":"void/1"', b"reply\n", b"void\n", b"0" * 64,
)  # fmt: skip


def test_only_messages_of_the_wheel_are_handed_out(
    how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    true = [data for name, data in kept("feed").items() if name[0].isdigit()]
    outcomes: Counter[str] = Counter()
    order, now_s = _order(), 0.0
    for number, (where, data) in enumerate(drawn("feed", seed, how_many("payloads of a hostile broker"), TOKENS)):
        if number % 40 == 0:
            order = _order()
            order.connected(now_s)
            for message in true[: number // 40 % len(true)]:
                _outcome(order, message, now_s, true)
        now_s += random.Random(where).choice((0.01, 1.0, 100.0))
        try:
            outcomes[_outcome(order, data, now_s, true)] += 1
            order.question(now_s)
            assert (order.wait_s(now_s) or 0.0) >= 0.0
        except Exception as error:
            error.add_note(f"{where}: {data[:2000]!r}")
            raise
    counted(f"{outcomes.total():,} payloads and replies of a hostile broker: {dict(outcomes)}, 0 inventions")
    assert outcomes["taken"]
    assert outcomes["edited"]


def _order() -> Order:
    return Order(0, None, Manner(tell=lambda _: None))


def _outcome(order: Order, data: bytes, now_s: float, true: list[bytes]) -> str:
    leaf, _, payload = data.partition(b"\n")
    topic = leaf.decode(errors="replace")
    try:
        if topic == "reply":
            order.answered(payload)
            return "reply"
        message = read_message(topic, payload, root=ROOT)
        before = order.seq or 0
        is_next = order.take(message, now_s)
    except FeedError as error:
        order.doubt()
        return error.fault
    assert data in true, "a message that the wheel never published"
    if is_next:
        assert message.seq == before + 1
        assert describe(message.topic, message.payload, "it")
    return "taken" if is_next else "repeated or early"


@pytest.mark.parametrize(
    "payload", [b'{"laps":"x","announcement":"a","ball_direction":1}', b'{"a":"\xff"}', b"[]", b"\xff"]
)
def test_every_message_can_be_described(payload: bytes) -> None:
    """A holder of the wheel's key can sign messages that no wheel publishes: `describe` must not raise."""
    for topic in ("result", "void", "table", "notice", "board", "reply", "fact", "else"):
        assert describe(topic, payload, "en").startswith(topic)
