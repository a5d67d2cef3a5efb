"""The payloads of docs/interfaces.md, version 1, that the table itself decides: `result`, `void`, `table`, `notice`,
`board`.

Members stand in the order of the structures; `prev`, then `hash`, close the three sequenced ones (see `chain`).
Instants are RFC 3339 UTC with microseconds; `…_us` is the sensing clock.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from wheeld.core.facts import Bets, Cause, StateName
from wheeld.core.observations import Direction
from wheeld.core.pockets import Colour, Half, Parity
from wheeld.core.tracking.evidence import Figures
from wheeld.core.tracking.margin import Measure


class Common(msgspec.Struct, frozen=True, kw_only=True):
    """Where and when, in every message. `schema` is the topic and its version: "result/1"."""

    schema: str
    site: str
    table: str
    boot_id: str
    coup: int
    coup_id: str
    at: str
    t_us: int


class SightingFigures(msgspec.Struct, frozen=True):
    """One sighting of the ball in its pocket; `offset` in pockets from the centre (±0.5)."""

    t_us: int
    reader: int
    offset: float


class Result(Common, frozen=True, kw_only=True):
    """A valid coup (R1–R4): the number with every fact paid on, and how the coup ran. `laps` are proven ones.

    What no sensor of the table reports is null. `unproven`: the rules (R1, R2) that no sensor could prove, for
    which the chef answers (`confirmed_by`, `confirmed_reason`); empty where sensors proved all.
    `margin` is how far the verdict was from flipping (see `margin`), `margin_of` the measure that it is the least of.
    """

    seq: int
    number: int
    pocket_index: int
    announcement: str
    colour: Colour | None
    parity: Parity | None
    half: Half | None
    dozen: int | None
    column: int | None
    sectors: tuple[str, ...]
    final: int
    neighbours: tuple[int, int, int, int]
    laps: float | None
    ball_direction: Direction | None
    rotor_direction: Direction | None
    rotor_rpm: float | None
    launched_at: str
    bets_closed_at: str
    left_track_at: str | None
    number_at: str
    sightings: tuple[SightingFigures, ...]
    unproven: tuple[str, ...]
    confirmed_by: str | None
    confirmed_reason: str | None
    margin: float | None
    margin_of: Measure | None
    prev: str
    hash: str | UnsetType = UNSET
    signature: str | UnsetType = UNSET


class Void(Common, frozen=True, kw_only=True):
    """A void coup: cause, article, the moment and figures of the evidence, and who declared it if a person did.

    `margin` as in a result; null where nothing measured decided.
    """

    seq: int
    cause: Cause
    article: str
    words: str
    why: str
    evidence_at: str
    evidence: Figures
    by: str | None
    reason: str | None
    margin: float | None
    margin_of: Measure | None
    prev: str
    hash: str | UnsetType = UNSET
    signature: str | UnsetType = UNSET


class Table(Common, frozen=True, kw_only=True):
    """Where the table stands. `last_coup`: la dernière is announced (A5)."""

    seq: int
    state: StateName
    bets: Bets
    since: str
    last_number: int | None
    last_coup: bool
    bouler: str | None
    waiting_for: str
    prev: str
    hash: str | UnsetType = UNSET
    signature: str | UnsetType = UNSET


class Notice(Common, frozen=True, kw_only=True):
    """A fact that settles nothing; `notice` names its kind."""

    notice: str
    text: str
    figures: Figures
    by: str | None
    reason: str | None


class LastVoid(msgspec.Struct, frozen=True):
    """The latest void coup, for a display."""

    coup: int
    cause: str
    article: str
    words: str
    at: str


class Board(Common, frozen=True, kw_only=True):
    """For displays: state, the last twenty numbers (newest first), the last void."""

    state: StateName
    bets: Bets
    numbers: tuple[int, ...]
    last_void: LastVoid | None


class ReplyPayload(msgspec.Struct, frozen=True):
    """The answer to one command: its `id` (null when it gave none), done or refused, and why.

    `last_seq`, in answers to `resend` only: the highest number of the feed so far.
    """

    schema: str
    id: str | None
    name: str
    by: str
    done: bool
    why: str
    last_seq: int | UnsetType = UNSET
