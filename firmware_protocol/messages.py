"""The messages of protocol version 1, one structure for each, and the limits of their fields. `wire` packs them.

The specification is `README.md` in this directory. `board_us` is the board's clock, in microseconds since its start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import msgspec

Direction: TypeAlias = Literal["cw", "ccw"]
SensorKind: TypeAlias = Literal["beam", "reader", "rotor", "object"]
ObjectLevel: TypeAlias = Literal["clear", "present", "unknown"]
DoorLevel: TypeAlias = Literal["closed", "open", "unknown"]
Button: TypeAlias = Literal[
    "open",
    "operations_done",
    "rien_ne_va_plus",
    "rien_va",
    "tout_va",
    "last_coup",
    "close",
    "suspend",
    "resume",
    "last_coup_off",
]

# A code on the wire is the index in one of these lists, so new values must be appended.
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
SENSOR_KINDS: tuple[SensorKind, ...] = get_args(SensorKind)
BUTTONS: tuple[Button, ...] = get_args(Button)
OBJECT_LEVELS: tuple[ObjectLevel, ...] = get_args(ObjectLevel)
DOOR_LEVELS: tuple[DoorLevel, ...] = get_args(DoorLevel)
STANDS: dict[str, tuple[str, ...]] = {"object": OBJECT_LEVELS, "door": DOOR_LEVELS}
"""The members of `Levels` at the end of a heartbeat, in this order. The three values of each member mean off, on and
unknown."""

VERSION = 1
BEAMS_MAX = 16
"""Four are usual. With sixteen the result of a self-test of all sensors still fits one frame."""
READERS_MAX = 16
"""Three are usual. The limit has the same reason as that of beams."""
ROTOR_TICKS_MAX = 4096
"""A finer encoder would fill the wire: 4096 ticks at one turn a second are already 32 kB/s."""
EVENTS_MAX = 28
"""The number of 8-byte records that fit in a frame after the header of EVENTS."""
SPAN_US_MAX = 2**32 - 1
"""A record has 32 bits for the time since the first event of its frame: 71 minutes. A later event needs a new frame."""
COUNT_MAX = 2**64 - 1
"""The limit of event numbers and board times. 64 bits never overflow in practice, so no code handles an overflow."""
HEARTBEAT_US = 100_000
"""Ten heartbeats a second, 700 B/s. If three are lost, this does not count as silence: the host's time-out is one
second.

Rotor edges wait for the next heartbeat: a void because of the rotor may take 2 s. No other event waits: after a foreign
object or a command a void must be published within 50 ms."""
RING_MS_MIN = 1500
"""How long the ring of a board with 8 kB of RAM or more must last at its top rate: longer than a person needs to pull
out a plug and put it back."""
RING_EVENTS_MIN = 64
"""The smallest ring: two full messages, and what comes while they are sent."""
SELF_TEST_US_MAX = 500_000
"""The longest time from the request of a self-test to its result. The board may have to wait until a beam is free."""
TEXT_BYTES = 16
"""The longest serial number or firmware version: enough for a chip's 64-bit id in hexadecimal, or for
`1.2.3-rc4+abc`."""


class RotorEdge(msgspec.Struct, frozen=True):
    """The rotor has just entered encoder sector `tick` (absolute). It turns in `direction`, seen from above."""

    tick: int
    direction: Direction


class BallPass(msgspec.Struct, frozen=True):
    """Something crossed beam number `beam` of the track."""

    beam: int


class PocketSighting(msgspec.Struct, frozen=True):
    """The ball, lying in a pocket, passed under reader number `reader`."""

    reader: int


class ObjectSeen(msgspec.Struct, frozen=True):
    """The cylinder's object sensor sees an object that is not the ball (`present`), or no longer sees one."""

    present: bool


class SensorReport(msgspec.Struct, frozen=True):
    """Sensor `index` of `kind` works from now on (`ok`), or has failed. `index` is 0 if there is only one."""

    kind: SensorKind
    index: int
    ok: bool

    @property
    def name(self) -> str:
        """The name in the observation log: `beam/2`, `rotor`."""
        return f"{self.kind}/{self.index}" if self.kind in ("beam", "reader") else self.kind


class ButtonPress(msgspec.Struct, frozen=True):
    """A person pressed the button that means `button`."""

    button: Button


class DoorMoved(msgspec.Struct, frozen=True):
    """The cabinet's door was opened (`open`), or closed."""

    open: bool


Event: TypeAlias = RotorEdge | BallPass | PocketSighting | ObjectSeen | SensorReport | ButtonPress | DoorMoved


class Record(NamedTuple):
    """The events of the sensors called `name`. `most`: the highest number of such sensors. 0 means a single sensor with
    two levels."""

    name: str
    event: Callable[[Any], Event]
    most: int = 0


RECORDS: dict[int, Record] = {
    2: Record("beam", BallPass, BEAMS_MAX),
    3: Record("reader", PocketSighting, READERS_MAX),
    4: Record("object", ObjectSeen),
    8: Record("door", DoorMoved),
}
"""The kinds of events that are made from one value, by their codes. `wire` packs the other kinds, which contain more
values."""
SENSOR_LIMITS: dict[SensorKind, int] = {"beam": BEAMS_MAX, "reader": READERS_MAX, "rotor": 1, "object": 1}
"""The highest number of sensors of each kind."""


class TimedEvent(msgspec.Struct, frozen=True):
    """An event and the board time of its edge."""

    board_us: int
    event: Event


class Layout(msgspec.Struct, frozen=True):
    """The sensors with which the board is configured. `door_switch`: a switch reports whether the cabinet's door is
    open."""

    beams: int
    readers: int
    rotor_ticks: int
    object_sensor: bool
    door_switch: bool = False

    @property
    def tested(self) -> dict[SensorKind, int]:
        """The number of sensors of each kind that a self-test reports."""
        return {
            "beam": self.beams,
            "reader": self.readers,
            "rotor": int(self.rotor_ticks > 0),
            "object": int(self.object_sensor),
        }

    @property
    def stands(self) -> dict[str, bool]:
        """Which members of `STANDS` the board can report."""
        return {"object": self.object_sensor, "door": self.door_switch}


class Hello(msgspec.Struct, frozen=True):
    """Host → board: asks for the identity. The host supports these versions. The answer contains `token`."""

    token: int
    version_min: int = VERSION
    version_max: int = VERSION


class Ack(msgspec.Struct, frozen=True):
    """Host → board: every event of this boot before `next_seq` is stored at the host."""

    boot_id: int
    next_seq: int


class Replay(msgspec.Struct, frozen=True):
    """Host → board: asks again for the events from `from_seq` on."""

    boot_id: int
    from_seq: int


class SyncRequest(msgspec.Struct, frozen=True):
    """Host → board: asks for the board's time. The answer contains `token`."""

    token: int


class SelfTestRequest(msgspec.Struct, frozen=True):
    """Host → board: asks for a test of every sensor. The answer contains `token`."""

    token: int


class Identity(msgspec.Struct, frozen=True):
    """Board → host: answers Hello. The board supports `version_min`…`version_max`. `version` 0 means that there is no
    common version.

    The ring contains the events `oldest_seq`…`next_seq`-1. A host has acknowledged those before `acked_seq`.
    `config_hash` is 16 hexadecimal digits that are not interpreted here. They are enough to distinguish the
    configurations of a house, but they do not protect against an attack.

    The newest `ring_events` events are always in the ring. The board keeps every event, up to `top_rate` a second.
    """

    token: int
    version: int
    version_min: int
    version_max: int
    boot_id: int
    oldest_seq: int
    acked_seq: int
    next_seq: int
    serial: str
    firmware: str
    config_hash: str
    ring_events: int
    top_rate: int
    layout: Layout

    @property
    def ring_ms(self) -> int:
        """How long the ring lasts at the top rate."""
        return self.ring_events * 1000 // self.top_rate


class Events(msgspec.Struct, frozen=True):
    """Board → host: 1 to 28 events in order of time, numbered from `first_seq` on."""

    boot_id: int
    first_seq: int
    events: tuple[TimedEvent, ...]


class Levels(msgspec.Struct, frozen=True):
    """The levels of sensors and buttons. Lists are in order, each entry once. What is not listed is free or not held.

    `object`: "unknown" if there is no object sensor, or it has failed. `door`: "unknown" if the door has no switch.
    """

    beams_blocked: tuple[int, ...] = ()
    readers_blocked: tuple[int, ...] = ()
    buttons_held: tuple[Button, ...] = ()
    object: ObjectLevel = "unknown"
    door: DoorLevel = "unknown"


class Heartbeat(msgspec.Struct, frozen=True):
    """Board → host: every event before `board_us` has a number below `next_seq`. Events below `sent_seq` were sent.

    `levels`: the levels at `board_us`, after all events below `next_seq` and before all later events.

    `rejected_frames`: frames from the host that the board could not read. `overwritten_events`: events that the ring
    lost before a host acknowledged them. `missed_edges`: edges that the board saw too late to date them.
    """

    boot_id: int
    board_us: int
    oldest_seq: int
    acked_seq: int
    sent_seq: int
    next_seq: int
    rejected_frames: int = 0
    overwritten_events: int = 0
    missed_edges: int = 0
    levels: Levels = Levels()


class SyncReply(msgspec.Struct, frozen=True):
    """Board → host: the request with `token` arrived at `board_rx_us`. This answer was sent at `board_tx_us`."""

    boot_id: int
    token: int
    board_rx_us: int
    board_tx_us: int


class SelfTestResult(msgspec.Struct, frozen=True):
    """Board → host: the state of every sensor, found at `board_us`."""

    boot_id: int
    token: int
    board_us: int
    sensors: tuple[SensorReport, ...]


FromHost: TypeAlias = Hello | Ack | Replay | SyncRequest | SelfTestRequest
FromBoard: TypeAlias = Identity | Events | Heartbeat | SyncReply | SelfTestResult
