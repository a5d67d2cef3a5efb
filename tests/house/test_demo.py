"""`wheeld-house demo`: the whole house, on one computer, as a newcomer starts it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.house.house import ROOT


def test_a_house_plays_and_ends_by_itself(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "wheeld_house", "demo", "--wheels", "2", "--coups", "2"]
    where = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "house")))}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, cwd=tmp_path, env=where)
    assert ended.returncode == 0, ended.stderr
    shown = re.findall(r"^wheel-[12]  coup \d+: (?:number \d+|rien va, \w+)$", ended.stdout, re.MULTILINE)
    assert len(shown) >= 2, ended.stdout
    folder = re.search(r"makes PostgreSQL in (\S+)/postgres", ended.stdout)
    assert folder is not None
    assert not Path(folder[1]).exists()
    assert list(tmp_path.iterdir()) == []
