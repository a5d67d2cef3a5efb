"""The demo's own decisions; whole runs of it are in `tests/live`."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import signal
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from hw_sim import demo, run
from hw_sim.broker import Broker
from hw_sim.cli import main, parser
from hw_sim.demo import FIRST, Demo
from hw_sim.evening import named
from hw_sim.events import RotorEdge, TableCommand
from hw_sim.exits import UnavailableError
from hw_sim.people import TableStuckError
from hw_sim.view import Lines
from hw_sim.words import Words
from tests.hw_sim_demo.test_subscriber import result, void
from wheeld.config.reading import parse


def made(tmp_path: Path, *more: str) -> Demo:
    return Demo(parser().parse_args(["demo", "--state", str(tmp_path), *more]))


def test_the_first_scenarios_show_all_eight_causes_in_twelve_verdicts() -> None:
    from hw_sim.evening import repeatable
    from hw_sim.live_table import LiveTable

    live = LiveTable(demo.LAYOUT, repeatable("first"), 17)
    for scenario in named(FIRST):
        live.play(scenario)
    truth = live.table.truth
    assert len(truth) == 12
    assert len({outcome["cause"] for outcome in truth if outcome["kind"] == "void"}) == 8
    assert [outcome.get("cause", "result") for outcome in truth[:4]] == [
        "result",
        "same_direction",
        "result",
        "foreign_object",
    ]


def test_the_daemon_takes_the_configuration(tmp_path: Path) -> None:
    port = tmp_path / "board"
    served: Broker = Broker(None, 1883)  # type: ignore[arg-type]
    config = parse(made(tmp_path, "--speed", "5")._configuration(served, port, tmp_path / "monitor"))
    assert config.sensors is not None
    assert (config.sensors.port, config.table.last_number) == (str(port), 17)
    assert config.sensors.silence_s_max == 0.7


def test_who_gives_a_reason_uses_a_panel_and_the_rest_a_button(tmp_path: Path) -> None:
    one, said = made(tmp_path), list[TableCommand]()
    one._panel = SimpleNamespace(say=said.append)  # type: ignore[assignment]
    one._deliver(TableCommand(10, "open", "chef"))
    one._deliver(RotorEdge(20, 3, "cw"))
    assert one._board.next_seq == 2
    one._deliver(TableCommand(30, "suspend", "direction", "an order"))
    one._deliver(TableCommand(40, "bouler", "chef", who="bouler-2"))
    assert one._board.next_seq == 2
    assert [command.name for command in said] == ["suspend", "bouler"]


def test_luck_differs_unless_it_is_named(tmp_path: Path) -> None:
    assert made(tmp_path, "--seed", "4").seed == 4
    assert len({made(tmp_path).seed for _ in range(5)}) > 1


def test_the_tally(tmp_path: Path) -> None:
    one = made(tmp_path, "--seed", "4")
    assert "no message, nothing missing; the seed was --seed 4" in one.tally()
    one.subscriber.take("result", result(1))
    one.subscriber.take("void", void(2))
    one.subscriber.take("void", void(4))
    tally = one.tally()
    assert "3 verdicts: 1 results, 2 voids (chef 2)" in tally
    assert "seq 1 to 4, 1 missing; the seed was --seed 4" in tally
    assert "every verdict agrees with the truth" in tally
    one.people.differences.append("valid: played result 3; published nothing")
    assert "a verdict differs from the truth: valid: played result 3; published nothing" in one.tally()


def test_a_number_of_coups_below_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["demo", "--coups", "-1"])
    assert "0 or more" in capsys.readouterr().err


def test_a_state_directory_that_cannot_be_made_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["demo", "--state", str(tmp_path / "file" / "state")]) == 73
    error = capsys.readouterr().err
    assert error == f"hw-sim demo: cannot write: {tmp_path / 'file' / 'state'}: Not a directory\n"


def test_a_disk_that_is_full_names_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As each call on an open file."""
    monkeypatch.setattr(demo, "broker", failing(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
    assert main(["demo", "--state", str(tmp_path)]) == 73
    assert capsys.readouterr().err == "hw-sim demo: cannot write: No space left on device\n"


def failing(error: Exception) -> Callable[..., object]:
    def fail(*_: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (UnavailableError("there is no broker"), "there is no broker"),
        (TableStuckError("the table says no"), "the table says no; the log of the daemon is"),
    ],
)
def test_a_part_that_fails_ends_the_demo_with_its_reason(
    tmp_path: Path,
    error: Exception,
    expected: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(demo, "broker", failing(error))
    assert main(["demo", "--state", str(tmp_path)]) == 69
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_how_it_ends_and_a_second_one_does_not_disturb_that(
    tmp_path: Path,
    number: signal.Signals,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cleared: list[str] = []

    class Forever:
        async def __aenter__(self) -> None:
            os.kill(os.getpid(), number)
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                os.kill(os.getpid(), number)
                for _ in range(5):
                    await asyncio.sleep(0)
                cleared.append("up")

    monkeypatch.setattr(demo, "broker", lambda directory: Forever())
    monkeypatch.setattr(Forever, "__aexit__", lambda *_: None, raising=False)
    assert main(["demo", "--state", str(tmp_path)]) == 0
    assert cleared == ["up"]
    assert "0 verdicts" in capsys.readouterr().out


async def test_the_first_work_that_ends_ends_the_others() -> None:
    ended: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.append("forever")

    async def soon() -> None:
        await asyncio.sleep(0)

    await run.first_of(forever(), soon())
    assert ended == ["forever"]

    async def broken() -> None:
        raise UnavailableError("the daemon ended")

    with pytest.raises(UnavailableError, match="the daemon ended"):
        await run.first_of(forever(), broken())


@pytest.mark.parametrize(
    ("more", "is_terminal", "display", "opened"),
    [
        ([], True, ":0", True),
        (["--no-browser"], True, ":0", False),
        ([], False, ":0", False),
        ([], True, "", False),
    ],
)
async def test_a_browser_is_opened_only_on_a_terminal_with_a_display(
    tmp_path: Path,
    more: list[str],
    is_terminal: bool,
    display: str,
    opened: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[str] = []

    class Ending:
        async def must_run(self) -> None:
            raise UnavailableError("the pages ended")

    async def listens(*_: object) -> None: ...

    one = made(tmp_path, *more)
    one._view = Lines(io.StringIO(), Words("en"))
    monkeypatch.setattr(demo, "listens", listens)
    monkeypatch.setattr(webbrowser, "open", shown.append)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(UnavailableError, match="the pages ended"):
        await one._announce(Ending(), 1, "http://127.0.0.1:1/bench")  # type: ignore[arg-type]
    assert shown == (["http://127.0.0.1:1/bench"] if opened else [])
