"""The ring's arithmetic: every sequence of eight steps, beside a plain list."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.firmware.harness import HERE, compiled, core


def test_every_short_life_of_a_small_ring(tmp_path: Path) -> None:
    options = ("-O2", "-fsanitize=undefined", "-fno-sanitize-recover=all")
    program = compiled(tmp_path / "ring", HERE / "ring.c", *core("codec"), options=options)
    told = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout) == (0, "19173961 states\n")
