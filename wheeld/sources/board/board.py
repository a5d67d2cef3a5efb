"""Translates the events of the sensor board into observations on one continuous sensing clock.

No I/O: bytes and host times in, observations and bytes out. `t_us` is the board's own clock plus an offset that is
fixed for as long as the board runs. When the board has restarted, the offset is chosen so that `t_us` continues at the
host's estimate of the sensing time, and never goes back. Events that come before the two clocks have been compared wait
for that, so that even what the board kept from before this process is dated.

Only what the board reports moves the core's time, also when it reports nothing: a fault of the link has the time of
the last observation. If it had the present time, all that the board did not report since would count as absent (a ball
that left the track, a rotor that stopped); but the coup is void because nothing was observed (N8).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec
import structlog

from firmware_protocol import host, messages
from firmware_protocol.host import HostSession, Position, SessionEvent
from wheeld.core.clock import BoardClock, HostTime, SyncSample, UtcPair, clock_reading
from wheeld.core.observations import (
    BallPass,
    ClockReading,
    Command,
    ForeignObject,
    Observation,
    Rotor,
    SensorState,
    Sighting,
    TimePassed,
)
from wheeld.core.setting import TableSetting
from wheeld.sources.board.setting import BoardSetting

STALL_NS = 250_000_000
"""Ticks come every few ms. When they were this far apart, the host stalled: that is no silence of the board."""
READING_INTERVAL_NS = 900_000_000
"""A clock reading about once a second; samples come that often."""
AHEAD_US_MAX = 10_000_000
"""No event comes from the future. Drift makes the host's estimate of the present wrong, but never by so much. If such
an event were accepted, everything after it would be too late to count."""
HELD_MAX = 5_000
"""Events that wait for the first time sample, which comes within a tenth of a second. With more, a board that answers
everything but requests for the time is dated from this process' start."""

COUNTERS = (
    "clock_drift",
    "clock_refused",
    "clock_step",
    "host_stalls",
    "link_faults",
    "lost_events",
    "misdated",
    "of_refused_board",
    "refusals",
    "resets",
)


class Board:
    """One wheel's board, from this process' start to its end, over any number of openings of the line."""

    def __init__(
        self,
        setting: BoardSetting,
        table: TableSetting,
        *,
        hello_token: int,
        host_ns: int,
        resume_at: Position | None = None,
    ) -> None:
        """`table` says which sensors the board must have; 0 of a kind: the wheel's own head reports what they would,
        and such events of the board are not used. `host_ns` is where `t_us` 0 stands; `hello_token` and `resume_at`
        are explained by `HostSession`."""
        self._setting = setting
        self._configured = {
            "beams": len(table.beams_deg),
            "readers": len(table.readers_deg),
            "rotor_ticks": table.rotor_ticks,
        }
        self._session = HostSession(
            hello_token, board_serial=setting.board_serial, config_hash=setting.config_hash, resume_at=resume_at
        )
        self._was_identified = False
        self._clock = BoardClock(setting.max_drift_ppm)
        self._offset_us: int | None = None
        self._anchor = (host_ns, 0)
        self._undated: list[host.Observed | host.Watermark] = []
        self._newest_us = 0
        self._received_ns = self._ticked_ns = host_ns
        self._clock_read_ns: int | None = None
        self._refused = ""
        self._missed_edges: int | None = None
        self._counts: Counter[str] = Counter()
        self._log = structlog.get_logger("board")
        self.is_up = True
        """Whether the link works as far as the core knows: a change is always an observation."""
        self.sensors: dict[str, bool] = {}
        """What the board last reported of each of its sensors."""

    @property
    def identity(self) -> messages.Identity | None:
        """The board as it last identified itself; None while none is accepted."""
        return None if self._refused else self._session.identity

    @property
    def counters(self) -> dict[str, int]:
        """Of the session, the board's own (as last reported), and of what was made of both; cumulative."""
        beat = self._session.heartbeat
        of_board = (
            {}
            if beat is None
            else {
                "board_rejected_frames": beat.rejected_frames,
                "board_overwritten_events": beat.overwritten_events,
                "board_missed_edges": beat.missed_edges,
            }
        )
        return {**dict.fromkeys(COUNTERS, 0), **self._counts, **self._session.counters, **of_board}

    @property
    def position(self) -> Position | None:
        """Up to where events have been handed on; None while nothing may be acknowledged."""
        return None if self._undated or self._refused else self._session.position

    def now_us(self, host_ns: int) -> int:
        """The host's estimate of the sensing clock, never less than the newest observation."""
        board_us = None if self._offset_us is None else self._clock.board_us(host_ns)
        if board_us is None or self._offset_us is None:
            estimate_us = self._anchor[1] + (host_ns - self._anchor[0]) // 1_000
        else:
            estimate_us = board_us + self._offset_us
        return max(estimate_us, self._newest_us)

    def clock_now(self, host_ns: int) -> HostTime | None:
        """The board's clock as known at `host_ns`, with its error; None before the first comparison."""
        board_us = self._clock.board_us(host_ns)
        return None if board_us is None else self._clock.host_time(board_us)

    def opened(self, host_ns: int) -> None:
        """The line was opened (again): the session identifies the board anew."""
        self._session.reconnected(host_ns)

    def data_to_send(self) -> bytes:
        """What to write to the line now."""
        return self._session.data_to_send()

    def receive(self, data: bytes, host_ns: int, utc: UtcPair) -> list[Observation]:
        """The observations in `data`, read at `host_ns`; `utc` was read about then."""
        observations: list[Observation] = []
        for event in self._session.receive(data, host_ns):
            observations += self._in_order(self._take(event, host_ns, utc))
        return observations

    def tick(self, host_ns: int) -> list[Observation]:
        """Do what is due at `host_ns`, to be called every few ms; too long a silence is a fault of the link, once."""
        stalled_ns = host_ns - self._ticked_ns
        self._ticked_ns = host_ns
        if stalled_ns > STALL_NS:
            self._counts["host_stalls"] += 1
            self._received_ns = min(self._received_ns + stalled_ns, host_ns)
        self._session.tick(host_ns)
        if host_ns - self._received_ns <= self._setting.silence_ns_max:
            return []
        return list(self._link_fault("silence", silent_ms=(host_ns - self._received_ns) // 1_000_000))

    def _in_order(self, observations: Iterator[Observation]) -> list[Observation]:
        """Note the newest time while they are made: what comes later may not be dated earlier."""
        made: list[Observation] = []
        for observation in observations:
            self._newest_us = max(self._newest_us, observation.t_us)
            made.append(observation)
        return made

    def acknowledge(self, position: Position) -> None:
        """Everything handed on before `position` is safe for good: the board may forget it."""
        handed_on = self._session.position
        if handed_on is not None and position.next_seq <= handed_on.next_seq:
            self._session.acknowledge(position)

    # --- events of the session ---------------------------------------------------------------------------------

    def _take(self, event: SessionEvent, host_ns: int, utc: UtcPair) -> Iterator[Observation]:
        match event:
            case host.Identified():
                self._was_identified = True
                self._identified(event.identity)
            case host.Refused():
                what = {"what": event.what, "expected": event.expected, "found": event.found}
                self._refuse(f"{event.what} {event.found}", **what)
            case host.BoardReset():
                self._counts["resets"] += 1
                if self._was_identified:  # a reset before this process is covered by `Restarted`
                    yield from self._link_fault("reset", boot_id=event.new_boot_id)
                self._forget_boot(host_ns)
            case _ if self._refused:
                self._counts["of_refused_board"] += 1
            case host.Gap():
                self._counts["lost_events"] += event.last_seq - event.first_seq + 1
                yield from self._link_fault("gap", first_seq=event.first_seq, last_seq=event.last_seq)
            case host.SyncSample():
                yield from self._compare(event, host_ns, utc)
            case host.SelfTested():
                yield from self._self_tested(event)
            case _:
                self._undated.append(event)
                yield from self._release(host_ns, utc)
                yield from self._edges_missed()

    def _identified(self, identity: messages.Identity) -> None:
        layout = identity.layout
        differing = {
            what: f"{found}, configured {ours}"
            for what, ours in self._configured.items()
            if ours not in (0, found := getattr(layout, what))
        }
        if differing:
            self._refuse("layout " + str(differing), what="layout", **differing)
            return
        self._refused = ""
        self._session.request_self_test()
        self._log.info(
            "board.identified",
            serial=identity.serial,
            firmware=identity.firmware,
            config_hash=identity.config_hash,
            boot_id=identity.boot_id,
            object_sensor=layout.object_sensor,
        )

    def _refuse(self, why: str, **details: str) -> None:
        """Logged once a change. The session goes on asking: someone may plug in the right board."""
        self._counts["refusals"] += 1
        if why != self._refused:
            self._log.error("board.refused", then="its events are not used; correct the board or [sensors]", **details)
        self._refused = why

    def _edges_missed(self) -> Iterator[Observation]:
        """Edges that the board saw too late to date are a hole in what was observed (N8), as lost events are."""
        beat, before = self._session.heartbeat, self._missed_edges
        if beat is None:
            return
        self._missed_edges = beat.missed_edges
        if before is not None and beat.missed_edges > before:
            yield from self._link_fault("missed_edges", missed=beat.missed_edges - before)

    def _forget_boot(self, host_ns: int) -> None:
        self._anchor = (host_ns, self.now_us(host_ns))
        self._clock = BoardClock(self._setting.max_drift_ppm)
        self._offset_us = self._missed_edges = None
        self._undated.clear()

    def _link_fault(self, reason: str, **details: int) -> Iterator[Observation]:
        """A fault of the link, once until it works again."""
        if not self.is_up:
            return
        self.is_up = False
        self._counts["link_faults"] += 1
        self._log.warning("board.link_fault", reason=reason, **details)
        yield SensorState(t_us=self._newest_us, sensor="link", ok=False)

    def _compare(self, event: host.SyncSample, host_ns: int, utc: UtcPair) -> Iterator[Observation]:
        """A comparison of clocks. A clock that stepped makes the times around it worthless, so that is a fault too."""
        now_us = self.now_us(host_ns)
        verdict = self._clock.add(msgspec.convert(event, SyncSample, from_attributes=True))
        if verdict != "ok":
            self._counts[f"clock_{verdict}"] += 1
            self._log.warning("board.clock", verdict=verdict, drift_ppm_max=self._setting.max_drift_ppm)
        if verdict == "step":
            yield from self._link_fault("clock_step")
            self._anchor, self._offset_us = (host_ns, now_us), None
        yield from self._release(host_ns, utc)
        if self._offset_us is not None and (
            self._clock_read_ns is None or host_ns - self._clock_read_ns >= READING_INTERVAL_NS
        ):
            yield from self._reading(self._newest_us, self._offset_us, host_ns, utc)

    def _self_tested(self, event: host.SelfTested) -> Iterator[Observation]:
        """Changes only; all sensors count as working at first. The answer overtakes events, so it is dated now."""
        for report in event.sensors:
            if self.sensors.get(report.name, True) != report.ok:
                yield SensorState(t_us=self._newest_us, sensor=report.name, ok=report.ok)
            self.sensors[report.name] = report.ok

    def _release(self, host_ns: int, utc: UtcPair) -> Iterator[Observation]:
        """Date what waited, once the clocks have been compared."""
        can_date = self._offset_us is not None or self._clock.synced or len(self._undated) >= HELD_MAX
        if not self._undated or not can_date:
            return
        dated, self._undated = self._undated, []
        self._received_ns = host_ns
        if self._offset_us is None:
            self._offset_us = self._new_offset_us(dated[0].board_us, host_ns)
            first_us = max(self._newest_us, dated[0].board_us + self._offset_us)
            yield from self._reading(first_us, self._offset_us, host_ns, utc)
        if not self.is_up:
            self.is_up = True
            self._log.info("board.link_back")
            yield SensorState(t_us=self._newest_us, sensor="link", ok=True)
        for event in dated:
            t_us = event.board_us + self._offset_us
            if self._newest_us <= t_us <= self.now_us(host_ns) + AHEAD_US_MAX:
                yield self._observation(event, t_us)
            else:
                self._counts["misdated"] += 1
                yield from self._link_fault("misdated", t_us=t_us, newest_us=self._newest_us)

    def _new_offset_us(self, board_us: int, host_ns: int) -> int:
        """So that `board_us` falls on the host's estimate of the sensing time then, but never goes back."""
        at = self._clock.host_time(board_us)
        then_ns = host_ns if at is None else at.host_ns
        return max(self._anchor[1] + (then_ns - self._anchor[0]) // 1_000, self._newest_us) - board_us

    def _reading(self, t_us: int, offset_us: int, host_ns: int, utc: UtcPair) -> Iterator[ClockReading]:
        """UTC at a time that has passed already: after a later one, what the board is about to send would be late."""
        at = self._clock.host_time(t_us - offset_us)
        if at is not None:
            self._clock_read_ns = host_ns
            yield clock_reading(t_us, at, utc)

    def _is_reported_by_head(self, event: messages.Event) -> bool:
        """Sensors that the configuration does not have: two sources of the same would contradict each other."""
        sensors = {messages.RotorEdge: "rotor_ticks", messages.BallPass: "beams", messages.PocketSighting: "readers"}
        return self._configured.get(sensors.get(type(event), ""), 1) == 0

    def _observation(self, event: host.Observed | host.Watermark, t_us: int) -> Observation:
        if isinstance(event, host.Watermark):
            return TimePassed(t_us=t_us)
        match event.event:
            case _ if self._is_reported_by_head(event.event):
                return TimePassed(t_us=t_us)
            case messages.RotorEdge(tick, direction):
                return Rotor(t_us=t_us, tick=tick, direction=direction)
            case messages.BallPass(beam):
                return BallPass(t_us=t_us, beam=beam)
            case messages.PocketSighting(reader):
                return Sighting(t_us=t_us, reader=reader)
            case messages.ObjectSeen(present):
                return ForeignObject(t_us=t_us, present=present)
            case messages.SensorReport() as report:
                self.sensors[report.name] = report.ok
                return SensorState(t_us=t_us, sensor=report.name, ok=report.ok)
            case pressed:
                return Command(t_us=t_us, name=pressed.button, by="button")
