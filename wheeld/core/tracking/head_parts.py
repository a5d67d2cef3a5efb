"""The ball part and the pocket part of a table whose head reports them."""

from __future__ import annotations

from wheeld.core.facts import Fact
from wheeld.core.observations import HeadNumber
from wheeld.core.setting import TableSetting
from wheeld.core.tracking import margin
from wheeld.core.tracking.ball import REST_US
from wheeld.core.tracking.evidence import Evidence, Figures
from wheeld.core.tracking.head_game import BEAMS_LATE_US, HeadGames, HeadState
from wheeld.core.tracking.parts import BallPart, PocketPart, RotorPart
from wheeld.core.tracking.run import Phase, RunRecord

HEAD_EARLY_US = 500_000
"""Beams may have missed the first passes. So the head's report of a run may come before the first pass that they saw,
but only by this much. If it comes sooner, or later than `BEAMS_LATE_US` after that pass, it is of another run."""


class BallFromHead:
    """The ball as a head reports it, without beams."""

    def __init__(self, head: HeadState) -> None:
        self._head, self.run = head, head.run

    @property
    def counters(self) -> dict[str, int]:
        """No beams, no pulses."""
        return {"stray_pulses": 0, "double_pulses": 0}

    def record(self) -> RunRecord:
        """The laps that it counts, if it counts them."""
        spin = self._head.of_run
        figures: Figures = {"spin": spin.number}
        if spin.laps is not None:
            figures["laps_proven"] = spin.laps
        return RunRecord(figures, spin.laps, None, spin.laps)

    def disown(self) -> None:
        """The run in progress belongs to no coup to come."""
        self._head.disown()


class PocketFromHead(PocketPart):
    """The number as a head reports it (R3), with what is proven of its run."""

    def __init__(
        self, setting: TableSetting, head: HeadState, ball: BallPart, rotor: RotorPart, games: HeadGames
    ) -> None:
        assert setting.product is not None, "only a setting with a head has its number"
        self._head, self._ball, self._rotor, self._games = head, ball, rotor, games
        self._number_within_us = setting.product.number_within_us
        self._min_laps, self._ball_by_head = setting.min_laps, setting.ball == "head"
        self._confirmable = frozenset(setting.confirmable)
        self._index_of = setting.profile.pockets.index_of
        self._proven = Fact.NUMBER_UNCONFIRMED if setting.confirm_numbers else Fact.NUMBER

    def lies_in(self, pocket_index: int, now_us: int) -> bool | None:  # noqa: ARG002  a head does not see where it lies
        """False while a ball runs; else nobody knows, and the chef's statement serves."""
        return False if self._head.has_run or self._ball.run.phase is Phase.ON_TRACK else None

    def fall_due_us(self, left_us: int) -> int:
        """As long as the head takes to its number."""
        return left_us + self._number_within_us

    def fall_overdue(self, now_us: int) -> Evidence:
        """The fall is overdue. Or the head is at fault: it must have reported a run of several laps."""
        run = self._ball.run
        few = self._ball.record().is_short_of(self._min_laps)
        if self._head.has_run or few or self._head.over_us >= (run.launched_us or 0):
            return Evidence(Fact.FALL_OVERDUE, now_us, {"left_track_us": run.last_us or 0})
        return Evidence(Fact.SENSOR_FAULT, now_us, {"sensor": "head", "what": "no_ball_seen"})

    def take(self, seen: HeadNumber) -> list[Evidence]:
        """What a report of the number proves."""
        head = self._head
        before, head.last_number = head.last_number, (seen.spin, seen.number)
        if not head.has_run and before is not None and before[0] == seen.spin:
            return [] if before == head.last_number else [_corrected(seen, before[1])]
        if seen.number is None:
            return self._games.end(seen.t_us, "its own lines disagree about the number")
        evidence = [*self._games.begin_coup(), *self._called(seen, seen.number)]
        head.end_run()
        self._ball.disown()  # the beams may still see it on the track: it must not be a second launch
        return evidence

    def _called(self, seen: HeadNumber, number: int) -> list[Evidence]:
        """The number, with what is proven of its run, or what is not."""
        record = self._ball.record()
        laps, short = record.laps, record.is_short_of(self._min_laps)
        figures: Figures = {**record.figures, "number": number, "pocket_index": self._index_of[number]}
        if not self._is_whole(seen):
            return [Evidence(Fact.NUMBER_UNPROVEN, seen.t_us, figures)]
        open_rows = [row for row, is_open in (("R1", not self._ball.run.opposite), ("R2", short)) if is_open]
        if not open_rows:
            sure = margin.run(laps, self._min_laps, record.lead_passes)
            return [Evidence(self._proven, seen.t_us, figures, sure)]
        figures["unproven"] = " ".join(open_rows)
        if self._confirmable.issuperset(open_rows) and record.may_have(self._min_laps):
            return [Evidence(Fact.NUMBER_UNCONFIRMED, seen.t_us, figures)]
        # A head that counts laps reports them finally with its number: not before the ball lies there (N3).
        few = [Evidence(Fact.LEFT_TRACK_SHORT, seen.t_us, record.figures)] if laps is not None and short else []
        return [*few, Evidence(Fact.NUMBER_UNPROVEN, seen.t_us, figures)]

    def _is_whole(self, seen: HeadNumber) -> bool:
        """Whether the head, and the beams where there are some, have seen this one run from launch to number (N8)."""
        head, spin = self._head, self._head.of_run
        by_head = head.has_run and spin.from_launch and spin.number == seen.spin and seen.whole
        by_beams = self._ball_by_head or self._is_same_run(seen.t_us)
        return by_head and by_beams and self._rotor.was_seen_turning and not (head.run.disowned or spin.against)

    def _is_same_run(self, number_us: int) -> bool:
        """Whether beams saw the head's own run from launch to leaving, and the number came when the ball could rest."""
        run, began_us = self._ball.run, self._head.run.launched_us
        if run.phase is not Phase.OFF_TRACK or run.disowned:
            return False
        first_us, last_us = run.launched_us, run.last_us
        if began_us is None or first_us is None or last_us is None:
            return False
        began = first_us - HEAD_EARLY_US <= began_us <= min(first_us + BEAMS_LATE_US, last_us)
        return began and number_us >= last_us + REST_US


def _corrected(seen: HeadNumber, before: int | None) -> Evidence:
    """Another number for a game that had one, or none any more: neither can be relied on (N8)."""
    figures: Figures = {"spin": seen.spin}
    for name, number in (("number", seen.number), ("told_before", before)):
        if number is not None:
            figures[name] = number
    return Evidence(Fact.NUMBER_CORRECTED, seen.t_us, figures)
