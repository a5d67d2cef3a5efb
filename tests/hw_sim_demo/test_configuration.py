"""The configuration that the simulator writes is one that the daemon takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from hw_sim.configuration import board_setup, layout_of, sections, silence_s
from hw_sim.evening import draw_layout, repeatable
from hw_sim.exits import BadDataError
from tests.smallest_wheel import WHEEL, table
from wheeld.config.reading import parse

REST = '[journal]\npath = "j"\n[mqtt]\nhost = "localhost"\n'


@pytest.mark.parametrize("seed", range(8))
def test_it_describes_the_wheel(seed: int) -> None:
    layout = draw_layout(repeatable(f"layout {seed}"))
    text = sections(layout, site="s", table="t", last_number=3, port=Path('/a "b"/c'), speed=5)
    config = parse(text + REST)
    assert (config.table.house, config.table.game, config.table.last_number) == (layout.house, layout.game, 3)
    assert config.table.beams_deg == layout.beams_deg
    assert config.table.readers_deg == layout.readers_deg
    assert config.table.rotor_direction == layout.rotor_direction
    assert config.sensors is not None
    assert config.sensors.port == '/a "b"/c'
    assert config.sensors.max_drift_ppm == 1_000_000
    board = board_setup(layout).layout
    assert (board.beams, board.rotor_ticks) == (len(layout.beams_deg), layout.rotor_ticks)


def test_at_real_speed_nothing_is_relaxed() -> None:
    layout = draw_layout(repeatable("life"))
    text = sections(layout, site="s", table="t", last_number=None, port=Path("/dev/x"), speed=1)
    config = parse(text + REST)
    assert config.sensors is not None
    assert (config.table.last_number, config.sensors.max_drift_ppm, config.sensors.silence_s_max) == (None, 200, 1.0)


def test_played_faster_a_silence_is_a_fault_sooner_but_never_below_what_may_be_configured() -> None:
    assert [silence_s(speed) for speed in (0.5, 1, 5, 100)] == [1.0, 1.0, 0.7, 0.2]


@pytest.mark.parametrize("seed", range(8))
def test_what_is_written_is_read_as_the_same_wheel(seed: int, tmp_path: Path) -> None:
    layout = draw_layout(repeatable(f"layout {seed}"))
    (tmp_path / "w.toml").write_text(
        sections(layout, site="s", table="t", last_number=3, port=Path("/dev/x"), speed=5) + REST
    )
    assert layout_of(tmp_path / "w.toml") == layout


GOOD = table("s", "t") + WHEEL


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[wheel]", "[wheels]", "missing required field `wheel`"),
        ("148", "3", "`$.wheel.rotor_ticks`"),
        ("[0, 90]", "[0, 360]", "`$.wheel.beams_deg"),
        ('game = "roulette"', 'game = "poker"', "no regulation for campione/poker; known: campione/roulette"),
        ('game = "roulette"', 'game = "fair"', "a fair wheel needs rotor_direction"),
        ("rotor_ticks", 'rotor_direction = "cw"\nrotor_ticks', "a fair wheel needs rotor_direction"),
        ("[table]", "[table", "not a configuration of a wheel"),
    ],
)
def test_a_file_of_no_wheel_is_refused(old: str, new: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(GOOD.replace(old, new))
    with pytest.raises(BadDataError) as wrong:
        layout_of(tmp_path / "w.toml")
    assert expected in str(wrong.value)


def test_bytes_that_are_no_text_and_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_bytes(b"\xff")
    with pytest.raises(BadDataError, match="not a configuration of a wheel"):
        layout_of(tmp_path / "w.toml")
    with pytest.raises(BadDataError, match=r"cannot read .*: No such file"):
        layout_of(tmp_path / "none")
