"""Plays a script on a wheel, step by step, and keeps what the machine says to each."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from tests.core.evening import FALL_S, FRENCH, Way, other
from tests.evenings.said import lines_of, reply_line
from tests.evenings.script import Script, ScriptError
from tests.evenings.wheels import Wheel
from wheeld.core.facts import Case
from wheeld.core.houses import PROFILES
from wheeld.core.observations import Command, CommandName
from wheeld.core.setting import TableSetting

BREATH_S = 1.0
"""After each step, until the next: nobody at a table is quicker."""
CLOCK_US = 5_000
"""A daemon dates a person's word by its estimate of the sensing clock, which may be so wrong."""
MEMBERS = ("case", "number", "who", "without")


def setting_of(script: Script) -> TableSetting:
    """The table of a script, in its house's language: four beams, three readers, an encoder, an object sensor."""
    wheel = PROFILES[script.house, script.game].wheel
    return msgspec.structs.replace(
        FRENCH,
        site=script.house,
        table=script.game,
        house=script.house,
        game=script.game,
        wheel=wheel,
        rotor_direction="ccw" if wheel == "fair" else None,
        last_number=script.last_number,
        language=None,
    )


@dataclass
class Player:
    """One evening on one wheel."""

    wheel: Wheel
    _leaves_us: int = 0
    """When the ball that was launched last leaves the track."""
    _began_us: list[int] = field(default_factory=list)
    """When each step began."""

    def play(self, script: Script) -> list[list[str]]:
        """What the machine says to each step of `script`."""
        for step in script.steps:
            self._began_us.append(self.wheel.now_us)
            self._step(step.what)
        self.wheel.wait(BREATH_S)
        return self._said()

    def _step(self, what: str) -> None:
        for pattern, act in STEPS:
            if found := re.fullmatch(pattern, what):
                act(self, *found.groups())
                return
        raise ScriptError(f"{what!r} is no step: see tests/evenings/players.py")

    def _said(self) -> list[list[str]]:
        """By sensing time, which does not depend on how much later a source reports. What was said before the first
        step stands there."""
        said: list[list[str]] = [[] for _ in self._began_us]
        for reply in self.wheel.replies:
            if reply.id is not None:
                said[self._step_at(reply.t_us)].append(reply_line(reply))
        for message in self.wheel.published:
            said[self._step_at(message.payload["t_us"])] += lines_of(message.topic, message.payload)
        return said

    def _step_at(self, t_us: int) -> int:
        return max(0, bisect(self._began_us, t_us + CLOCK_US) - 1)

    # --- steps --------------------------------------------------------------------------------------------------------

    def says(self, by: str, name: str, members: str, reason: str | None) -> None:
        """A command over MQTT. `confirm` names the coup at hand, as a panel does."""
        given = dict(zip(members.split()[::2], members.split()[1::2], strict=True))
        self.wheel.command(
            Command(
                self.wheel.now_us,
                msgspec.convert(name, CommandName),
                by,
                reason or "",
                given.get("who"),
                f"id-{len(self._began_us)}",
                self.wheel.table.coup if name == "confirm" else None,
                msgspec.convert(given["case"], Case) if "case" in given else None,
                int(given["number"]) if "number" in given else None,
                tuple(given["without"].split(",")) if "without" in given else (),
            )
        )
        self.wheel.wait(BREATH_S)

    def presses(self, name: str) -> None:
        """A button of the wheel: on the board, or on a pin."""
        self.wheel.button(msgspec.convert(name, CommandName))
        self.wheel.wait(BREATH_S)

    def turns(self, way: Way, rpm: str) -> None:
        self.wheel.turn(float(rpm), way)
        self.wheel.wait(BREATH_S)

    def stops(self) -> None:
        self.wheel.turn(0, self.wheel.way)
        self.wheel.wait(BREATH_S)

    def launched(self, how: str, laps: str) -> None:
        way = self.wheel.way if how == "with" else other(self.wheel.way)
        self._leaves_us = self.wheel.launch(way, laps=float(laps))[-1].t_us
        self.wheel.wait(BREATH_S)

    def leaves(self) -> None:
        self.wheel.until(max(self._leaves_us, self.wheel.now_us))
        self.wheel.wait(BREATH_S)

    def rests(self, number: str) -> None:
        self.wheel.until(max(self._leaves_us, self.wheel.now_us))
        self.wheel.wait(FALL_S)
        self.lies(number)

    def lies(self, number: str) -> None:
        self.wheel.lying = int(number)
        self.wheel.wait(BREATH_S)

    def taken(self) -> None:
        self.wheel.lying = None
        self.wheel.wait(BREATH_S)

    def blocked(self) -> None:
        """A hand takes it off the track, or out of the bowl, before it lies in a pocket."""
        self.wheel.block()
        self._leaves_us = self.wheel.now_us
        self.wheel.wait(BREATH_S)

    def object_is(self, where: str) -> None:
        self.wheel.drop(present=where == "falls into the cylinder")
        self.wheel.wait(BREATH_S)

    def sensor_is(self, name: str, how: str) -> None:
        self.wheel.sensor(name, ok=how == "works again")
        self.wheel.wait(BREATH_S)

    def passes(self, seconds: str) -> None:
        self.wheel.wait(float(seconds))


STEPS: tuple[tuple[str, Callable[..., None]], ...] = (
    (rf'(.+) says (\w+)((?: (?:{"|".join(MEMBERS)}) \S+)*)(?: because "(.*)")?', Player.says),
    (r"chef presses (\w+)", Player.presses),
    (r"rotor turns (cw|ccw) at (\d+) rpm", Player.turns),
    (r"rotor stops", Player.stops),
    (r"ball is launched (with|against) the rotor, ([\d.]+) laps", Player.launched),
    (r"ball leaves the track", Player.leaves),
    (r"ball rests in (\d+)", Player.rests),
    (r"ball (?:falls|is put) into (\d+)", Player.lies),
    (r"ball is taken from its pocket", Player.taken),
    (r"ball is blocked by hand", Player.blocked),
    (r"coin (falls into the cylinder|is taken out)", Player.object_is),
    (r"(beam/\d|reader/\d) (fails|works again)", Player.sensor_is),
    (r"([\d.]+) s pass", Player.passes),
)
"""Every step, and what it does. A ball rests 3 s after it left the track."""
