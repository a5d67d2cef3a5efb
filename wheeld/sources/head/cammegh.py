"""Cammegh's wheel heads: their set-up, and the conversion of each event of a session to 0, 1 or 2 observations.

The core decides about a coup by these observations, so the stored log of a coup shows why it decided so. These heads
are described in `firmware_protocol/mercury-360.md` and `slingshot-2.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import structlog

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.session import CammeghSession, Setup
from firmware_protocol.cammegh.status import Flag, Flags, Product, StateCode
from wheeld.core.catalogue import Text
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
from wheeld.core.pockets import PocketLayout
from wheeld.sources.head.setting import HeadSetting, Wrong

POLL_NS = 500_000_000
"""The interval of polls. A head that sends lines by itself has the same interval. Polls must not come more often than
every 100 ms."""
PHASES: dict[StateCode, HeadPhase] = {
    StateCode.START: "ready",
    StateCode.PLACE_BETS: "ready",
    StateCode.BALL_IN_RIM: "running",
    StateCode.NO_MORE_BETS: "closing",
    StateCode.WINNING_NUMBER: "number",
    StateCode.TABLE_CLOSED: "idle",
    StateCode.BALL_OFF_TRACK: "off_track",
    StateCode.DEALER_LOCK: "locked",
}
WARNED: dict[Flag, HeadWarned] = {
    Flag.BALL_NOT_DETECTED: "ball_not_detected",
    Flag.ROTOR_SPEED: "rotor_speed",
    Flag.SAME_DIRECTION: "same_direction",
    Flag.SENSOR_FAULT: "sensors",
    Flag.LAUNCH_FAILED: "launch_failed",
    Flag.VOID_GAME: "void_game",
}
IN_GAME = (StateCode.BALL_IN_RIM, StateCode.NO_MORE_BETS, StateCode.BALL_OFF_TRACK, StateCode.WINNING_NUMBER)


def rules(setting: HeadSetting) -> Iterator[Iterator[Wrong]]:
    """Yield the rules of these heads for `[head]`. Each rule yields what is wrong."""
    yield _polls(setting)
    yield _commands(setting)


def _polls(head: HeadSetting) -> Iterator[Wrong]:
    if head.poll and head.silence_s_max <= 2 * POLL_NS / 1e9:
        seconds = {"seconds": f"{head.silence_s_max:g}"}
        yield "silence_s_max", Text("{seconds} s is not longer than two polls: give more than 1 s", seconds)
    if head.poll and not head.writable:
        yield "poll", Text("needs a line that takes commands: the head's port 1, with writable = true")


def _commands(head: HeadSetting) -> Iterator[Wrong]:
    if not head.writable and head.bare_number:
        what = Text(
            "is true, but the head sends this line on its port 1 only, and writable is false: set bare_number = false"
        )
        yield "bare_number", what
    elif not head.writable and head.product == Product.MERCURY_360.value:
        what = Text(
            "is false, but a Mercury 360 needs a command that sets its extended mode: wire the head's port 1, and "
            "write true here"
        )
        yield "writable", what


def facts(setting: HeadSetting) -> Iterator[Text]:
    """Yield the meaning of `[head]` for people, one line for each fact."""
    if setting.poll:
        yield Text("the head is asked for each status line")
    else:
        yield Text("the head sends its status lines by itself")
    if setting.bare_number:
        yield Text("the head sends the number also on a line of its own")
    else:
        yield Text("the head sends the number in its status lines only")


class CammeghHead:
    """Converts the events of a session with one head to observations. `now_us` converts host time to sensing time.
    `sensors`: whether the head and its sensors work, by the names that the message `health` uses."""

    def __init__(self, setup: Setup, now_us: Callable[[int], int]) -> None:
        self._session, self._now_us = CammeghSession(setup), now_us
        self.opened, self.data_to_send = self._session.opened, self._session.data_to_send
        self.sensors = {"head": False, "head/sensors": True}
        self._state = StateCode.START
        self._spin = 0
        self._repeat_game = False
        """Whether lines have come again after a silence: with the next one the state of the game is reported again."""
        self._log = structlog.get_logger("head")

    @property
    def counters(self) -> dict[str, int]:
        """The number of lines by kind, and of rejected lines by cause."""
        return self._session.counters

    @property
    def next_tick_ns(self) -> int:
        """When `tick` is due."""
        return self._session.next_tick_ns

    def receive(self, data: bytes, host_ns: int) -> Iterator[HeadReport | SensorState]:
        """Return the observations in `data`, which was read at `host_ns`."""
        return self._observed(self._session.receive(data, host_ns))

    def tick(self, host_ns: int) -> Iterator[HeadReport | SensorState]:
        """Do what is due: polls, commands, time-outs."""
        return self._observed(self._session.tick(host_ns))

    def _observed(self, events: Iterable[e.Event]) -> Iterator[HeadReport | SensorState]:
        for event in events:
            t_us = self._now_us(event.host_ns)
            match event:
                case e.Connected(state=state, spin=spin):
                    yield from self._sensor(t_us, "head", ok=True)
                    yield from self._game(t_us, state, spin)
                case e.Silent():
                    yield from self._sensor(t_us, "head", ok=False)
                case e.LinesAgain():
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

    def _game(self, t_us: int, state: StateCode, spin: int) -> Iterator[HeadReport]:
        self._state, self._spin, self._repeat_game = state, spin, False
        yield HeadGame(t_us, PHASES[state], spin)

    def _sensor(self, t_us: int, name: str, *, ok: bool) -> Iterator[SensorState]:
        self.sensors[name] = ok
        yield SensorState(t_us, name, ok)

    def _log_command(self, event: e.Event) -> None:
        """Log for a technician how a command ended, or that the head is set up wrongly. Such an event is not an
        observation."""
        fields = {name: str(getattr(event, name)) for name in event.__struct_fields__ if name != "host_ns"}
        match event:
            case e.Misconfigured():
                then = "what the head does not show with this setting stays unproven: correct it, or [head]"
                self._log.error("head.misconfigured", **fields, then=then)
            case e.CommandIgnored() | e.CommandRefused() | e.CommandUnanswered():
                self._log.warning("head.command", outcome=type(event).__name__, **fields)
            case _:  # the event is CommandConfirmed, CommandAnswered or SelfTestCode
                self._log.info("head.command", outcome=type(event).__name__, **fields)


def _names(flags: Flags) -> tuple[HeadWarned, ...]:
    return tuple(WARNED[flag] for flag in Flag if flag in flags)


def new_head(setting: HeadSetting, pockets: PocketLayout, now_us: Callable[[int], int]) -> CammeghHead:
    """Return the head for a setting. Raises ValueError if `rules` report a contradiction in it."""
    setup = Setup(
        Product(setting.product),
        writable=setting.writable,
        bare_number=setting.bare_number,
        poll_ns=POLL_NS if setting.poll else 0,
        silence_ns=round(setting.silence_s_max * 1e9),
        pockets=pockets.count,
    )
    return CammeghHead(setup, now_us)
