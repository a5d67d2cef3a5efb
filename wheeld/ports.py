"""What the daemon needs from its surroundings, as protocols: a clock, a byte link, pins, a publisher, a message store.

`wheeld` implements the protocols with real devices, `hw_sim` with simulated ones. `hw_sim` shares no code with the
core, so this module imports nothing of the core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Literal, Protocol, TypeAlias, TypeVar

import msgspec

from wheeld.errors import WheeldError

T = TypeVar("T")

READ_NS_TIGHT = 1_000_000
"""Even a small computer reads two clocks within some microseconds. If a reading took longer than this, it was
interrupted."""
READS_MAX = 20
"""The most readings. If all processors of a computer are busy, about one reading in a few hundred is interrupted."""


class LinkClosedError(WheeldError, ConnectionError):
    """The byte link has ended: somebody unplugged, reset or closed it. It cannot be used again: open a new link."""


class PublishError(WheeldError):
    """The broker did not accept a publication. The message stays owed."""


class ConnectionLostError(PublishError):
    """There is no connection, or the given connection has ended. Wait for the next connection."""


class PublishRefusedError(PublishError):
    """The broker refused this publication (access list, quota). Only the people who run the broker can change that."""


class HostClock(Protocol):
    """The two clocks of the host, and a way to wait."""

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
    """Return the host's monotonic time, the result of `read` at the same moment, and how long both took, in ns.

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
    """Bytes to and from one device: a sensor board, or a wheel head. After `LinkClosedError` this link cannot be used
    again."""

    async def read(self) -> bytes:
        """Return the next bytes, at least one. Raise `LinkClosedError` if the line has ended."""
        ...

    async def write(self, data: bytes) -> None:
        """Give all of `data` to the line. Raise `LinkClosedError` if it has ended."""
        ...

    async def close(self) -> None:
        """Release the line. To close it twice does no harm."""
        ...


Pull: TypeAlias = Literal["up", "down", "off"]
"""How the resistor inside the chip pulls the pin, and so the level of an open contact."""


class PinsError(WheeldError):
    """The pins cannot be used as configured. The message is for the person who configured them."""


class Edge(msgspec.Struct, frozen=True, gc=False):
    """Pin `pin` changed to `level` (True: high) at `at_ns`, host time.

    `seq` counts the edges of this pin from 1, if the source provides it. A gap in it then means a lost edge.
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
        """The largest error of the time of an edge, in ns, whichever clock dates the edge."""
        ...

    def listen(self, pin: int, pull: Pull) -> bool:
        """Collect every edge of `pin` from now on, and return its level."""
        ...

    def level(self, pin: int) -> bool:
        """Return the present level of `pin`, for which `listen` was called before."""
        ...

    def drive(self, pin: int, *, level: bool) -> None:
        """Set `pin` to `level`. It is an output from the first call on."""
        ...

    def take(self) -> Taken:
        """Return the edges since the last call."""
        ...

    def close(self) -> None:
        """Release every pin. Before this, set the outputs to low with `drive`. To close the pins twice does no harm."""
        ...


class Publication(msgspec.Struct, frozen=True, kw_only=True):
    """One publication: the complete topic and the exact bytes. With MQTT 5, `correlation` is sent too."""

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
        """Return when the broker has accepted `publication` over connection `session`, or raise `PublishError`."""
        ...


class OwedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A stored message that is owed. `topic`: the last part of the topic. `id` grows in publication order.

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
    """One command as received: who sent it, why, and where its answer goes. `details`: what it says beyond its name.

    `by`: the person, by the name that the sender gave. `user`: the sender's own name at the broker, None for a button.
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
"""What can happen to the device, and not at the table (docs/standards.md)."""


class EventRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One event of the device: its details, and if a person caused it, who and why."""

    event: EventName
    by: str | None = None
    why: str | None = None
    details: dict[str, object] = {}


class Receipt(Enum):
    """How a received command relates to the commands before it."""

    NEW = "new"
    """The first command with its id. It must be done and answered."""
    PENDING = "pending"
    """The command was delivered again before it was answered. One answer is enough for both."""
    REPEATED = "repeated"
    """The command was delivered again after it was answered. The same answer is owed again, and nothing is done."""
    CONFLICT = "conflict"
    """Another command had this id already. This command must be refused."""


class Store(Protocol):
    """The durable queue from which the outbox publishes."""

    async def wait_news(self) -> None:
        """Wait until something has been stored since this call returned the last time."""
        ...

    def has_news(self) -> bool:
        """Return whether `wait_news` would return at once."""
        ...

    async def owed(self, after_id: int, limit: int) -> list[OwedMessage]:
        """Return up to `limit` owed messages with an id above `after_id`, in publication order.

        Answers with a higher id may come first, marked `ahead`, because a sender waits for each answer.
        """
        ...

    async def mark_sent(self, ids: Sequence[int], *, await_settlement: bool) -> None:
        """Remember that the broker has these messages, so they are no longer owed. But with `await_settlement`,
        messages of the feed stay owed until `settle`."""
        ...

    async def settle(self, seq: int) -> int:
        """Remember that the settlement core has all messages up to `seq`. Return how many are no longer owed because of
        this.

        A message that the broker must still get, perhaps once more, stays owed. A `seq` below the last one changes
        nothing.
        """
        ...

    async def again(self, from_seq: int, limit: int) -> list[OwedMessage]:
        """Return up to `limit` messages of the feed from `from_seq` on, in the order of their numbers, owed or not."""
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
