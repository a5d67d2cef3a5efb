"""The wheels on which a script is played: by hand in the core, and behind the sources of the daemon."""

from __future__ import annotations

from tests.core.evening import Evening
from wheeld.core.observations import BallPass, Command, CommandName, Observation
from wheeld.core.setting import TableSetting
from wheeld.core.step import Step
from wheeld.core.tracking.sight import sensor_of


class Wheel(Evening):
    """A wheel whose observations go straight to the table. A sensor that fails sees nothing."""

    def __init__(self, setting: TableSetting) -> None:
        super().__init__(setting, rpm=0)
        self._dead: set[str] = set()

    def observe(self, seen: Observation) -> Step:
        return Step() if self.is_blind(seen) else super().observe(seen)

    def is_blind(self, seen: Observation) -> bool:
        """Whether the sensor that would see this fails."""
        return sensor_of(seen) in self._dead

    def command(self, command: Command) -> None:
        """A person's word, over MQTT."""
        self.observe(command)

    def button(self, name: CommandName) -> None:
        """A button of the wheel."""
        self.observe(Command(self.now_us, name, "button"))

    def block(self) -> None:
        """A hand takes the ball: no beam sees it any more."""
        self._planned = [seen for seen in self._planned if not isinstance(seen, BallPass)]

    def sensor(self, name: str, *, ok: bool) -> Step:
        self._dead.discard(name)
        step = super().sensor(name, ok=ok)
        if not ok:
            self._dead.add(name)
        return step
