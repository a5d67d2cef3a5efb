"""`python -m tests.feed.broken HISTORIES SEED`: breaks the feed on purpose, one way after the other, and says in how
many histories of a dishonest broker that is found."""

from __future__ import annotations

import base64
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest import mock

import wheeld.feed.message
import wheeld.feed.order
from tests.feed.histories import play
from wheeld.feed import FeedMessage
from wheeld.feed.order import Order

SECONDS_OF_EVER = 1e12


def no_signature() -> AbstractContextManager[object]:
    """Signatures are not checked."""
    return mock.patch.object(wheeld.feed.message, "_is_signed", return_value=True)


def any_spelling() -> AbstractContextManager[object]:
    """The letters of a signature may stand for the same bytes in another spelling."""

    def check(in_base64: bytes, digest: bytes, verify: Callable[[bytes, bytes], bool]) -> bool:
        return verify(base64.b64decode(in_base64), digest)

    return mock.patch.object(wheeld.feed.message, "_is_signed", check)


def any_table() -> AbstractContextManager[object]:
    """Whose a message is, and on which topic it came, is not compared."""
    read = wheeld.feed.message.read_message

    def careless(topic: str, payload: bytes, *, root: str, **more: Any) -> FeedMessage:
        body, _ = wheeld.feed.message._body(topic, payload)
        own = f"wheel/v1/{body.get('site')}/{body.get('table')}"
        return read(str(body.get("schema")).removesuffix("/1"), payload, root=own, **more)

    return mock.patch("wheeld.feed.connection.read_message", careless)


def no_order() -> AbstractContextManager[object]:
    """Whatever is newer than the last one is the next."""
    return mock.patch.object(Order, "_wait_for_the_rest", lambda order, *_: setattr(order, "_hash", None))


def repeats() -> AbstractContextManager[object]:
    """A repeat of the last message is handed out."""
    take = Order.take

    def doubling(order: Order, message: FeedMessage, now_s: float) -> bool:
        return take(order, message, now_s) or message.seq == order.seq

    return mock.patch.object(Order, "take", doubling)


def no_quiet_question() -> AbstractContextManager[object]:
    """A feed that has heard nothing for long asks nothing."""
    due_s = Order._due_s

    def never(order: Order) -> float | None:
        found = due_s(order)
        return SECONDS_OF_EVER if found == order._since_s + order._manner.quiet_s else found

    return mock.patch.object(Order, "_due_s", never)


@contextmanager
def no_question_when_connected() -> Iterator[None]:
    """A new connection asks nothing, and a quiet feed neither."""
    with no_quiet_question(), mock.patch.object(Order, "connected", lambda order, _: setattr(order, "_asked", None)):
        yield


@contextmanager
def no_doubt() -> Iterator[None]:
    """A refused message is no reason to ask, nor is quiet."""
    with no_quiet_question(), mock.patch.object(Order, "doubt"):
        yield


def asks_once() -> AbstractContextManager[object]:
    """A question that gets no answer is not asked again."""
    return mock.patch.object(Order, "_patience_s", return_value=SECONDS_OF_EVER)


def believes_at_once() -> AbstractContextManager[object]:
    """A false answer lets the feed ask again within a second."""
    due_s = Order._due_s

    def hasty(order: Order) -> float | None:
        is_gap = order._asked is None and order._first_s is None and order._beyond > (order.seq or 0)
        return order._asked_s + 1 if is_gap else due_s(order)

    return mock.patch.object(Order, "_due_s", hasty)


def asks_for_each() -> AbstractContextManager[object]:
    """Each refused message is a question at once."""

    def hasty(order: Order) -> None:
        order._unsure, order._wait_s = True, 0.0

    return mock.patch.object(Order, "doubt", hasty)


def acks_early() -> AbstractContextManager[object]:
    """What came is acknowledged, stored or not."""
    hand_out = wheeld.feed.Feed._hand_out

    def hasty(feed: wheeld.feed.Feed, item: Any) -> None:
        hand_out(feed, item)
        if isinstance(item, FeedMessage):
            feed._stored_seq = item.seq
            feed._owe_ack()

    return mock.patch.object(wheeld.feed.Feed, "_hand_out", hasty)


BROKEN: dict[str, Callable[[], AbstractContextManager[object]]] = {
    broken.__name__: broken
    for broken in (
        no_signature, any_spelling, any_table, no_order, repeats, no_question_when_connected, no_quiet_question,
        no_doubt, asks_once, believes_at_once, asks_for_each, acks_early,
    )
}  # fmt: skip


def main() -> None:
    histories, seed = int(sys.argv[1]), sys.argv[2]
    for name, broken in BROKEN.items():
        with broken():
            found = [problems for n in range(histories) if (problems := play(f"{seed}/{n}").problems)]
        kinds = Counter(problems[0].partition(":")[0] for problems in found)
        how = ", ".join(f"{kind} {count}" for kind, count in kinds.items())
        sys.stdout.write(f"{name}: found in {len(found)} of {histories} histories ({how})\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
