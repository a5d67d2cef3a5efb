"""`make quick`: an answer within ten seconds for what was changed since the last commit.

Style of the changed files, then tests, as many as the time allows: changed tests, then those that have the name of a
changed module, then those that import it, the shortest file first. It says how many it could not try: `make test` tries
all.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

SECONDS = 9.0
SLOW = re.compile(r"tests/(browser|consumers|faults|gpio|house|hw_sim_demo|live|packaging|site|systemd|whole)/")
"""They start what takes longer: a browser, a kernel, a daemon in real seconds."""


class Deadline:
    """Ends a run of pytest when the time is over; `failed`: whether a test failed before."""

    def __init__(self, until_s: float) -> None:
        self.until_s = until_s
        self.left = 0
        self.failed = False

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.left = len(session.items)

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if time.monotonic() > self.until_s:
            item.session.shouldstop = f"{self.left} tests are left: `make test` tries them"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.left -= report.when == "teardown"
        self.failed |= report.failed


def tests_of(changed: list[Path]) -> list[Path]:
    """The tests to try for these files, in order, each once."""
    texts = {test: test.read_text() for test in Path("tests").rglob("test_*.py") if not SLOW.match(str(test))}
    by_length = sorted(texts, key=lambda test: len(texts[test]))
    found = [file for file in changed if file in texts]
    for file in changed:
        found += [test for test in by_length if test.name == f"test_{file.stem}.py"]
    for file in changed:
        package, module = ".".join(file.parent.parts), file.stem
        imports = re.compile(rf"^from {package}(\.{module} import| import .*\b{module}\b)", re.MULTILINE)
        found += [test for test in by_length if imports.search(texts[test])]
    return list(dict.fromkeys(found))


def main() -> int:
    deadline = Deadline(time.monotonic() + SECONDS)
    status = ["git", "ls-files", "--modified", "--others", "--exclude-standard", "*.py"]
    changed = [Path(file) for file in subprocess.check_output(status, text=True).split() if Path(file).exists()]
    for check in (["check", "-q"], ["format", "--check", "-q"]):
        if (
            changed
            and subprocess.run([Path(sys.executable).with_name("ruff"), *check, *changed], check=False).returncode
        ):
            return 1
    tests = tests_of(changed)
    print("changed:", *(changed or ("no Python file",)), "\ntried:", *(tests or ("style alone",)), flush=True)  # noqa: T201
    if not tests:
        return 0
    pytest.main(["-q", "-x", *map(str, tests)], plugins=[deadline])
    return 1 if deadline.failed else 0


if __name__ == "__main__":
    sys.exit(main())
