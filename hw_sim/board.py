"""A simulated sensor board: the other end of `firmware_protocol`, written from its specification alone.

It has no I/O and reads no clock. The caller feeds events at their times, collects bytes, and gives the time. `t_us` is
the time of the simulated world. The board's own clock counts from its last boot, so the two differ after a reset.

The levels of the sensors belong to the world. If an object falls in, or a door is opened, while the board is off, the
next heartbeat of the board reports this.

The faults of the board are: `reset` (a new boot: no events in the ring, clock at 0); `silent` (the program hangs: it
receives, observes and sends nothing, and the edges of that time are lost); `deaf` (it receives nothing but continues to
send); `wraps_us` (its clock returns to 0 at this value, like a counter of 32 bits without a carry); `babble` (random
bytes on the line); and the faults of its `cable`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from firmware_protocol import messages as m
from firmware_protocol.codec import ENCODED_BYTES_MAX, FrameDecoder, encode_frame
from firmware_protocol.wire import MessageError, decode_from_host, encode
from hw_sim import events as sim
from hw_sim.cable import Cable

HELD_US = 150_000
"""How long a pressed button is held down."""
SELF_TEST_US = 20_000
"""How long the simulated self-test takes. The specification allows half a second."""
ROOM_BYTES = 4096
"""The most bytes that a caller gets in one call: the size of a serial driver's buffer."""
_SENSOR_KINDS: dict[str, m.SensorKind] = {kind: kind for kind in m.SENSOR_KINDS}
_BUTTONS: dict[str, m.Button] = {button: button for button in m.BUTTONS}


@dataclass(frozen=True, slots=True)
class BoardSetup:
    """The constants of a board: identity, sensors, memory. `config_hash` is 16 hexadecimal digits."""

    layout: m.Layout
    serial: str = "SIM-0001"
    firmware: str = "sim-1"
    config_hash: str = "0000000000000000"
    ring_events: int = 4096
    top_rate: int = 2000


class SimBoard:
    """One board, from its power-up on. The caller feeds it the events in time order, and carries its bytes."""

    def __init__(self, setup: BoardSetup, *, boot_id: int = 1, cable: Cable | None = None, up_us: int = 0) -> None:
        """`up_us`: how long the board has been on when the world begins."""
        self.setup = setup
        self.cable = cable or Cable()
        self.silent = False
        self.deaf = False
        self.wraps_us: int | None = None
        self._now_us = 0
        self._babble = bytearray()
        self._faulty: set[str] = set()
        self._stands = dict.fromkeys(m.STANDS, False)
        self._held_until_us: dict[m.Button, int] = {}
        self._boot(boot_id)
        self._booted_us -= up_us
        self._beat_us = up_us

    def reset(self) -> None:
        """Start again, as after a watchdog reset or a power cut: no events in the ring, clock and `next_seq` at 0."""
        self._boot((self.boot_id + 1) % 2**32)

    def restart_clock(self) -> None:
        """Restart the clock at 0 without a boot, as a clock with too few bits does. Earlier events are lost. This is a
        fault: a real board must never do it."""
        self._booted_us, self._beat_us = self._now_us, 0
        self._ring.clear()
        self._sent_seq = self.next_seq  # unsent events are lost, too

    def _boot(self, boot_id: int) -> None:
        self.boot_id = boot_id
        self.next_seq = 0
        """Number of the next event."""
        self.acked_seq = 0
        """A host has confirmed all events with a lower number."""
        self._booted_us = self._now_us
        self._ring: deque[m.TimedEvent] = deque(maxlen=self.setup.ring_events)
        self._sent_seq = self._urgent_seq = 0
        self._overwritten = 0
        self._rejected = 0
        self.greeted = False
        """A host has sent a hello since the boot, so events are sent."""
        self._decoder = FrameDecoder()
        self._hello: m.Hello | None = None
        self._sync: tuple[int, int] | None = None
        self._test: tuple[int, int] | None = None
        self._beat_us = 0
        self._went_back = False

    @property
    def board_us(self) -> int:
        """The board's own clock."""
        return self._now_us - self._booted_us

    @property
    def oldest_seq(self) -> int:
        """Number of the oldest event in the ring."""
        return self.next_seq - len(self._ring)

    @property
    def wants_us(self) -> int:
        """The world's time at which the board will next send something without a request."""
        if self.silent:
            return self._now_us + m.HEARTBEAT_US
        times = [self._beat_us]
        if self._test:
            times.append(self._test[1])
        if self._waiting and (self._is_urgent or self._waiting >= m.EVENTS_MAX):
            times.append(self.board_us)
        return min(times) + self._booted_us

    def advance(self, t_us: int) -> None:
        """Set the world's time to `t_us`. This time never goes back."""
        if t_us < self._now_us:
            raise ValueError(f"time would go back from {self._now_us} to {t_us} µs")
        self._now_us = t_us

    def feed(self, event: sim.SimEvent) -> None:
        """Process `event` at its own time, which becomes the present time."""
        self.advance(event.t_us)
        if isinstance(event, sim.SensorState) and event.sensor == "link":
            self.cable.cut = not event.ok
        elif (message := self._message_of(event)) is not None and not self.silent:
            self._overwritten += len(self._ring) == self._ring.maxlen and self.oldest_seq >= self.acked_seq
            self._ring.append(m.TimedEvent(self.board_us, message))
            self.next_seq += 1
            if not isinstance(message, m.RotorEdge):
                self._urgent_seq = self.next_seq

    def babble(self, data: bytes) -> None:
        """Put `data` on the line towards the host, between two frames."""
        self._babble += data

    def receive(self, data: bytes) -> None:
        """Process bytes from the host, which arrive now."""
        if self.silent or self.deaf:
            return
        for frame in self._decoder.feed(self.cable.carry(data)):
            try:
                message = decode_from_host(frame)
                match message:
                    case m.Hello():
                        self._hello = message
                        self.greeted = self._version(message) != 0
                        self._sent_seq, self._urgent_seq = max(self.acked_seq, self.oldest_seq), self.next_seq
                    case m.Ack(boot_id=self.boot_id, next_seq=next_seq) if next_seq <= self.next_seq:
                        self.acked_seq = max(self.acked_seq, next_seq)
                    case m.Replay(boot_id=self.boot_id, from_seq=from_seq) if (
                        self.greeted and from_seq <= self.next_seq
                    ):
                        self._sent_seq, self._urgent_seq = from_seq, self.next_seq
                        self._beat_us, self._went_back = self.board_us, True
                    case m.SyncRequest(token=token):
                        self._sync = token, self.board_us
                    case m.SelfTestRequest(token=token):
                        self._test = token, self._test[1] if self._test else self.board_us + SELF_TEST_US
            except MessageError:
                self._rejected += 1

    def data_to_send(self, room: int = ROOM_BYTES) -> bytes:
        """Return the bytes to send now: whole frames in at most `room` bytes, after the faults of the cable."""
        if self.silent:
            return b""
        data = bytes(self._babble)
        self._babble.clear()
        while len(data) + ENCODED_BYTES_MAX < room:
            message = self._answer() or self._heartbeat() or self._events()  # the most urgent message is sent first
            if message is None:
                break
            data += encode_frame(encode(message))
        return self.cable.carry(data)

    def _message_of(self, event: sim.SimEvent) -> m.Event | None:
        match event:
            case sim.Switched():
                self._stands[event.switch] = event.stands
                return event.message if self.setup.layout.stands[event.switch] else None
            case sim.Sensed():
                return event.message
            case sim.SensorState(sensor=sensor, ok=ok):
                (self._faulty.discard if ok else self._faulty.add)(sensor)
                kind, _, index = sensor.partition("/")
                return m.SensorReport(_SENSOR_KINDS[kind], int(index or 0), ok)
            case sim.TableCommand(name=name) if name in _BUTTONS:
                self._held_until_us[_BUTTONS[name]] = event.t_us + HELD_US
                return m.ButtonPress(_BUTTONS[name])
        return None

    # --- messages from the host --------------------------------------------------------------------------------------

    @staticmethod
    def _version(hello: m.Hello) -> int:
        return m.VERSION if hello.version_min <= m.VERSION <= hello.version_max else 0

    # --- messages to the host ----------------------------------------------------------------------------------------

    def _answer(self) -> m.FromBoard | None:
        if self._sync:
            (token, rx_us), self._sync = self._sync, None
            tx_us = self._shown_us(self.board_us)
            return m.SyncReply(self.boot_id, token, min(self._shown_us(rx_us), tx_us), tx_us)
        if self._hello:
            hello, self._hello = self._hello, None
            return m.Identity(
                token=hello.token,
                version=self._version(hello),
                version_min=m.VERSION,
                version_max=m.VERSION,
                boot_id=self.boot_id,
                oldest_seq=self.oldest_seq,
                acked_seq=self.acked_seq,
                next_seq=self.next_seq,
                serial=self.setup.serial,
                firmware=self.setup.firmware,
                config_hash=self.setup.config_hash,
                ring_events=self.setup.ring_events,
                top_rate=self.setup.top_rate,
                layout=self.setup.layout,
            )
        if self._test and self._test[1] <= self.board_us:
            (token, _), self._test = self._test, None
            tested = self.setup.layout.tested.items()
            working = (m.SensorReport(kind, index, ok=True) for kind, count in tested for index in range(count))
            found = tuple(m.SensorReport(one.kind, one.index, one.name not in self._faulty) for one in working)
            return m.SelfTestResult(self.boot_id, token, self._shown_us(self.board_us), found)
        return None

    def _heartbeat(self) -> m.Heartbeat | None:
        fits = 0 < self._waiting <= m.EVENTS_MAX
        if self.board_us < self._beat_us or (fits and not self._went_back):
            return None  # no heartbeat is due yet, or the waiting events are sent before it
        self._beat_us, self._went_back = self.board_us + m.HEARTBEAT_US, False
        # The heartbeat shows a failed beam or reader as blocked.
        faulty = [sensor.partition("/") for sensor in self._faulty]
        beams, readers = (
            tuple(sorted(int(number) for of, _, number in faulty if of == kind)) for kind in ("beam", "reader")
        )
        held = tuple(button for button in m.BUTTONS if self._held_until_us.get(button, -1) > self._now_us)
        fitted = self.setup.layout.stands
        stands: dict[str, Any] = {
            name: words[self._stands[name]] if fitted[name] and name not in self._faulty else "unknown"
            for name, words in m.STANDS.items()
        }
        return m.Heartbeat(
            boot_id=self.boot_id,
            board_us=self._shown_us(self.board_us),
            oldest_seq=self.oldest_seq,
            acked_seq=self.acked_seq,
            sent_seq=max(self._sent_seq, self.oldest_seq),
            next_seq=self.next_seq,
            rejected_frames=self._rejected + sum(self._decoder.rejected.values()),
            overwritten_events=self._overwritten,
            levels=m.Levels(beams, readers, held, **stands),
        )

    def _events(self) -> m.Events | None:
        """Return the next events that wait, if they fill a frame, if one is urgent, or if a heartbeat is due."""
        self._sent_seq = max(self._sent_seq, self.oldest_seq)
        waiting = self._waiting
        if not waiting or (waiting < m.EVENTS_MAX and self.board_us < self._beat_us and not self._is_urgent):
            return None
        first_us = self._ring[self._sent_seq - self.oldest_seq].board_us
        start = self._sent_seq - self.oldest_seq
        batch = [self._ring[at] for at in range(start, start + min(waiting, m.EVENTS_MAX))]
        batch = [timed for timed in batch if timed.board_us - first_us <= m.SPAN_US_MAX]
        first_shown_us = self._shown_us(first_us)  # if the clock goes back to 0, the next frame begins there
        batch = [timed for timed in batch if self._shown_us(timed.board_us) >= first_shown_us]
        first_seq, self._sent_seq = self._sent_seq, self._sent_seq + len(batch)
        shown = tuple(m.TimedEvent(self._shown_us(timed.board_us), timed.event) for timed in batch)
        return m.Events(self.boot_id, first_seq, shown)

    def _shown_us(self, board_us: int) -> int:
        """Return the time as the board's messages contain it."""
        return board_us if self.wraps_us is None else board_us % self.wraps_us

    @property
    def _is_urgent(self) -> bool:
        """Whether an event waits that must be sent at once: it is not a rotor edge, or the host requested it again."""
        return self._sent_seq < self._urgent_seq

    @property
    def _waiting(self) -> int:
        """How many events wait to be sent. 0 until a host has sent a hello."""
        return self.next_seq - max(self._sent_seq, self.oldest_seq) if self.greeted else 0
