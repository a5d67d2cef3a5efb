"""The pipe to the program under test, with stand-ins for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hw_sim.campaign.black_box import HeardMessage, find, replay
from hw_sim.exits import UnavailableError
from tests.hw_sim_campaign.stand_in import stand_in

LINE = b'{"t":5,"topic":"result","payload":{"number":17}}\n'


def _all(program: Path, lines: list[bytes] | Iterator[bytes]) -> tuple[list[HeardMessage], int, str]:
    messages: list[HeardMessage] = []

    def receive(each: HeardMessage) -> bool:
        messages.append(each)
        return True

    ended = replay(program, lines, receive)
    return messages, ended.code, ended.stderr


def test_messages_are_received_while_the_log_is_still_written(tmp_path: Path) -> None:
    echo = stand_in(tmp_path, f"for line in sys.stdin: print({LINE.decode()!r}, end='', flush=True)")
    received: list[HeardMessage] = []

    def receive(each: HeardMessage) -> bool:
        received.append(each)
        return len(received) < 3

    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * 999 + b"\n"

    ended = replay(echo, endless(), receive)
    assert ended.stopped
    assert received == [HeardMessage(5, "result", {"number": 17})] * 3


def test_a_child_that_nobody_needs_any_more_is_ended_whatever_it_does(tmp_path: Path) -> None:
    stubborn = stand_in(tmp_path, f"import time\nprint({LINE.decode()!r}, end='', flush=True); time.sleep(1_000)")
    assert replay(stubborn, (b"x" * 999 + b"\n" for _ in range(10_000)), lambda _: False).stopped


def test_its_exit_code_its_last_output_and_its_time_are_returned(tmp_path: Path) -> None:
    failing = stand_in(tmp_path, "sys.stderr.write('x' * 300_000 + ' why'); sys.exit(65)")
    messages, code, stderr = _all(failing, [b"line\n"] * 100_000)
    assert (messages, code) == ([], 65)
    assert stderr.endswith("x why")
    assert replay(failing, [], lambda _: True).cpu_s > 0


def test_the_arguments_are_those_of_a_replay(tmp_path: Path) -> None:
    asking = stand_in(tmp_path, "sys.stderr.write(' '.join(sys.argv[1:])); sys.stdin.read()")
    assert _all(asking, [])[2] == "replay - --jsonl"
    assert replay(asking, [], lambda _: True, facts=True).stderr == "replay - --jsonl --facts"


def test_what_is_no_message_is_an_error(tmp_path: Path) -> None:
    babbling = stand_in(tmp_path, "print('good evening'); sys.stdin.read()")
    with pytest.raises(UnavailableError, match="good evening"):
        _all(babbling, [b"line\n"])


def test_a_program_that_has_ended_when_it_is_killed_is_waited_for_once(tmp_path: Path) -> None:
    """What it wrote is read as late as that."""

    def late(_: HeardMessage) -> bool:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        return False

    ending = stand_in(tmp_path, """print('{"t":1,"topic":"board","payload":{}}')""")
    assert replay(ending, [], late).stopped


def test_an_error_in_the_log_leaves_no_child_behind(tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"line\n"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        _all(stand_in(tmp_path, "sys.stdin.read()"), broken())


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="nowhere"):
        find(tmp_path / "nowhere")
    (tmp_path / "empty").write_text("no program")
    (tmp_path / "empty").chmod(0o755)
    with pytest.raises(UnavailableError, match="empty"):
        _all(find(tmp_path / "empty"), [])


def test_the_program_beside_python_is_found() -> None:
    assert find() == Path(sys.executable).with_name("wheeld")
