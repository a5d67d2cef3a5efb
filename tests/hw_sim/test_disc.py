"""`hw-sim disc`: the drawing, measured, and what three sensors see of it."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

from hw_sim.cli import main

SVG = "{http://www.w3.org/2000/svg}"
DISCS = [(180.0, 148), (297.0, 296), (90.0, 40)]
Part = tuple[float, float, float, float]


def drawn(out: Path, diameter_mm: float, sectors: int) -> ET.Element:
    assert main(["disc", "--diameter", f"{diameter_mm:g}", "--sectors", str(sectors), "-o", str(out)]) == 0
    return ET.fromstring(out.read_text())


def parts(svg: ET.Element, kind: str, sectors: int) -> list[Part]:
    """The black parts of a ring: their inner and outer radius in mm, and from where to where in sectors."""
    found = []
    for path in svg.iter(f"{SVG}path"):
        if path.get("class") != kind:
            continue
        points = [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)(?=[ALZ])", path.get("d", ""))]
        (a, b, c, d) = [(math.hypot(*at), math.atan2(at[0], -at[1]) / math.tau * sectors % sectors) for at in points]
        assert math.isclose(a[0], b[0], abs_tol=1e-4)
        assert math.isclose(c[0], d[0], abs_tol=1e-4)
        assert math.isclose(a[1], d[1], abs_tol=1e-4)
        assert math.isclose(b[1], c[1], abs_tol=1e-4)
        found.append((d[0], a[0], a[1], b[1]))
    return found


@pytest.mark.parametrize(("diameter_mm", "sectors"), DISCS)
def test_its_edges_are_at_whole_sectors(tmp_path: Path, diameter_mm: float, sectors: int) -> None:
    bars = parts(drawn(tmp_path / "disc.svg", diameter_mm, sectors), "bar", sectors)
    assert len(bars) == sectors // 4
    assert sorted(round(edge, 3) % sectors for bar in bars for edge in bar[2:]) == list(range(0, sectors, 2))
    assert {round(bar[1], 3) for bar in bars} == {diameter_mm / 2}


@pytest.mark.parametrize(("diameter_mm", "sectors"), DISCS)
def test_its_sizes_are_in_millimetres(tmp_path: Path, diameter_mm: float, sectors: int) -> None:
    svg = drawn(tmp_path / "disc.svg", diameter_mm, sectors)
    left, top, width, height = map(float, svg.get("viewBox", "").split())
    assert (svg.get("width"), svg.get("height")) == (f"{width:g}mm", f"{height:g}mm")
    assert left <= -diameter_mm / 2
    assert top <= -diameter_mm / 2
    (cut,) = [each for each in svg.iter(f"{SVG}circle") if each.get("class") == "cut"]
    assert float(cut.get("r", "")) * 2 == diameter_mm
    (ruler,) = [each for each in svg.iter(f"{SVG}path") if each.get("class") == "ruler"]
    assert "h100m" in ruler.get("d", "")


def white(ring: list[Part], place: float, sectors: int) -> bool:
    return not any((place - start) % sectors < (end - start) % sectors for _, _, start, end in ring)


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize(("diameter_mm", "sectors"), DISCS)
def test_three_sensors_see_a_quadrature_and_one_mark(
    tmp_path: Path, diameter_mm: float, sectors: int, below: bool
) -> None:
    """The printed side is above or below. A and Z stand one sector clockwise from the bowl's mark, B five further. The
    rotor turns clockwise."""
    svg = drawn(tmp_path / "disc.svg", diameter_mm, sectors)
    bars, zero = parts(svg, "bar", sectors), parts(svg, "zero", sectors)
    text = " ".join(each.text or "" for each in svg.iter(f"{SVG}text"))
    assert "(5 sectors)" in text
    a_ring, z_ring = (float(each) for each in re.findall(r"([\d.]+) mm from the centre", text))
    assert all(bar[0] + 4 <= a_ring <= bar[1] - 4 for bar in bars)
    assert all(part[0] + 4 <= z_ring <= part[1] - 4 for part in zero)
    seen = []
    to_zero = 1.0  # where the disc has its line to pocket zero
    for step in range(8 * sectors):
        rotor = step / 8 + 1 / 16  # the angle of pocket zero in sectors, clockwise from the bowl's mark
        at = 1 + to_zero - rotor
        a, b = (2 * to_zero - at, 2 * to_zero - at - 5) if below else (at, at + 5)
        seen.append((white(bars, a, sectors), white(bars, b, sectors), white(zero, a, sectors)))
    assert all(len({state[:2] for state in seen[8 * tick : 8 * tick + 8]}) == 1 for tick in range(sectors))
    cycle = [state[:2] for state in seen[::8]]
    following = {(False, False): (True, False), (True, False): (True, True), (True, True): (False, True)}
    assert all(after == following.get(state, (False, False)) for state, after in pairwise(cycle))
    marks = [step for step, (*_, z) in enumerate(seen) if z]
    assert len(marks) == 8
    rises = next(step for step in marks if not seen[step - 1][2])
    assert rises // 8 == 0, "the rotor stands in sector 0 when the mark comes"
    assert rises % 8 == 4, "in the middle of a sector"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--diameter", "180", "--sectors", "150"], "--sectors 150: it must be a multiple of 4, and 4096 at most"),
        (["--diameter", "180", "--sectors", "0"], "--sectors 0: it must be a multiple of 4, and 4096 at most"),
        (["--diameter", "60", "--sectors", "148"], "148 sectors need a diameter of 115 mm at least"),
        (["--diameter", "inf", "--sectors", "148"], "148 sectors need a diameter of 115 mm at least"),
    ],
)
def test_a_disc_that_no_sensor_reads(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["disc", *options]) == 2
    assert said in capsys.readouterr().err


def test_the_least_diameter_is_enough(tmp_path: Path) -> None:
    assert main(["disc", "--diameter", "115", "--sectors", "148", "-o", str(tmp_path / "disc.svg")]) == 0
    assert main(["disc", "--diameter", "114", "--sectors", "148", "-o", str(tmp_path / "disc.svg")]) == 2


def test_where_it_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["disc", "--diameter", "180", "--sectors", "148", "-o", str(tmp_path / "none" / "x.svg")]) == 73
    assert main(["disc", "--diameter", "180", "--sectors", "148"]) == 0
    assert capsys.readouterr().out.startswith("<svg ")
