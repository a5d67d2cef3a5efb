"""Programs that stand in for wheeld."""

from __future__ import annotations

import sys
from pathlib import Path

from hw_sim.campaign.black_box import find

FALSIFIER = """
log = sys.stdin.buffer.read()
output = subprocess.run([{wheeld!r}, *sys.argv[1:]], input=log, capture_output=True, check=True).stdout
for line in output.splitlines(keepends=True):
    head = re.match(rb'{{"t":(\\d+),"topic":"result"', line)
    if head and abs(int(head[1]) - {t}) < 500_000 and {when}:
        line = re.sub(rb'"number":(\\d+)', lambda m: b'"number":%d' % ((int(m[1]) + 1) % 37), line, count=1)
    sys.stdout.buffer.write(line)
"""


VOIDER = """
log = sys.stdin.buffer.read()
output = subprocess.run([{wheeld!r}, *sys.argv[1:]], input=log, capture_output=True, check=True).stdout
for line in output.splitlines(keepends=True):
    head = re.match(rb'{{"t":(\\d+),"topic":"result"', line)
    if head and abs(int(head[1]) - {t}) < 500_000:
        at = re.search(rb'"at":("[^"]+")', line)[1]
        line = (b'{{"t":%s,"topic":"void","payload":{{"at":%s,"evidence_at":%s,"evidence":{{}},"coup":0,'
                b'"cause":"chef"}}}}\\n' % (head[1], at, at))
    sys.stdout.buffer.write(line)
"""


def stand_in(directory: Path, code: str, name: str = "stand-in") -> Path:
    """An executable of that Python code."""
    path = directory / name
    path.write_text(f"#!{sys.executable}\nimport re, subprocess, sys\n{code}\n")
    path.chmod(0o755)
    return path


def falsifier(directory: Path, t_us: int, when: str = "True") -> Path:
    """The real wheeld, except that the number of the result at about that time is one too high (a fault that is left
    out moves the result by some µs). Only where the expression `when` is true."""
    return stand_in(directory, FALSIFIER.format(wheeld=str(find()), t=t_us, when=when), "falsifier")


def voider(directory: Path, t_us: int) -> Path:
    """The real wheeld, except that the result at about that time is a void by the chef, who spoke as it was proven."""
    return stand_in(directory, VOIDER.format(wheeld=str(find()), t=t_us), "voider")
