"""What the daemon needs of its surroundings, as protocols: a clock, a byte link, pins, a publisher, a message store.

The edges implement them on real devices and `hw_sim` on simulated ones, so nothing here imports the core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Literal, Protocol, TypeAlias, TypeVar

import msgspec

from wheeld.errors import WheeldError

T = TypeVar("T")

READ_NS_TIGHT = 1_000_000
"""Two clocks are read within some microseconds, also on a small computer; what takes longer was interrupted."""
READS_MAX = 20
"""One reading in hundreds is interrupted on a computer whose processors are all busy."""


class LinkClosedError(WheeldError, ConnectionError):
    """The byte link ended: unplugged, reset or closed. A link object is used once; open another."""


class PublishError(WheeldError):
    """The broker did not take a publication; it stays owed."""


class ConnectionLostError(PublishError):
    """There is no connection, or no longer the one that was asked for: wait for the next one."""


class PublishRefusedError(PublishError):
    """The broker answered that it does not accept this publication (its access list, a quota): not our fault."""


class HostClock(Protocol):
    """The host's two clocks, and waiting on them."""

    def monotonic_ns(self) -> int:
        """Host monotonic time in nanoseconds: for durations and time-outs."""
        ...

    def utc_us(self) -> int:
        """UTC in microseconds since 1970: for dates that people and other systems read."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return `seconds` later on the monotonic clock."""
        ...


def read_together(host_ns: Callable[[], int], read: Callable[[], T]) -> tuple[int, T, int]:
    """The host's monotonic clock and what `read` gives, as of one moment, and how long that took, ns.

    A busy computer may interrupt us between two clocks, and what it did meanwhile would look like a sleep, or like a
    step of UTC. So they are read again until nothing came between, or `READS_MAX` times; the tightest reading counts.
    """
    readings: list[tuple[int, T, int]] = []
    while len(readings) < READS_MAX and not (readings and readings[-1][-1] <= READ_NS_TIGHT):
        before_ns, value = host_ns(), read()
        readings.append((before_ns, value, host_ns() - before_ns))
    return min(readings, key=lambda reading: reading[-1])


class ByteLink(Protocol):
    """Bytes to and from one sensor board, used once: after `LinkClosedError` it is finished."""

    async def read(self) -> bytes:
        """The next bytes, at least one; raises `LinkClosedError` at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Hand all of `data` to the line; raises `LinkClosedError`."""
        ...

    async def close(self) -> None:
        """Release the line; harmless when already closed."""
        ...


Pull: TypeAlias = Literal["up", "down", "off"]
"""The resistor that a pin gets inside the chip, which decides what an open contact reads."""


class PinsError(WheeldError):
    """The pins cannot be used as configured. The message is for the person who configured them."""


class Edge(msgspec.Struct, frozen=True, gc=False):
    """Pin `pin` went to `level` (True: high) at host monotonic `at_ns`.

    `seq` counts the edges of this pin from 1, where the provider does; then a gap is a lost edge.
    """

    pin: int
    level: bool
    at_ns: int
    seq: int | None = None


class Taken(msgspec.Struct, frozen=True):
    """Edges in the order in which they came, and how many more there were that could not be kept or dated."""

    edges: list[Edge]
    lost: int = 0


class Pins(Protocol):
    """Lines of one GPIO chip, by the chip's own numbers. Every call but those of `close` may raise `PinsError`.

    Edges of one pin come in order; those of different pins may come a little out of it, their dates are right.
    """

    @property
    def error_ns(self) -> int:
        """How far the date of an edge may be from the true one, whichever clock dates it."""
        ...

    def listen(self, pin: int, pull: Pull) -> bool:
        """Collect every edge of `pin` from now on; returns its level."""
        ...

    def level(self, pin: int) -> bool:
        """The level now of a `pin` that is listened to."""
        ...

    def drive(self, pin: int, *, level: bool) -> None:
        """Put `level` out on `pin`, which is an output from the first call on."""
        ...

    def take(self) -> Taken:
        """What came since the last call."""
        ...

    def close(self) -> None:
        """Release every pin, after the outputs were set to low with `drive`; harmless when already closed."""
        ...


class Publication(msgspec.Struct, frozen=True, kw_only=True):
    """One publication: whole topic, exact bytes. `correlation` goes with it where MQTT 5 is spoken."""

    topic: str
    payload: bytes
    qos: Literal[0, 1] = 1
    retain: bool = False
    correlation: bytes | None = None


class Publisher(Protocol):
    """A connection to a broker that comes and goes; each one has a number, larger than the one before."""

    async def connected(self) -> int:
        """Wait for a connection and return its number."""
        ...

    async def lost(self, session: int) -> None:
        """Return when connection `session` is over."""
        ...

    async def publish(self, publication: Publication, *, session: int) -> None:
        """Return when the broker has taken it over connection `session`; raises `PublishError` otherwise."""
        ...


class OwedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A stored message that is not confirmed. `topic` is the leaf; `id` grows in publication order.

    `retain` only on the newest message of a retained topic: a late subscriber must never get an old state. One that is
    `ahead` is published before its turn; messages with a lower id are still owed.
    """

    id: int
    topic: str
    payload: bytes
    seq: int | None = None
    retain: bool = False
    response_topic: str | None = None
    correlation: bytes | None = None
    ahead: bool = False


class CommandRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One command as received: who, why, and where its answer goes. `details` is what it asks beyond its name.

    `by`: the person, as the sender says; `user`: the sender's own name at the broker, None for a button.
    """

    id: str | None
    name: str
    user: str | None = None
    by: str = ""
    reason: str = ""
    details: str = ""
    response_topic: str | None = None
    correlation: bytes | None = None


EventName: TypeAlias = Literal[
    "power_up",
    "stop",
    "configuration_changed",
    "program_changed",
    "self_test",
    "sensor_failed",
    "sensor_mended",
    "link_lost",
    "link_back",
    "door_opened",
    "door_closed",
    "broker_lost",
    "broker_back",
    "clock_stepped",
    "clock_synchronised",
    "clock_not_synchronised",
    "inspection",
    "doctor",
]
"""What can happen to the device, beside what happens at the table (docs/standards.md)."""


class EventRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened to the device: who did it and why, where a person did, and its details."""

    event: EventName
    by: str | None = None
    why: str | None = None
    details: dict[str, object] = {}


class Receipt(Enum):
    """What a received command is, beside those received before it."""

    NEW = "new"
    """The first with its id: it has to be done and answered."""
    PENDING = "pending"
    """Delivered again before it was answered: the answer to the first delivery serves both."""
    REPEATED = "repeated"
    """Delivered again after it was answered: the same answer is owed again, and nothing is to be done."""
    CONFLICT = "conflict"
    """Another command under an id that is in use: it has to be refused."""


class Store(Protocol):
    """The durable queue that the outbox empties."""

    async def wait_news(self) -> None:
        """Return when something was stored after the last call returned."""
        ...

    def has_news(self) -> bool:
        """Whether `wait_news` would return at once."""
        ...

    async def owed(self, after_id: int, limit: int) -> list[OwedMessage]:
        """Up to `limit` owed messages with an id above `after_id`, in publication order.

        Before them may come answers to commands that stand further behind, marked `ahead`: somebody waits for them.
        """
        ...

    async def mark_sent(self, ids: Sequence[int], *, await_settlement: bool) -> None:
        """The broker has these. With `await_settlement` sequenced ones stay owed until `settle`; others are closed."""
        ...

    async def settle(self, seq: int) -> int:
        """The settlement core has all up to `seq`: close those that the broker has; returns how many these were.

        One that is owed to the broker again closes when the broker has it. A lower `seq` than before closes nothing.
        """
        ...

    async def again(self, from_seq: int, limit: int) -> list[OwedMessage]:
        """Up to `limit` sequenced messages from `from_seq` on, in the order of their numbers, owed or not."""
        ...

    async def reopen_retained(self) -> None:
        """Owe the newest message of each retained topic again: a restarted broker may have lost them."""
        ...

    async def last_seq(self) -> int:
        """The highest sequence number stored, 0 when none is."""
        ...

    async def depth(self) -> int:
        """How many messages are owed."""
        ...
