"""A controller that starts again with what the journal remembers: nothing lost, nothing guessed."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FALL_S, FRENCH, START_UTC_US, Evening
from tests.core.table_in_state import table_in
from wheeld.core.messages.chain import GENESIS, verify_link
from wheeld.core.messages.payloads import FeedGap
from wheeld.core.observations import SensorState
from wheeld.core.table import Table
from wheeld.replay import replay

LATER_UTC_US = START_UTC_US + 3_600_000_000


def again(before: Evening) -> Evening:
    assert before.memory is not None
    return Evening(memory=before.memory, started_utc_us=LATER_UTC_US)


RUNNING = ["ball_running", "rien_ne_va_plus", "ball_on_obstacle"]
NO_COUP = [
    "closed",
    "faites_vos_jeux",
    "bets closed before the launch",
    "operations",
    "rien_va",
    "rien_va, operations owed",
    "suspended",
]


@pytest.mark.parametrize("state", RUNNING)
def test_a_coup_that_was_running_is_void_as_a_breakdown_and_the_table_suspended(state: str) -> None:
    before = table_in(state)
    assert before.state == state
    assert before.verdicts() == []
    after = again(before)
    assert after.verdicts() == [("void", "breakdown")]
    assert after.state == "suspended"
    void = after.of("void")[0]
    assert (void["coup"], void["rule"], void["article"]) == (before.table.coup, "N8", None)
    assert [(one.coup, one.verdict) for one in after.evidence] == [(void["coup"], "void")]
    assert after.say("resume", by="direction").done
    assert after.state == "rien_va"
    after.put_back()
    assert after.say("tout_va").done
    assert after.coup(30)["coup"] == void["coup"] + 1


@pytest.mark.parametrize("state", NO_COUP)
def test_a_table_without_a_coup_stands_where_it_stood(state: str) -> None:
    before = table_in(state)
    after = again(before)
    assert after.state == before.state
    assert after.verdicts() == []
    assert after.table.coup == before.table.coup


@pytest.mark.parametrize("state", [*RUNNING, *NO_COUP])
def test_seq_and_chain_go_on(state: str) -> None:
    before = table_in(state)
    after = again(before)
    after.say("suspend")
    after.say("last_coup")
    feed = [h for h in (*before.published, *after.published) if h.topic in ("result", "void", "table")]
    assert [message.payload["seq"] for message in feed] == list(range(1, len(feed) + 1))
    prev = GENESIS
    for message in feed:
        prev = verify_link(message.bytes, prev)


@pytest.mark.parametrize("state", RUNNING)
def test_the_evidence_of_such_a_void_replays_to_what_was_published(state: str) -> None:
    """It contains the restart itself: what the controller had stored, and that it began anew."""
    after = again(table_in(state))
    (evidence,) = after.evidence
    lines = evidence.log.splitlines()
    assert [msgspec.json.decode(line)["kind"] for line in lines] == ["wheel", "restart"]
    out = [msgspec.json.decode(line, type=dict[str, msgspec.Raw]) for line in replay(lines)]
    replayed = [bytes(line["payload"]) for line in out if bytes(line["topic"]) != b'"reply"']
    assert replayed == [message.bytes for message in after.published]


def test_a_foreign_object_is_still_there_after_a_restart() -> None:
    """N6: the sensor reports changes only, and the next coup waits until it is cleared."""
    before = table_in("operations")
    before.drop()
    after = again(before)
    refused = after.say("operations_done")
    assert (refused.done, "object" in refused.why) == (False, True)
    after.drop(present=False)
    assert after.say("operations_done").done


def test_an_object_cleared_before_a_restart_is_gone_after_it() -> None:
    before = table_in("operations")
    before.drop()
    before.drop(present=False)
    assert again(before).say("operations_done").done


def test_a_launch_soon_after_a_restart_is_dated_by_the_clock_of_now() -> None:
    """Each start counts its own time: when the table came to where it stands, before, was of another."""
    before = table_in("faites_vos_jeux")
    after = again(before)
    after.launch()
    after.wait(1.5)
    assert after.verdicts() == []
    assert after.state == "ball_running"


def goes_on(before: Evening) -> Evening:
    """The daemon starts again at once; the ball runs on, and what is to come is seen by the new run."""
    after = again(before)
    rest = [msgspec.structs.replace(seen, t_us=seen.t_us - before.now_us) for seen in before._planned]
    assert rest
    after.lying = None
    after.plan(*rest)
    after.wait(15)
    return after


def test_the_ball_of_a_void_coup_that_still_runs_is_no_second_launch() -> None:
    """One launch, one coup: the run of a void coup is not a second coup, neither early nor of the suspended table."""
    before = table_in("faites_vos_jeux")
    before.launch()
    before.wait(2)
    assert before.say("rien_va").done
    after = goes_on(before)
    assert after.verdicts() == []
    assert (after.state, after.table.coup) == ("rien_va", before.table.coup)


def test_the_ball_of_a_coup_that_the_restart_voided_is_no_second_launch() -> None:
    """Its passes come from the board's ring at once, the first of them at the very time of the start."""
    before = table_in("rien_ne_va_plus")
    first = min(seen.t_us for seen in before._planned)
    before.until(first - 1)
    before.now_us = first
    after = goes_on(before)
    assert after.verdicts() == [("void", "breakdown")]
    assert after.table.coup == before.table.coup
    assert "launch_while_suspended" not in after.notices()


def test_a_launch_before_tout_va_is_early_also_after_a_restart() -> None:
    after = again(table_in("rien_va"))
    after.wait(3)
    after.launch()
    after.wait(1.5)
    assert after.verdicts() == [("void", "early_launch")]


def test_what_is_owed_after_an_early_launch_is_still_owed() -> None:
    after = again(table_in("rien_va, operations owed"))
    after.put_back()
    assert after.say("tout_va").done
    assert after.state == "operations"
    assert after.say("operations_done").done


def test_after_rien_va_the_ball_must_be_seen_in_its_pocket_again() -> None:
    """What lay where before the restart is not known after it."""
    before = table_in("rien_va")
    after = again(before)
    after.ask("tout_va")
    assert (after.replies, after.state) == ([], "rien_va")
    after.put_back()
    assert after.replies[-1].done


def test_a_suspension_still_ends_where_it_began() -> None:
    after = again(table_in("suspended"))
    assert after.say("resume").done
    assert after.state == "faites_vos_jeux"


def test_the_last_number_la_derniere_the_bouler_and_the_board_are_remembered() -> None:
    before = Evening().open()
    before.say("bouler", who="Bianchi")
    before.coup(8)
    before.say("last_coup")
    after = again(before)
    after.lying = 8
    after.say("operations_done")
    table = after.of("table")[-1]
    assert (table["last_number"], table["last_coup"], table["bouler"]) == (8, "this", "Bianchi")
    assert after.of("board")[-1]["numbers"] == [8]
    after.coup(9)
    after.say("operations_done")
    assert after.state == "closed"


def test_the_configured_last_number_counts_only_at_the_very_first_start() -> None:
    before = Evening().open()
    before.coup(8)
    after = Evening(msgspec.structs.replace(FRENCH, last_number=30), memory=before.memory, started_utc_us=LATER_UTC_US)
    after.say("operations_done")
    assert after.of("table")[-1]["last_number"] == 8


def test_memory_is_given_only_when_it_changed() -> None:
    evening = Evening().open()
    table, opening = Table.start(FRENCH, boot_id="test", started_utc_us=START_UTC_US)
    assert opening.memory is not None
    replayed = [table.apply(seen) for seen in evening.seen]
    memories = [step.memory for step in replayed if step.memory is not None]
    assert len(memories) == len(set(memories)) < 10
    assert all(step.memory is not None for step in replayed if step.messages)


@pytest.mark.parametrize("memory", [b"", b"{", b'{"state":"dreaming"}', b"[]"])
def test_memory_of_another_kind_is_refused(memory: bytes) -> None:
    with pytest.raises(msgspec.DecodeError, match=r"."):
        Table.start(FRENCH, boot_id="test", started_utc_us=START_UTC_US, memory=memory)


def test_what_was_noted_before_a_restart_keeps_its_date() -> None:
    """The new sensing clock begins at 0 again: bets closed before the restart closed when they closed."""
    before = Evening().open()
    before.say("rien_ne_va_plus")
    closed_at = before.of("table")[-1]["since"]
    after = again(before)
    passes = after.launch()
    after.until(passes[-1].t_us)
    after.fall(9)
    (result,) = after.of("result")
    assert result["bets_closed_at"] == closed_at < result["launched_at"]


def test_a_number_that_was_seen_before_a_restart_keeps_its_date() -> None:
    """R3b, N8: it awaits the chef all the while."""
    before = Evening().open()
    before.run()
    before.wait(FALL_S)
    before.lying = 9
    before.wait(1.5)
    before.turn(0)
    before.wait(8)
    (seen,) = [notice for notice in before.of("notice") if notice["notice"] == "number_seen"][:1]
    assert before.state == "awaiting_chef"
    after = again(before)
    assert after.state == "awaiting_chef"
    assert after.say("confirm", coup=1, reason="seen by all").done
    (result,) = after.of("result")
    assert (result["number"], result["unproven"], result["number_at"]) == (9, ["R3"], seen["at"])
    assert result["launched_at"] < result["left_track_at"] < result["number_at"]


def test_a_message_is_about_a_coup_below_its_number() -> None:
    """So a wheel that goes on after a gap, also in turn with another journal, gives no number of a coup twice."""
    evening = Evening().open()
    for number in (30, 9):
        evening.coup(number)
        assert evening.say("operations_done").done
    adopted = FeedGap(first_seq=1, last_seq=70, by="Rossi", why="a new card")
    _, opening = Table.start(FRENCH, boot_id="b", started_utc_us=LATER_UTC_US, gap=(adopted, "f" * 64))
    new = [msgspec.json.decode(one.payload) for one in opening.messages if one.topic == "table"]
    assert (new[0]["seq"], new[0]["coup"]) == (71, 70)
    said = [*evening.of("table"), *evening.of("result"), *new]
    assert len(said) > 6
    assert [one["seq"] for one in said if one["coup"] >= one["seq"]] == []


def test_numbers_that_a_restored_journal_lacks_are_left_out_and_told_of_by_the_next_table_message() -> None:
    before = Evening().open()
    adopted = FeedGap(first_seq=3, last_seq=40, by="Rossi", why="the disk was replaced")
    table, opening = Table.start(
        FRENCH, boot_id="b", started_utc_us=LATER_UTC_US, memory=before.memory, gap=(adopted, "f" * 64)
    )
    (first,) = [msgspec.json.decode(one.payload) for one in opening.messages if one.topic == "table"]
    assert (first["seq"], first["prev"], first["gap"]) == (41, "f" * 64, msgspec.to_builtins(adopted))
    assert first["coup"] == 40, "no message up to 40 has this coup"
    later = table.apply(SensorState(1, "beam/0", False)).messages
    (second,) = [msgspec.json.decode(one.payload) for one in later if one.topic == "table"]
    assert (second["seq"], second["prev"], "gap" in second) == (42, first["hash"], False)
