"""What a Cammegh wheel's session concludes, as the observations that the core judges: one event, none, one or two.

The session tells some things twice, once as a line and once as its own conclusion from several; here the core gets
what it needs to conclude the same itself, so that a stored coup shows on what it was judged.
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
    """Turns events into observations; remembers where the wheel's game stands. `sensors` as `health` tells them."""

    def __init__(self) -> None:
        self.sensors = {"head": False, "head/sensors": True}
        self._state: State | None = None
        self._spin = 0
        self._is_news = False
        self._log = structlog.get_logger("head")

    def observations(self, event: e.Event, t_us: int) -> Iterator[HeadReport | SensorState]:
        """What `event` comes to, dated `t_us` on the sensing clock."""
        match event:
            case e.Connected(state=state, spin=spin):
                yield from self._heard(t_us, state, spin)
            case e.Silent():
                yield from self._sensor(t_us, "head", ok=False)
            case e.Heard():
                yield from self._sensor(t_us, "head", ok=True)
                self._is_news = True  # where it stands now: the line that it was heard by says so
            case e.GameState(state=state, spin=spin):
                self._state, self._spin = state, spin
                yield from self._stands(t_us)
            case e.SensorFault() | e.SensorMended():
                yield from self._sensor(t_us, "head/sensors", ok=isinstance(event, e.SensorMended))
            case e.RotorSpeed(rpm=rpm, rotor=rotor):
                if self._is_news:
                    yield from self._stands(t_us)
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
                yield HeadWarning(t_us, _named(flags))
            case e.WheelVoid(flags=flags, why=why):
                no_number: tuple[HeadWarned, ...] = ("no_number",) if why == "no_number" else ()
                yield HeadWarning(t_us, (*_named(flags), *no_number), void=True)
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
                self._told(event)

    def _heard(self, t_us: int, state: State, spin: int) -> Iterator[HeadReport | SensorState]:
        """The wheel speaks for the first time."""
        self._state, self._spin = state, spin
        yield from self._sensor(t_us, "head", ok=True)
        yield from self._stands(t_us)

    def _stands(self, t_us: int) -> Iterator[HeadReport]:
        """Where its game stands."""
        self._is_news = False
        if self._state is not None:
            yield HeadGame(t_us, PHASES[self._state], self._spin)

    def _sensor(self, t_us: int, name: str, *, ok: bool) -> Iterator[SensorState]:
        self.sensors[name] = ok
        yield SensorState(t_us, name, ok)

    def _told(self, event: e.Event) -> None:
        """What proves nothing and a technician wants to know."""
        what = {name: str(getattr(event, name)) for name in event.__struct_fields__ if name != "host_ns"}
        match event:
            case e.Misconfigured():
                then = "what it cannot show so stays unproven: set the wheel up, or [head]"
                self._log.error("head.misconfigured", **what, then=then)
            case e.CommandIgnored() | e.CommandRefused() | e.CommandUnanswered():
                self._log.warning("head.command", outcome=type(event).__name__, **what)
            case e.CommandConfirmed() | e.CommandAnswered() | e.SelfTestCode():
                self._log.info("head.command", outcome=type(event).__name__, **what)
            case _:
                pass  # SameDirection, BallLeaving, LaunchFailed, RotorStopped: the core concludes them from the lines


def _named(flags: Flags) -> tuple[HeadWarned, ...]:
    return tuple(WARNED[flag] for flag in Flag if flag in flags)
