"""The events that a host session reports about its sensor board."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from firmware_protocol import messages as m

Pin: TypeAlias = Literal["version", "board_serial", "config_hash"]


class Identified(msgspec.Struct, frozen=True):
    """The board answered and is accepted. Its events follow."""

    identity: m.Identity


class Refused(msgspec.Struct, frozen=True):
    """The board answered, but must not be used: `what` is `found` and not `expected`. The board's events are not
    reported."""

    what: Pin
    expected: str
    found: str


class Observed(msgspec.Struct, frozen=True):
    """Event number `seq`, dated by the board."""

    seq: int
    board_us: int
    event: m.Event


class Watermark(msgspec.Struct, frozen=True):
    """Every event before `board_us` has been reported. `levels`: the levels of the sensors at that time. None if later
    events, received or lost, have made these levels out of date."""

    board_us: int
    levels: m.Levels | None = m.Levels()


class SyncSample(msgspec.Struct, frozen=True):
    """One time request: when the host sent it and had the answer, and when the board received and answered it."""

    host_sent_ns: int
    host_received_ns: int
    board_rx_us: int
    board_tx_us: int


class LostEvents(msgspec.Struct, frozen=True):
    """Events `first_seq` to `last_seq` are lost: the board's ring overwrote them before they arrived here."""

    first_seq: int
    last_seq: int


class BoardReset(msgspec.Struct, frozen=True):
    """The board has restarted, or it is another board. Its clock and its event numbers begin again.

    Events of the earlier boot that had not arrived are lost. How many were lost is not known.
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
    """How far the events have been reported: the next event is `next_seq` of boot `boot_id`.

    A host that stores the position receives each event exactly once, even after it restarts.
    """

    boot_id: int
    next_seq: int
