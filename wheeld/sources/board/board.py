"""Translates the events of the sensor board into observations on one continuous sensing clock.

This module has no I/O: it converts bytes and host times to observations and bytes. `t_us` is the board's clock plus an
offset that is fixed while the board runs. After a restart of the board a new offset is chosen: `t_us` continues at the
host's estimate of the sensing time and never goes back. Events wait until the two clocks have been compared, so that
even events that happened before this process began get dates. After each gap they also wait for the first levels: a
coup whose events are in the board's ring cannot be judged without the level of the object sensor at its beginning.

Only reports of the board advance the core's time. So a fault of the link has the time of the last observation. If it
had the present time, everything that was not reported since the last observation would count as absent: the ball would
have left the track, the rotor would have stopped. But the coup is void because nothing was observed (N8).

The enumeration `Trouble` lists what can be wrong with the line. This module finds out which trouble it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import TypeAlias

import msgspec
import structlog

from firmware_protocol import host, messages
from firmware_protocol.host import HostSession, Position, SessionEvent
from wheeld.core.facts import Trouble
from wheeld.core.observations import (
    DOOR,
    BallPass,
    ClockReading,
    Command,
    ForeignObject,
    Level,
    Observation,
    Restarted,
    Rotor,
    SensorState,
    Sighting,
    TimePassed,
)
from wheeld.core.setting import TableSetting
from wheeld.sources.board.firmware import FirmwareCheck
from wheeld.sources.board.hearing import Hearing
from wheeld.sources.board.setting import BoardSetting
from wheeld.sources.clock import READING_INTERVAL_NS, BoardClock, HostTime, UtcPair, clock_reading
from wheeld.sources.sensing import WiredSensors

STALL_NS = 250_000_000
"""Ticks come at least every 0.1 s. If two ticks were this far apart, the host stalled, and the board was not silent."""
AHEAD_US_MAX = 10_000_000
"""An event must not be dated more than this after now. Drift makes the host's estimate of the present wrong, but never
by this much. If such an event were accepted, all later events would be dated before it, and would not count."""
HELD_MAX = 5_000
"""The most events that wait for the first time sample, which comes within a tenth of a second. If more come, the board
does not answer time requests, and its events are dated from the start of this process."""

Seen: TypeAlias = host.Observed | host.Watermark

REFUSALS: dict[str, Trouble] = {
    "version": Trouble.REFUSED_VERSION,
    "board_serial": Trouble.REFUSED_SERIAL,
    "config_hash": Trouble.REFUSED_CONFIGURATION,
    "layout": Trouble.REFUSED_LAYOUT,
}
COUNTERS = (
    "clock_back",
    "clock_drift",
    "clock_refused",
    "clock_step",
    "host_stalls",
    "lost_events",
    "misdated",
    "of_refused_board",
    "refusals",
    "resets",
)

# These are constants, because otherwise Python would build each tuple again for hundreds of events a second.
_SEEN = (host.Observed, host.Watermark)
_ANSWERS = (host.Identified, host.Refused, host.SyncSample, host.SelfTested)
_SENSOR_OF: dict[type, str] = {
    messages.RotorEdge: "rotor_ticks",
    messages.BallPass: "beams",
    messages.PocketSighting: "readers",
    messages.ObjectSeen: "object_sensor",
}


class Board(WiredSensors):
    """The board of one wheel, from the start of this process to its end. The line may be opened many times."""

    def __init__(
        self,
        setting: BoardSetting,
        table: TableSetting,
        *,
        hello_token: int,
        host_ns: int,
        resume_at: Position | None = None,
    ) -> None:
        """`table` defines which sensors the board must have. If it names no sensor of a kind, the wheel's own head
        reports the same facts, and events of such sensors of the board are not used. `host_ns` is the host time of
        `t_us` 0. `HostSession` explains `hello_token` and `resume_at`."""
        super().__init__("board")
        self._setting = setting
        self._configured = {
            "beams": len(table.beams_deg),
            "readers": len(table.readers_deg),
            "rotor_ticks": table.rotor_ticks,
            "object_sensor": table.object_sensor,
        }
        # Events of sensors that are not configured are ignored: the board and the head could contradict each other.
        self._of_head = {kind for kind, sensor in _SENSOR_OF.items() if not self._configured[sensor]}
        self._session = HostSession(
            hello_token, board_serial=setting.board_serial, config_hash=setting.config_hash, resume_at=resume_at
        )
        self._was_identified = False
        self._clock = BoardClock(setting.max_drift_ppm)
        self._offset_us: int | None = None
        self._start_ns, self._anchor = host_ns, (host_ns, 0)
        self._undated: list[Seen] = []
        self._newest_us = 0
        self._hearing = Hearing(host_ns, silence_ns_max=round(setting.silence_s_max * 1e9))
        self._ticked_ns = host_ns
        self._clock_read_ns: int | None = None
        self._read_error_ns = 0
        self.refused: dict[str, str] = {}
        """What of the board differs from the configuration (`what`, a key of `REFUSALS`), and what was found. Empty
        unless it is refused."""
        self._missed_edges: int | None = None
        self._told: dict[str, bool] = {}
        """The level of each sensor as last reported to the core since the last gap."""
        self._awaits_levels, self._has_levels = True, False
        """Whether the events since a gap wait for the first levels, and whether these levels have come."""
        self._counts: Counter[str] = Counter()
        self._log = structlog.get_logger("board")
        self._firmware = FirmwareCheck(self._line)

    @property
    def keeps_times(self) -> bool:
        """True: each event has the time at which the board saw it."""
        return True

    @property
    def has_answered(self) -> bool:
        """Whether the board has reported the state of its sensors since the start of this process."""
        return bool(self._chatter.sensors)

    @property
    def counters(self) -> dict[str, int]:
        """The counts since the start: of the session, of this class, and of the board, as it reported them last."""
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
        made = {**dict.fromkeys(COUNTERS, 0), **self._counts}
        made |= {"chatter": self._chatter.dropped, "link_faults": self._line.fault_count}
        return {**made, **self._session.counters, **of_board}

    @property
    def position(self) -> Position | None:
        """The position up to which events were handed on. None while nothing may be acknowledged."""
        return None if self._undated or self._is_useless else self._session.position

    def now_us(self, host_ns: int) -> int:
        """Return the host's estimate of the sensing clock, never less than the newest observation."""
        board_us = None if self._offset_us is None else self._clock.board_us(host_ns)
        if board_us is None or self._offset_us is None:
            estimate_us = self._anchor[1] + (host_ns - self._anchor[0]) // 1_000
        else:
            estimate_us = board_us + self._offset_us
        return max(estimate_us, self._newest_us)

    def clock_now(self, host_ns: int) -> HostTime | None:
        """Return the sensing clock at `host_ns`, with its error. None before the clocks were compared. The rate is the
        measured one, even if it exceeds the allowed drift."""
        board_us = self._clock.board_us(host_ns)
        at, measured_ppb = (None if board_us is None else self._clock.host_time(board_us)), self._clock.measured_ppb
        if at is None or measured_ppb is None:
            return at
        return msgspec.structs.replace(at, rate_ppb=measured_ppb)

    @property
    def next_tick_ns(self) -> int:
        """The host time at which the session with the board next has something to send."""
        return self._session.next_tick_ns

    def opened(self, host_ns: int) -> None:
        """Identify the board again, because the line was opened."""
        self._session.reconnected(host_ns)

    def data_to_send(self) -> bytes:
        """Return the bytes to write to the line now."""
        return self._session.data_to_send()

    def receive(self, data: bytes, host_ns: int, utc: UtcPair) -> list[Observation]:
        """Return the observations in `data`, which was read at `host_ns`. `utc` was read at about the same time."""
        observations: list[Observation] = []
        if data:
            self._hearing.heard_ns = host_ns
        for is_seen, events in groupby(self._session.receive(data, host_ns), lambda one: isinstance(one, _SEEN)):
            if is_seen and not self._is_useless:  # nearly all events come here: hundreds a second
                seen = [one for one in events if isinstance(one, _SEEN)]
                observations += self._in_order(self._take_seen(seen, host_ns, utc))
                continue
            for event in events:
                if isinstance(event, _ANSWERS):
                    self._hearing.answered_ns = host_ns
                observations += self._in_order(self._take(event, host_ns, utc))
        if self._session.heard_ns is not None:
            self._hearing.understood_ns = max(self._hearing.understood_ns, self._session.heard_ns)
        return observations

    def tick(self, host_ns: int) -> list[Observation]:
        """Do what is due at `host_ns`, and decide what is wrong with the line. Must be called at least every 0.1 s."""
        stalled_ns = host_ns - self._ticked_ns
        self._ticked_ns = host_ns
        if stalled_ns > STALL_NS:
            self._counts["host_stalls"] += 1
            self._hearing.forgive(stalled_ns, host_ns)
        self._session.tick(host_ns)
        # `unreported`: the trouble if the board sends messages, but no observations.
        if self._session.misses_events:
            unreported = Trouble.EVENTS_MISSING
        else:
            unreported = Trouble.NO_EVENTS if self._session.is_accepted and self._clock.synced else Trouble.NO_ANSWER
        self._hearing.judge_silence(self._line, host_ns, is_useless=self._is_useless, unreported=unreported)
        self._hearing.judge_quality(self._line, lambda: self.counters, host_ns)
        return self._in_order(self._line_state(self.now_us(host_ns)))

    def _line_state(self, now_us: int) -> Iterator[SensorState]:
        """Report the state of the line to the core. At a fault the core forgets all levels. So each level is reported
        again after the fault, even if no event was lost."""
        for state in self._line.report(self._newest_us, now_us):
            if not state.ok:
                self._forget_levels()
            yield state

    @property
    def _is_useless(self) -> bool:
        """Whether nothing from this board is used, because it is refused or its clock ran backwards."""
        return bool(self.refused) or self._line.is_so(Trouble.CLOCK_RAN_BACK)

    def _in_order(self, observations: Iterator[Observation]) -> list[Observation]:
        """Collect observations and keep the newest time: no later observation may be dated before it."""
        made: list[Observation] = []
        for observation in observations:
            self._newest_us = max(self._newest_us, observation.t_us)
            made.append(observation)
        return made

    def acknowledge(self, position: Position) -> None:
        """Tell the board that everything before `position` is stored, so that it may forget these events."""
        handed_on = self._session.position
        if handed_on is not None and position.next_seq <= handed_on.next_seq:
            self._session.acknowledge(position)

    # --- events of the session ---------------------------------------------------------------------------------

    def _take_seen(self, events: list[Seen], host_ns: int, utc: UtcPair) -> Iterator[Observation]:
        """Yield what the board observed, in order. After the first event, report the edges that the board has missed,
        as its latest heartbeat says."""
        now_us = self.now_us(host_ns)
        for event in events:
            if self._offset_us is None or self._awaits_levels:
                self._undated.append(event)
                self._has_levels |= isinstance(event, host.Watermark) and event.levels is not None
                yield from self._release(host_ns, utc)
                now_us = self.now_us(host_ns)
            else:
                self._hearing.reported_ns = host_ns
                yield from self._dated(event, self._offset_us, now_us, host_ns)
            if event is events[0] and (beat := self._session.heartbeat) is not None:
                # The board saw these edges too late to date them. So not everything was observed, as with lost events
                # (N8).
                before, self._missed_edges = self._missed_edges, beat.missed_edges
                if before is not None and beat.missed_edges > before:
                    yield from self._fault(Trouble.EDGES_MISSED, host_ns, missed=beat.missed_edges - before)

    def _take(self, event: SessionEvent, host_ns: int, utc: UtcPair) -> Iterator[Observation]:
        match event:
            case host.Identified():
                self._was_identified = True
                self._identified(event.identity)
            case host.Refused():
                what = {"what": event.what, "expected": event.expected, "found": event.found}
                self._refuse(REFUSALS[event.what], **what)
            case host.BoardReset():
                self._counts["resets"] += 1
                if self._was_identified:  # if not, the reset was before this process began: `Restarted` reports it
                    yield from self._fault(Trouble.BOARD_RESTARTED, host_ns, boot_id=event.new_boot_id)
                self._line.over(Trouble.CLOCK_RAN_BACK)
                self._anchor = (host_ns, self.now_us(host_ns))
                self._clock = BoardClock(self._setting.max_drift_ppm)
                self._offset_us = self._missed_edges = None
                self._undated.clear()
                self._forget_levels()
            case _ if self._is_useless:
                self._counts["of_refused_board"] += 1
            case host.LostEvents():
                self._counts["lost_events"] += event.last_seq - event.first_seq + 1
                lost = {"first_seq": event.first_seq, "last_seq": event.last_seq}
                yield from self._fault(Trouble.EVENTS_LOST, host_ns, **lost)
            case host.SyncSample():
                yield from self._compare(event, host_ns, utc)
            case host.SelfTested():
                # The changes get the time of the newest observation: events from before the test may still come.
                for report in event.sensors:
                    changes = self._chatter.tested(report.name, ok=report.ok, t_us=self._newest_us)
                    yield from map(self._told_of_sensor, changes)

    def _identified(self, identity: messages.Identity) -> None:
        layout = identity.layout
        differing = {
            what: f"{found}, configured {ours}"
            for what, ours in self._configured.items()
            if ours not in (0, found := getattr(layout, what))
        }
        if differing:
            self._refuse(Trouble.REFUSED_LAYOUT, what="layout", **differing)
            return
        self.refused = {}
        self._line.over(*REFUSALS.values())
        self._session.request_self_test()
        if identity.ring_ms < messages.RING_MS_MIN:
            self._log.warning(
                "board.short_ring",
                ring_ms=identity.ring_ms,
                then="events are lost if the line is away for longer; a board with more memory keeps them",
            )
        self._log.info(
            "board.identified",
            serial=identity.serial,
            firmware=identity.firmware,
            config_hash=identity.config_hash,
            boot_id=identity.boot_id,
            object_sensor=layout.object_sensor,
            door_switch=layout.door_switch,
        )

    def _refuse(self, trouble: Trouble, **details: str) -> None:
        """Refuse the board, and log this once for each new reason. The session continues to ask for the identity,
        because someone may connect the right board."""
        self._counts["refusals"] += 1
        self._line.over(*(each for each in REFUSALS.values() if each is not trouble))
        self._line.stands(trouble)
        if details != self.refused:
            self._log.error("board.refused", then="its events are not used; correct the board or [sensors]", **details)
        self.refused = details

    def _fault(self, trouble: Trouble, host_ns: int, **details: int) -> Iterator[Observation]:
        """Report a fault of the link that happened, unless the link is down already. Forget all levels, because they
        may have changed."""
        self._forget_levels()
        yield from self._line.happens(trouble, self._newest_us, self.now_us(host_ns), **details)

    def _compare(self, event: host.SyncSample, host_ns: int, utc: UtcPair) -> Iterator[Observation]:
        """Process a comparison of clocks. A step of the board's clock is a fault: the times near it are wrong."""
        now_us = self.now_us(host_ns)
        verdict = self._clock.add(event)
        if verdict != "ok":
            self._counts[f"clock_{verdict}"] += 1
        match verdict:
            case "back":
                self._line.stands(Trouble.CLOCK_RAN_BACK, board_us=event.board_rx_us)
                self._undated.clear()
                yield from self._line_state(now_us)
                return
            case "drift":
                self._hearing.drifted()
                self._line.stands(Trouble.CLOCK_DRIFTS, drift_ppm_max=self._setting.max_drift_ppm)
            case "step":
                yield from self._fault(Trouble.CLOCK_STEPPED, host_ns)
                self._anchor, self._offset_us = (host_ns, now_us), None
        yield from self._release(host_ns, utc)
        if self._offset_us is not None:
            # Report UTC once a second, and also if the error is now less than half as large as at the last reading. If
            # the board kept events, the first reading has a large error: it was for an old time, when the clock's rate
            # was not known yet.
            at, read_ns = self._clock.host_time(self._newest_us - self._offset_us), self._clock_read_ns
            is_better = at is not None and 2 * at.error_ns < self._read_error_ns
            if is_better or read_ns is None or host_ns - read_ns >= READING_INTERVAL_NS:
                yield from self._reading(self._newest_us, self._offset_us, host_ns, utc)

    def _release(self, host_ns: int, utc: UtcPair) -> Iterator[Observation]:
        """Date the waiting events as soon as the clocks have been compared."""
        can_date = self._offset_us is not None or self._clock.synced or len(self._undated) >= HELD_MAX
        if not self._undated or not can_date:
            return
        self._hearing.reported_ns = host_ns
        if self._awaits_levels and not self._has_levels and len(self._undated) < HELD_MAX:
            return
        dated, self._undated = self._undated, []
        if self._offset_us is None:
            at = self._clock.host_time(dated[0].board_us)
            then_ns = host_ns if at is None else at.host_ns
            # The sensing time never goes back.
            first_us = max(self._newest_us, self._anchor[1] + (then_ns - self._anchor[0]) // 1_000)
            self._offset_us = first_us - dated[0].board_us
            yield from self._reading(first_us, self._offset_us, host_ns, utc)
            # Events before `start_us` happened before this process began. If the clocks were not compared, this may be
            # so for all waiting events.
            start_us = self._clock.board_us(self._start_ns)
            until_us = dated[-1].board_us + self._offset_us if start_us is None else start_us + self._offset_us
            if until_us > first_us:
                yield Restarted(first_us, away_until_us=until_us)
        if self._awaits_levels:
            self._awaits_levels = False
            # Ask which sensors work, because a lost event may have reported that a sensor has failed, or that it works
            # again.
            self._session.request_self_test()
            # Report the object sensor's level at the end of the gap: its first change or level after the gap shows it.
            for event in dated:
                if isinstance(event, host.Observed) and isinstance(event.event, messages.ObjectSeen):
                    thing: messages.ObjectLevel = "clear" if event.event.present else "present"
                elif isinstance(event, host.Watermark) and event.levels is not None:
                    thing = event.levels.object
                else:
                    continue
                yield from self._object_level(thing, self._newest_us)
                break
        now_us = self.now_us(host_ns)
        for event in dated:
            yield from self._dated(event, self._offset_us, now_us, host_ns)

    def _dated(self, event: Seen, offset_us: int, now_us: int, host_ns: int) -> Iterator[Observation]:
        """Yield what the event shows, unless its sensor chatters. `now_us`: the present sensing time, estimated."""
        is_edge = isinstance(event, host.Observed) and isinstance(event.event, messages.RotorEdge)
        if not is_edge:  # heartbeats have no level of the encoder
            self._firmware.take(event, self._chatter.sensors)
        t_us = event.board_us + offset_us
        if not self._newest_us <= t_us <= max(now_us, self._newest_us) + AHEAD_US_MAX:
            self._counts["misdated"] += 1
            times = {"t_us": t_us, "newest_us": self._newest_us}
            yield from self._fault(Trouble.MISDATED, host_ns, **times)
            return
        if self._chatter.is_dropping:
            yield from self._chatter.calmed(t_us)
        if isinstance(event, host.Observed):
            seen = self._observation(event, t_us)
            # Many edges of the encoder are not chatter.
            yield from [seen] if is_edge else self._chatter.take(seen)
            return
        for level in () if event.levels is None else self._levels(event.levels, t_us):
            yield from self._chatter.take(level)
        yield TimePassed(t_us=t_us)

    def _reading(self, t_us: int, offset_us: int, host_ns: int, utc: UtcPair) -> Iterator[ClockReading]:
        """Report UTC at `t_us`, which is not later than the newest observation. If the reading were later, events from
        before it would not count."""
        at = self._clock.host_time(t_us - offset_us)
        if at is not None:
            self._clock_read_ns, self._read_error_ns = host_ns, at.error_ns
            yield clock_reading(t_us, at, utc)

    def _forget_levels(self) -> None:
        self._told.clear()
        self._firmware.forget()
        self._awaits_levels, self._has_levels = True, False

    def _object_level(self, thing: messages.ObjectLevel, t_us: int) -> Iterator[Level]:
        """Report the level of the object sensor if it differs from the one last reported to the core."""
        if thing == "unknown" or not self._configured["object_sensor"]:
            self._told.pop("object", None)
        elif self._told.get("object") is not (is_in := thing == "present"):
            self._told["object"] = is_in
            yield Level(t_us=t_us, sensor="object", active=is_in)

    def _levels(self, levels: messages.Levels, t_us: int) -> Iterator[Level]:
        """Report all levels once after each start and each gap. If a sensor was active then, report also when it is no
        longer active. After that the events of the sensor are enough. The levels of the object sensor and of the door
        are reported whenever they have changed."""
        told, beams, readers = self._told, self._configured["beams"], self._configured["readers"]
        standing = {f"beam/{beam}": beam in levels.beams_blocked for beam in range(beams)}
        standing |= {f"reader/{reader}": reader in levels.readers_blocked for reader in range(readers)}
        standing |= {f"button/{button}": button in levels.buttons_held for button in messages.BUTTONS}
        for sensor, active in standing.items():
            if told.get(sensor, True) and active is not told.get(sensor):
                told[sensor] = active
                yield Level(t_us=t_us, sensor=sensor, active=active)
        yield from self._object_level(levels.object, t_us)
        if levels.door != "unknown" and told.get(DOOR) is not (is_open := levels.door == "open"):
            told[DOOR] = is_open
            yield Level(t_us=t_us, sensor=DOOR, active=is_open)

    def _told_of_sensor(self, state: SensorState) -> SensorState:
        """Forget the level of the object sensor when the sensor fails or works again, as the core does: the heartbeats
        with the level "unknown", which would show the change, may be lost."""
        if state.sensor == "object":
            self._told.pop("object", None)
        return state

    def _observation(self, event: host.Observed, t_us: int) -> Observation:
        match event.event:
            case reported if type(reported) in self._of_head:
                return TimePassed(t_us=t_us)
            case messages.RotorEdge(tick, direction):
                return Rotor(t_us=t_us, tick=tick, direction=direction)
            case messages.BallPass(beam):
                return BallPass(t_us=t_us, beam=beam)
            case messages.PocketSighting(reader):
                return Sighting(t_us=t_us, reader=reader)
            case messages.ObjectSeen(present):
                self._told["object"] = present
                return ForeignObject(t_us=t_us, present=present)
            case messages.DoorMoved():
                self._told[DOOR] = event.event.open
                return Level(t_us=t_us, sensor=DOOR, active=event.event.open)
            case messages.SensorReport() as report:
                return self._told_of_sensor(SensorState(t_us, report.name, ok=report.ok))
            case pressed:
                return Command(t_us=t_us, name=pressed.button, by="button")
