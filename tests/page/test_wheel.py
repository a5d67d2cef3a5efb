"""What is kept of a wheel's messages."""

from __future__ import annotations

import json
from typing import Any

from wheeld.page.wheel import PAYLOAD_BYTES_MAX, Wheel

AVAILABILITY = {"schema": "availability/1", "state": "online", "version": "1", "boot_id": "b"}
NOTICE = {
    "schema": "notice/1", "language": "en", "site": "s", "table": "t", "house": "campione", "game": "roulette",
    "boot_id": "b", "coup": 1, "coup_id": "c", "at": "2026-01-01T00:00:00.000000Z", "t_us": 1, "notice": "door_opened",
    "text": "the door is open", "figures": {}, "by": None, "user": None, "reason": None,
}  # fmt: skip


def take(wheel: Wheel, leaf: str, body: dict[str, Any], *, retained: bool = False) -> bool:
    return wheel.take(leaf, json.dumps(body).encode(), retained=retained, now_s=1.0)


def test_the_newest_message_of_each_topic_is_kept() -> None:
    wheel = Wheel()
    assert take(wheel, "notice", NOTICE)
    assert take(wheel, "notice", {**NOTICE, "notice": "door_closed"})
    assert wheel.notice is not None
    assert wheel.notice.notice == "door_closed"
    assert wheel.notices == {"door_opened": 1, "door_closed": 1}


def test_a_message_that_the_broker_kept_is_not_counted() -> None:
    wheel = Wheel()
    assert take(wheel, "notice", NOTICE, retained=True)
    assert wheel.notice is not None
    assert not wheel.notices


def test_a_wheel_is_online_while_the_broker_says_so_and_is_reached() -> None:
    wheel = Wheel()
    take(wheel, "availability", AVAILABILITY, retained=True)
    seen = [wheel.is_online]
    wheel.is_reached = True
    seen.append(wheel.is_online)
    take(wheel, "availability", {**AVAILABILITY, "state": "offline"})
    assert [*seen, wheel.is_online] == [False, True, False]


def test_what_is_marked_as_a_test_makes_a_bench_table() -> None:
    wheel = Wheel()
    take(wheel, "availability", AVAILABILITY)
    assert not wheel.is_test
    take(wheel, "availability", {**AVAILABILITY, "test": True})
    assert wheel.is_test


def test_a_later_version_may_add_members() -> None:
    assert take(Wheel(), "availability", {**AVAILABILITY, "mood": "good"})


def test_what_is_no_message_of_a_wheel_changes_nothing() -> None:
    wheel = Wheel()
    assert not wheel.take("notice", b"{", retained=False, now_s=0)
    assert not wheel.take("notice", b"[" * 3_000, retained=False, now_s=0)
    assert not wheel.take("mood", b"{}", retained=False, now_s=0)
    assert not wheel.take("notice", b" " * (PAYLOAD_BYTES_MAX + 1), retained=False, now_s=0)
    assert wheel.notice is None
    assert wheel.unreadable == 2
