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


def lines(where: str, program: str = PROGRAM, *, code: int = 0) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "default::DeprecationWarning", "-c", program, where],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stdout) == (code, "")
    return run.stderr.splitlines()


LIBRARIES = """
import asyncio, logging, threading, warnings
from wheeld.service.logs import log_to_stderr
log_to_stderr("info")
mqtt = logging.getLogger("mqtt")
mqtt.debug("not asked for")
mqtt.info("not asked for")
mqtt.warning("caught exception in %s: %s", "on_connect", "two\\nlines")
mqtt.error("%d of it", "nonsense")
try:
    raise ConnectionResetError("gone")
except OSError:
    mqtt.exception("failed to receive on socket")
warnings.warn("old", DeprecationWarning)
loop = asyncio.new_event_loop()
loop.call_exception_handler({"message": "a task failed", "exception": ValueError("of a task")})
loop.close()
thread = threading.Thread(target=lambda: 1 / 0, name="reader")
thread.start()
thread.join()
class Lost:
    def __del__(self):
        raise KeyError("lost")
Lost()
raise RuntimeError("the end")
"""


def test_what_libraries_and_python_say_is_json_with_their_name() -> None:
    said = [json.loads(line) for line in lines("file", LIBRARIES, code=1)]
    assert {each["event"] for each in said} == {"library"}
    assert [(each["library"], each["level"]) for each in said] == [
        ("mqtt", "warning"), ("mqtt", "error"), ("mqtt", "error"), ("py.warnings", "warning"), ("asyncio", "error"),
        ("python", "error"), ("python", "error"), ("python", "critical"),
    ]  # fmt: skip
    assert said[0]["text"] == "caught exception in on_connect: two\nlines"
    assert "nonsense" in said[1]["text"]
    errors = [each["exception"][0]["exc_type"] for each in said if "exception" in each]
    assert errors == ["ConnectionResetError", "ValueError", "ZeroDivisionError", "KeyError", "RuntimeError"]


def test_what_a_library_says_has_its_priority_for_journald() -> None:
    said = ["log = __import__('logging').getLogger('mqtt')", "for level in ('info', 'warning', 'error', 'critical'):"]
    program = "\n".join([PROGRAM.split("log =", maxsplit=1)[0], *said, "    getattr(log, level)('line')"])
    found_lines = [re.fullmatch(r"<(\d)>(.+)", line) for line in lines("journal", program)]
    assert [found and found[1] for found in found_lines] == ["4", "3", "2"]


def test_ctrl_c_says_nothing() -> None:
    program = f"{PROGRAM.split('log.debug', maxsplit=1)[0]}\nraise KeyboardInterrupt"
    assert lines("file", program, code=-2) == []


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


SECRET = """
from wheeld.service.logs import log_to_stderr
log_to_stderr("info")
def login(password):
    raise OSError("no")
login("".join(("correct ", "horse")))
"""


def test_an_error_does_not_tell_the_values_of_variables() -> None:
    (said,) = lines("here", SECRET, code=1)
    assert json.loads(said)["exception"][0]["frames"][-1]["name"] == "login"
    assert "correct horse" not in said
