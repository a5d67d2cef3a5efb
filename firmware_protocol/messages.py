"""The messages of protocol version 1, one structure each, and the limits of their fields; `wire` packs them.

`README.md` beside this file is the specification. `board_us` is the board's own clock, microseconds since its start.
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

# Codes on the wire are places in these lists; append only.
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
SENSOR_KINDS: tuple[SensorKind, ...] = get_args(SensorKind)
BUTTONS: tuple[Button, ...] = get_args(Button)
OBJECT_LEVELS: tuple[ObjectLevel, ...] = get_args(ObjectLevel)
DOOR_LEVELS: tuple[DoorLevel, ...] = get_args(DoorLevel)
STANDS: dict[str, tuple[str, ...]] = {"object": OBJECT_LEVELS, "door": DOOR_LEVELS}
"""The members of `Levels` at a heartbeat's end, in their order: off, on or unknown."""

VERSION = 1
BEAMS_MAX = 16
"""Four are usual; sixteen leave room and keep a self-test of everything in one frame."""
READERS_MAX = 16
"""Three are usual; sixteen for the same reason as of beams."""
ROTOR_TICKS_MAX = 4096
"""A finer encoder would fill the wire: 4096 ticks at one turn a second are already 32 kB/s."""
EVENTS_MAX = 28
"""As many records of 8 bytes as fit behind the header of EVENTS in a frame."""
SPAN_US_MAX = 2**32 - 1
"""Record times count from the frame's first event in 32 bits, 71 minutes; a later event starts the next frame."""
COUNT_MAX = 2**64 - 1
"""Event numbers and board times: 64 bits never wrap, so no code is needed for that."""
HEARTBEAT_US = 100_000
"""Ten a second: three can be lost before the host's silence time-out of a second is near; 700 B/s."""
BATCH_US_MAX = 50_000
"""A rotor edge waits at most so long for others, half a heartbeat: voids of the rotor have 2 s. Whatever else there is
waits for nothing: after an object or a word a void must be published within 50 ms."""
RING_EVENTS_MIN = 1024
"""Twelve seconds of a rotor with 148 ticks at half a turn a second: a host process restarts in two."""
TEXT_BYTES = 16
"""Serial number and firmware version: room for a chip's 64-bit id in hexadecimal, or for `1.2.3-rc4+abc`."""


class RotorEdge(msgspec.Struct, frozen=True):
    """The rotor has just entered encoder sector `tick` (absolute), turning `direction` seen from above."""

    tick: int
    direction: Direction


class BallPass(msgspec.Struct, frozen=True):
    """Something crossed beam number `beam` of the track."""

    beam: int


class PocketSighting(msgspec.Struct, frozen=True):
    """The ball, lying in a pocket, passed under reader number `reader`."""

    reader: int


class ObjectSeen(msgspec.Struct, frozen=True):
    """The cylinder's object sensor sees a body that is not the ball (`present`), or no longer does."""

    present: bool


class SensorReport(msgspec.Struct, frozen=True):
    """Sensor `index` of `kind` works from now on, or does not; `index` is 0 where there is only one."""

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
    """Events of one of `most` sensors called `name`; `most` 0: of what stands one way or the other."""

    name: str
    event: Callable[[Any], Event]
    most: int = 0


RECORDS: dict[int, Record] = {
    2: Record("beam", BallPass, BEAMS_MAX),
    3: Record("reader", PocketSighting, READERS_MAX),
    4: Record("object", ObjectSeen),
    8: Record("door", DoorMoved),
}
"""By their kind in EVENTS; `wire` packs the others, which hold more."""
SENSOR_LIMITS: dict[SensorKind, int] = {"beam": BEAMS_MAX, "reader": READERS_MAX, "rotor": 1, "object": 1}
"""How many of each kind may report themselves."""


class TimedEvent(msgspec.Struct, frozen=True):
    """An event and the board time at which its edge came."""

    board_us: int
    event: Event


class Layout(msgspec.Struct, frozen=True):
    """Which sensors the board was configured with. `door_switch`: one tells whether the cabinet's door is open."""

    beams: int
    readers: int
    rotor_ticks: int
    object_sensor: bool
    door_switch: bool = False

    @property
    def tested(self) -> dict[SensorKind, int]:
        """How many of each kind a self-test reports."""
        return {
            "beam": self.beams,
            "reader": self.readers,
            "rotor": int(self.rotor_ticks > 0),
            "object": int(self.object_sensor),
        }

    @property
    def stands(self) -> dict[str, bool]:
        """Which members of `STANDS` it can tell."""
        return {"object": self.object_sensor, "door": self.door_switch}


class Hello(msgspec.Struct, frozen=True):
    """Host → board: who are you; the host knows these versions. `token` comes back in the answer."""

    token: int
    version_min: int = VERSION
    version_max: int = VERSION


class Ack(msgspec.Struct, frozen=True):
    """Host → board: every event of this boot before `next_seq` is stored at the host."""

    boot_id: int
    next_seq: int


class Replay(msgspec.Struct, frozen=True):
    """Host → board: send again from `from_seq` on."""

    boot_id: int
    from_seq: int


class SyncRequest(msgspec.Struct, frozen=True):
    """Host → board: what time is it; `token` comes back in the answer."""

    token: int


class SelfTestRequest(msgspec.Struct, frozen=True):
    """Host → board: test every sensor; `token` comes back in the answer."""

    token: int


class Identity(msgspec.Struct, frozen=True):
    """Board → host: answer to Hello. `version` 0: none in common, the board knows `version_min`…`version_max`.

    Events `oldest_seq`…`next_seq`-1 are in the ring; those before `acked_seq` some host has confirmed. `config_hash`
    is 16 hexadecimal digits without a meaning here: enough to distinguish a house's configurations, no protection from
    malice.
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
    layout: Layout


class Events(msgspec.Struct, frozen=True):
    """Board → host: 1 to 28 events in order of time, numbered from `first_seq` on."""

    boot_id: int
    first_seq: int
    events: tuple[TimedEvent, ...]


class Levels(msgspec.Struct, frozen=True):
    """How sensors and buttons stand: what is not named is free, or not held. Numbers and buttons in order, each once.

    `object`: "unknown" where there is no object sensor, or it has failed. `door`: "unknown" where it has no switch.
    """

    beams_blocked: tuple[int, ...] = ()
    readers_blocked: tuple[int, ...] = ()
    buttons_held: tuple[Button, ...] = ()
    object: ObjectLevel = "unknown"
    door: DoorLevel = "unknown"


class Heartbeat(msgspec.Struct, frozen=True):
    """Board → host: every event before `board_us` has a number below `next_seq`; below `sent_seq` all were sent.

    `levels`: how everything stands at `board_us`, after all events below `next_seq` and before all others.

    `rejected_frames`: frames from the host that the board could not read. `overwritten_events`: lost from the ring
    before a host confirmed them. `missed_edges`: edges the board saw too late to date.
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
    """Board → host: the request with `token` came at `board_rx_us`, this left at `board_tx_us`."""

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
