"""Writes the messages that the table publishes: makes their payloads, dates them, and numbers and chains the feed."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from wheeld.core.facts import Awaited, Case, Cause, Person
from wheeld.core.instants import ClockState
from wheeld.core.messages import payloads as messages
from wheeld.core.messages.chain import chained
from wheeld.core.observations import Command, Direction
from wheeld.core.setting import TableSetting
from wheeld.core.step import SEQUENCED, Message, Topic
from wheeld.core.table_state import Called, PublishedVoid, TableState
from wheeld.core.tracking.evidence import Evidence, Figures

_NAMESPACE = uuid.UUID("8f6d1c1e-6d6b-5b0a-9f0e-3a7d1b9c2e55")
"""The id of a coup is made from this value and from site, table and coup. So this value must never change."""
LATE_US = 2_000_000
"""If a result is published more than this time after its number, it contains the delay (docs/rulebook.md 7)."""


def coup_id(site: str, table: str, coup: int) -> str:
    """Return the UUID of one coup. It is the same in every replay."""
    return str(uuid.uuid5(_NAMESPACE, f"{site}/{table}/{coup}"))


class MessageWriter:
    """Writes the messages of one table. What must survive a restart is in the state of the table, not here."""

    def __init__(self, setting: TableSetting, boot_id: str, state: TableState, clock: ClockState) -> None:
        self._setting, self._state, self._clock = setting, state, clock
        self._gap: messages.FeedGap | UnsetType = UNSET
        self._of_table: dict[str, Any] = {
            "test": setting.test or UNSET,
            "language": setting.table_language,
            "site": setting.site,
            "table": setting.table,
            "house": setting.house,
            "game": setting.game,
            "boot_id": boot_id,
        }
        profile, self._words = setting.profile, setting.words
        self._articles, self._facts = profile.articles, profile.pockets.facts
        self._announcements = {
            number: profile.announcements.announce(facts) for number, facts in profile.pockets.facts.items()
        }

    def result(self, now_us: int, number: int, called: Called, confirmed: Person | None) -> Message:
        """Return the result of the present coup, which is valid. `confirmed`: the person who confirmed it, if any."""
        coup, sure = self._state.current, called.margin
        late_us = self._clock.published_us(now_us) - called.t_us
        ways = [coup.directions.get(key) for key in ("ball_direction", "rotor_direction")]
        ball, rotor = msgspec.convert(ways, tuple[Direction | None, Direction | None])
        sightings = tuple(messages.SightingFigures(s.t_us, s.reader, s.offset) for s in called.sightings)
        common, (launched_at, bets_closed_at, left_track_at, number_at) = self._common(
            "result", now_us, (coup.launched_us or 0, coup.bets_closed_us or 0, coup.left_track_us or 0, called.t_us)
        )
        payload = messages.Result(
            **common,
            seq=self._state.seq,
            **msgspec.structs.asdict(self._facts[number]),
            announcement=self._announcements[number],
            laps=called.laps,
            laps_needed=self._setting.min_laps,
            ball_direction=ball,
            rotor_direction=rotor,
            rotor_rpm=None if called.rotor_rpm is None else round(called.rotor_rpm, 2),
            launched_at=launched_at,
            bets_closed_at=bets_closed_at,
            left_track_at=None if coup.left_track_us is None else left_track_at,
            number_at=number_at,
            late_s=round(late_us / 1e6, 1) if late_us > LATE_US else None,
            sightings=sightings,
            unproven=called.unproven,
            confirmed_by=confirmed.by if confirmed else None,
            confirmed_user=confirmed.user if confirmed else None,
            confirmed_reason=confirmed.reason if confirmed else None,
            margin=sure.value if sure else None,
            margin_of=sure.of if sure else None,
            without=tuple(self._state.left_out),
            prev=self._state.prev,
        )
        message, self._state.prev = chained("result", payload)
        return message

    def void(
        self,
        now_us: int,
        cause: Cause,
        why: str,
        evidence: Evidence,
        person: Person | None = None,
        case: Case | None = None,
    ) -> Message:
        """Return the void of the present coup. `person`: the person who declared it void, if one did. `case`: the case
        of C11 that this person named."""
        state, sure = self._state, evidence.margin
        common, (evidence_at,) = self._common("void", now_us, (evidence.evidence_us,))
        state.last_void = PublishedVoid(state.coup, cause, common["at"])
        payload = messages.Void(
            **common,
            seq=state.seq,
            cause=cause,
            rule=cause.rule,
            case=case,
            article=self._articles.get(cause.rule),
            words=self._words,
            why=why,
            laps_needed=self._setting.min_laps,
            evidence_at=evidence_at,
            evidence=evidence.figures,
            **_said_by(person),
            margin=sure.value if sure else None,
            margin_of=sure.of if sure else None,
            without=tuple(self._state.left_out),
            prev=state.prev,
        )
        message, self._state.prev = chained("void", payload)
        return message

    def ruling(self, now_us: int, command: Command) -> Message:
        """Return the ruling of the direction on an earlier coup."""
        assert command.about is not None
        assert command.ruled_as is not None, "`people.missing` refuses a command without them"
        payload = messages.Ruling(
            **self._common("ruling", now_us)[0],
            seq=self._state.seq,
            about=command.about,
            ruled_as=command.ruled_as,
            number=command.number,
            label=None if command.number is None else self._facts[command.number].label,
            **_said_by(command.person),
            prev=self._state.prev,
        )
        message, self._state.prev = chained("ruling", payload)
        return message

    def leave_out(self, gap: messages.FeedGap, last_hash: str) -> None:
        """Continue the feed after `gap`. `last_hash`: the hash of the last message in it. The next `table` reports the
        gap."""
        self._gap = gap
        self._state.seq, self._state.prev = gap.last_seq, last_hash

    def standing(
        self, now_us: int, waiting_for: str, codes: tuple[Awaited, ...], failing: Sequence[str], *, with_board: bool
    ) -> list[Message]:
        """Return the `table` message. `waiting_for` and `codes`: what the table waits for, in words and in codes.
        `failing`: the failing sensors. `with_board`: also return the `board` message, for displays."""
        state, last_coup = self._state, self._state.last_coup
        common, _ = self._common("table", now_us)
        called = None if state.decided else state.current.called  # the number that awaits the chef
        payload = messages.TableMessage(
            **common,
            seq=state.seq,
            state=state.state.wire_name,
            bets=state.state.bets,
            since=state.since_at,
            last_number=state.last_number,
            last_label=None if state.last_number is None else self._facts[state.last_number].label,
            last_coup=last_coup,
            bouler=state.spinning.who,
            next_bouler=state.spinning.next_who or UNSET,
            acknowledged_by=state.spinning.acknowledged_by or UNSET,
            waiting_for=waiting_for,
            waiting_codes=codes,
            number_awaiting_chef=UNSET if called is None or called.number is None else called.number,
            failing=tuple(failing),
            without=tuple(state.left_out),
            **_said_by(state.moved_by),
            gap=self._gap,
            prev=state.prev,
        )
        self._gap = UNSET
        message, self._state.prev = chained("table", payload)
        if not with_board:
            return [message]
        common["schema"], void, last_void = "board/1", state.last_void, None
        if void is not None:
            article = self._articles.get(void.cause.rule)
            last_void = messages.LastVoid(void.coup, void.cause.value, article, self._words, void.at, void.cause.rule)
        board = messages.BoardMessage(
            **common,
            state=state.state.wire_name,
            bets=state.state.bets,
            numbers=tuple(state.numbers),
            labels=tuple(self._facts[number].label for number in state.numbers),
            last_coup=last_coup,
            last_void=last_void,
        )
        return [message, Message(now_us, "board", msgspec.json.encode(board))]

    def notice(self, now_us: int, kind: str, text: str, figures: Figures, person: Person | None = None) -> Message:
        """Return a notice, a message that settles nothing. `person`: the person whose word led to it, if one did."""
        common, _ = self._common("notice", now_us)
        payload = messages.Notice(**common, notice=kind, text=text, figures=figures, **_said_by(person))
        return Message(now_us, "notice", msgspec.json.encode(payload))

    def _common(self, topic: Topic, now_us: int, times_us: tuple[int, ...] = ()) -> tuple[dict[str, Any], list[str]]:
        """Return the members that every message has, and the times in `times_us` as text.

        A message of the feed takes the next sequence number.
        """
        table, coup = self._of_table, self._state.coup
        self._state.told_us, (at, *texts) = self._clock.dated(now_us, *times_us)
        if topic in SEQUENCED:
            self._state.seq += 1
        common = {
            **self._of_table,
            "schema": f"{topic}/1",
            "coup": coup,
            "coup_id": coup_id(table["site"], table["table"], coup),
            "at": at,
            "t_us": now_us,
        }
        return common, texts


def _said_by(person: Person | None) -> dict[str, Any]:
    """Return the members of a message that name the person whose word led to it. They are null without a person."""
    return {name: getattr(person, name, None) for name in ("by", "user", "reason")}
