"""A wheel with a commercial head, by hand: its reports as they come, given to a `Table`, a status line each 0.5 s.

Beams and the rest of `evening.py`'s world stand beside it, where the setting has them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tests.core.evening import START_UTC_US, Evening, Way, other
from wheeld.core.observations import (
    Command,
    HeadBall,
    HeadGame,
    HeadJump,
    HeadNumber,
    HeadPhase,
    HeadRotor,
    HeadWarned,
    HeadWarning,
)
from wheeld.core.setting import TableSetting
from wheeld.core.step import Reply
from wheeld.replay import replay

LINE_S = 0.5
MERCURY = TableSetting(
    site="campione",
    table="campione-05",
    house="campione",
    language="en",
    game="roulette",
    wheel="french",
    rotor_ticks=0,
    beams_deg=(),
    readers_deg=(),
    min_laps=3,
    head="mercury-360",
    rotor="head",
    ball="head",
    pocket="head",
    last_number=17,
)
SLINGSHOT = msgspec.structs.replace(MERCURY, head="slingshot-2", unproven="void")
CHEF = msgspec.structs.replace(SLINGSHOT, unproven="chef")
COMBINED = msgspec.structs.replace(SLINGSHOT, unproven=None, ball="sensors", beams_deg=(0, 90, 180, 270))


class HeadEvening(Evening):
    """One table with a head from its start."""

    def __init__(
        self,
        setting: TableSetting = MERCURY,
        *,
        memory: bytes | None = None,
        way: Way = "ccw",
        started_utc_us: int = START_UTC_US,
    ) -> None:
        super().__init__(setting, memory=memory, rpm=0, started_utc_us=started_utc_us)
        self.spin, self.phase, self.rpm, self.head_way = 11, "ready", 15.4, way
        self.silent = False

    @property
    def way(self) -> Way:
        """Which way the rotor turns: from the head, without an encoder."""
        return self.head_way

    # --- what the head reports ----------------------------------------------------------------------------------------

    def line(self, *reports: Any) -> None:
        """A status line's time passes, and it comes: `reports`, and the rotor's."""
        self.wait(LINE_S)
        for report in reports:
            self.observe(report)
        if not self.silent:
            self.observe(HeadRotor(self.now_us, self.rpm, self.head_way))

    def lines(self, seconds: float) -> None:
        """The same again and again."""
        for _ in range(round(seconds / LINE_S)):
            self.line()

    def report_phase(self, phase: HeadPhase, seconds: float = LINE_S) -> None:
        """The head reports another state of the game, from the next line on."""
        self.wait(LINE_S)
        self.phase = phase
        self.observe(HeadGame(self.now_us, phase, self.spin))
        self.observe(HeadRotor(self.now_us, self.rpm, self.head_way))
        self.lines(seconds - LINE_S)

    def ball(self, laps: int | None, way: Way | None = None, *, runs: bool = True) -> None:
        self.observe(HeadBall(self.now_us, runs, way, laps))

    def warns(self, *names: HeadWarned, void: bool = False) -> None:
        self.observe(HeadWarning(self.now_us, names, void))

    def number(self, number: int | None, *, spin: int | None = None, whole: bool = True) -> None:
        self.observe(HeadNumber(self.now_us, number, self.spin if spin is None else spin, whole))

    def jump(self, to: int) -> None:
        self.observe(HeadJump(self.now_us, self.spin, to))
        self.spin = to

    def goes_silent(self) -> None:
        self.silent = True
        self.sensor("head", ok=False)

    def confirm(self, *, coup: int | None = None, reason: str = "seen by all", by: str = "Rossi") -> Reply:
        """The chef confirms the coup at hand."""
        at_hand = self.table.coup if coup is None else coup
        self.observe(
            Command(self.now_us, "confirm", by, reason, None, f"id-{len(self.replies)}", at_hand, user="chef-x")
        )
        return self.replies[-1]

    # --- larger pieces ------------------------------------------------------------------------------------------------

    def ready(self) -> HeadEvening:
        """An open table, and a wheel that waits for the ball."""
        self.report_phase("ready", 2)
        assert self.say("open").done
        return self

    def runs(self, laps: int | None = 8, way: Way | None = None) -> None:
        """From the launch to "no more bets"; the laps counted line by line."""
        self.report_phase("running")
        ball = way or other(self.head_way)
        for lap in range(1, (laps or 1) + 1):
            self.ball(None if laps is None else lap, None if laps is None else ball)
            self.line()
        self.report_phase("closing")

    def falls(self, number: int) -> None:
        """Into a pocket, and called."""
        self.lines(4)
        self.report_phase("number")
        self.ball(0 if self.setting.head == "mercury-360" else None, runs=False)
        self.number(number)

    def game(self, number: int, laps: int | None = 8, way: Way | None = None) -> None:
        """From launch to number, bets closed in between."""
        self.runs(laps, way)
        self.say("rien_ne_va_plus")
        self.falls(number)

    def goes_on(self) -> None:
        """The next game of the wheel."""
        self.spin += 1
        self.report_phase("ready", 2)

    def launches_past_beams(self, laps: float = 10.0) -> None:
        """Beams and head see the same run, the head after one revolution; until the last pass."""
        passes = self.launch(laps=laps)
        self.report_phase("running", 2)
        self.until(passes[-1].t_us)
        self.report_phase("closing")

    def replayed(self) -> list[bytes]:
        """What the stored evidence of every verdict publishes again, replies left out."""
        lines = [line for one in self.evidence for line in replay(one.log.splitlines())]
        return [line[line.index(b'"payload":') + 10 : -1] for line in lines if b'"topic":"reply"' not in line]


def whole_evening(setting: TableSetting) -> HeadEvening:
    """Whatever a table with such a head says: results that the chef confirms, voids, a fault of the head."""
    evening = HeadEvening(setting).ready()
    evening.game(32, None)
    evening.confirm()
    evening.number(33)
    evening.say("operations_done")
    evening.runs(None)
    evening.say("rien_va")
    evening.report_phase("ready")
    evening.say("tout_va")
    evening.runs(None)
    evening.warns("void_game", void=True)
    evening.say("resume")
    evening.say("tout_va")
    evening.jump(40)
    evening.goes_silent()
    evening.sensor("head/sensors", ok=False)
    return evening
