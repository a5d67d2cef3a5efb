"""What is kept of a wheel's messages."""

from __future__ import annotations

import json
from typing import Any

from tests.page.messages import RESULT, TABLE
from wheeld.page.wheel import PAYLOAD_BYTES_MAX, WheelView

AVAILABILITY = {"schema": "availability/1", "state": "online", "version": "1", "boot_id": "b"}
NOTICE = {
    "schema": "notice/1", "language": "en", "site": "s", "table": "t", "house": "campione", "game": "roulette",
    "boot_id": "b", "coup": 1, "coup_id": "c", "at": "2026-01-01T00:00:00.000000Z", "t_us": 1, "notice": "door_opened",
    "text": "the door is open", "figures": {}, "by": None, "user": None, "reason": None,
}  # fmt: skip


def take(wheel: WheelView, leaf: str, body: dict[str, Any], *, retained: bool = False) -> bool:
    return wheel.take(leaf, json.dumps(body).encode(), retained=retained, now_s=1.0)


def test_the_newest_message_of_each_topic_is_kept() -> None:
    wheel = WheelView()
    assert take(wheel, "notice", NOTICE)
    assert take(wheel, "notice", {**NOTICE, "notice": "door_closed"})
    assert wheel.notice is not None
    assert wheel.notice.notice == "door_closed"
    assert wheel.notices == {"door_opened": 1, "door_closed": 1}


def test_a_message_that_the_broker_kept_is_not_counted() -> None:
    wheel = WheelView()
    assert take(wheel, "notice", NOTICE, retained=True)
    assert wheel.notice is not None
    assert not wheel.notices


def test_a_wheel_is_online_while_the_broker_says_so_and_is_reached() -> None:
    wheel = WheelView()
    take(wheel, "availability", AVAILABILITY, retained=True)
    seen = [wheel.is_online]
    wheel.is_reached = True
    seen.append(wheel.is_online)
    take(wheel, "availability", {**AVAILABILITY, "state": "offline"})
    assert [*seen, wheel.is_online] == [False, True, False]


def test_what_is_marked_as_a_test_makes_a_bench_table() -> None:
    wheel = WheelView()
    take(wheel, "availability", AVAILABILITY)
    assert not wheel.is_test
    take(wheel, "availability", {**AVAILABILITY, "test": True})
    assert wheel.is_test


def test_a_later_version_may_add_members() -> None:
    assert take(WheelView(), "availability", {**AVAILABILITY, "mood": "good"})


def test_what_is_no_message_of_a_wheel_changes_nothing() -> None:
    wheel = WheelView()
    assert not wheel.take("notice", b"{", retained=False, now_s=0)
    assert not wheel.take("notice", b"[" * 3_000, retained=False, now_s=0)
    assert not wheel.take("mood", b"{}", retained=False, now_s=0)
    assert not wheel.take("notice", b" " * (PAYLOAD_BYTES_MAX + 1), retained=False, now_s=0)
    assert wheel.notice is None
    assert wheel.unreadable == 2


def test_what_is_sent_again_is_neither_shown_nor_counted() -> None:
    wheel = WheelView()
    assert take(wheel, "result", {**RESULT, "seq": 7})
    assert not take(wheel, "result", {**RESULT, "seq": 7})
    assert not take(wheel, "result", {**RESULT, "seq": 6, "boot_id": "before", "number": 9})
    assert not take(wheel, "table", {**TABLE, "seq": 5})
    assert wheel.result is not None
    assert wheel.result.number == RESULT["number"]
    assert wheel.table is None
    assert take(wheel, "result", {**RESULT, "seq": 8})
    assert wheel.verdicts == {"result": 2}


def test_a_run_with_a_new_journal_counts_from_one_again() -> None:
    wheel = WheelView()
    assert take(wheel, "table", {**TABLE, "seq": 700, "boot_id": "b"}, retained=True)
    take(wheel, "availability", {**AVAILABILITY, "boot_id": "new"})
    assert take(wheel, "table", {**TABLE, "seq": 1, "boot_id": "new"})
    assert take(wheel, "result", {**RESULT, "seq": 2, "boot_id": "new"})
    assert not take(wheel, "result", {**RESULT, "seq": 1, "boot_id": "new"})
    assert wheel.verdicts == {"result": 1}


def test_what_the_run_before_still_owed_is_new() -> None:
    wheel = WheelView()
    take(wheel, "availability", {**AVAILABILITY, "boot_id": "b"})
    assert take(wheel, "result", {**RESULT, "seq": 7, "boot_id": "b"})
    take(wheel, "availability", {**AVAILABILITY, "boot_id": "new"})
    assert take(wheel, "result", {**RESULT, "seq": 8, "boot_id": "b"})
    assert not take(wheel, "result", {**RESULT, "seq": 7, "boot_id": "b"})
    assert take(wheel, "result", {**RESULT, "seq": 9, "boot_id": "new"})
    assert wheel.verdicts == {"result": 3}


def test_each_run_of_the_daemon_after_the_first_is_a_restart() -> None:
    wheel = WheelView()
    for state, boot_id in (("online", "b"), ("offline", "b"), ("online", "b"), ("offline", "old"), ("online", "c")):
        take(wheel, "availability", {**AVAILABILITY, "state": state, "boot_id": boot_id}, retained=True)
    assert wheel.restarts == 1
