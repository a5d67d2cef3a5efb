"""Writes what the table publishes: payloads from the table_state, dated, numbered and chained."""

from __future__ import annotations

import uuid
from typing import TypedDict

import msgspec

from wheeld.core.instants import ClockState, to_text
from wheeld.core.law.facts import Cause
from wheeld.core.messages import payloads as messages
from wheeld.core.messages.chain import close_with_hash
from wheeld.core.messages.payloads import Figures
from wheeld.core.messages.phrases import announcement
from wheeld.core.observations import Direction
from wheeld.core.pockets import facts_of
from wheeld.core.setting import TableSetting
from wheeld.core.step import Message, Topic
from wheeld.core.table_state import Called, TableState
from wheeld.core.tracking.margin import Margin

_NAMESPACE = uuid.UUID("8f6d1c1e-6d6b-5b0a-9f0e-3a7d1b9c2e55")
"""Ours alone, fixed for ever: a coup's identity follows from site, table and coup."""


def coup_id(site: str, table: str, coup: int) -> str:
    """The UUID of one coup, the same in every replay."""
    return str(uuid.uuid5(_NAMESPACE, f"{site}/{table}/{coup}"))


class _Common(TypedDict):
    schema: str
    site: str
    table: str
    boot_id: str
    coup: int
    coup_id: str
    at: str
    t_us: int


class MessageWriter:
    """Writes for one table; what it must remember is in the table_state and the clock."""

    def __init__(self, setting: TableSetting, boot_id: str, table_state: TableState, clock: ClockState) -> None:
        self._setting, self._boot_id = setting, boot_id
        self._table_state, self._clock = table_state, clock

    def result(self, now_us: int, called: Called, confirmed: tuple[str, str] | None) -> Message:
        """The valid coup at hand; `confirmed` is who answers for what no sensor proved, and why."""
        coup, sure = self._table_state.current, called.margin
        return self._chained(
            "result",
            now_us,
            messages.Result(
                **self._common("result", now_us),
                seq=self._table_state.seq,
                **msgspec.structs.asdict(facts_of(called.number)),
                announcement=announcement(called.number),
                laps=called.laps,
                ball_direction=_direction(coup.directions, "ball_direction"),
                rotor_direction=_direction(coup.directions, "rotor_direction"),
                rotor_rpm=None if called.rotor_rpm is None else round(called.rotor_rpm, 2),
                launched_at=self._text(coup.launched_us),
                bets_closed_at=self._text(coup.bets_closed_us),
                left_track_at=None if coup.left_track_us is None else self._text(coup.left_track_us),
                number_at=self._text(called.t_us),
                sightings=tuple(messages.SightingFigures(s.t_us, s.reader, s.offset) for s in called.sightings),
                unproven=called.unproven,
                confirmed_by=confirmed[0] if confirmed else None,
                confirmed_reason=confirmed[1] if confirmed else None,
                margin=sure.value if sure else None,
                margin_of=sure.of if sure else None,
                prev=self._table_state.prev,
            ),
        )

    def void(
        self,
        now_us: int,
        cause: Cause,
        why: str,
        evidence_us: int,
        evidence: Figures,
        said: tuple[str, str] | None = None,
        margin: Margin | None = None,
    ) -> Message:
        """The coup at hand, null; `said` is who declared it and why."""
        words = self._setting.profile.phrases.void
        self._table_state.last_void = messages.LastVoid(
            self._table_state.coup, cause.value, cause.article, words, self._text(now_us)
        )
        return self._chained(
            "void",
            now_us,
            messages.Void(
                **self._common("void", now_us),
                seq=self._table_state.seq,
                cause=cause,
                article=cause.article,
                words=words,
                why=why,
                evidence_at=self._text(evidence_us),
                evidence=evidence,
                by=said[0] if said else None,
                reason=said[1] if said else None,
                margin=margin.value if margin else None,
                margin_of=margin.of if margin else None,
                prev=self._table_state.prev,
            ),
        )

    def table(self, now_us: int, waiting_for: str) -> Message:
        """Where the table stands."""
        table_state = self._table_state
        return self._chained(
            "table",
            now_us,
            messages.Table(
                **self._common("table", now_us),
                seq=table_state.seq,
                state=table_state.state.published,
                bets=table_state.bets,
                since=to_text(table_state.since_utc_us),
                last_number=table_state.last_number,
                last_coup=table_state.last_coup,
                bouler=table_state.bouler,
                waiting_for=waiting_for,
                prev=table_state.prev,
            ),
        )

    def notice(
        self, now_us: int, kind: str, text: str, figures: Figures, said: tuple[str, str] | None = None
    ) -> Message:
        """A fact that settles nothing."""
        payload = messages.Notice(
            **self._common("notice", now_us),
            notice=kind,
            text=text,
            figures=figures,
            by=said[0] if said else None,
            reason=said[1] if said else None,
        )
        return Message(now_us, "notice", msgspec.json.encode(payload))

    def board(self, now_us: int) -> Message:
        """What a display shows."""
        table_state = self._table_state
        payload = messages.Board(
            **self._common("board", now_us),
            state=table_state.state.published,
            bets=table_state.bets,
            numbers=tuple(table_state.numbers),
            last_void=table_state.last_void,
        )
        return Message(now_us, "board", msgspec.json.encode(payload))

    def _common(self, topic: Topic, now_us: int) -> _Common:
        site, table, coup = self._setting.site, self._setting.table, self._table_state.coup
        if topic in ("result", "void", "table"):
            self._table_state.seq += 1
        return {
            "schema": f"{topic}/1",
            "site": site,
            "table": table,
            "boot_id": self._boot_id,
            "coup": coup,
            "coup_id": coup_id(site, table, coup),
            "at": self._text(now_us),
            "t_us": now_us,
        }

    def _chained(self, topic: Topic, now_us: int, payload: messages.Common) -> Message:
        closed, self._table_state.prev = close_with_hash(msgspec.json.encode(payload))
        return Message(now_us, topic, closed, self._table_state.seq)

    def _text(self, t_us: int | None) -> str:
        return to_text(self._clock.utc_at_us(t_us or 0))


def _direction(figures: Figures, key: str) -> Direction | None:
    way = figures.get(key)
    return None if way is None else "cw" if way == "cw" else "ccw"
