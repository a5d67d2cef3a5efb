"""The payloads of docs/interfaces.md, version 1, that the table itself decides: `result`, `void`, `table`, `notice`,
`ruling`, `board`.

Members stand in the order of the structures; `prev`, then `hash`, close the sequenced ones (see `chain`).
Instants are RFC 3339 UTC with microseconds; `…_us` is the sensing clock.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from wheeld.core.catalogue import Language
from wheeld.core.facts import Awaited, Bets, Case, Cause, LastCoup, StateName, VoidRule
from wheeld.core.observations import Direction, RuledAs
from wheeld.core.pockets import Colour, Half, Pair, Parity
from wheeld.core.tracking.evidence import Figures, Measure

Mark: TypeAlias = Annotated[bool, Meta(extra_json_schema={"const": True})] | UnsetType
"""Of a bench table: true, or no member at all."""


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """What every message has that the daemon publishes: of a bench table the mark `test`, which no live one has."""

    test: Mark = UNSET


class Common(Published, frozen=True, kw_only=True):
    """Where and when, in every message. `schema` is the topic and its version: "result/1".

    `language`: of its texts for people. `house` and `game`: by whose regulation the table is played.
    """

    schema: str
    language: Language
    site: str
    table: str
    house: str
    game: str
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
    """A valid coup (R1–R4): the number with every fact paid on, `label` as it is printed in its pocket, and how the
    coup ran. `laps` are proven ones,
    `laps_needed` those that the table asks (R2).

    What no sensor of the table reports is null. `unproven`: the rules (R1, R2, R3) that no sensor could prove, for
    which the chef answers (`confirmed_by`, `confirmed_user`, `confirmed_reason`); empty where sensors proved all, also
    where the chef confirms each number.
    `margin` is how far the verdict was from flipping (see `margin`), `margin_of` the measure that it is the least of.
    `without`: the sensors that were left out, by name. `late_s`: how long after its number it is published, in seconds,
    where that is more than two.
    """

    seq: int
    number: int
    label: str
    pocket_index: int
    announcement: str
    colour: Colour | None
    parity: Parity | None
    half: Half | None
    dozen: int | None
    column: int | None
    sectors: tuple[str, ...]
    finals_plein: tuple[int, ...]
    finals_cheval: tuple[Pair, ...]
    neighbours: tuple[int, int, int, int]
    laps: float | None
    laps_needed: int
    ball_direction: Direction | None
    rotor_direction: Direction | None
    rotor_rpm: float | None
    launched_at: str
    bets_closed_at: str
    left_track_at: str | None
    number_at: str
    late_s: float | None
    sightings: tuple[SightingFigures, ...]
    unproven: tuple[str, ...]
    confirmed_by: str | None
    confirmed_user: str | None
    confirmed_reason: str | None
    margin: float | None
    margin_of: Measure | None
    without: tuple[str, ...]
    prev: str
    hash: str | UnsetType = UNSET
    signature: str | UnsetType = UNSET


class Void(Common, frozen=True, kw_only=True):
    """A void coup: cause, rule, article, the moment and figures of the evidence, and who declared it if a person did
    (`by`, and `user`, the sender's name at the broker).

    `article` is null where no article of the house makes such a coup void: then `why` names the custom. `case`: which
    case of C11 the chef named (N7). `margin` as in a result; null where nothing measured decided. `without`: the
    sensors that were left out, by name.
    """

    seq: int
    cause: Cause
    rule: VoidRule
    case: Case | None
    article: str | None
    words: str
    why: str
    laps_needed: int
    evidence_at: str
    evidence: Figures
    by: str | None
    user: str | None
    reason: str | None
    margin: float | None
    margin_of: Measure | None
    without: tuple[str, ...]
    prev: str
    hash: str | UnsetType = UNSET
    signature: str | UnsetType = UNSET


class Ruling(Common, frozen=True, kw_only=True):
    """What the direction rules of coup `about`, which has its verdict (A9). The verdict stays as it was published: who
    settles has both. `number`, and `label` as it is printed, only of a ruling that names another one."""

    seq: int
    about: int
    ruled_as: RuledAs
    number: int | None
    label: str | None
    by: str
    user: str | None
    reason: str
    prev: str
    hash: str | UnsetType = UNSET
    signature: str | UnsetType = UNSET


class FeedGap(msgspec.Struct, frozen=True):
    """Numbers of the feed that the wheel has no messages for, because its journal was restored from an older copy:
    from `first_seq` to `last_seq`. `by` and `why`: who adopted the journal so."""

    first_seq: int
    last_seq: int
    by: str
    why: str


class TableMessage(Common, frozen=True, kw_only=True):
    """Where the table stands. `last_coup`: which coup is la dernière, once it is announced (A5). `waiting_for` is for
    people at the table, `waiting_codes` says the same to programs. `next_bouler`: only while one is announced (A4), and
    `acknowledged_by` only once somebody has acknowledged it. `number_awaiting_chef`: only while one does, and
    sensors show which it is. `failing`: the sensors that stop play now. `without`: those that are left out.

    `by`, `user` and `reason`: whose word led to this state, under which name at the broker, and why; null when no
    person's did (A6). `gap`, in the first message behind one: the numbers before it that no message has.
    """

    seq: int
    state: StateName
    bets: Bets
    since: str
    last_number: int | None
    last_label: str | None
    last_coup: LastCoup | None
    bouler: str | None
    next_bouler: str | UnsetType = UNSET
    acknowledged_by: str | UnsetType = UNSET
    waiting_for: str
    waiting_codes: tuple[Awaited, ...]
    number_awaiting_chef: int | UnsetType = UNSET
    failing: tuple[str, ...]
    without: tuple[str, ...]
    by: str | None
    user: str | None
    reason: str | None
    gap: FeedGap | UnsetType = UNSET
    prev: str
    hash: str | UnsetType = UNSET
    signature: str | UnsetType = UNSET


class Notice(Common, frozen=True, kw_only=True):
    """A fact that settles nothing; `notice` names its kind. `by`, `user`, `reason`: whose word it follows from, if a
    person's, as in `TableMessage`."""

    notice: str
    text: str
    figures: Figures
    by: str | None
    user: str | None
    reason: str | None


class LastVoid(msgspec.Struct, frozen=True):
    """The latest void coup, for a display. `rule` is null in one that an older version has stored."""

    coup: int
    cause: str
    article: str | None
    words: str
    at: str
    rule: VoidRule | None = None


class BoardMessage(Common, frozen=True, kw_only=True):
    """For displays: state, the last twenty numbers (newest first), and as they are printed (`labels`), la dernière as
    in `TableMessage`, the last void."""

    state: StateName
    bets: Bets
    numbers: tuple[int, ...]
    labels: tuple[str, ...]
    last_coup: LastCoup | None
    last_void: LastVoid | None


class ReplyPayload(Published, frozen=True):
    """The answer to one command: its `id` (null when it gave none), done or refused, and why. `by`: the person whom its
    sender named; `user`: the sender's name at the broker.

    `last_seq`, in answers to `resend` only: the highest number of the feed so far.
    """

    schema: str
    id: str | None
    name: str
    by: str
    user: str | None
    done: bool
    why: str
    last_seq: int | UnsetType = UNSET
