"""The payloads of docs/interfaces.md, version 1, that the table itself decides: `result`, `void`, `table`, `notice`,
`ruling`, `board`.

Members have the order of the structures. A message of the feed ends with `prev`, `hash` and maybe `signature` (see
`chain`). Instants are RFC 3339 in UTC, with microseconds. `…_us` is a time of the sensing clock.
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
"""True in messages of a bench table. Other messages do not have this member."""


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """The base of every message of the daemon. `test` is only in messages of a bench table."""

    test: Mark = UNSET


class Common(Published, frozen=True, kw_only=True):
    """The members that all these messages have. `schema` is the topic and its version: "result/1".

    `language`: the language of texts for people. `house` and `game`: the regulation that applies at the table.
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
    """One sighting of the ball in its pocket. `offset`: how far from the centre of the pocket, in pockets (±0.5)."""

    t_us: int
    reader: int
    offset: float


class Result(Common, frozen=True, kw_only=True):
    """A valid coup (R1–R4): the number with every fact that bets are paid on, and how the coup ran. `label`: the number
    as printed in its pocket. `laps`: the proven laps. `laps_needed`: the laps that this table requires (R2).

    A value that no sensor of the table reports is null. `unproven`: the rules (R1, R2, R3) that no sensor could prove
    and that the chef confirmed (`confirmed_by`, `confirmed_user`, `confirmed_reason`). It is empty if sensors proved
    everything, even if the chef confirms each number at this table. `margin`: how far the verdict was from another one,
    0 to 1. `margin_of`: by which measure. `without`: the names of the sensors that were left out. `late_s`: how many
    seconds after its number the result is published, if more than two.
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
    """A void coup: its cause, rule and article, and the time and figures of the evidence. If a person declared it void:
    `by` is that person, and `user` the sender's name at the broker.

    `article` is null if no article of the house makes such a coup void. Then `why` names the custom. `case`: the case
    of C11 that the chef named (N7). `margin` is as in a result, or null if no measured value decided. `without`: the
    names of the sensors that were left out.
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
    """The ruling of the direction on coup `about`, which has its verdict (A9). The published verdict stays, and the
    settlement gets the ruling too. `number`, and `label` as it is printed, are null unless the ruling names another
    number."""

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
    """The numbers of the feed, `first_seq` to `last_seq`, whose messages the wheel does not have, because its journal
    was restored from an older copy. `by` and `why`: who adopted that journal, and why."""

    first_seq: int
    last_seq: int
    by: str
    why: str


class TableMessage(Common, frozen=True, kw_only=True):
    """The state of the table. `last_coup`: which coup is la dernière, if it is announced (A5). `waiting_for`: what the
    table waits for, for people. `waiting_codes`: the same for programs. `next_bouler`: only while a bouler is announced
    (A4). `acknowledged_by`: only after a person acknowledged this change. `number_awaiting_chef`: only while a number
    awaits the chef and sensors show it. `failing`: the sensors that stop play now. `without`: the sensors that are left
    out.

    `by`, `user` and `reason`: the person whose word led to this state, the sender's name at the broker, and the reason.
    Null if no person's word led to it (A6). `gap`: in the first message after a gap of the feed, the missing numbers.
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
    """A message that settles nothing. `notice` is its kind. `by`, `user`, `reason`: as in `TableMessage`, if a person's
    word led to it."""

    notice: str
    text: str
    figures: Figures
    by: str | None
    user: str | None
    reason: str | None


class LastVoid(msgspec.Struct, frozen=True):
    """The latest void coup, for a display. `rule` is null if an older version of the program stored the coup."""

    coup: int
    cause: str
    article: str | None
    words: str
    at: str
    rule: VoidRule | None = None


class BoardMessage(Common, frozen=True, kw_only=True):
    """For displays: the state, the last twenty numbers (the newest first), the same numbers as printed (`labels`),
    `last_coup` as in `TableMessage`, and the last void."""

    state: StateName
    bets: Bets
    numbers: tuple[int, ...]
    labels: tuple[str, ...]
    last_coup: LastCoup | None
    last_void: LastVoid | None


class ReplyPayload(Published, frozen=True):
    """The answer to one command: the command's `id` (null if it had none), whether it was done, and why. `by`: the
    person whom the sender named. `user`: the sender's name at the broker.

    `last_seq`: the highest number of the feed so far, only in answers to `resend`.
    """

    schema: str
    id: str | None
    name: str
    by: str
    user: str | None
    done: bool
    why: str
    last_seq: int | UnsetType = UNSET
