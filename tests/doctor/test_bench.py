"""What fails under the doctor is reported: pins that are not there, a task that ended, a head that is silent."""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar, cast

import pytest

from tests.config.test_config import GOOD
from tests.config.test_head import ALONE
from tests.doctor.alignment import TICKS, exchanged, late, layout, spun, swapped
from wheeld.cli import doctor as cli_doctor
from wheeld.cli.doctor import findings, live
from wheeld.config.reading import parse
from wheeld.core.catalogue import Catalogue, Language
from wheeld.core.observations import BallPass, Command, Level, Observation, Rotor, SensorState
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.core.tracking.beams import FALL_US
from wheeld.doctor.bench import Bench
from wheeld.doctor.geometry import Geometry
from wheeld.doctor.signals import Signals
from wheeld.exits import Exit
from wheeld.ports import PinsError
from wheeld.sources.clock import HostTime

ENGLISH = Catalogue("en")


def unheard(_seen: Observation) -> None:
    raise AssertionError("nothing is there")


async def test_a_task_that_fails_ends_the_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(parse(GOOD), unheard)

    async def fails() -> None:
        raise PinsError("the lamp cannot be lit")

    monkeypatch.setattr(bench.source, "tasks", lambda *_, **__: {"gpio": fails()})
    with pytest.raises(PinsError, match="lamp"):
        await bench.watch(60, lambda: None)


async def test_what_a_task_fails_with_while_it_is_cancelled_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(parse(GOOD), unheard)

    async def fails() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            raise PinsError("the lamp cannot be put out")

    monkeypatch.setattr(bench.source, "tasks", lambda *_, **__: {"gpio": fails()})
    with pytest.raises(PinsError, match="put out"):
        await bench.watch(1, lambda: None)


async def test_of_two_failures_the_first_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(parse(GOOD), unheard)

    async def fails(after_s: float, what: str) -> None:
        try:
            await asyncio.sleep(after_s)
        finally:
            raise PinsError(what)

    monkeypatch.setattr(
        bench.source, "tasks", lambda *_, **__: {"late": fails(60, "late"), "first": fails(0.01, "first")}
    )
    with pytest.raises(PinsError, match="first"):
        await bench.watch(60, lambda: None)


def test_the_live_line_shows_buttons_and_a_rotor_that_is_not_known() -> None:
    config = parse(GOOD)
    signals = Signals(config.table.rotor_ticks, SINGLE_ZERO)
    signals.take(SensorState(1, "rotor", ok=True))
    assert "rotor stands" in live(signals, config, ENGLISH)
    assert "button" not in live(signals, config, ENGLISH)
    signals.take(SensorState(2, "rotor", ok=False))
    signals.take(Command(3, "rien_va", "button"))
    assert "rotor not known" in live(signals, config, ENGLISH)
    assert "buttons rien_va 1" in live(signals, config, ENGLISH)
    assert live(signals, config, ENGLISH).endswith("cylinder not reported")
    signals.take(Level(4, "beam/2", active=True))
    signals.take(Level(4, "object", active=False))
    assert live(signals, config, ENGLISH).endswith("blocked or held at the start: beam 3  cylinder clear")
    signals.take(Level(5, "button/rien_va", active=True))
    signals.take(Level(5, "door", active=True))
    held = "blocked or held at the start: beam 3 and button rien_va  cylinder clear  door open"
    assert live(signals, config, ENGLISH).endswith(held)
    signals.take(Level(6, "door", active=False))
    assert live(signals, config, ENGLISH).endswith("  door closed")


class FakeBench:
    """A bench that reads the given observations."""

    seen: ClassVar[list[Observation]] = []
    works = True
    told: ClassVar[dict[str, dict[str, int]]] = {"gpio": {"encoder_violations": 0}}

    def __init__(self, _config: object, take: Callable[[Observation], None]) -> None:
        self.take = take
        self.clock = HostTime(0, 0, 0)
        self.source = self
        self.sensors = {"link": self.works}
        self.counters = self.told
        self.pulse_widths_us: dict[str, tuple[int, int]] = {}
        self.unavailable = ()
        self.refused = None

    async def watch(self, _seconds: float, _every_second: Callable[[], None]) -> None:
        for each in self.seen:
            self.take(each)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> type[FakeBench]:
    class Fresh(FakeBench):
        pass

    monkeypatch.setattr(cli_doctor, "Bench", Fresh)
    monkeypatch.setattr(cli_doctor, "log_to_stderr", lambda _: None)
    return Fresh


def doctor(
    path: Path,
    ball: str | None = None,
    number: int | None = None,
    *,
    learn: bool = True,
    language: Language = "en",
    text: str = GOOD,
) -> Exit:
    path.write_text(text)
    return cli_doctor.doctor(
        argparse.Namespace(
            wheel=str(path), seconds=1, learn=learn, number=number, ball=ball, by=None, language=language
        )
    )


@pytest.mark.parametrize("works", [True, False])
def test_nothing_is_written_while_the_link_is_wrong(
    tmp_path: Path, bench: type[FakeBench], capsys: pytest.CaptureFixture[str], *, works: bool
) -> None:
    bench.seen, bench.works = spun(layout((0.0, 95.0, 180.0, 270.0)), 1)[0], works
    path = tmp_path / "wheel.toml"
    assert doctor(path) == (Exit.OK if works else Exit.BAD_DATA)
    assert (path.read_text() == GOOD) is not works
    assert ("the line to the sensors does not work, or reports nothing" in capsys.readouterr().err) is not works


def test_the_summary_shows_buttons_of_the_way_and_of_the_number(
    tmp_path: Path, bench: type[FakeBench], capsys: pytest.CaptureFixture[str]
) -> None:
    seen, number = spun(layout((0.0, 90.0, 180.0, 270.0)), 1, spins=1, sightings=15)
    bench.seen = [*seen, Command(seen[-1].t_us, "rien_va", "button")]
    assert doctor(tmp_path / "wheel.toml", number=(number + 1) % 37) == Exit.BAD_DATA
    out = capsys.readouterr().out
    assert "button rien_va: 1 presses" in out
    assert f"wrong  by readers_deg the ball lies in {number}" in out
    assert "reader 1 stands" not in out


@pytest.mark.parametrize("number_given", [False, True])
def test_of_a_swapped_encoder_neither_beams_nor_readers_are_blamed(
    tmp_path: Path, bench: type[FakeBench], capsys: pytest.CaptureFixture[str], *, number_given: bool
) -> None:
    seen, number = spun(layout((0.0, 90.0, 180.0, 270.0)), 1, sightings=15)
    bench.seen = swapped(seen)
    assert doctor(tmp_path / "wheel.toml", number=number if number_given else None, learn=False) == Exit.BAD_DATA
    (wrong,) = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("   ok ")][-2:-1]
    assert "A and B of the encoder are swapped" in wrong


def test_of_a_swapped_encoder_beside_which_nobody_spun_no_reader_is_blamed(
    tmp_path: Path, bench: type[FakeBench], capsys: pytest.CaptureFixture[str]
) -> None:
    seen, number = spun(layout((0.0, 90.0, 180.0, 270.0)), 1, sightings=15)
    bench.seen = [each for each in swapped(seen) if not isinstance(each, BallPass)]
    last_us = max(each.t_us for each in seen if isinstance(each, BallPass))
    bench.seen = [each for each in bench.seen if each.t_us > last_us + FALL_US]
    assert doctor(tmp_path / "wheel.toml", number=number, learn=False) == Exit.LOOK
    out = capsys.readouterr().out
    assert "A and B of the encoder, or two readers, are swapped" in out
    assert not re.search(r"reader \d stands", out)
    assert doctor(tmp_path / "wheel.toml", number=number) == Exit.BAD_DATA
    assert "A and B of the encoder, or two readers, are swapped; turn the rotor" in capsys.readouterr().err


def test_of_a_fair_rotor_that_is_told_to_turn_the_other_way_the_encoder_is_blamed(
    tmp_path: Path, bench: type[FakeBench], capsys: pytest.CaptureFixture[str]
) -> None:
    bench.seen = [Rotor(n * 15_000, n % TICKS, "cw") for n in range(400)]
    for way, code in (("cw", Exit.LOOK), ("ccw", Exit.BAD_DATA)):
        fair = GOOD.replace('"roulette"\n\n[wheel]\n', f'"fair"\n\n[wheel]\nrotor_direction = "{way}"\n')
        assert doctor(tmp_path / "wheel.toml", learn=False, text=fair) == code
        assert ("in which this rotor never turns" in capsys.readouterr().out) is (way == "ccw")


def test_swapped_readers_are_found_by_a_ball_in_any_pocket(
    tmp_path: Path, bench: type[FakeBench], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wheel.toml"
    for seed in range(4):
        seen, _ = spun(layout((0.0, 90.0, 180.0, 270.0)), seed, sightings=15)
        bench.seen = exchanged(seen)
        assert doctor(path, learn=False) == Exit.BAD_DATA
        out = capsys.readouterr().out
        assert "wrong  reader 2 is where reader 3 should be" in out
        assert "wrong  reader 3 is where reader 2 should be" in out
        assert "--learn" not in out, "that writes nothing while the order of the readers is another"
        for healthy in (seen, late(seen, 20_000)):
            bench.seen = healthy
            assert doctor(path, learn=False) == Exit.OK
            assert not re.search(r"reader \d is where", capsys.readouterr().out), "in which pocket it lies nobody said"


def test_what_should_be_looked_at_has_a_code_of_its_own_and_one_line(
    tmp_path: Path, bench: type[FakeBench], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wheel.toml"
    bench.seen = spun(layout((0.0, 90.0, 180.0, 270.0)), 1)[0]
    assert doctor(path, learn=False) == Exit.OK
    assert "gpio: nothing lost" in capsys.readouterr().out
    bench.told = {"board": {"lost_events": 7}, "link": {"opened": 1}}
    assert doctor(path, learn=False) == Exit.LOOK
    out = capsys.readouterr().out
    assert "look  board: lost events: 7" in out
    assert "nothing lost" not in out
    bench.told = {
        "board": {"lost_events": 0, "board_overwritten_events": 9, "before_identity": 1, "unasked": 1},
        "link": {"opened": 1},
    }
    of_beam = [each for each in bench.seen if isinstance(each, BallPass) and each.beam == 1]
    bench.seen = [each for each in bench.seen if each not in of_beam[::10]]
    assert doctor(path, learn=False) == Exit.LOOK
    out = capsys.readouterr().out
    assert "look  beam 2 misses passes" in out
    assert "board: nothing lost" in out, "nobody damages what a board sends to the daemon that was stopped"


def test_the_summary_shows_an_encoder_without_z(
    tmp_path: Path, bench: type[FakeBench], capsys: pytest.CaptureFixture[str]
) -> None:
    bench.told = {"gpio": {"encoder_violations": 3}}
    assert doctor(tmp_path / "wheel.toml") == Exit.BAD_DATA
    assert "Z never shows where the rotor is" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("language", "finding", "refusal"),
    [
        (
            "en",
            "wrong  the line to the sensors does not work, or reports nothing; check its",
            "written only when nothing else",
        ),
        (
            "fr",
            "  mal  la liaison avec les capteurs ne fonctionne pas, ou ne dit rien ; vér",
            "Rien n'est écrit tant que",
        ),
        (
            "it",
            " male  il collegamento con i sensori non funziona, o non dice nulla; contr",
            "Non si scrive nulla finché",
        ),
    ],
)
def test_it_speaks_the_language_of_the_screen(
    language: Language,
    finding: str,
    refusal: str,
    tmp_path: Path,
    bench: type[FakeBench],
    capsys: pytest.CaptureFixture[str],
) -> None:
    bench.works = False
    bench.seen = spun(layout((0.0, 95.0, 180.0, 270.0)), 1)[0]
    doctor(tmp_path / "wheel.toml", language=language)
    told = capsys.readouterr()
    assert finding in told.out
    assert refusal in told.err


def test_pins_that_cannot_be_had_are_a_word_and_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def taken(*_: object) -> None:
        raise PinsError("pin 5 is in use")

    monkeypatch.setattr(cli_doctor, "Bench", taken)
    monkeypatch.setattr(cli_doctor, "log_to_stderr", lambda _: None)
    path = tmp_path / "wheel.toml"
    assert doctor(path, learn=False) == Exit.BAD_CONFIG
    assert capsys.readouterr().err == "wheeld: pin 5 is in use\n"


@pytest.mark.parametrize("is_heard", [True, False])
def test_of_a_silent_head_it_is_not_said_that_nothing_was_lost(*, is_heard: bool) -> None:
    source = SimpleNamespace(
        unavailable=(),
        refused=None,
        sensors={"link": True, "head": is_heard},
        counters={"head": {"status": 0}},
        pulse_widths_us={},
    )
    bench = SimpleNamespace(source=source, clock=None)
    signals, nothing = Signals(0, SINGLE_ZERO), Geometry([], [])
    listed = list(findings(signals, cast("Bench", bench), parse(ALONE), nothing, "w.toml", ball_given=False))
    assert any("nothing lost" in each.what for each in listed) is is_heard
    assert any(each.what.startswith("the wheel head does not work") for each in listed) is not is_heard
