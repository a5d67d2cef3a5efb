"""A daemon that stood still (docs/rulebook.md 7): when people's words of that time count from, and what is reported."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening
from wheeld.core.law.breakdown import NOTICED_US
from wheeld.core.law.waiting import ON_THEIR_WAY_US, when_said
from wheeld.core.observations import Command, CommandName, Standstill, StoodStill
from wheeld.replay import LogError, replay

SECOND_US = 1_000_000


def stand_still(evening: Evening, seconds: float, what: StoodStill = "machine", *, slept_s: float = 0) -> Standstill:
    """It stands still from now on for so long; what sensors see meanwhile comes afterwards."""
    until_us = evening.now_us + round(seconds * SECOND_US)
    still = Standstill(evening.now_us, until_us, what, round(slept_s * SECOND_US))
    evening.observe(still)
    return still


def hear(evening: Evening, still: Standstill, name: CommandName, said_us: int | None = None) -> None:
    """A word that came in the standstill, as the table's loop hands it on."""
    t_us, until_us = when_said(name, still.t_us, still.to_us, said_us)
    in_doubt_us = until_us if until_us > t_us else None
    evening.plan(Command(t_us, name, "chef", "a reason", id=f"w-{len(evening.seen)}", until_us=in_doubt_us))


def begun() -> Evening:
    """A valid coup runs; its ball leaves the track in about two seconds."""
    evening = Evening().open()
    passes = evening.launch()
    evening.until(passes[-1].t_us - 2 * SECOND_US)
    return evening


def falls(evening: Evening, number: int) -> None:
    """The ball falls, and is seen at rest until the number is proven."""
    evening.until(max([evening.now_us, *(seen.t_us for seen in evening._planned if not isinstance(seen, Command))]))
    evening.fall(number)


def last_reply(evening: Evening) -> Any:
    return evening.replies[-1]


# --- the rule ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said", "counts"),
    [
        ("rien_va", None, 100),
        ("rien_va", 150, 150),
        ("rien_va", 99, 100),
        ("rien_va", 201, 100),
        ("operations_done", None, 200),
        ("operations_done", 150, 150),
        ("operations_done", 100, 100),
        ("suspend", 200, 200),
        ("suspend", 99, 200),
    ],
)
def test_a_word_counts_from_its_own_date_or_from_one_end_of_the_standstill(
    name: CommandName, said: int | None, counts: int
) -> None:
    in_doubt = name == "rien_va" and said != 150
    assert when_said(name, 100, 200, said) == (counts, 200 if in_doubt else counts)


def test_a_network_that_delayed_rien_va_does_not_make_it_late() -> None:
    """N7. Its sender's clock may be wrong, so an early date is used within a minute, and of no other word."""
    came_us = 100 * SECOND_US

    def counts_us(name: CommandName, said_us: int | None) -> int:
        earliest_us, latest_us = when_said(name, None, came_us, said_us)
        assert earliest_us == latest_us, "in no doubt"
        return earliest_us

    assert counts_us("rien_va", None) == came_us
    assert counts_us("rien_va", came_us - 5 * SECOND_US) == 95 * SECOND_US
    assert counts_us("rien_va", came_us - ON_THEIR_WAY_US) == 40 * SECOND_US
    assert counts_us("rien_va", came_us - ON_THEIR_WAY_US - 1) == came_us
    assert counts_us("rien_va", came_us + 1) == came_us
    assert counts_us("open", came_us - 5 * SECOND_US) == came_us


# --- rien va ----------------------------------------------------------------------------------------------------------


def test_rien_va_of_which_nobody_knows_when_it_was_said_voids_the_coup_whose_number_came_meanwhile() -> None:
    evening = begun()
    still = stand_still(evening, 14)
    hear(evening, still, "rien_va")
    falls(evening, 8)
    assert evening.verdicts() == [("void", "chef")]
    (void,) = evening.of("void")
    since, until = evening.table._clock.texts(still.t_us, still.to_us)
    assert void["evidence_at"] == since
    (reply,) = evening.replies[1:]
    assert reply.done
    assert since in reply.why
    assert until in reply.why


@pytest.mark.parametrize(("said_s", "verdict"), [(3.0, ("void", "chef")), (6.5, ("result", 8))])
def test_rien_va_with_its_own_date_counts_from_then(said_s: float, verdict: tuple[str, Any]) -> None:
    """The ball comes to rest about five seconds after the beginning."""
    evening = begun()
    still = stand_still(evening, 14)
    hear(evening, still, "rien_va", round(evening.now_us + said_s * SECOND_US))
    falls(evening, 8)
    assert evening.verdicts() == [verdict]
    assert last_reply(evening).done is (verdict[0] == "void")


def test_a_number_that_was_out_before_the_standstill_is_not_voided_by_it() -> None:
    """R3: it is proven in the standstill, and was out before."""
    evening = begun()
    falls_from = evening.now_us
    evening.until(max(seen.t_us for seen in evening._planned))
    evening.wait(2.7)
    evening.lying = 8
    evening.wait(1.5)
    assert evening.now_us > falls_from
    assert evening.verdicts() == []
    assert evening.readers.rest_question() is not None, "a reader has seen it"
    still = stand_still(evening, 5)
    hear(evening, still, "rien_va")
    evening.wait(6)
    assert evening.verdicts() == [("result", 8)]
    assert not last_reply(evening).done


def test_it_voids_a_coup_that_is_launched_in_the_standstill() -> None:
    evening = Evening().open()
    still = stand_still(evening, 14)
    hear(evening, still, "rien_va")
    evening.wait(3)
    assert len(evening.replies) == 1, "it waits: a coup may begin yet"
    passes = evening.launch()
    evening.until(passes[0].t_us + 3 * SECOND_US)
    assert evening.verdicts() == [("void", "chef")]
    (void,) = evening.of("void")
    assert void["evidence_at"] == evening.table._clock.text(passes[0].t_us), "from the launch on"


def test_it_voids_a_coup_that_is_launched_just_before_the_end_and_proven_after_it() -> None:
    evening = Evening().open()
    still = stand_still(evening, 4)
    hear(evening, still, "rien_va")
    evening.until(still.to_us - 300_000)
    passes = evening.launch()
    assert passes[0].t_us < still.to_us < passes[2].t_us
    evening.wait(3)
    assert evening.verdicts() == [("void", "chef")]


def test_a_launch_after_the_end_is_not_meant() -> None:
    evening = Evening().open()
    still = stand_still(evening, 4)
    hear(evening, still, "rien_va")
    evening.wait(4.5)
    assert not last_reply(evening).done
    assert evening.coup(8)["number"] == 8


def test_without_a_launch_it_is_refused_at_the_end() -> None:
    evening = Evening().open()
    still = stand_still(evening, 4)
    hear(evening, still, "rien_va")
    hear(evening, still, "last_coup")
    evening.wait(3.9)
    assert len(evening.replies) == 1
    evening.wait(0.3)
    assert {(reply.name, reply.done) for reply in evening.replies[1:]} == {("rien_va", False), ("last_coup", True)}


def test_no_other_word_waits_behind_one_that_is_in_doubt() -> None:
    """The operations were done, by their own date, before the launch: the word that waits for a coup must not make that
    launch too early."""
    evening = Evening().open()
    evening.coup(8)
    still = stand_still(evening, 14)
    hear(evening, still, "rien_va")
    hear(evening, still, "operations_done", evening.now_us + SECOND_US)
    evening.wait(2)
    evening.launch()
    evening.wait(3)
    assert evening.verdicts() == [("result", 8), ("void", "chef")]


def test_it_voids_a_coup_whose_bets_are_closed_before_its_launch() -> None:
    evening = Evening().open()
    evening.say("rien_ne_va_plus")
    still = stand_still(evening, 4)
    hear(evening, still, "rien_va")
    evening.wait(0.2)
    assert evening.verdicts() == [("void", "chef")]


def test_every_other_word_counts_from_the_end() -> None:
    """The operations are not known to be done before that, so a launch in the standstill is too early."""
    evening = Evening().open()
    evening.coup(8)
    still = stand_still(evening, 6)
    hear(evening, still, "operations_done")
    evening.wait(1)
    evening.launch()
    evening.wait(3)
    assert evening.verdicts() == [("result", 8), ("void", "early_launch")]


# --- what is reported -------------------------------------------------------------------------------------------------


def test_a_notice_says_from_when_to_when() -> None:
    evening = Evening().open()
    begins = evening.table._clock.text(evening.now_us)
    still = stand_still(evening, 60)
    (notice,) = [notice for notice in evening.of("notice") if notice["notice"] == "standstill"]
    ends = evening.table._clock.text(still.to_us)
    assert notice["figures"] == {"what": "machine", "seconds": 60.0, "from": begins, "to": ends}
    assert notice["at"] == begins
    assert notice["text"].startswith("the computer stood still; ")


def test_a_short_standstill_is_in_the_log_alone() -> None:
    evening = Evening().open()
    stand_still(evening, (NOTICED_US - 1) / SECOND_US)
    assert "standstill" not in evening.notices()


def test_a_result_that_is_published_seconds_after_its_number_says_so() -> None:
    evening = begun()
    still = stand_still(evening, 20)
    falls(evening, 8)
    (result,) = evening.of("result")
    number_us = msgspec.convert(result["sightings"][0]["t_us"], int)
    assert result["late_s"] == round((still.to_us - number_us) / SECOND_US, 1)


def test_a_result_says_how_late_its_proof_came() -> None:
    """Three readers see the ball three times in a turn of the rotor: six seconds at 10 turns a minute."""
    slow, quick = Evening(rpm=10).open(), Evening(rpm=20).open()
    assert slow.coup(8)["late_s"] > 2
    assert quick.coup(8)["late_s"] is None


def test_a_disk_that_stood_still_delays_and_dates_nothing() -> None:
    evening = begun()
    stand_still(evening, 20, "journal")
    falls(evening, 8)
    (result,) = evening.of("result")
    assert result["late_s"] > 10
    (notice,) = [notice for notice in evening.of("notice") if notice["notice"] == "standstill"]
    assert notice["figures"]["what"] == "journal"
    assert notice["text"].startswith("the journal's disk stood still; ")


def test_a_coup_in_which_the_machine_slept_was_not_observed() -> None:
    evening = begun()
    stand_still(evening, 0.1, slept_s=3600)
    (notice,) = [notice for notice in evening.of("notice") if notice["notice"] == "standstill"]
    assert notice["figures"]["seconds"] == 3600.1
    assert evening.verdicts() == [("void", "breakdown")]
    assert evening.state == "suspended"
    falls(evening, 8)
    assert evening.say("resume", reason="looked at").done


# --- the log ----------------------------------------------------------------------------------------------------------


def test_a_replay_of_the_evidence_gives_the_same_bytes() -> None:
    evening = begun()
    still = stand_still(evening, 14)
    hear(evening, still, "rien_va")
    falls(evening, 8)
    (log,) = evening.evidence
    lines = log.log.splitlines()
    assert any(b'"kind":"standstill"' in line for line in lines)
    assert any(b'"until":' in line for line in lines)
    again = [msgspec.json.decode(line, type=dict[str, msgspec.Raw]) for line in replay(lines)]
    payloads = [bytes(line["payload"]) for line in again if bytes(line["topic"]) == b'"void"']
    assert payloads == [message.bytes for message in evening.published if message.topic == "void"]


@pytest.mark.parametrize(
    "line",
    [
        '{"t":5,"kind":"standstill","to":4}',
        '{"t":5,"kind":"standstill","to":400000000000000}',
        '{"t":5,"kind":"command","name":"rien_va","by":"chef","until":4}',
        '{"t":5,"kind":"standstill","to":9,"what":"a chair"}',
        '{"t":5,"kind":"standstill","to":9,"slept":-1}',
    ],
)
def test_a_standstill_that_can_be_none(line: str) -> None:
    header = msgspec.json.encode(Evening(FRENCH).table.header())
    with pytest.raises(LogError, match=r"line 2"):
        list(replay([header, line.encode()]))
