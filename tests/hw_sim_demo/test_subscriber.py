"""What a subscriber makes of the messages: repetitions, gaps, restarts, and a line for people."""

from __future__ import annotations

import json
from typing import Any

from hw_sim.people import outcome_name
from hw_sim.subscriber import Subscriber

TABLE: dict[str, Any] = {"state": "closed", "bets": "closed", "waiting_for": "ouverture", "last_number": 17}


def message(seq: int, boot_id: str = "a", **more: Any) -> bytes:
    return json.dumps({"seq": seq, "boot_id": boot_id, "coup": 3, **more}).encode()


def result(seq: int) -> bytes:
    return message(seq, number=32, announcement="Trente-deux", laps=7.5, rotor_rpm=14.06)


def void(seq: int, **more: Any) -> bytes:
    return message(seq, cause="chef", words="rien va", why="N7", **more)


def test_verdicts_become_lines_with_what_decides() -> None:
    subscriber = Subscriber()
    assert subscriber.take("result", result(1)) == (
        "seq     1  coup    3  RESULT  32 · Trente-deux · 7.5 laps, rotor 14.1 rpm"
    )
    assert str(
        Subscriber().take("result", message(1, number=0, announcement="Zéro", laps=None, rotor_rpm=None))
    ).endswith("RESULT  0 · Zéro"), "by the chef's word: nothing was proven"
    assert subscriber.take("void", void(2, by="chef", reason="late bet")) == (
        "seq     2  coup    3  VOID    rien va: chef · N7 (chef: late bet)"
    )
    assert str(subscriber.take("void", void(3, by="button", reason=""))).endswith("N7")
    assert [verdict.name for verdict in subscriber.verdicts] == ["result 32", "void chef", "void chef"]
    assert subscriber.tally == {"results": 1, "void chef": 2}


def test_a_double_zero_is_named_as_it_was_played() -> None:
    subscriber = Subscriber()
    subscriber.take("result", message(1, number=37, announcement="Doppio zero", laps=None, rotor_rpm=None))
    assert subscriber.verdicts[0].name == outcome_name({"kind": "result", "number": 37}) == "result 00"


def test_repetitions_are_ignored_and_gaps_are_counted_within_a_run_of_the_daemon() -> None:
    subscriber = Subscriber()
    assert subscriber.take("table", message(7, **TABLE)) is not None
    assert subscriber.take("table", message(7, **TABLE)) is None
    assert subscriber.take("void", void(6)) is None
    subscriber.take("void", void(8))
    assert subscriber.gaps == 0
    subscriber.take("void", void(10))
    assert subscriber.gaps == 1
    subscriber.take("table", message(12, boot_id="b", **TABLE))
    assert subscriber.gaps == 1, "messages of an earlier run are no gap"
    assert subscriber.seqs == [7, 8, 10, 12]
    assert subscriber.table is not None
    assert subscriber.table["seq"] == 12


def test_a_restored_journal_goes_on_with_earlier_numbers_and_what_is_sent_again_stays_old() -> None:
    subscriber = Subscriber()
    subscriber.take("table", message(12, **TABLE))
    assert subscriber.take("table", message(9, boot_id="b", **TABLE)) is not None
    assert subscriber.take("table", message(8, **TABLE)) is None
    assert subscriber.take("table", message(9, boot_id="b", **TABLE)) is None
    assert subscriber.gaps == 0


def test_numbers_get_a_line_when_they_change_and_remarks_are_kept() -> None:
    subscriber = Subscriber()
    board = {"coup": 1, "numbers": []}
    assert subscriber.take("board", json.dumps(board).encode()) is None
    board["numbers"] = [5, 0]
    assert "numbers 5 0" in str(subscriber.take("board", json.dumps(board).encode()))
    notice = {"coup": 1, "notice": "foreign_object", "text": "a chip"}
    assert "foreign_object: a chip" in str(subscriber.take("notice", json.dumps(notice).encode()))
    reply = {"name": "resume", "by": "inspector", "done": False, "why": "not now"}
    assert "resume by inspector: refused. not now" in str(subscriber.take("reply", json.dumps(reply).encode()))
    assert subscriber.remark.startswith("reply")
    assert subscriber.take("health", b"{}") is None
    assert "done" in str(subscriber.take("reply", json.dumps(reply | {"done": True}).encode()))
