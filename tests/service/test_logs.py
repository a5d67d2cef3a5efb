"""The log's lines, and the priority that journald takes off them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile

import pytest

from wheeld.service.logs import is_journal

PROGRAM = """
import os, sys
status = os.fstat(2)
if sys.argv[1] == "journal":
    os.environ["JOURNAL_STREAM"] = f"{status.st_dev}:{status.st_ino}"
import structlog
from wheeld.service.logs import log_to_stderr
log_to_stderr("info")
log = structlog.get_logger("test")
log.debug("not.asked_for")
for level in ("info", "warning", "error", "critical"):
    getattr(log, level)("line", text="two\\nlines", path=os.curdir)
"""


def lines(where: str) -> list[str]:
    run = subprocess.run([sys.executable, "-c", PROGRAM, where], capture_output=True, text=True, timeout=60, check=True)
    return run.stderr.splitlines()


def test_a_line_an_event_with_its_priority_for_journald() -> None:
    found_lines = [re.fullmatch(r"<(\d)>(.+)", line) for line in lines("journal")]
    assert [found and found[1] for found in found_lines] == ["6", "4", "3", "2"]
    levels = [json.loads(found[2])["level"] for found in found_lines if found]
    assert levels == ["info", "warning", "error", "critical"]


def test_elsewhere_nothing_stands_before_the_object() -> None:
    assert [json.loads(line)["text"] for line in lines("file")] == ["two\nlines"] * 4


@pytest.mark.parametrize("stream", ["", "1:1", "nonsense"])
def test_a_stream_that_was_redirected_is_not_the_journal(stream: str) -> None:
    with tempfile.TemporaryFile() as file:
        status = os.fstat(file.fileno())
        assert is_journal(file.fileno(), {"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"})
        assert not is_journal(file.fileno(), {"JOURNAL_STREAM": stream})
        assert not is_journal(file.fileno(), {})


def test_a_closed_stream_is_not_the_journal() -> None:
    assert not is_journal(-1, {"JOURNAL_STREAM": "1:1"})
