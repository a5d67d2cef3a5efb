"""One event of a Cammegh wheel's session into the observations of the core: none, one or two.

The core concludes from these what a coup is, so the stored log of a coup shows what was concluded from.
"""

from __future__ import annotations

from collections.abc import Iterator

import structlog

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.status import Flag, Flags, State
from wheeld.core.observations import (
    HeadBall,
    HeadGame,
    HeadJump,
    HeadNumber,
    HeadPhase,
    HeadReport,
    HeadRotor,
    HeadWarned,
    HeadWarning,
    SensorState,
)

PHASES: dict[State, HeadPhase] = {
    State.START: "ready",
    State.PLACE_BETS: "ready",
    State.BALL_IN_RIM: "running",
    State.NO_MORE_BETS: "closing",
    State.WINNING_NUMBER: "number",
    State.TABLE_CLOSED: "idle",
    State.BALL_OFF_TRACK: "off_track",
    State.DEALER_LOCK: "locked",
}
WARNED: dict[Flag, HeadWarned] = {
    Flag.BALL_NOT_DETECTED: "ball_not_detected",
    Flag.ROTOR_SPEED: "rotor_speed",
    Flag.SAME_DIRECTION: "same_direction",
    Flag.SENSOR_FAULT: "sensors",
    Flag.LAUNCH_FAILED: "launch_failed",
    Flag.VOID_GAME: "void_game",
}
IN_GAME = (State.BALL_IN_RIM, State.NO_MORE_BETS, State.BALL_OFF_TRACK, State.WINNING_NUMBER)


class HeadTranslator:
    """Turns events into observations and remembers the state of the wheel's game.

    `sensors`: whether the head and its sensors work, by the names of `health`.
    """

    def __init__(self) -> None:
        self.sensors = {"head": False, "head/sensors": True}
        self._state = State.START
        self._spin = 0
        self._repeat_game = False
        """The wheel is heard again after a silence: its state is to be reported with the next line."""
        self._log = structlog.get_logger("head")

    def observations(self, event: e.Event, t_us: int) -> Iterator[HeadReport | SensorState]:
        """The observations of `event`, dated `t_us` on the sensing clock."""
        match event:
            case e.Connected(state=state, spin=spin):
                yield from self._sensor(t_us, "head", ok=True)
                yield from self._game(t_us, state, spin)
            case e.Silent():
                yield from self._sensor(t_us, "head", ok=False)
            case e.Heard():
                yield from self._sensor(t_us, "head", ok=True)
                self._repeat_game = True
            case e.GameState(state=state, spin=spin):
                yield from self._game(t_us, state, spin)
            case e.SensorFault() | e.SensorMended():
                yield from self._sensor(t_us, "head/sensors", ok=isinstance(event, e.SensorMended))
            case e.RotorSpeed(rpm=rpm, rotor=rotor):
                if self._repeat_game:
                    yield from self._game(t_us, self._state, self._spin)
                yield HeadRotor(t_us, rpm, rotor)
            case _:
                yield from self._of_a_coup(event, t_us)

    def _of_a_coup(self, event: e.Event, t_us: int) -> Iterator[HeadReport]:
        match event:
            case e.BallSeen():
                yield HeadBall(t_us, runs=True)
            case e.BallDirection(ball=ball):
                yield HeadBall(t_us, runs=True, direction=ball)
            case e.Laps(laps=laps):
                yield HeadBall(t_us, runs=True, laps=laps)
            case e.BallOffTrack():
                yield HeadBall(t_us, runs=False)
            case e.Warned(flags=flags):
                yield HeadWarning(t_us, _names(flags))
            case e.WheelVoid(flags=flags, why=why):
                no_number: tuple[HeadWarned, ...] = ("no_number",) if why == "no_number" else ()
                yield HeadWarning(t_us, (*_names(flags), *no_number), void=True)
            case e.Number(number=number, spin=spin, whole=whole):
                yield HeadNumber(t_us, number, spin, whole)
            case e.NumberDisagrees(spin=spin):
                yield HeadNumber(t_us, None, spin) if self._state in IN_GAME else HeadJump(t_us, spin, spin)
            case (
                e.UnobservedCoup(from_spin=from_spin, to_spin=to_spin)
                | e.WheelRestarted(from_spin=from_spin, to_spin=to_spin)
            ):
                yield HeadJump(t_us, from_spin, to_spin)
            case _:
                self._log_command(event)

    def _game(self, t_us: int, state: State, spin: int) -> Iterator[HeadReport]:
        self._state, self._spin, self._repeat_game = state, spin, False
        yield HeadGame(t_us, PHASES[state], spin)

    def _sensor(self, t_us: int, name: str, *, ok: bool) -> Iterator[SensorState]:
        self.sensors[name] = ok
        yield SensorState(t_us, name, ok)

    def _log_command(self, event: e.Event) -> None:
        """What became of a command, or a wheel that is set up wrongly: no observation, but a technician needs it."""
        fields = {name: str(getattr(event, name)) for name in event.__struct_fields__ if name != "host_ns"}
        match event:
            case e.Misconfigured():
                then = "what it cannot show so stays unproven: set the wheel up, or [head]"
                self._log.error("head.misconfigured", **fields, then=then)
            case e.CommandIgnored() | e.CommandRefused() | e.CommandUnanswered():
                self._log.warning("head.command", outcome=type(event).__name__, **fields)
            case _:  # CommandConfirmed, CommandAnswered, SelfTestCode
                self._log.info("head.command", outcome=type(event).__name__, **fields)


def _names(flags: Flags) -> tuple[HeadWarned, ...]:
    return tuple(WARNED[flag] for flag in Flag if flag in flags)
