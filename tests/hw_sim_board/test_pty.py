"""The board on a real pseudo-terminal, a real serial port object and a host session, fifty times real speed."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import serial

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder, encode_frame
from firmware_protocol.host import HostSession, LostEvents, Observed, SessionEvent
from firmware_protocol.wire import encode
from hw_sim import events as sim
from hw_sim.board import BoardSetup, SimBoard
from hw_sim.pty_link import Player, Pty
from wheeld.sources.link.serial_link import PortUnavailableError, open_serial

SPEED = 50.0
TIMEOUT_S = 20.0
SETUP = BoardSetup(m.Layout(beams=4, readers=3, rotor_ticks=148, object_sensor=True))


class Host:
    """A host in a small loop: reads what is there, writes what the session wants."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.session = HostSession(1)
        self.session_events: list[SessionEvent] = []
        self._port: serial.Serial | None = None

    def open(self) -> None:
        self._port = serial.Serial(str(self.path), 115200, timeout=0, write_timeout=1)
        self.session.reconnected(time.monotonic_ns())

    def close(self) -> None:
        if self._port is not None:
            self._port.close()
        self._port = None

    async def run(self, playing: asyncio.Task[None]) -> None:
        while not playing.done():
            self.step()
            await asyncio.sleep(0.001)
        playing.result()

    def step(self) -> None:
        if self._port is None:
            return
        now_ns = time.monotonic_ns()
        self.session_events += self.session.receive(self._port.read(4096), now_ns)
        if self.session.position is not None:
            self.session.acknowledge(self.session.position)
        self.session.tick(now_ns)
        self._port.write(self.session.data_to_send())

    def observed(self) -> list[tuple[int, m.Event]]:
        return [(one.board_us, one.event) for one in self.session_events if isinstance(one, Observed)]


def edges(count: int, seed: int = 1) -> list[sim.RotorEdge]:
    rng = random.Random(seed)
    t_us, made = 0, []
    for number in range(count):
        t_us += rng.randint(5_000, 20_000)
        made.append(sim.RotorEdge(t_us, number % 148, "cw"))
    return made


def expected(made: list[sim.RotorEdge]) -> list[tuple[int, m.Event]]:
    return [(one.t_us, m.RotorEdge(one.tick, one.direction)) for one in made]


async def test_all_events_arrive_in_order_over_a_real_port(tmp_path: Path) -> None:
    path = tmp_path / "wheel"
    made = edges(2000)
    with Pty(path) as pty:
        board = SimBoard(SETUP)
        playing = asyncio.create_task(Player(board, pty, speed=SPEED).play([*made, sim.End(made[-1].t_us + 1)]))
        host = Host(path)
        host.open()
        await asyncio.wait_for(host.run(playing), TIMEOUT_S)
        host.close()
    assert host.observed() == expected(made)
    assert not path.is_symlink()


async def test_a_host_that_closes_and_reopens_misses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "wheel"
    made = edges(3000)
    with Pty(path) as pty:
        board = SimBoard(SETUP)
        player = Player(board, pty, speed=SPEED)
        playing = asyncio.create_task(player.play(made))
        host = Host(path)
        running = asyncio.create_task(host.run(playing))
        for opened_us, closed_us in ((2_000_000, 5_000_000), (20_000_000, None)):
            await until(board, opened_us, running)
            host.open()
            if closed_us is not None:
                await until(board, closed_us, running)
                host.close()
        await asyncio.wait_for(running, TIMEOUT_S)
        host.close()
    assert host.observed() == expected(made)
    assert not any(isinstance(one, LostEvents) for one in host.session_events)


async def until(board: SimBoard, t_us: int, running: asyncio.Task[None]) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while board.board_us < t_us:
            assert not running.done()
            await asyncio.sleep(0.005)


async def test_a_cut_cable_in_a_live_run(tmp_path: Path) -> None:
    path = tmp_path / "wheel"
    made = edges(1500)
    cut = [sim.SensorState(made[500].t_us, "link", ok=False), sim.SensorState(made[700].t_us, "link", ok=True)]
    events: list[sim.SimEvent] = sorted([*made, *cut], key=lambda event: event.t_us)
    with Pty(path) as pty:
        playing = asyncio.create_task(Player(SimBoard(SETUP), pty, speed=SPEED).play(events))
        host = Host(path)
        host.open()
        await asyncio.wait_for(host.run(playing), TIMEOUT_S)
        host.close()
    assert host.observed() == expected(made)
    assert host.session.counters["replay_requests"] > 0


async def test_nobody_confirms_and_the_player_ends_all_the_same(tmp_path: Path) -> None:
    with Pty(tmp_path / "wheel") as pty:
        board = SimBoard(SETUP)
        await Player(board, pty, speed=1000.0).play(edges(20), linger_s=0.05)
        assert pty.read() == b""
    assert board.next_seq == 20


def test_a_line_that_nobody_reads_blocks_and_no_frame_is_torn(tmp_path: Path) -> None:
    decoder = FrameDecoder()
    with Pty(tmp_path / "wheel") as pty:
        board = SimBoard(SETUP)
        board.receive(encode_frame(encode(m.Hello(1))))
        for edge in edges(143 * m.EVENTS_MAX):
            board.feed(edge)
        pty.write_from(board)
        port = os.open(pty.path, os.O_RDWR | os.O_NOCTTY)
        frames, blocked_times = 0, 0
        while pty.blocked:
            blocked_times += 1
            frames += len(decoder.feed(os.read(port, 1000)))
            pty.write_from(board)
        while frames < 2 + 143:
            frames += len(decoder.feed(os.read(port, 1000)))
        os.close(port)
    assert blocked_times > 10
    assert set(decoder.rejected.values()) == {0}


def test_the_link_of_a_killed_simulator_leads_nowhere(tmp_path: Path) -> None:
    """The system gives the number of its terminal to the next program: a host must not write into that one."""
    path = tmp_path / "wheel"
    play = f"from hw_sim.pty_link import Pty; from pathlib import Path; Pty(Path({str(path)!r})).__enter__()"
    killed = subprocess.run(
        [sys.executable, "-c", f"{play}; import os; os.kill(os.getpid(), 9)"], timeout=TIMEOUT_S, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert path.is_symlink(), "left behind"
    terminals = [os.openpty() for _ in range(20)]
    with pytest.raises(PortUnavailableError, match="the port is not there"):
        open_serial(str(path), 115200, "port")
    with Pty(path) as pty:
        port = os.open(path, os.O_RDWR | os.O_NOCTTY)
        os.write(port, b"to the new one")
        assert pty.read() == b"to the new one"
        os.close(port)
    for terminal in terminals:
        for descriptor in terminal:
            os.close(descriptor)


def test_a_link_into_somebodys_terminal_is_replaced_and_never_opened(tmp_path: Path) -> None:
    """As simulators left it that linked to the terminal's name."""
    master, slave = os.openpty()
    path = tmp_path / "wheel"
    path.symlink_to(os.ttyname(slave))
    with Pty(path):
        assert os.stat(path).st_rdev != os.fstat(slave).st_rdev
    os.close(master)
    os.close(slave)


def test_two_simulators_do_not_share_a_path(tmp_path: Path) -> None:
    path = tmp_path / "wheel"
    with Pty(path) as first:
        with pytest.raises(FileExistsError, match="another simulator uses this link"), Pty(path):
            pass
        assert path.readlink() == first._target


def test_a_link_that_somebody_put_in_place_of_ours_stays(tmp_path: Path) -> None:
    path = tmp_path / "wheel"
    with Pty(path):
        path.unlink()
        path.symlink_to("/nowhere")
    assert str(path.readlink()) == "/nowhere"


def test_only_a_symbolic_link_left_behind_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "wheel"
    path.symlink_to("/nowhere")
    with Pty(path):
        assert path.exists()
    path.write_text("someone's")
    with pytest.raises(FileExistsError), Pty(path):
        pass
    assert path.read_text() == "someone's"
