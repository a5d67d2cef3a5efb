"""What the daemon needs from its surroundings, as protocols: a clock, a byte link, pins, a publisher, a message store.

The edges implement them with real devices, `hw_sim` with simulated ones. So this module imports nothing of the core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Literal, Protocol, TypeAlias, TypeVar

import msgspec

from wheeld.errors import WheeldError

T = TypeVar("T")

READ_NS_TIGHT = 1_000_000
"""Even a small computer reads two clocks within some microseconds. A reading that takes longer was interrupted."""
READS_MAX = 20
"""If all processors of a computer are busy, one reading in hundreds is interrupted."""


class LinkClosedError(WheeldError, ConnectionError):
    """The byte link ended: unplugged, reset or closed. A link object is used only once: open another one."""


class PublishError(WheeldError):
    """The broker did not accept a publication. It stays owed."""


class ConnectionLostError(PublishError):
    """There is no connection, or the given one has ended. Wait for the next one."""


class PublishRefusedError(PublishError):
    """The broker answered that it does not accept this publication (access list, quota). The fault is not ours."""


class HostClock(Protocol):
    """The host's two clocks, and waiting by them."""

    def monotonic_ns(self) -> int:
        """Return the host's monotonic time in nanoseconds, for durations and time-outs."""
        ...

    def utc_us(self) -> int:
        """Return UTC in microseconds since 1970, for dates that people and other systems read."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds` on the monotonic clock."""
        ...


def read_together(host_ns: Callable[[], int], read: Callable[[], T]) -> tuple[int, T, int]:
    """Return the host's monotonic clock and the result of `read` at one moment, and how long that took, in ns.

    A busy computer may interrupt this program between two clocks. The time of the interruption would look like a sleep,
    or like a step of UTC. So both are read again until there is no interruption, at most `READS_MAX` times. The
    shortest reading counts.
    """
    readings: list[tuple[int, T, int]] = []
    while len(readings) < READS_MAX and not (readings and readings[-1][-1] <= READ_NS_TIGHT):
        before_ns, value = host_ns(), read()
        readings.append((before_ns, value, host_ns() - before_ns))
    return min(readings, key=lambda reading: reading[-1])


class ByteLink(Protocol):
    """Bytes to and from one sensor board. It is used once: after `LinkClosedError` it is finished."""

    async def read(self) -> bytes:
        """Return the next bytes, at least one. Raise `LinkClosedError` at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Give all of `data` to the line. Raise `LinkClosedError` if it has ended."""
        ...

    async def close(self) -> None:
        """Release the line. It is harmless if the line is already closed."""
        ...


Pull: TypeAlias = Literal["up", "down", "off"]
"""The pin's resistor inside the chip. It decides what an open contact reads."""


class PinsError(WheeldError):
    """The pins cannot be used as configured. The message is for the person who configured them."""


class Edge(msgspec.Struct, frozen=True, gc=False):
    """Pin `pin` changed to `level` (True: high) at host monotonic `at_ns`.

    `seq` counts the edges of this pin from 1, if the source provides it. Then a gap is a lost edge.
    """

    pin: int
    level: bool
    at_ns: int
    seq: int | None = None


class Taken(msgspec.Struct, frozen=True):
    """Edges in the order in which they came. `lost`: how many other edges could not be kept or dated."""

    edges: list[Edge]
    lost: int = 0


class Pins(Protocol):
    """Lines of one GPIO chip, by the chip's own numbers. Every call except `close` may raise `PinsError`.

    Edges of one pin come in order. Edges of different pins may be slightly out of order, but their times are right.
    """

    @property
    def error_ns(self) -> int:
        """The largest difference between the time of an edge and the true time, for any clock that dates it."""
        ...

    def listen(self, pin: int, pull: Pull) -> bool:
        """Collect every edge of `pin` from now on, and return its level."""
        ...

    def level(self, pin: int) -> bool:
        """Return the present level of a `pin` that is listened to."""
        ...

    def drive(self, pin: int, *, level: bool) -> None:
        """Set `pin` to `level`. It is an output from the first call on."""
        ...

    def take(self) -> Taken:
        """Return what came since the last call."""
        ...

    def close(self) -> None:
        """Release every pin, after `drive` has set the outputs to low. It is harmless if they are already released."""
        ...


class Publication(msgspec.Struct, frozen=True, kw_only=True):
    """One publication: complete topic, exact bytes. `correlation` is sent with it if MQTT 5 is used."""

    topic: str
    payload: bytes
    qos: Literal[0, 1] = 1
    retain: bool = False
    correlation: bytes | None = None


class Publisher(Protocol):
    """A connection to a broker that may end and start again. Each connection has a higher number than the one
    before."""

    async def connected(self) -> int:
        """Wait for a connection and return its number."""
        ...

    async def lost(self, session: int) -> None:
        """Return when connection `session` has ended."""
        ...

    async def publish(self, publication: Publication, *, session: int) -> None:
        """Return when the broker has accepted it over connection `session`. Otherwise raise `PublishError`."""
        ...


class OwedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A stored message that is not confirmed. `topic`: the last part of the topic. `id` grows in publication order.

    `retain` is set only for the newest message of a retained topic, so that a late subscriber never gets an old state.
    A message that is `ahead` is published before its turn. Messages with a lower id are then still owed.
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
    """One command as received: who sent it, why, and where its answer goes. `details`: what it asks besides its name.

    `by`: the person, as named by the sender. `user`: the sender's own name at the broker, None for a button.
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
    "restored",
]
"""What can happen to the device, as distinct from what happens at the table (docs/standards.md)."""


class EventRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One event of the device: its details, and if a person caused it, who and why."""

    event: EventName
    by: str | None = None
    why: str | None = None
    details: dict[str, object] = {}


class Receipt(Enum):
    """How a received command relates to those received before it."""

    NEW = "new"
    """The first command with its id. It must be done and answered."""
    PENDING = "pending"
    """Delivered again before its answer. The answer to the first delivery serves both."""
    REPEATED = "repeated"
    """Delivered again after its answer. The same answer is owed again, and nothing is done."""
    CONFLICT = "conflict"
    """Another command with an id that is in use. It must be refused."""


class Store(Protocol):
    """The durable queue from which the outbox publishes."""

    async def wait_news(self) -> None:
        """Return when something was stored since the last call returned."""
        ...

    def has_news(self) -> bool:
        """Whether `wait_news` would return at once."""
        ...

    async def owed(self, after_id: int, limit: int) -> list[OwedMessage]:
        """Return up to `limit` owed messages with an id above `after_id`, in publication order.

        Answers to later commands may come before them, marked `ahead`, because a sender waits for them.
        """
        ...

    async def mark_sent(self, ids: Sequence[int], *, await_settlement: bool) -> None:
        """Note that the broker has these messages. With `await_settlement` sequenced ones stay owed until `settle`.
        Close the others."""
        ...

    async def settle(self, seq: int) -> int:
        """Note that settlement has all up to `seq`. Close those that the broker has too, and return how many these
        were.

        A message that is owed to the broker again closes when the broker has it. A `seq` below the last one closes
        nothing.
        """
        ...

    async def again(self, from_seq: int, limit: int) -> list[OwedMessage]:
        """Return up to `limit` sequenced messages from `from_seq` on, in the order of their numbers, owed or not."""
        ...

    async def reopen_retained(self) -> None:
        """Make the newest message of each retained topic owed again, because a restarted broker may have lost it."""
        ...

    async def last_seq(self) -> int:
        """Return the highest stored sequence number, 0 if there is none."""
        ...

    async def depth(self) -> int:
        """Return how many messages are owed."""
        ...
