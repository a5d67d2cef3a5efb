"""What `doctor --learn` writes, and what it must not: mirrored angles would make R1 say the opposite (Art. 10)."""

from __future__ import annotations

import argparse
import stat
from pathlib import Path

import pytest

from tests.config.test_config import GOOD
from tests.doctor.alignment import layout, spun
from wheeld.cli_doctor import Geometry, learn, write
from wheeld.config import Config, parse
from wheeld.core.observations import BallPass, Observation, Rotor
from wheeld.doctor.findings import of_geometry
from wheeld.doctor.geometry import Learned, order_of
from wheeld.doctor.rewrite import replace_file
from wheeld.doctor.signals import Signals
from wheeld.exits import Exit

BEAMS_DEG = (0.0, 90.0, 200.0, 300.0)
TEXT = GOOD.replace("beams_deg = [0, 90, 180, 270]", "beams_deg = [0, 90, 200, 300]  # drawn")


def config() -> Config:
    made = parse(TEXT)
    assert made.wheel.beams_deg == BEAMS_DEG
    return made


def with_rotor(seen: list[Observation]) -> list[Observation]:
    """The same, but that the rotor turned the way of the ball."""
    other = {"cw": "ccw", "ccw": "cw"}
    return [Rotor(each.t_us, each.tick, other[each.direction]) if isinstance(each, Rotor) else each for each in seen]  # type: ignore[arg-type]


def learned(seen: list[Observation], ball: str | None = None) -> Geometry:
    signals = Signals(148)
    for each in seen:
        signals.take(each)
    return learn(signals, config(), argparse.Namespace(ball=ball, number=None))


def written(path: Path, geometry: Geometry, *, ball_told: bool = False) -> Exit:
    path.write_text(TEXT)
    return write(path, config(), geometry, ball_told=ball_told)


def test_a_ball_thrown_with_the_rotor_is_written_only_when_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wheel.toml"
    mirrored = learned(with_rotor(spun(layout(BEAMS_DEG), 1)[0]))
    assert written(path, mirrored) == Exit.BAD_DATA
    assert (path.read_text(), list(tmp_path.iterdir())) == (TEXT, [path])
    assert "the ball ran with the rotor, or the beams are numbered the other way round" in capsys.readouterr().err
    told = list(of_geometry(mirrored.beams, BEAMS_DEG, "beam"))
    assert [(each.level, "--ball cw" in each.do, "--learn" in each.do) for each in told] == [("wrong", True, False)]
    assert len(list(of_geometry(mirrored.beams, BEAMS_DEG, "beam", ball_told=True))) == len(BEAMS_DEG)
    assert written(path, mirrored, ball_told=True) == Exit.OK


@pytest.mark.parametrize(
    ("configured_deg", "found_deg", "order"),
    [
        ((0, 90), (0, 92), "same"),
        ((0, 90), (0, 268), "mirrored"),
        ((0, 180), (0, 181), "same"),
        ((10,), (10,), "same"),
        ((350, 100, 200), (350, 98, 203), "same"),
        ((350, 100, 200), (350, 240, 140), "mirrored"),
        ((200, 100, 0), (200, 98, 3), "same"),
        ((200, 100, 0), (200, 300, 40), "mirrored"),
        ((0, 90, 180, 270), (0, 180, 90, 270), "other"),
    ],
)
def test_how_beams_follow_each_other(
    configured_deg: tuple[float, ...], found_deg: tuple[float, ...], order: str
) -> None:
    assert order_of([Learned(n, deg, 0.1, 9) for n, deg in enumerate(found_deg)], configured_deg) == order


def test_swapped_wires_are_written_only_when_the_throw_is_told(tmp_path: Path) -> None:
    swapped = Geometry([Learned(n, deg, 0.1, 9) for n, deg in enumerate((0.0, 200.0, 90.0, 300.0))], [])
    assert written(tmp_path / "wheel.toml", swapped) == Exit.BAD_DATA
    assert written(tmp_path / "wheel.toml", swapped, ball_told=True) == Exit.OK


def test_an_unknown_beam_does_not_stand_in_for_a_dead_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen, _ = spun(layout((*BEAMS_DEG, 330.0)), 1)
    found = learned([each for each in seen if not (isinstance(each, BallPass) and each.beam == 3)])
    assert [each.index for each in found.beams] == [0, 1, 2, 4]
    assert written(tmp_path / "wheel.toml", found) == Exit.BAD_DATA
    assert (tmp_path / "wheel.toml").read_text() == TEXT
    assert "beam 3 says nothing" in capsys.readouterr().err


def test_without_beam_0_the_others_stand_where_they_do() -> None:
    seen, _ = spun(layout(BEAMS_DEG), 1)
    found = learned([each for each in seen if not (isinstance(each, BallPass) and each.beam == 0)])
    assert [round(each.angle_deg / 5) * 5 for each in found.beams] == [90, 200, 300]


def test_a_file_keeps_its_mode_its_line_ends_and_every_former_self(tmp_path: Path) -> None:
    path, geometry = tmp_path / "wheel.toml", learned(spun(layout(BEAMS_DEG), 1)[0])
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    for _ in range(3):
        assert write(path, config(), geometry, ball_told=False) == Exit.OK
    kept = [tmp_path / f"wheel.toml{end}" for end in (".before", ".before.1", ".before.2")]
    assert sorted(tmp_path.iterdir()) == [path, *kept]
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o640}
    assert kept[0].read_bytes() == TEXT.replace("\n", "\r\n").encode()
    assert path.read_bytes().count(b"\r\n") == path.read_bytes().count(b"\n") == TEXT.count("\n")


def test_a_file_that_cannot_be_put_in_place_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wheel.toml"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        replace_file(path, b"new")
    assert path.read_text() == "old"


def test_a_credential_in_the_file_is_one_after_learning_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    secret = tmp_path / "mqtt-password"
    secret.write_text("x")
    secret.chmod(0o400)
    path = tmp_path / "wheel.toml"
    more = 'username = "w"\npassword_file = "credential:mqtt-password"\n'
    path.write_text(TEXT.replace("[mqtt]\n", f"[mqtt]\n{more}"))
    assert "credential:" in path.read_text()
    assert write(path, config(), learned(spun(layout(BEAMS_DEG), 1)[0]), ball_told=False) == Exit.OK
