"""`hw-sim run`: what it plays and prints, without waiting for the wall clock."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from hw_sim import run
from hw_sim.board import SimBoard
from hw_sim.cli import main
from hw_sim.configuration import broker_of, sections
from hw_sim.demo import LAYOUT
from hw_sim.evening import named, repeatable
from hw_sim.events import End, SimEvent, TableCommand
from hw_sim.live_table import LiveTable
from hw_sim.panel import ChefClient
from hw_sim.pty_link import Pty
from hw_sim.run import live_events
from hw_sim.scenarios import SCENARIOS
from hw_sim.subscriber import Subscriber
from wheeld.config.reading import parse


def shown(state: str, awaited: list[str], *, failing: Sequence[str] = ()) -> dict[str, Any]:
    """What matters of a table's message."""
    return {"state": state, "waiting_codes": awaited, "failing": list(failing), "last_number": 26}


class Hurried:
    """A player for whom time does not pass; a host greets the board after a while."""

    def __init__(self, board: SimBoard, pty: Pty, *, speed: float, deliver: Callable[[SimEvent], None]) -> None:
        self.board = board
        self.seen: list[SimEvent] = []

    async def play(self, events: Iterable[SimEvent]) -> None:
        for event in events:
            self.seen.append(event)
            self.board.greeted = len(self.seen) > 3


def test_nothing_happens_before_a_host_listens_then_scenarios_and_truths_are_printed() -> None:
    lines: list[str] = []
    looks = chain([False, False], repeat(True))
    live = LiveTable(LAYOUT, repeatable("told"), 17)
    events = list(live_events(live, named(["valid", "chef_void"]), lambda: next(looks), lines.append))
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
    fair = replace(LAYOUT, game="fair", rotor_direction="cw")
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
                self.board.greeted = True
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


def test_people_who_look_play_on_from_wherever_the_table_stands() -> None:
    lines: list[str] = []
    live = LiveTable(LAYOUT, repeatable("looks"), None)
    subscriber = Subscriber(table=shown("suspended", ["resume"]))
    for event in live_events(live, named(["valid"]), lambda: True, lines.append, subscriber, look_s=2.0):
        if isinstance(event, TableCommand) and event.name == "resume":
            assert len(lines) == 1, "no scenario begins before"
            subscriber.table = shown("faites_vos_jeux", ["launch"])
    assert live.table.truth[0]["kind"] == "result"
    assert ["plays valid" in lines[1], "truth result" in lines[2]] == [True, True]
    assert live.table.world.stays[0].number == 26


def test_people_never_give_a_table_up_and_say_where_it_stands() -> None:
    lines: list[str] = []
    live = LiveTable(LAYOUT, repeatable("never"), None)
    subscriber = Subscriber(table=shown("suspended", ["repair", "resume"], failing=["beam/2"]))
    for _ in live_events(live, named(["valid"]), lambda: True, lines.append, subscriber, look_s=2.0):
        if len(lines) == 3:
            subscriber.table = shown("faites_vos_jeux", ["launch"])
    stands = "# the table's state is suspended, it waits for repair, resume, and beam/2 fails, whatever the chef does"
    assert lines[1:3] == [f"{stands}; they try again"] * 2
    assert lines[-1].endswith("the end")


def test_what_is_over_is_forgotten() -> None:
    live = LiveTable(LAYOUT, repeatable("long"), 17)
    list(live_events(live, named(["valid"] * 3), lambda: True, lambda _: None))
    assert len(live.table.truth) == 1


def test_people_look_wherever_the_configuration_names_a_broker(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "Player", Hurried)
    file = tmp_path / "w.toml"
    wheel = sections(LAYOUT, site="campione", table="c3", last_number=None, port=Path("/dev/x"), speed=1)
    file.write_text(wheel)
    command = ["run", "--pty", str(tmp_path / "wheel"), "--scenario", "valid"]
    for without in ([], ["--panel", str(tmp_path)], ["--layout", str(file)]):
        assert main([*command, *without]) == 0
        assert "do not look at the table" in capsys.readouterr().out, without
    file.write_text(f'{wheel}[mqtt]\nhost = "localhost"\nport = 1\n')
    assert broker_of(file, None) == ("wheel/v1/campione/c3/", "c3", "localhost", 1, None, None, None)
    looked = []

    async def play(*given: object) -> None:
        looked.append(given[-1])

    monkeypatch.setattr(run, "_play", play)
    assert main([*command, "--layout", str(file)]) == 0
    assert "do not look" not in capsys.readouterr().out
    assert isinstance(looked[0], ChefClient)


def test_without_the_login_that_a_broker_asks_for_nobody_looks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "Player", Hurried)
    file = tmp_path / "w.toml"
    wheel = sections(LAYOUT, site="campione", table="c3", last_number=None, port=Path("/dev/x"), speed=1)
    file.write_text(f'{wheel}[mqtt]\nhost = "localhost"\nport = 8883\nca_file = "ca.crt"\ncert_file = "w.crt"\n')
    for name in ("chef-certificate", "chef-key"):
        (tmp_path / name).write_text("none")
    command = ["run", "--pty", str(tmp_path / "wheel"), "--layout", str(file), "--panel", str(tmp_path)]
    assert main([*command, "--scenario", "valid"]) == 0
    assert "do not look at the table" in capsys.readouterr().out
    assert broker_of(file, tmp_path) is None
    for name in ("chef-certificate", "chef-key"):
        (tmp_path / name).write_text("-----BEGIN")
    found = broker_of(file, tmp_path)
    assert found is not None
    assert (found.root, found.table, found.ca_file) == ("wheel/v1/campione/c3/", "c3", tmp_path / "ca.crt")
    assert (found.cert_file, found.key_file) == (tmp_path / "chef-certificate", tmp_path / "chef-key")
