"""Pulling the lines of a `gpio-sim` chip, on directories that look like the kernel's."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

import pytest

from hw_sim import gpio_sim
from hw_sim.gpio_sim import SimChip
from wheeld.ports import Edge


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the lines of chip `wheel` are; two of them."""
    monkeypatch.setattr(gpio_sim, "CONFIGFS", tmp_path / "config")
    monkeypatch.setattr(gpio_sim, "PLATFORM", tmp_path / "platform")
    bank = tmp_path / "config" / "wheel" / "bank0"
    bank.mkdir(parents=True)
    (bank / "chip_name").write_text("gpiochip7\n")
    (bank.parent / "dev_name").write_text("gpio-sim.0\n")
    lines = tmp_path / "platform" / "gpio-sim.0" / "gpiochip7"
    for pin in (3, 4):
        (lines / f"sim_gpio{pin}").mkdir(parents=True)
        (lines / f"sim_gpio{pin}" / "pull").write_text("")
    return lines


def test_a_chip_is_found_and_its_lines_are_pulled_and_read(lines: Path) -> None:
    chip = SimChip("wheel")
    chip.pull(3, level=True)
    (lines / "sim_gpio3" / "value").write_text("1\n")
    assert chip.number == 7
    assert (lines / "sim_gpio3" / "pull").read_text() == "pull-up"
    assert chip.level(3)
    chip.pull(4, level=False)
    assert (lines / "sim_gpio4" / "pull").read_text() == "pull-down"


def test_a_chip_is_made_of_so_many_lines(lines: Path, tmp_path: Path) -> None:
    (tmp_path / "config" / "wheel" / "bank0").rename(tmp_path / "kept")
    made = tmp_path / "config" / "new"
    with pytest.raises(FileNotFoundError):  # the kernel would have named it by now
        SimChip.make("new", 28)
    assert (made / "bank0" / "num_lines").read_text() == "28"
    assert (made / "live").read_text() == "1"


def test_no_edge_comes_early_and_after_a_pause_the_gaps_stay(lines: Path) -> None:
    chip = SimChip("wheel")
    start_ns = time.monotonic_ns()
    edges = [Edge(3, True, start_ns - 50_000_000), Edge(3, False, start_ns - 40_000_000)]
    pulled = list(chip.play(edges))
    assert pulled[0] >= start_ns
    assert pulled[1] - pulled[0] >= 9_000_000  # 10 ms, less what counts as on time


def test_the_program_plays_what_it_reads_and_prints_when(
    lines: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    base_ns = time.monotonic_ns() + 5_000_000
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"0 3 1\n2000000 4 0\n\n{base_ns}\n"))
    monkeypatch.setattr(sys, "argv", ["gpio_sim", "wheel"])
    gpio_sim.main()
    ready, *pulled = capsys.readouterr().out.splitlines()
    assert ready == "ready"
    due_ns = (base_ns, base_ns + 2_000_000)
    assert all(int(at_ns) >= due for at_ns, due in zip(pulled, due_ns, strict=True))
    assert (lines / "sim_gpio3" / "pull").read_text() == "pull-up"
