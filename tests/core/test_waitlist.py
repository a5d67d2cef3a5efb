"""What waits is decided in the order in which it happened (`wheeld/core/law/waiting.py`)."""

from __future__ import annotations

from wheeld.core.facts import Fact
from wheeld.core.law.waiting import Happening, Wait, Waitlist
from wheeld.core.observations import Command
from wheeld.core.tracking.evidence import Evidence


def always(one: Happening) -> Wait:
    """It waits until 1 s, and counts from its latest moment."""
    return Wait(one.latest_us if isinstance(one, Command) else one.evidence_us, 1_000_000)


def test_facts_of_the_same_moment_keep_their_order_when_a_wait_ends() -> None:
    """Else a level that was unknown for no time at all would stay so."""
    waitlist = Waitlist()
    waitlist.waiting.append(Evidence(Fact.OBJECT_UNKNOWN, 900_000))
    waitlist.waiting.append(Evidence(Fact.OBJECT_OUT, 900_000))
    assert waitlist.take(1_000_000, always) is None
    taken = [waitlist.take(1_000_001, always) for _ in range(2)]
    assert [isinstance(one, Evidence) and one.fact for one in taken] == [Fact.OBJECT_UNKNOWN, Fact.OBJECT_OUT]


def test_a_word_in_doubt_waits_for_what_was_shown_before_its_latest_moment() -> None:
    waitlist = Waitlist()
    waitlist.waiting.append(Command(t_us=500_000, name="rien_va", by="chef", reason="a dispute", until_us=900_000))
    waitlist.waiting.append(Evidence(Fact.OBJECT_OUT, 900_000))
    first, second = (waitlist.take(1_000_001, always) for _ in range(2))
    assert isinstance(first, Evidence)
    assert isinstance(second, Command)


def test_a_word_that_waits_behind_another_has_no_time_of_its_own() -> None:
    """A time that has passed and frees nothing would let the table wait for it for ever."""

    def until_us(one: Happening) -> Wait:
        assert isinstance(one, Command)
        return Wait(one.t_us, 10_000_000 if one.name == "tout_va" else 2_000_000)

    waitlist = Waitlist()
    waitlist.waiting.append(Command(t_us=500_000, name="tout_va", by="chef"))
    waitlist.waiting.append(Command(t_us=700_000, name="rien_va", by="chef", reason="a dispute"))
    assert waitlist.due_us(1_000_000, until_us) == 2_000_001
    assert waitlist.take(3_000_000, until_us) is None
    assert waitlist.due_us(3_000_000, until_us) == 10_000_001
