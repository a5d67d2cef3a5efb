"""A dishonest broker between wheel and feed. It holds no key of the wheel; everything else it may do.

Each of its tricks takes one message and returns what the feed receives in its place. `MISUSES` of what the wheel made
are found with or without a signature; `FORGERIES` of messages that the wheel has not made yet need one.
"""

from __future__ import annotations

import base64
import json
import random
from collections import Counter
from collections.abc import Callable

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.feed.wheel import Sent, Wheel, reply_to
from wheeld.core.messages.chain import close_with_hash, signed
from wheeld.feed import SEQUENCED

SEEN_MAX = 100
"""Messages that it keeps to send them again: more than a history has."""
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
STRANGER = Ed25519PrivateKey.from_private_bytes(b"stranger".ljust(32))

Trick = Callable[["DishonestBroker", Sent], list[Sent]]


class DishonestBroker:
    """Plays one of its tricks with each message, with probability `rate`, until `honest`."""

    def __init__(
        self, rng: random.Random, rate: float, tricks: tuple[Trick, ...], others: tuple[Wheel, ...] = ()
    ) -> None:
        self.rng = rng
        self.rate = rate
        self.tricks = tricks
        self.others = others
        """Wheels of other tables and of other keys."""
        self.played: Counter[str] = Counter()
        self.held: list[Sent] = []
        self.seen: list[Sent] = []

    def honest(self, *, forgets: bool = False) -> None:
        """From now on it passes everything on; what it held back comes with the next message, unless it `forgets`."""
        self.rate = 0.0
        if forgets:
            self.held = []

    def through(self, sent: list[Sent]) -> list[Sent]:
        """What arrives of it, in the order in which it arrives."""
        arrived: list[Sent] = []
        for message in sent:
            arrived += self._one(message)
            if self.held and self.rng.random() < 0.2:
                arrived.append(self.held.pop(self.rng.randrange(len(self.held))))
        if not self.rate:
            arrived += self.held
            self.held = []
        return arrived

    def answer(self, question: bytes) -> list[Sent] | None:
        """What the feed gets for its question from the broker itself; None: the question goes to the wheel."""
        if self.rng.random() >= self.rate:
            return None
        if nothing_more not in self.tricks:
            return [] if self.rng.random() < 0.5 else None
        return nothing_more(self, ("reply", question))

    def _one(self, message: Sent) -> list[Sent]:
        if message[0] in SEQUENCED:
            self.seen = [*self.seen[-SEEN_MAX:], message]
        if self.rng.random() >= self.rate:
            return [message]
        trick = self.rng.choice(self.tricks)
        self.played[trick.__name__] += 1
        return trick(self, message)


# --- with what the wheel made -----------------------------------------------------------------------------------------


def drop(broker: DishonestBroker, message: Sent) -> list[Sent]:
    return []


def repeat(broker: DishonestBroker, message: Sent) -> list[Sent]:
    return [message] * broker.rng.randint(2, 4)


def hold(broker: DishonestBroker, message: Sent) -> list[Sent]:
    broker.held.append(message)
    return []


def all_at_once(broker: DishonestBroker, message: Sent) -> list[Sent]:
    """What it held back, in any order."""
    everything = [*broker.held, message]
    broker.held = []
    broker.rng.shuffle(everything)
    return everything


def replay(broker: DishonestBroker, message: Sent) -> list[Sent]:
    """Old ones, in place of this one or before it."""
    old = broker.rng.choices(broker.seen or [message], k=broker.rng.randint(1, 3))
    return old if broker.rng.random() < 0.5 else [*old, message]


def alter(broker: DishonestBroker, message: Sent) -> list[Sent]:
    """One bit."""
    leaf, payload = message
    at = broker.rng.randrange(len(payload))
    return [(leaf, payload[:at] + bytes([payload[at] ^ (1 << broker.rng.randrange(8))]) + payload[at + 1 :])]


def respell(broker: DishonestBroker, message: Sent) -> list[Sent]:
    """The same signature in other letters: four bits of its last one stand for nothing."""
    leaf, payload = message
    if not payload.endswith(b'=="}'):
        return [message]
    last = BASE64.index(chr(payload[-5])) ^ broker.rng.randint(1, 15)
    return [(leaf, payload[:-5] + BASE64[last].encode() + payload[-4:])]


def cut(broker: DishonestBroker, message: Sent) -> list[Sent]:
    return [(message[0], message[1][: broker.rng.randrange(len(message[1]))])]


def clear(broker: DishonestBroker, message: Sent) -> list[Sent]:
    """As MQTT clears a retained message."""
    return [(message[0], b"")]


def misname(broker: DishonestBroker, message: Sent) -> list[Sent]:
    """On another topic."""
    return [(broker.rng.choice((*SEQUENCED, "reply", "", "../result", "wheel/v1/else/1/result")), message[1])]


def another_content(broker: DishonestBroker, message: Sent) -> list[Sent]:
    """Behind the true one, another with its number and a hash that fits."""
    return [message, (message[0], _with(message, broker, number=36))] if message[0] in SEQUENCED else [message]


def rubbish(broker: DishonestBroker, message: Sent) -> list[Sent]:
    return [(message[0], broker.rng.choice((b"rubbish", b"{}", b"[]", b"null", b"\xff", b'{"seq":1}', b"[" * 5000)))]


# --- of its own -------------------------------------------------------------------------------------------------------


def invent(broker: DishonestBroker, message: Sent) -> list[Sent]:
    """In place of this one, another that fits the chain: unsigned, signed by a stranger, or with a true signature."""
    return [(message[0], _with(message, broker, number=36))] if message[0] in SEQUENCED else []


def far_ahead(broker: DishonestBroker, message: Sent) -> list[Sent]:
    """With a number that the wheel will not reach."""
    forged = _with(message, broker, seq=broker.rng.choice((10**9, 2**53))) if message[0] in SEQUENCED else b""
    return [(message[0], forged), message]


def gone(broker: DishonestBroker, message: Sent) -> list[Sent]:
    """That says that the numbers before it are gone for good."""
    if message[0] not in SEQUENCED:
        return []
    gap = {"first_seq": 1, "last_seq": json.loads(message[1])["seq"] - 1, "by": "Anna", "why": "lies"}
    return [("table", _with(("table", message[1]), broker, gap=gap))]


def of_another(broker: DishonestBroker, message: Sent) -> list[Sent]:
    """Of another table with the same key, or of this table with another key; now and then both."""
    if not broker.others:
        return []
    more = [message] if broker.rng.random() < 0.5 else []
    return [broker.rng.choice(broker.rng.choice(broker.others).sent), *more]


def lying_answer(broker: DishonestBroker, message: Sent) -> list[Sent]:
    """A reply is not signed: it may say anything to the question."""
    leaf, payload = message
    if leaf != "reply":
        return [message]
    reply = json.loads(payload)
    last = broker.rng.choice(
        (0, 1, reply["last_seq"], reply["last_seq"] - 1, reply["last_seq"] + 7, 2**53, -1, None, "7")
    )
    reply |= {"done": broker.rng.random() < 0.5, "last_seq": last, "why": "because"}
    return [(leaf, json.dumps(reply).encode())]


def nothing_more(broker: DishonestBroker, message: Sent) -> list[Sent]:
    """The answer is the broker's, and says that there is nothing; behind it comes what makes the feed ask once more."""
    leaf, payload = message
    if leaf != "reply":
        return []
    asked = json.loads(payload)
    last = asked.get("from_seq", 1) - 1 if broker.rng.random() < 0.95 else broker.rng.randint(0, 3)
    newest = [broker.seen[-1]] if broker.seen else []
    return [reply_to(payload, done=False, why="because", last_seq=last), *newest]


def _with(message: Sent, broker: DishonestBroker, **more: object) -> bytes:
    """The message's content with other members, chained to the same one and closed anew."""
    body = json.loads(message[1])
    true_signature = body.pop("signature", None)
    prev = body.pop("prev")
    del body["hash"]
    payload, digest = close_with_hash(json.dumps({**body, **more, "prev": prev}, separators=(",", ":")).encode())
    stranger = base64.b64encode(STRANGER.sign(digest.encode()))
    signature = broker.rng.choice((None, stranger, true_signature and true_signature.encode()))
    return payload if signature is None else signed(payload, signature)


MISUSES: tuple[Trick, ...] = (
    drop, repeat, hold, all_at_once, replay, alter, cut, clear, misname, another_content, rubbish,
)  # fmt: skip
FORGERIES: tuple[Trick, ...] = (respell, invent, far_ahead, gone, of_another, lying_answer, nothing_more)
