"""What `doctor --learn` writes, and what it must not: mirrored angles would make R1 say the opposite (Art. 10)."""

from __future__ import annotations

import argparse
import random
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import structs

from tests.config.test_config import GOOD
from tests.doctor.alignment import TICKS, after, do, late, layout, spun, swapped, with_rotor
from wheeld.cli.doctor import learn, write
from wheeld.config.instance import WheelFiles
from wheeld.config.reading import parse
from wheeld.config.sections import Config
from wheeld.core.catalogue import Text
from wheeld.core.observations import BallPass, Direction, Observation, Rotor, Sighting
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.doctor.findings import Finding, of_geometry, of_number, to_learn
from wheeld.doctor.geometry import (
    TURNS_MIN,
    Geometry,
    Learned,
    apart_deg,
    at_rest,
    learn_readers,
    order_of,
    pockets_off,
    real,
)
from wheeld.doctor.rewrite import replace_file
from wheeld.doctor.signals import Signals
from wheeld.exits import Exit

BEAMS_DEG = (0.0, 90.0, 200.0, 300.0)
READERS_DEG = (30.0, 150.0, 270.0)
TEXT = GOOD.replace("beams_deg = [0, 90, 180, 270]", "beams_deg = [0, 90, 200, 300]  # drawn")


def config() -> Config:
    made = parse(TEXT)
    assert made.table.beams_deg == BEAMS_DEG
    return made


def learned(seen: list[Observation], ball: str | None = None, number: int | None = None) -> Geometry:
    signals = Signals(TICKS, SINGLE_ZERO)
    for each in seen:
        signals.take(each)
    return learn(signals, config(), argparse.Namespace(ball=ball, number=number))


def written(path: Path, geometry: Geometry, *, ball_given: bool = False, listed: Sequence[Finding] = ()) -> Exit:
    path.write_text(TEXT)
    return write(WheelFiles(path), config(), geometry, ball_given=ball_given, language="en", found=listed)


def refused(path: Path, capsys: pytest.CaptureFixture[str], geometry: Geometry, *, ball_given: bool = False) -> str:
    """Why nothing was written."""
    assert written(path, geometry, ball_given=ball_given) == Exit.BAD_DATA
    assert (path.read_text(), list(path.parent.iterdir())) == (TEXT, [path])
    return capsys.readouterr().err


def off_deg(geometry: Geometry) -> float:
    """How far the worst was learned from where the simulator put it."""
    pairs = [(geometry.beams, BEAMS_DEG), (geometry.readers, READERS_DEG)]
    return max(abs(apart_deg(each.angle_deg, deg[each.index])) for kind, deg in pairs for each in kind)


def test_a_ball_thrown_with_the_rotor_is_written_only_when_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wheel.toml"
    mirrored = learned(with_rotor(spun(layout(BEAMS_DEG), 1, spins=1)[0]))
    assert written(path, mirrored) == Exit.BAD_DATA
    assert (path.read_text(), list(tmp_path.iterdir())) == (TEXT, [path])
    assert "the ball ran with the rotor, two beams are swapped, or all are numbered" in capsys.readouterr().err
    listed = list(of_geometry(mirrored.beams, BEAMS_DEG, "beam", to_learn("w.toml")))
    assert [(each.level, "--ball cw" in do(each), "--learn" in do(each)) for each in listed] == [("wrong", True, False)]
    assert len(list(of_geometry(mirrored.beams, BEAMS_DEG, "beam", to_learn("w.toml"), ball_given=True))) == len(
        BEAMS_DEG
    )
    assert written(path, mirrored, ball_given=True) == Exit.OK


def test_two_opposite_beams_that_are_swapped_are_named_as_a_cause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of four beams they look like all in the opposite order."""
    seen = [
        BallPass(each.t_us, (0, 3, 2, 1)[each.beam]) if isinstance(each, BallPass) else each
        for each in spun(layout((0.0, 90.0, 180.0, 270.0)), 1)[0]
    ]
    assert "two beams are swapped" in refused(tmp_path / "wheel.toml", capsys, learned(seen))


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


def test_swapped_wires_are_written_only_when_the_throw_is_reported(tmp_path: Path) -> None:
    swapped = Geometry([Learned(n, deg, 0.1, 9) for n, deg in enumerate((0.0, 200.0, 90.0, 300.0))], [])
    assert written(tmp_path / "wheel.toml", swapped) == Exit.BAD_DATA
    assert written(tmp_path / "wheel.toml", swapped, ball_given=True) == Exit.OK


def test_an_unknown_beam_does_not_stand_in_for_a_dead_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen, _ = spun(layout((*BEAMS_DEG, 330.0)), 1)
    found = learned([each for each in seen if not (isinstance(each, BallPass) and each.beam == 3)])
    assert [each.index for each in found.beams] == [0, 1, 2, 4]
    assert written(tmp_path / "wheel.toml", found) == Exit.BAD_DATA
    assert (tmp_path / "wheel.toml").read_text() == TEXT
    assert "beam 4 reports nothing" in capsys.readouterr().err


def test_without_beam_0_the_others_stand_where_they_do() -> None:
    seen, _ = spun(layout(BEAMS_DEG), 1)
    found = learned([each for each in seen if not (isinstance(each, BallPass) and each.beam == 0)])
    assert [round(each.angle_deg / 5) * 5 for each in found.beams] == [90, 200, 300]


def test_a_file_keeps_its_mode_its_line_ends_and_every_former_self(tmp_path: Path) -> None:
    path, geometry = tmp_path / "wheel.toml", learned(spun(layout(BEAMS_DEG), 1)[0])
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    for _ in range(3):
        assert write(WheelFiles(path), config(), geometry, ball_given=False, language="en") == Exit.OK
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
    assert (
        write(WheelFiles(path), config(), learned(spun(layout(BEAMS_DEG), 1)[0]), ball_given=False, language="en")
        == Exit.OK
    )


@pytest.mark.parametrize("seed", range(6))
def test_readers_are_learned_of_the_ball_at_rest_only(tmp_path: Path, seed: int) -> None:
    """Before, it lay in three other pockets of a turning rotor."""
    seen, number = spun(layout(BEAMS_DEG), seed, sightings=15)
    found = learned(seen, number=number)
    assert written(tmp_path / "wheel.toml", found) == Exit.OK
    assert [each.index for each in found.readers] == [0, 1, 2]
    assert off_deg(found) < 1


@pytest.mark.parametrize("late_us", [0, 20_000])
def test_readers_that_are_late_are_learned_of_a_rotor_that_turned_both_ways(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], late_us: int
) -> None:
    """By 2.2° here, behind the ball whichever way the rotor turns: learned of one way the table would be blind in the
    other."""
    path = tmp_path / "wheel.toml"
    seen, number = spun(layout(BEAMS_DEG), 1, sightings=15)
    found = learned(late(seen, late_us), number=number)
    assert off_deg(found) < 1
    assert written(path, found) == Exit.OK
    last = next(each.direction for each in reversed(seen) if isinstance(each, Rotor))
    path.with_name("wheel.toml.before").unlink()
    one_way = [each for each in late(seen, late_us) if not (isinstance(each, Rotor) and each.direction == last)]
    found = learned(one_way, number=number)
    wanted = f"turn the rotor {'clockwise' if last == 'cw' else 'counter-clockwise'} too, 4 times"
    assert wanted in refused(path, capsys, found)
    listed = list(of_geometry(found.readers, READERS_DEG, "reader", to_learn("w.toml", 0)))
    assert [(each.level, wanted in do(each)) for each in listed] == [("look", True)] * 3, "it may stand right"


def test_of_a_rotor_that_turns_one_way_only_that_one_is_enough() -> None:
    seen, number = spun(layout(BEAMS_DEG), 1, sightings=15)
    kept = at_rest([each for each in seen if isinstance(each, Rotor | BallPass | Sighting)])
    last = next(each.direction for each in reversed(kept) if isinstance(each, Rotor))
    fair = [each for each in kept if not (isinstance(each, Rotor) and each.direction != last)]
    found = learn_readers(fair, TICKS, SINGLE_ZERO, number, last)
    assert [(each.lacks, each.count >= TURNS_MIN) for each in found] == [(None, True)] * 3


def test_a_few_turns_of_a_lying_ball_are_too_few(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wheel.toml"
    seen, number = spun(layout(BEAMS_DEG), 1)
    assert "turns, 4 are needed" in refused(path, capsys, learned(seen, number=number))
    seen = [each for each in seen if not isinstance(each, Sighting)]
    assert "no reader saw the ball at rest" in refused(path, capsys, learned(seen, number=number))


def test_what_is_seen_twice_in_a_turn_is_one_turn() -> None:
    seen, number = spun(layout(BEAMS_DEG), 1, sightings=15)
    once = learned(seen, number=number).readers
    twice = [
        again
        for each in seen
        for again in ((each, Sighting(each.t_us + 2_000, each.reader)) if isinstance(each, Sighting) else (each,))
    ]
    assert [each.count for each in learned(twice, number=number).readers] == [each.count for each in once]


def test_a_ball_that_is_moved_is_not_learned_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By a hand, which passes no beam: a quarter of the turns in another pocket are too many."""
    seen, number = spun(layout(BEAMS_DEG), 1, sightings=30)
    rest = [each for each in seen if isinstance(each, Sighting)][-24:]
    moved = {id(each) for each in rest[:6]}
    spoilt = [
        Sighting(each.t_us + 300_000, each.reader) if isinstance(each, Sighting) and id(each) in moved else each
        for each in seen
    ]
    found = learned(sorted(spoilt, key=lambda each: each.t_us), number=number)
    assert "its angle is known only to ±" in refused(tmp_path / "wheel.toml", capsys, found)


def test_a_wrong_number_is_not_believed_against_readers_that_agree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen, number = spun(layout(BEAMS_DEG), 1, sightings=15)
    said = SINGLE_ZERO.order[(SINGLE_ZERO.index_of[number] + 5) % SINGLE_ZERO.count]
    found = learned(seen, number=said)
    assert f"the ball lies in {number}, not in {said}" in refused(tmp_path / "wheel.toml", capsys, found)
    (listed,) = of_number(found.readers, READERS_DEG, SINGLE_ZERO, said)
    assert (listed.level, f"lies in {number}," in listed.what) == ("wrong", True)
    assert list(of_number(learned(seen, number=number).readers, READERS_DEG, SINGLE_ZERO, number)) == []
    assert pockets_off(found.readers, (), SINGLE_ZERO.pocket_deg) == 0, (
        "of readers that are in no file yet nothing is known"
    )


@pytest.mark.parametrize(
    ("off_pockets", "pockets"),
    [((3, 3, 3), 3), ((-2.1, -1.9, -2), -2), ((3, 3, 0), 3), ((1, 2, 3), 0), ((0, 0, 0), 0), ((0.5, 0.5, 0.5), 0)],
)
def test_readers_that_all_move_by_whole_pockets(off_pockets: tuple[float, ...], pockets: int) -> None:
    found = [
        Learned(n, (deg + off * SINGLE_ZERO.pocket_deg) % 360, 0.1, 9)
        for n, (deg, off) in enumerate(zip(READERS_DEG, off_pockets, strict=True))
    ]
    assert pockets_off(found, READERS_DEG, SINGLE_ZERO.pocket_deg) == pockets


def test_a_swapped_encoder_mirrors_no_readers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wheel.toml"
    seen, number = spun(layout(BEAMS_DEG), 1, spins=1, sightings=15)
    (spin,) = real(learned(seen).spins)
    found = learned(swapped(seen), ball=spin.direction, number=number)
    assert "A and B of the encoder, or two readers, are swapped" in refused(path, capsys, found, ball_given=True)
    lying = found._replace(beams=[], spins=())
    assert "the readers follow each other in the opposite order" in refused(path, capsys, lying)
    one = found._replace(readers=[Learned(0, 77.0, 0.1, 9)])
    assert "may be swapped" in refused(path, capsys, one, ball_given=True)


def test_readers_without_an_encoder_are_not_learned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wheel.toml"
    bare = structs.replace(config(), table=structs.replace(config().table, rotor_ticks=0))
    assert write(WheelFiles(path), bare, Geometry([], [], number=5), ball_given=False, language="en") == Exit.BAD_DATA
    assert "--number finds the readers with the encoder's help" in capsys.readouterr().err


@pytest.mark.parametrize("strays", [1, 2, 3, 30])
@pytest.mark.parametrize("seed", range(4))
def test_strays_of_a_dead_beam_are_no_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int, strays: int
) -> None:
    seen, _ = spun(layout(BEAMS_DEG), seed)
    pick = random.Random(f"{seed} {strays}")
    passes = [each for each in seen if isinstance(each, BallPass)]
    spoilt = [each for each in seen if not (isinstance(each, BallPass) and each.beam == 3)]
    spoilt += [BallPass(pick.choice(passes[8:-12]).t_us + pick.randrange(100_000), 3) for _ in range(strays)]
    found = learned(sorted(spoilt, key=lambda each: each.t_us))
    assert "beam 4" in refused(tmp_path / "wheel.toml", capsys, found)


@pytest.mark.parametrize("seed", range(6))
def test_spins_that_contradict_each_other_teach_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    one, two = (spun(layout(BEAMS_DEG), each, spins=1)[0] for each in (seed, seed + 50))
    found = learned(after(one, with_rotor(two)))
    assert "the spins show beam" in refused(tmp_path / "wheel.toml", capsys, found)
    assert written(tmp_path / "wheel.toml", learned(after(one, two))) == Exit.OK


def test_a_beam_that_was_moved_between_spins_is_not_learned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moved = (0.0, 90.0, 205.0, 300.0)
    both = after(spun(layout(BEAMS_DEG), 1, spins=2)[0], spun(layout(moved), 5, spins=1)[0])
    assert "the spins show beam 3 at angles 5° apart" in refused(tmp_path / "wheel.toml", capsys, learned(both))


def test_a_way_that_cannot_be_true_of_all_spins_is_not_believed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wheel.toml"
    seen, _ = spun(layout(BEAMS_DEG), 1)
    ways: list[Direction] = ["cw", "ccw"]
    for ball in ways:
        assert "--ball may be wrong for one of them" in refused(path, capsys, learned(seen, ball=ball), ball_given=True)
    assert written(path, learned(seen)) == Exit.OK


def test_single_edges_the_other_way_turn_no_rotor(tmp_path: Path) -> None:
    seen, _ = spun(layout(BEAMS_DEG), 1)
    begun_us = {spin.passes[0].t_us for spin in learned(seen).spins}
    spoilt: list[Observation] = []
    edge = Rotor(0, 0, "cw")
    for each in seen:
        if isinstance(each, Rotor):
            edge = each
        elif isinstance(each, BallPass) and each.t_us in begun_us:
            spoilt.append(Rotor(each.t_us - 5, edge.tick, "ccw" if edge.direction == "cw" else "cw"))
        spoilt.append(each)
    found = learned(spoilt)
    assert written(tmp_path / "wheel.toml", found) == Exit.OK
    assert off_deg(found) < 1


def test_nothing_is_written_while_anything_is_wrong_but_an_angle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, found = tmp_path / "wheel.toml", learned(spun(layout(BEAMS_DEG), 1)[0])
    angle = [*of_geometry(found.beams, (0.0, 80.0, 200.0, 300.0), "beam", to_learn("w.toml"))]
    assert [each.level for each in angle] == ["ok", "wrong", "ok", "ok"]
    assert written(path, found, listed=angle) == Exit.OK
    dead = Finding("wrong", "beam_dead", Text("beam 3 pulsed 2 times, another 50"), Text("its wire"))
    assert written(path, found, listed=[*angle, dead]) == Exit.BAD_DATA
    assert path.read_text() == TEXT
    assert "beam 3 pulsed 2 times, another 50; its wire. The angles are written only" in capsys.readouterr().err


def test_beams_whose_laps_stray_are_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    soft = Geometry([Learned(n, deg, 3.1 * (n == 2), 9) for n, deg in enumerate(BEAMS_DEG)], [])
    assert "beam 3: its angle is known only to ± 3.1°" in refused(tmp_path / "wheel.toml", capsys, soft)


def test_a_hand_between_spins_is_no_spin(tmp_path: Path) -> None:
    """The rotor turned the other way under it."""
    seen, _ = spun(layout(BEAMS_DEG), 1, spins=1)
    (spin,) = learned(seen).spins
    t_us = seen[-1].t_us
    other: Direction = "ccw" if spin.rotor == "cw" else "cw"
    turned = [Rotor(t_us + n * 100_000, n, other) for n in range(1, 90)]
    found = learned([*seen, *turned, BallPass(t_us + 9_100_000, 1)], ball=spin.direction)
    assert [each.rotor for each in found.spins] == [spin.rotor, other]
    assert written(tmp_path / "wheel.toml", found, ball_given=True) == Exit.OK
