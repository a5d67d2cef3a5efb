"""What a subscriber makes of the messages: repetitions, gaps, restarts, and a line for people."""

from __future__ import annotations

import json
from typing import Any

from hw_sim.subscriber import Heard

TABLE: dict[str, Any] = {"state": "closed", "bets": "closed", "waiting_for": "ouverture", "last_number": 17}


def said(seq: int, boot_id: str = "a", **more: Any) -> bytes:
    return json.dumps({"seq": seq, "boot_id": boot_id, "coup": 3, **more}).encode()


def result(seq: int) -> bytes:
    return said(seq, number=32, announcement="Trente-deux", laps=7.5, rotor_rpm=14.06)


def void(seq: int, **more: Any) -> bytes:
    return said(seq, cause="chef", article="Art. 11", words="rien va", why="N7", **more)


def test_verdicts_become_lines_with_what_decides() -> None:
    heard = Heard()
    assert heard.take("result", result(1)) == ("seq     1  coup    3  RESULT  Trente-deux · 7.5 laps, rotor 14.1 rpm")
    assert heard.take("void", void(2, by="chef", reason="late bet")) == (
        "seq     2  coup    3  VOID    rien va: chef, Art. 11 · N7 (chef: late bet)"
    )
    assert str(heard.take("void", void(3, by="button", reason=""))).endswith("N7")
    assert [verdict.name for verdict in heard.verdicts] == ["result 32", "void chef", "void chef"]
    assert heard.tally == {"results": 1, "void chef": 2}


def test_repetitions_say_nothing_and_gaps_are_counted_within_a_run_of_the_daemon() -> None:
    heard = Heard()
    assert heard.take("table", said(7, **TABLE)) is not None
    assert heard.take("table", said(7, **TABLE)) is None
    assert heard.take("void", void(6)) is None
    heard.take("void", void(8))
    assert heard.gaps == 0
    heard.take("void", void(10))
    assert heard.gaps == 1
    heard.take("table", said(12, boot_id="b", **TABLE))
    assert heard.gaps == 1, "what the run before said went to whoever listened then"
    assert heard.seqs == [7, 8, 10, 12]
    assert heard.table is not None
    assert heard.table["seq"] == 12


def test_numbers_are_told_when_they_change_and_remarks_are_kept() -> None:
    heard = Heard()
    board = {"coup": 1, "numbers": []}
    assert heard.take("board", json.dumps(board).encode()) is None
    board["numbers"] = [5, 0]
    assert "numbers 5 0" in str(heard.take("board", json.dumps(board).encode()))
    notice = {"coup": 1, "notice": "foreign_object", "text": "a chip"}
    assert "foreign_object: a chip" in str(heard.take("notice", json.dumps(notice).encode()))
    reply = {"name": "resume", "by": "inspector", "done": False, "why": "not now"}
    assert "resume by inspector: refused. not now" in str(heard.take("reply", json.dumps(reply).encode()))
    assert heard.remark.startswith("reply")
    assert heard.take("health", b"{}") is None
    assert "done" in str(heard.take("reply", json.dumps(reply | {"done": True}).encode()))
