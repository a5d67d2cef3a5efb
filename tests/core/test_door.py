"""The cabinet's door: that it was opened or closed is published, and decides nothing."""

from __future__ import annotations

import msgspec

from tests.core.evening import FRENCH, Evening
from wheeld.core.observations import Level, Restarted
from wheeld.replay import check_line, replay


def move(evening: Evening, *, is_open: bool) -> Evening:
    evening.observe(Level(evening.now_us, "door", is_open))
    return evening


def doors(evening: Evening) -> list[str]:
    return [kind for kind in evening.notices() if kind.startswith("door")]


def test_each_change_is_a_notice_once() -> None:
    evening = Evening()
    for is_open in (False, False, True, True, False, True):
        move(evening, is_open=is_open)
    assert doors(evening) == ["door_opened", "door_closed", "door_opened"]
    notice = evening.of("notice")[0]
    assert notice["text"].startswith("the door of the cabinet is open")
    assert (notice["figures"], notice["by"]) == ({}, None)


def test_one_that_stands_open_at_a_start_is_told() -> None:
    before = move(Evening(), is_open=True)
    after = move(Evening(memory=before.memory), is_open=True)
    assert doors(after) == ["door_opened"]
    closed = move(Evening(memory=before.memory), is_open=False)
    assert doors(closed) == []


def test_after_a_gap_only_a_change_is_told() -> None:
    evening = move(Evening(), is_open=True)
    evening.sensor("link", ok=False)
    evening.sensor("link", ok=True)
    assert doors(move(evening, is_open=True)) == ["door_opened"]


def test_a_restart_line_in_a_log_makes_it_unknown() -> None:
    evening = move(Evening(), is_open=True)
    evening.observe(Restarted(evening.now_us))
    assert doors(move(evening, is_open=True)) == ["door_opened", "door_opened"]


def test_a_coup_with_an_open_door_is_as_any_other() -> None:
    evening = Evening().open()
    states = []
    for is_open in (True, False, True):
        states.append(evening.state)
        move(evening, is_open=is_open)
    evening.run()
    move(evening, is_open=False)
    evening.fall(8)
    move(evening, is_open=True)
    evening.wait(10)
    assert set(states) == {"faites_vos_jeux"}
    assert evening.verdicts() == [("result", 8)]
    assert evening.last("table").payload["failing"] == []


def test_the_evidence_of_such_a_coup_replays_to_the_same_bytes() -> None:
    evening = Evening().open()
    evening.run()
    move(evening, is_open=True)
    evening.fall(8)
    evening.wait(10)
    (log,) = evening.evidence
    replayed = [msgspec.json.decode(line)["payload"] for line in replay(log.log.splitlines())]
    (noted,) = [message.payload for message in evening.published if message.payload.get("notice") == "door_opened"]
    assert replayed.count(noted) == 1


def test_a_log_has_levels_of_it_whatever_the_header_says() -> None:
    check_line(Level(0, "door", active=True), FRENCH, last_us=0)
