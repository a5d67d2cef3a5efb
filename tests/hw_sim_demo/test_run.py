"""`hw-sim run`: what it plays and prints, without waiting for the wall clock."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

import pytest

from hw_sim import run
from hw_sim.board import SimBoard
from hw_sim.cli import main
from hw_sim.configuration import sections
from hw_sim.demo import LAYOUT
from hw_sim.evening import named, repeatable
from hw_sim.events import End, SimEvent, TableCommand
from hw_sim.live_table import LiveTable
from hw_sim.memory import Memory
from hw_sim.pty_link import Pty
from hw_sim.run import live_events
from hw_sim.scenarios import SCENARIOS
from wheeld.config.reading import parse


class Hurried:
    """A player for whom time does not pass; a host greets the board after a while."""

    def __init__(self, board: SimBoard, pty: Pty, *, speed: float) -> None:
        self.board = board
        self.seen: list[SimEvent] = []

    async def play(self, events: Iterable[SimEvent]) -> None:
        for event in events:
            self.seen.append(event)
            self.board._greeted, self.board.hosts = len(self.seen) > 3, 1


def test_nothing_happens_before_a_host_listens_then_scenarios_and_truths_are_printed() -> None:
    lines: list[str] = []
    looks = chain([0, 0], repeat(1))
    live = LiveTable(LAYOUT, repeatable("told"), 17)
    events = list(live_events(live, named(["valid", "chef_void"]), lambda: next(looks), lines.append, Memory(None)))
    assert [type(event) for event in events[:2]] == [End, End]
    assert [e.name for e in events if isinstance(e, TableCommand)][:2] == ["open", "rien_ne_va_plus"]
    assert lines[0].startswith("# waiting")
    assert ["plays valid: An ordinary coup" in lines[1], "truth result" in lines[2]] == [True, True]
    assert "plays chef_void" in lines[3]
    assert lines[4].endswith("truth void chef")
    assert lines[5].endswith("the end")
    assert len(lines) == 6


@pytest.mark.parametrize("more", [["--scenario", "first_coup_void", "valid"], ["--scenario", "valid", "--quick"]])
def test_named_scenarios_end_by_themselves(
    tmp_path: Path, more: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "Player", Hurried)
    assert main(["run", "--pty", str(tmp_path / "wheel"), "--seed", "5", *more]) == 0
    out = capsys.readouterr().out
    assert "truth result" in out
    assert "the end" in out
    config, _, _ = out.partition("# waiting")
    sensors = parse(config + '[journal]\npath = "j"\n[mqtt]\nhost = "h"\n').sensors
    assert sensors is not None
    assert sensors.port == str(tmp_path / "wheel")
    assert list(tmp_path.iterdir()) == []


def test_it_plays_the_wheel_of_a_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "Player", Hurried)
    file = tmp_path / "w.toml"
    file.write_text(sections(LAYOUT, site="campione", table="c3", last_number=None, port=Path("/dev/x"), speed=1))
    command = ["run", "--pty", str(tmp_path / "wheel"), "--layout", str(file)]
    assert main([*command, "--scenario", "valid"]) == 0
    config, _, _ = capsys.readouterr().out.partition("# waiting")
    table = parse(config + '[journal]\npath = "j"\n[mqtt]\nhost = "h"\n').table
    assert (table.rotor_ticks, table.beams_deg, table.readers_deg) == (148, LAYOUT.beams_deg, LAYOUT.readers_deg)
    fair = replace(LAYOUT, game="fair", wheel="fair", rotor_direction="cw")
    file.write_text(sections(fair, site="campione", table="c3", last_number=None, port=Path("/dev/x"), speed=1))
    only = next(scenario.name for scenario in SCENARIOS.values() if scenario.french_only)
    assert main([*command, "--scenario", only]) == 2
    assert f"{only} reverses the rotor" in capsys.readouterr().err
    assert main([*command[:-1], str(tmp_path / "none"), "--scenario", "valid"]) == 65


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_without_scenarios_it_plays_until_a_signal(
    tmp_path: Path, number: signal.Signals, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Endless(Hurried):
        async def play(self, events: Iterable[SimEvent]) -> None:
            for event in events:
                self.board._greeted, self.board.hosts = True, 1
                if event.t_us > 300e6:
                    os.kill(os.getpid(), number)
                    await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(run, "Player", Endless)
    assert main(["run", "--pty", str(tmp_path / "wheel"), "--seed", "5"]) == 0
    assert capsys.readouterr().out.count("truth") >= 3


def test_what_is_wrong_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--pty", str(tmp_path / "x"), "--scenario", "vald"]) == 2
    assert "did you mean 'valid'?" in capsys.readouterr().err
    (tmp_path / "taken").write_text("someone's")
    assert main(["run", "--pty", str(tmp_path / "taken")]) == 73
    assert "taken: File exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [["demo", "--state"], ["run", "--pty"], ["cammegh", "--product", "mercury-360", "--pty"]]
)
def test_a_system_without_pseudo_terminals_is_told_so(
    tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error of a chroot without /dev/pts names no file."""

    def openpty() -> tuple[int, int]:
        raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))

    monkeypatch.setattr(os, "openpty", openpty)
    assert main([*command, str(tmp_path / "here")]) == 73
    error = capsys.readouterr().err
    assert error.startswith(f"hw-sim {command[0]}: this system gives no pseudo-terminal, which")
    assert "serial port: No such device. Where /dev/pts is not mounted" in error
    assert error.endswith("/dev/ptmx\n")


def test_a_fault_of_the_player_is_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Hurried):
        async def play(self, events: Iterable[SimEvent]) -> None:
            raise RuntimeError("broken")

    monkeypatch.setattr(run, "Player", Broken)
    with pytest.raises(RuntimeError, match="broken"):
        main(["run", "--pty", str(tmp_path / "wheel")])


@pytest.mark.parametrize("speed", ["0", "1000", "fast"])
def test_speeds_that_no_machine_keeps_are_refused(speed: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--pty", "x", "--speed", speed])
    assert ended.value.code == 2
    assert "--speed" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["scenarios"], ["run", "--pty", "wheel"], ["demo", "--speed", "50"]])
def test_a_reader_who_has_seen_enough_is_no_error(tmp_path: Path, command: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    program = [sys.executable, "-c", "from hw_sim.cli import main; raise SystemExit(main())", *command]
    ended = subprocess.run(program, stdout=write, stderr=subprocess.PIPE, cwd=tmp_path, timeout=60, check=False)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (0, b"")


def commands(events: Iterable[SimEvent]) -> list[str]:
    return [event.name for event in events if isinstance(event, TableCommand)]


AGAIN = ["rien_va", "operations_done", "last_coup_off", "open"]
EACH = ["resume", "tout_va"]
READY = ["resume", "operations_done", "open"]


def test_when_a_host_greets_again_the_people_do_whatever_the_table_may_await(tmp_path: Path) -> None:
    lines: list[str] = []
    hosts = chain([1, 1], repeat(2))
    memory = Memory(tmp_path / "numbers")
    live = LiveTable(LAYOUT, repeatable("again"), 17)
    events = list(live_events(live, named(["valid", "valid"]), lambda: next(hosts), lines.append, memory))
    results = [int(line.split()[4].rstrip(",")) for line in lines if "truth" in line]
    assert len(results) == 3, "one more, whose number is the last one for everybody"
    assert commands(events)[:1] == ["open"]
    assert commands(events)[3:14] == [*AGAIN, *EACH, *EACH, *READY]
    assert Memory(tmp_path / "numbers").numbers == [17, *results]


def test_the_newest_numbers_are_kept_each_once(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "numbers")
    for number in (1, 2, 3, 2, 4, 5, 6, 7):
        memory.keep(None, [{"kind": "result", "number": number}, {"kind": "void", "cause": "chef"}])
    assert Memory(tmp_path / "numbers").numbers == [3, 2, 4, 5, 6, 7]


def test_a_simulator_that_starts_again_knows_where_the_ball_may_belong(tmp_path: Path) -> None:
    (tmp_path / "numbers").write_text("[17]")
    memory = Memory(tmp_path / "numbers")
    live = LiveTable(LAYOUT, repeatable("again"), 17)
    events = live_events(live, named(["valid"]), lambda: 1, lambda _: None, memory)
    said = [(event.name, live.table.lies_in) for event in events if isinstance(event, TableCommand)]
    assert [name for name, _ in said[:9]] == [*AGAIN, *EACH, *READY]
    assert [lies_in for name, lies_in in said if name == "tout_va"] == [17]


def test_a_memory_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "numbers").write_text("seventeen")
    assert main(["run", "--pty", str(tmp_path / "wheel"), "--state", str(tmp_path / "numbers")]) == 65
    assert "no numbers of a simulated table" in capsys.readouterr().err
