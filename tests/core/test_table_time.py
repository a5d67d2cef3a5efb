"""Time at the table: the bouler's half hour (A4), absences and their last moment, what is late, how all is dated."""

from __future__ import annotations

import pytest

from tests.core.evening import FRENCH, START_UTC_US, Evening
from wheeld.core.instants import to_text
from wheeld.core.observations import BallPass, ClockReading, Command, End, ForeignObject, Rotor, SensorState, TimePassed
from wheeld.core.table import Table

MINUTE_US = 60_000_000


def rested() -> Evening:
    """An evening with a rotor at rest: time passes by heartbeats alone."""
    return Evening(rpm=0)


def at(evening: Evening, t_us: int) -> None:
    """Nothing happens until `t_us`."""
    evening.observe(TimePassed(t_us))
    evening.now_us = t_us


# --- the bouler (A4) ---------------------------------------------------------------------------------------------


def opened() -> Evening:
    evening = rested()
    assert evening.say("open").done
    return evening


def due_us(evening: Evening) -> int | None:
    return evening.table.next_deadline_us


def changes(evening: Evening) -> list[tuple[str, dict[str, object]]]:
    """Kind and figures of each notice of a bouler."""
    return [(one["notice"], one["figures"]) for one in evening.of("notice") if one["notice"].startswith("bouler")]


def test_who_spins_is_recorded_and_shown() -> None:
    evening = rested()
    assert evening.say("bouler", who="Bianchi").done
    assert evening.of("table")[-1]["bouler"] == "Bianchi"
    (notice,) = evening.of("notice")
    assert (notice["notice"], notice["figures"], notice["by"]) == ("bouler", {"who": "Bianchi"}, "chef")


@pytest.mark.parametrize("who", [None, ""])
def test_a_bouler_without_a_name_is_refused(who: str | None) -> None:
    evening = rested()
    reply = evening.say("bouler", who=who)
    assert (reply.done, "who" in reply.why) == (False, True)
    assert evening.published[2:] == []


def test_a_change_is_due_after_half_an_hour_and_noticed_once() -> None:
    evening = opened()
    at(evening, 10_000_000)
    evening.say("bouler", who="Bianchi")
    due_us = 10_000_000 + 30 * MINUTE_US
    assert evening.table.next_deadline_us == due_us
    at(evening, due_us)
    assert evening.notices() == ["bouler"]
    at(evening, due_us + 1)
    assert evening.notices() == ["bouler", "bouler_change_due"]
    assert evening.of("notice")[-1]["figures"] == {"bouler": "Bianchi"}
    assert evening.of("notice")[-1]["t_us"] == due_us
    at(evening, due_us + 90 * MINUTE_US)
    assert evening.notices() == ["bouler", "bouler_change_due"]


def test_a_new_bouler_has_half_an_hour_of_his_own() -> None:
    evening = opened()
    evening.say("bouler", who="Bianchi")
    at(evening, 20 * MINUTE_US)
    evening.say("bouler", who="Verdi")
    at(evening, 50 * MINUTE_US)
    assert "bouler_change_due" not in evening.notices()
    at(evening, 50 * MINUTE_US + 1)
    assert evening.of("notice")[-1]["figures"] == {"bouler": "Verdi"}


def test_the_change_is_noticed_at_its_time_whatever_comes_next() -> None:
    """A rotor edge long after: the notice carries the time at which it was due."""
    evening = opened()
    evening.say("bouler", who="Bianchi")
    evening.observe(Rotor(45 * MINUTE_US, 3, "cw"))
    assert evening.of("notice")[-1]["t_us"] == 30 * MINUTE_US


def test_a_change_is_published_with_the_minutes_served() -> None:
    evening = opened()
    evening.say("bouler", who="Bianchi")
    at(evening, 41 * MINUTE_US + 59_000_000)
    assert evening.say("bouler", who="Verdi").done
    assert changes(evening)[-1] == ("bouler", {"who": "Verdi", "before": "Bianchi", "minutes_served": 41})


def test_a_change_before_the_half_hour_warns_the_inspector() -> None:
    """C13: the chef may let the ball pass earlier; the inspector is warned."""
    evening = opened()
    evening.say("bouler", who="Bianchi")
    at(evening, 30 * MINUTE_US - 1)
    reply = evening.say("bouler", who="Verdi", by="chef", reason="he is ill")
    assert (reply.done, "the inspector is warned" in reply.why) == (True, True)
    assert changes(evening)[-1] == ("bouler_early", {"who": "Verdi", "before": "Bianchi", "minutes_served": 29})
    notice = evening.of("notice")[-1]
    assert (notice["by"], notice["reason"]) == ("chef", "he is ill")


def test_a_change_after_it_is_not_early() -> None:
    evening = opened()
    evening.say("bouler", who="Bianchi")
    at(evening, 30 * MINUTE_US + 1)
    evening.say("bouler", who="Verdi")
    assert changes(evening)[-1] == ("bouler", {"who": "Verdi", "before": "Bianchi", "minutes_served": 30})


def test_a_bouler_who_is_named_again_goes_on() -> None:
    """Else a button pressed twice would let him spin for an hour."""
    evening = opened()
    evening.say("bouler", who="Bianchi")
    at(evening, 20 * MINUTE_US)
    assert evening.say("bouler", who="Bianchi").done
    at(evening, 30 * MINUTE_US + 1)
    assert [kind for kind, _ in changes(evening)] == ["bouler", "bouler_change_due"]


def shown(evening: Evening) -> tuple[object, ...]:
    """Who spins, who is announced and who has acknowledged it, as the table says."""
    table = evening.of("table")[-1]
    return table["bouler"], table.get("next_bouler"), table.get("acknowledged_by")


def test_a_change_is_announced_acknowledged_and_then_made() -> None:
    """C13: the inspector is warned before the change, and the change says who acknowledged that; a restart between."""
    evening = opened()
    evening.say("bouler", who="Bianchi")
    at(evening, 25 * MINUTE_US)
    told = {"who": "Verdi", "before": "Bianchi", "minutes_served": 25}
    reply = evening.say("bouler", who="Verdi", announced=True, reason="he is called away")
    assert (reply.done, "the inspector is warned" in reply.why) == (True, True)
    assert shown(evening) == ("Bianchi", "Verdi", None)
    assert changes(evening)[-1] == ("bouler_announced", told)
    assert evening.say("acknowledge", who="Verdi", by="Neri", user="inspector", role="inspector").done
    assert shown(evening) == ("Bianchi", "Verdi", "Neri")
    assert changes(evening)[-1] == ("bouler_acknowledged", told)
    assert [evening.of("notice")[-1][name] for name in ("by", "user")] == ["Neri", "inspector"]
    evening = Evening(memory=evening.memory, started_utc_us=START_UTC_US + 25 * MINUTE_US)
    assert evening.say("bouler", who="Verdi").done
    (change,) = changes(evening)
    assert change == ("bouler_early", {**told, "announced": "yes", "acknowledged_by": "Neri"})
    assert shown(evening) == ("Verdi", None, None)


def test_a_change_that_nobody_acknowledged_says_so() -> None:
    evening = opened()
    evening.say("bouler", who="Bianchi", announced=True)
    evening.say("bouler", who="Bianchi")
    assert changes(evening)[-1] == ("bouler", {"who": "Bianchi", "announced": "yes", "acknowledged_by": ""})


def test_the_change_to_another_than_the_announced_one_was_not_announced() -> None:
    evening = opened()
    evening.say("bouler", who="Bianchi", announced=True)
    evening.say("acknowledge", who="Bianchi", by="Neri")
    evening.say("bouler", who="Verdi")
    assert changes(evening)[-1] == ("bouler", {"who": "Verdi"})
    assert shown(evening) == ("Verdi", None, None)


def test_only_the_announced_one_is_acknowledged() -> None:
    """What the inspector read may have been taken back since."""
    evening = opened()
    refused = evening.say("acknowledge", who="Verdi", by="Neri")
    assert (refused.done, "no person of that name is announced" in refused.why) == (False, True)
    assert not evening.say("acknowledge", by="Neri").done
    evening.say("bouler", who="Verdi", announced=True)
    evening.say("bouler", who="Bianchi", announced=True)
    assert not evening.say("acknowledge", who="Verdi", by="Neri").done
    assert shown(evening) == (None, "Bianchi", None)


def test_an_announcement_is_acknowledged_by_the_latest_and_lost_by_no_second_press() -> None:
    evening = opened()
    evening.say("bouler", who="Verdi", announced=True)
    for who in ("Neri", "Conti"):
        evening.say("acknowledge", who="Verdi", by=who)
    assert evening.say("bouler", who="Verdi", announced=True).done
    assert shown(evening) == (None, "Verdi", "Conti")
    assert [kind for kind, _ in changes(evening)] == ["bouler_announced", *["bouler_acknowledged"] * 2]


def test_nobody_is_announced_any_more_when_play_has_ended() -> None:
    evening = opened()
    evening.say("bouler", who="Verdi", announced=True)
    evening.say("close")
    assert shown(evening) == (None, None, None)


def test_his_time_stands_still_while_the_table_is_closed() -> None:
    evening = opened()
    evening.say("bouler", who="Bianchi")
    at(evening, 20 * MINUTE_US)
    evening.say("close", by="direction")
    assert due_us(evening) is None
    at(evening, 300 * MINUTE_US)
    evening.say("open")
    assert due_us(evening) == 310 * MINUTE_US
    at(evening, 305 * MINUTE_US)
    evening.say("bouler", who="Verdi")
    assert changes(evening)[-1] == ("bouler_early", {"who": "Verdi", "before": "Bianchi", "minutes_served": 25})


def test_his_time_begins_when_the_table_opens() -> None:
    evening = rested()
    evening.say("bouler", who="Bianchi")
    at(evening, 50 * MINUTE_US)
    evening.say("open")
    assert evening.table.next_deadline_us == 80 * MINUTE_US


def test_his_time_runs_in_a_suspension_but_not_in_that_of_a_closed_table() -> None:
    evening = opened()
    evening.say("bouler", who="Bianchi")
    evening.say("suspend")
    at(evening, 10 * MINUTE_US)
    evening.say("resume")
    evening.say("close")
    evening.say("suspend")
    at(evening, 100 * MINUTE_US)
    evening.say("bouler", who="Verdi")
    assert changes(evening)[-1] == ("bouler_early", {"who": "Verdi", "before": "Bianchi", "minutes_served": 10})
    at(evening, 200 * MINUTE_US)
    evening.say("resume")
    evening.say("open")
    assert evening.table.next_deadline_us == 230 * MINUTE_US


def test_a_change_at_a_closed_table_begins_at_nothing() -> None:
    evening = opened()
    evening.say("bouler", who="Bianchi")
    at(evening, 20 * MINUTE_US)
    evening.say("close")
    evening.say("bouler", who="Verdi")
    evening.say("open")
    assert evening.table.next_deadline_us == 50 * MINUTE_US


def test_the_minutes_served_before_a_close_survive_a_restart() -> None:
    first = opened()
    first.say("bouler", who="Bianchi")
    at(first, 20 * MINUTE_US)
    first.say("close")
    again = Evening(rpm=0, memory=first.memory, started_utc_us=START_UTC_US + 600 * MINUTE_US)
    again.say("open")
    assert again.table.next_deadline_us == 10 * MINUTE_US


def test_a_clock_that_is_set_back_takes_no_minutes_away() -> None:
    evening = opened()
    evening.say("bouler", who="Bianchi")
    evening.observe(ClockReading(MINUTE_US, START_UTC_US - 100 * MINUTE_US, 900))
    evening.say("bouler", who="Verdi")
    assert changes(evening)[-1][1]["minutes_served"] == 0


def test_half_an_hour_is_counted_over_a_restart() -> None:
    first = opened()
    first.say("bouler", who="Bianchi")
    at(first, 20 * MINUTE_US)
    again = Evening(rpm=0, memory=first.memory, started_utc_us=START_UTC_US + 22 * MINUTE_US)
    assert again.table.next_deadline_us == 8 * MINUTE_US
    at(again, 8 * MINUTE_US + 1)
    assert again.notices() == ["bouler_change_due"]


# --- time --------------------------------------------------------------------------------------------------------


def test_an_observation_older_than_the_tables_time_is_counted_and_changes_nothing() -> None:
    evening = Evening().open()
    count = len(evening.published)
    step = evening.observe(Rotor(evening.now_us - 500_000, 7, "cw"))
    assert not step
    assert evening.published[count:] == []
    assert evening.table.counters == {"late": 1, "stray_pulses": 0, "double_pulses": 0, "unplaced_sightings": 0}
    assert evening.table.now_us == evening.now_us


def test_a_command_is_never_late() -> None:
    """Stamped by the host's estimate, it acts on the present."""
    evening = Evening().open()
    evening.observe(Command(evening.now_us - 2_000_000, "rien_ne_va_plus", "chef"))
    assert evening.replies[-1].done
    assert evening.replies[-1].t_us == evening.table.now_us == evening.now_us
    assert evening.state == "rien_ne_va_plus"


def test_a_sensor_that_works_again_counts_however_late_it_is_reported() -> None:
    """A command came while the line was silent, by the host's clock; what the board then reports is dated earlier."""
    evening = Evening().open()
    evening.sensor("link", ok=False)
    silent_us = evening.now_us
    evening.observe(Command(silent_us + 3_000_000, "last_coup", "chef"))
    evening.observe(SensorState(silent_us, "link", ok=True))
    evening.now_us = evening.table.now_us
    assert evening.table.counters["late"] == 0
    assert evening.say("resume").done


def test_a_fault_counts_however_late_it_is_reported() -> None:
    evening = Evening().open()
    before_us = evening.now_us
    evening.observe(Command(before_us + 3_000_000, "last_coup", "chef"))
    evening.observe(SensorState(before_us, "beam/2", ok=False))
    assert evening.state == "suspended"
    assert evening.last("table").payload["t_us"] == before_us + 3_000_000


def stopping() -> tuple[Evening, int, Rotor]:
    """A ball runs, the rotor stands: the table, when its silence is a stop, and the edge that would deny it."""
    evening = Evening().open()
    evening.launch(laps=14)
    evening.wait(2)
    evening.turn(0)
    tick = [seen for seen in evening.seen if isinstance(seen, Rotor)][-1]
    due_us = evening.observer.deadline_us()
    assert due_us is not None
    evening.until(due_us - 1)
    assert evening.verdicts() == []
    return evening, due_us, Rotor(due_us, (tick.tick - 1) % 148, tick.direction)


@pytest.mark.parametrize("time_before", [True, False])
def test_what_is_seen_at_the_last_moment_is_in_time(*, time_before: bool) -> None:
    """`TimePassed` means that all that is older was reported; what is awaited may still be seen at that very time."""
    evening, due_us, edge = stopping()
    if time_before:
        evening.observe(TimePassed(due_us))
    evening.observe(edge)
    evening.observe(TimePassed(due_us + 1))
    assert evening.verdicts() == []


@pytest.mark.parametrize("proof", [TimePassed, End, BallPass])
def test_an_absence_is_proven_by_what_is_seen_after_it_and_dated_when_it_was_due(proof: type) -> None:
    """Only the end of a log, after which nothing can come, proves its own moment too."""
    evening, due_us, _ = stopping()
    if proof is not End:
        evening.observe(proof(due_us) if proof is TimePassed else BallPass(due_us, 0))
        assert evening.verdicts() == []
    after_us = due_us if proof is End else due_us + 1
    evening.observe(BallPass(after_us, 0) if proof is BallPass else proof(after_us))
    assert evening.verdicts() == [("void", "rotor_stopped_running")]
    assert evening.last("void").payload["t_us"] == due_us


def test_messages_are_dated_by_the_latest_clock_reading() -> None:
    evening = rested()
    at(evening, 5_000_000)
    evening.observe(ClockReading(5_000_000, START_UTC_US + 5_000_000 + 250_000, 1_000))
    evening.say("open")
    assert evening.of("table")[-1]["at"] == "2026-11-20T18:00:05.250000Z"
    assert evening.of("table")[-1]["since"] == "2026-11-20T18:00:05.250000Z"
    assert evening.of("table")[-1]["t_us"] == 5_000_000


@pytest.mark.parametrize(("back_s", "runs_back"), [(0.5, False), (5, False), (60, False), (90, True)])
def test_the_dates_of_messages_never_run_back_though_the_clock_is_set_back(back_s: float, *, runs_back: bool) -> None:
    """Up to the minute that docs/interfaces.md promises; beyond it they follow at once."""
    evening = rested()
    for second in range(1, 200):
        at(evening, second * 1_000_000)
        set_back_us = round(back_s * 1_000_000) if second > 20 else 0
        evening.observe(ClockReading(evening.now_us, START_UTC_US + evening.now_us - set_back_us, 1_000))
        evening.say("open" if second % 2 else "close")
    dates = [message.payload["at"] for message in evening.published]
    assert len(dates) > 199
    assert (dates != sorted(dates)) is runs_back
    last_us = START_UTC_US + evening.now_us - round(back_s * 1_000_000)
    assert dates[-1] == to_text(last_us), "in the end they are true"


def test_the_outcome_does_not_depend_on_how_often_the_table_is_asked() -> None:
    evening = Evening().open()
    evening.run(laps=2)
    evening.wait(10)
    evening.turn(0)
    evening.wait(4)
    rare, _ = Table.start(FRENCH, boot_id="test", started_utc_us=START_UTC_US)
    rarely_published = [
        m.payload for seen in evening.seen if not isinstance(seen, TimePassed) for m in rare.apply(seen).messages
    ]
    rarely_published += [m.payload for m in rare.apply(TimePassed(evening.now_us)).messages]
    assert rarely_published == [message.bytes for message in evening.published[2:]]


def test_pulses_that_count_for_nothing_are_counted_by_themselves() -> None:
    """A double is one pass; it shows in the counters, not in the laps."""
    table, _ = Table.start(FRENCH, boot_id="b", started_utc_us=0)
    table.apply(BallPass(1_000_000, beam=0))
    table.apply(BallPass(1_002_000, beam=0))
    assert table.counters == {"late": 0, "stray_pulses": 0, "double_pulses": 1, "unplaced_sightings": 0}


def test_an_object_that_comes_after_a_later_command_lies_there_all_the_same() -> None:
    """N6: what says how something stands is never too late. A line that lagged brings the object after a command."""
    evening = Evening().open()
    evening.wait(0.3)
    evening.say("rien_ne_va_plus")
    evening.observe(ForeignObject(evening.now_us - 100_000, True))
    evening.launch()
    evening.wait(3)
    assert evening.verdicts() == [("void", "foreign_object")]
