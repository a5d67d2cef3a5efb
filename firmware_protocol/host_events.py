"""What a host session reports of its sensor board."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from firmware_protocol import messages as m

Pin: TypeAlias = Literal["version", "board_serial", "config_hash"]


class Identified(msgspec.Struct, frozen=True):
    """The board answered and is accepted; its events follow."""

    identity: m.Identity


class Refused(msgspec.Struct, frozen=True):
    """The board answered and must not be used: `what` is `found` and not `expected`. Nothing of it is reported."""

    what: Pin
    expected: str
    found: str


class Observed(msgspec.Struct, frozen=True):
    """Event number `seq`, dated by the board."""

    seq: int
    board_us: int
    event: m.Event


class Watermark(msgspec.Struct, frozen=True):
    """Every event before `board_us` has been reported. `levels`: how the sensors stood then; None where events that
    came since, or were lost since, have made them old."""

    board_us: int
    levels: m.Levels | None = m.Levels()


class SyncSample(msgspec.Struct, frozen=True):
    """One exchange of times: sent and received on the host's clock, received and answered on the board's."""

    host_sent_ns: int
    host_received_ns: int
    board_rx_us: int
    board_tx_us: int


class LostEvents(msgspec.Struct, frozen=True):
    """Events `first_seq` to `last_seq` are lost: the ring overwrote them before they arrived here."""

    first_seq: int
    last_seq: int


class BoardReset(msgspec.Struct, frozen=True):
    """The board has started anew, or is another one: its clock and numbers begin again.

    Events of the former boot that had not arrived are lost; their count is not known.
    """

    old_boot_id: int
    new_boot_id: int


class SelfTested(msgspec.Struct, frozen=True):
    """The answer to `request_self_test`."""

    board_us: int
    sensors: tuple[m.SensorReport, ...]


SessionEvent: TypeAlias = (
    Identified | Refused | Observed | Watermark | SyncSample | LostEvents | BoardReset | SelfTested
)


class Position(msgspec.Struct, frozen=True):
    """How far the events have been reported: `next_seq` of boot `boot_id` comes next.

    A host that stores it gets each event exactly once, also across its own restarts.
    """

    boot_id: int
    next_seq: int
