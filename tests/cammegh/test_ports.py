"""The simulated heads on real ports: a pseudo-terminal, and TCP through pyserial, read by a thread that may block."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import serial

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.session import CammeghSession
from hw_sim.cammegh.coups import Model
from hw_sim.cammegh.head import SimHead
from hw_sim.cammegh.ports import UNSENT_BYTES_MAX, Pace, RawPort, on_tcp
from hw_sim.cli import main
from hw_sim.pty_link import Pty
from tests.cammegh.bench import MERCURY, SLINGSHOT, head, of

SPEED = 50.0
GIVE_UP_S = 30.0
COUPS = 3


class Host(threading.Thread):
    """Opens a port, reads in blocking calls, and drives a session on the wheel's own, faster time."""

    def __init__(self, url: str, session: CammeghSession) -> None:
        super().__init__(daemon=True)
        self.url, self.session = url, session
        self.events: list[e.Event] = []
        self.ready, self.over = threading.Event(), threading.Event()

    def run(self) -> None:
        began_s = time.monotonic()
        with serial.serial_for_url(self.url, 9600, timeout=0.01) as port:
            self.session.opened(0)
            self.ready.set()
            while not self.over.is_set() and time.monotonic() - began_s < GIVE_UP_S:
                now_ns = round((time.monotonic() - began_s) * SPEED * 1e9)
                self.events += self.session.receive(port.read(max(1, port.in_waiting)), now_ns)
                self.session.tick(now_ns)
                port.write(self.session.data_to_send())


async def hosted(wheel: SimHead, pace: Pace, url: str, session: CammeghSession) -> list[e.Event]:
    """The events of a host on `url` while the head plays."""
    host = Host(url, session)
    host.start()
    assert await asyncio.to_thread(host.ready.wait, GIVE_UP_S)
    await asyncio.wait_for(pace.run(), GIVE_UP_S)
    await asyncio.sleep(0.2)
    host.over.set()
    await asyncio.to_thread(host.join)
    return host.events


def check(wheel: SimHead, events: list[e.Event]) -> None:
    """A host that comes late misses the first coup, at a real port as here: the others are all there."""
    played = [coup.number for coup in wheel.truth]
    heard = [one.number for one in of(e.Number, events)]
    assert len(heard) >= COUPS
    assert heard == played[-len(heard) :]


@pytest.mark.filterwarnings("ignore:set(Daemon|Name):DeprecationWarning")  # of pyserial 3.5
@pytest.mark.parametrize("rfc", [False, True], ids=["socket", "rfc2217"])
async def test_lines_arrive_and_commands_get_through_over_tcp(rfc: bool) -> None:
    wheel = head(Model.MERCURY_360, 5, COUPS, kinds=["valid"])
    pace = Pace(wheel, speed=SPEED)
    async with on_tcp(pace, 0, rfc=rfc) as port:
        url = f"{'rfc2217' if rfc else 'socket'}://127.0.0.1:{port}"
        events = await hosted(wheel, pace, url, CammeghSession(MERCURY))
    check(wheel, events)
    assert set(wheel.received_commands) == {"*m2 2 2"}
    assert of(e.Laps, events)[-1].laps == wheel.truth[-1].laps


async def test_lines_arrive_and_commands_get_through_on_a_pseudo_terminal(tmp_path: Path) -> None:
    wheel = head(Model.SLINGSHOT_2, 5, COUPS, kinds=["valid"])
    pace = Pace(wheel, speed=SPEED)
    with Pty(tmp_path / "wheel") as pty:
        pace.on_pty(pty)
        events = await hosted(wheel, pace, str(tmp_path / "wheel"), CammeghSession(SLINGSHOT))
    check(wheel, events)
    assert wheel.received_commands[:2] == ["*S", "*O"]


async def test_a_server_ends_with_a_host_still_there_and_one_that_reads_nothing_loses_lines() -> None:
    wheel = head(Model.SLINGSHOT_2, 5, 1)
    pace = Pace(wheel, speed=SPEED)
    async with on_tcp(pace, 0, rfc=False) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while not pace.ports:  # noqa: ASYNC110  the port is not there to be waited on
            await asyncio.sleep(0.01)
        (held,) = (one.__self__ for one in pace.ports if hasattr(one, "__self__"))
        assert isinstance(held, RawPort)
        assert held.transport is not None
        for _ in range(400):
            held.send(b"x" * UNSENT_BYTES_MAX)
        assert held.transport.get_write_buffer_size() <= 2 * UNSENT_BYTES_MAX
    writer.close()
    reader.feed_eof()


def test_the_command_plays_on_tcp_and_ends_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["cammegh", "--product", "mercury-360", "--tcp", "0", "--coups", "4", "--speed", "100", "--rfc2217"]
    assert main([*arguments, "--kinds", "few_laps", "void_game"]) == 0
    first, *truth = capsys.readouterr().out.splitlines()
    assert first.startswith("# mercury-360 at rfc2217://127.0.0.1:")
    assert len(truth) == 4
    assert all(line.endswith(("few_laps", "void_game")) for line in truth)


def test_the_command_plays_on_a_pseudo_terminal_until_it_is_ended(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; from hw_sim.cli import main; sys.exit(main())", "cammegh"]
    options = ["--product", "slingshot-2", "--pty", str(tmp_path / "wheel"), "--rough"]
    child = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == f"# slingshot-2 at {tmp_path / 'wheel'}\n"
    with serial.Serial(str(tmp_path / "wheel"), 9600, timeout=GIVE_UP_S) as port:
        assert port.read_until(b"\n")
    os.kill(child.pid, signal.SIGTERM)
    assert child.wait(GIVE_UP_S) == 0
    child.stdout.close()


def test_an_unknown_kind_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cammegh", "--product", "slingshot-2", "--tcp", "0", "--kinds", "few_laps"]) == 2
    assert "no kind few_laps" in capsys.readouterr().err


def test_a_port_that_cannot_be_had_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cammegh", "--product", "slingshot-2", "--pty", str(tmp_path / "no" / "wheel")]) == 73
    assert "No such file" in capsys.readouterr().err
