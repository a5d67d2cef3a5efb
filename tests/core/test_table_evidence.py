"""Stored evidence: each coup's observations replay to exactly what was published, from any point of the evening."""

from __future__ import annotations

import random
from collections.abc import Callable

import msgspec
import pytest

from tests.core.evening import FRENCH, START_UTC_US, Evening
from wheeld.core.observations import BallPass, ClockReading, Command, Observation, TimePassed
from wheeld.core.setting import Header
from wheeld.core.table import IDLE_MAX, Table
from wheeld.replay import replay


def long_evening() -> Evening:
    """Results and voids of many kinds; the clock is read, sensors err a little, people give commands."""
    evening = Evening(msgspec.structs.replace(FRENCH, auto_rien_ne_va_plus_rev_s=0.7)).open()
    evening.say("bouler", who="Bianchi")
    evening.coup(22)
    evening.say("bouler", who="Verdi", announced=True)
    evening.say("acknowledge", who="Verdi", by="Neri", user="inspector", role="inspector")
    evening.observe(ClockReading(evening.now_us, START_UTC_US + evening.now_us + 777, 900, 3_000))
    evening.say("operations_done")
    evening.say("bouler", who="Verdi")
    evening.void_by_chef()
    evening.say("tout_va")
    evening.plan(BallPass(evening.now_us + 200_000, 3))
    evening.wait(2)
    evening.run(laps=2, rev_s=0.9)  # too few laps, proven by time passing alone
    evening.wait(4)
    evening.put_back()
    evening.say("tout_va")
    evening.run()
    evening.wait(25)  # on the obstacle
    evening.turn(0)
    evening.wait(3)  # N5, proven by time passing alone
    evening.turn(20)
    evening.put_back()
    evening.observe(ClockReading(evening.now_us, START_UTC_US + evening.now_us + 1_500, 900, 5_000))
    evening.say("tout_va")
    evening.coup(9)
    evening.launch(laps=5)  # early
    evening.wait(4)
    evening.put_back()
    evening.say("operations_done")
    evening.say("tout_va")
    evening.launch()
    evening.wait(2)
    evening.sensor("object", ok=False)
    evening.wait(3)
    evening._planned.clear()
    evening.wait(3)
    evening.sensor("object", ok=True)
    evening.say("resume", by="direction")
    evening.put_back()
    evening.say("tout_va")
    evening.drop()
    evening.launch()
    evening.wait(3)
    evening._planned.clear()
    return evening


@pytest.fixture(scope="module")
def evening() -> Evening:
    return long_evening()


def payloads(lines: list[bytes]) -> list[bytes]:
    """What a replay published, without replies; each payload's bytes."""

    class Line(msgspec.Struct):
        topic: str
        payload: msgspec.Raw

    decoded = [msgspec.json.decode(line, type=Line) for line in replay(lines)]
    return [bytes(line.payload) for line in decoded if line.topic != "reply"]


def test_the_evening_has_verdicts_of_every_origin(evening: Evening) -> None:
    assert evening.verdicts() == [
        ("result", 22),
        ("void", "chef"),
        ("void", "too_few_laps"),
        ("void", "rotor_stopped_before_drop"),
        ("result", 9),
        ("void", "early_launch"),
        ("void", "breakdown"),
        ("void", "foreign_object"),
    ]


def test_each_verdict_has_its_evidence(evening: Evening) -> None:
    assert [(one.coup, one.verdict) for one in evening.evidence] == [
        (message.payload["coup"], message.topic) for message in evening.published if message.topic in ("result", "void")
    ]


def test_evidence_replays_to_exactly_what_was_published(evening: Evening) -> None:
    """Span after span, from the opening to the last verdict, no byte more or less."""
    opening = 2
    replayed = [payload for one in evening.evidence for payload in payloads(one.log.splitlines())]
    published = [message.bytes for message in evening.published]
    assert replayed == published[opening : opening + len(replayed)]
    last_verdict = max(n for n, message in enumerate(evening.published) if message.topic in ("result", "void"))
    assert opening + len(replayed) > last_verdict


def test_evidence_is_an_observation_log_with_a_header(evening: Evening) -> None:
    for one in evening.evidence:
        first, *lines = one.log.splitlines()
        header = msgspec.json.decode(first, type=Header)
        assert (header.table, header.rotor_ticks, header.boot_id) == ("campione-03", 148, "test")
        assert header.snapshot is not None
        assert {"rotor", "command"} & {msgspec.json.decode(line)["kind"] for line in lines}


def test_absences_need_no_heartbeat_in_the_evidence_but_those_that_proved_them(evening: Evening) -> None:
    """Thousands of heartbeats prove nothing; the few that proved an absence are kept."""
    heartbeats = sum(isinstance(seen, TimePassed) for seen in evening.seen)
    kept = sum(one.log.count(b'"kind":"time"') for one in evening.evidence)
    assert heartbeats > 500
    assert 1 <= kept <= 20


def test_a_word_that_comes_late_is_answered_at_the_same_time_in_a_replay() -> None:
    """Time had passed that proved nothing, and no sensor had shown anything: of that the log must tell."""
    evening = Evening().open()
    said_us = evening.now_us
    evening.observe(TimePassed(said_us + 90_000))
    evening.observe(Command(said_us, "last_coup", "chef"))
    assert evening.last("table").payload["t_us"] == said_us + 90_000
    evening.coup(8)
    (log,) = [one.log.splitlines() for one in evening.evidence]
    published = [message.bytes for message in evening.published]
    assert payloads(log) == published[2 : 2 + len(payloads(log))]


@pytest.mark.parametrize("seed", range(40))
def test_from_any_point_of_the_evening_the_future_is_the_same(evening: Evening, seed: int) -> None:
    """A table stopped anywhere and resumed from its snapshot publishes what the unbroken one did, byte for byte."""
    cut = random.Random(seed).randrange(len(evening.seen))
    table, opening = Table.start(evening.setting, boot_id="test", started_utc_us=START_UTC_US)
    before = [message.payload for message in opening.messages]
    for seen in evening.seen[:cut]:
        before += [message.payload for message in table.apply(seen).messages]
    published = [message.bytes for message in evening.published]
    assert before == published[: len(before)], seed
    rest = [msgspec.json.encode(seen) for seen in evening.seen[cut:]]
    assert payloads([msgspec.json.encode(table.header()), *rest]) == published[len(before) :], (seed, cut)


def test_a_snapshot_does_not_disturb_the_table_it_is_taken_from() -> None:
    quiet, asked = Evening().open(), Evening().open()
    quiet.coup(8)
    passes = asked.launch()
    for one in passes:
        asked.until(one.t_us)
        asked.table.header()
        if one is passes[len(passes) // 2]:
            asked.say("rien_ne_va_plus")
    asked.fall(8)
    assert [h.payload["number"] for h in asked.published if h.topic == "result"] == [8]
    assert asked.last("result").bytes == quiet.last("result").bytes


def test_long_idleness_does_not_grow_the_evidence_without_end() -> None:
    evening = Evening(rpm=30).open()
    evening.wait(400)
    assert len(evening.seen) > 1.3 * IDLE_MAX
    seen: list[Observation] = evening.seen
    evening.coup(8)
    (evidence,) = evening.evidence
    lines = evidence.log.splitlines()
    assert len(lines) < IDLE_MAX
    assert len(lines) < len(seen)
    replayed = payloads(lines)
    assert replayed == [message.bytes for message in evening.published][-len(replayed) :]
    assert any(b'"number":8' in payload for payload in replayed)


def stray(evening: Evening) -> None:
    evening.open()
    evening.plan(BallPass(evening.now_us + 500_000, 2))


def void_with_the_ball_in_the_hand(evening: Evening) -> None:
    evening.open()
    evening.run(laps=6)
    assert evening.say("rien_va").done


def closed_run(evening: Evening) -> None:
    """Launched while no game is on, then in the hand."""
    evening.run(laps=6)


@pytest.mark.parametrize("happened", [stray, void_with_the_ball_in_the_hand, closed_run])
def test_idleness_after_a_ball_that_matters_no_more_does_not_grow_the_evidence(
    happened: Callable[[Evening], None],
) -> None:
    evening = Evening(rpm=30)
    happened(evening)
    evening.wait(1)
    for _ in range(8):
        evening.wait(50)
        assert len(evening.table._recorder.observations) <= IDLE_MAX + 1
    assert len(evening.seen) > 1.3 * IDLE_MAX
    assert (evening.observer.run.launched_us is not None) == (happened is not stray)


def test_a_ball_that_runs_on_a_closed_table_is_not_cut_out_of_what_is_kept() -> None:
    """What is kept begins anew only when the ball is gone and can explain nothing any more."""
    evening = Evening(rpm=30)
    kept = evening.table._recorder
    while len(kept.observations) < IDLE_MAX - 200:
        evening.wait(1)
    evening.run()
    assert len(kept.observations) > IDLE_MAX + 1
    evening.wait(25)
    assert len(kept.observations) > IDLE_MAX + 1, "it left the track, but its passes may explain where it lies"
    evening.wait(15)
    assert len(kept.observations) < IDLE_MAX


def test_a_long_wait_on_the_obstacle_is_kept_whole() -> None:
    """However long, what was observed of a running coup is its evidence."""
    evening = Evening(rpm=30).open()
    evening.run()
    evening.wait(400)
    assert evening.state == "ball_on_obstacle"
    evening.lying = 8
    evening.wait(5)
    (evidence,) = evening.evidence
    assert len(evidence.log.splitlines()) > IDLE_MAX
    replayed = payloads(evidence.log.splitlines())
    assert replayed == [message.bytes for message in evening.published][2 : 2 + len(replayed)]
    assert any(b'"number":8' in payload for payload in replayed)
