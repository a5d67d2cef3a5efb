"""What can be wrong with the line to a board and with its sensors: each is found, named, told once, and mended."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from firmware_protocol import messages as m
from tests.sources.scripted_board import SETTING, UTC_AT_0_US, Bench
from wheeld.core.facts import Trouble
from wheeld.core.observations import BallPass, Command, ForeignObject, Observation, SensorState
from wheeld.core.table import Table
from wheeld.sources.board.hearing import DEAF_NS
from wheeld.sources.chatter import PULSES, QUIET_US
from wheeld.sources.clock import UtcPair
from wheeld.sources.line_state import GOOD_US

WRAP_US = 2**32
BEFORE_WRAP_MS = 10_000
EVERYTHING: tuple[type[m.FromHost], ...] = (m.Hello, m.Ack, m.Replay, m.SyncRequest, m.SelfTestRequest)
DEAF_MS = DEAF_NS // 1_000_000
GOOD_MS = GOOD_US // 1_000


def turning(bench: Bench, seconds: float) -> None:
    """Let the rotor turn, forty edges a second."""
    for _ in range(round(seconds * 40)):
        bench.event(m.RotorEdge(len(bench.ring) % 148, "cw"))
        bench.run(20)
        bench.run(10 if len(bench.ring) % 2 else 0)


def states(bench: Bench) -> list[tuple[bool, Trouble | None]]:
    """What was reported of the line."""
    return [(seen.ok, seen.what) for seen in bench.plain() if isinstance(seen, SensorState) and seen.sensor == "link"]


def published(observations: list[Observation]) -> list[dict[str, Any]]:
    """What a table that is opened publishes of them."""
    table, _ = Table.start(Bench().table, boot_id="line", started_utc_us=UTC_AT_0_US)
    opening = Command(observations[0].t_us, "open", "chef")
    messages = [message for seen in (opening, *observations) for message in table.apply(seen).messages]
    return [{"topic": message.topic} | msgspec.json.decode(message.payload) for message in messages]


def before_the_wrap(*, wraps: bool) -> Bench:
    """A board whose 32-bit counter of microseconds is at its end in ten seconds."""
    bench = Bench(board_started_ms=BEFORE_WRAP_MS - WRAP_US // 1_000)
    bench.wraps_us = WRAP_US if wraps else None
    return bench


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_counter_of_32_bits_that_is_carried_on_in_64_is_no_trouble() -> None:
    """The protocol's times have 64 bits: a board with a counter of 32 carries its overflows on."""
    bench = before_the_wrap(wraps=False)
    turning(bench, 20)
    assert bench.board_us > WRAP_US
    assert states(bench) == []
    times = [seen.t_us for seen in bench.seen]
    assert times == sorted(times)


def test_a_counter_of_32_bits_that_wraps_is_one_fault_until_the_board_starts_anew() -> None:
    bench = before_the_wrap(wraps=True)
    with capture_logs() as logs:
        turning(bench, 90)
    assert states(bench)[-1] == (False, Trouble.CLOCK_RAN_BACK)
    assert len(states(bench)) <= 2, "an event with an impossible time may come first"
    assert len([entry for entry in logs if entry["log_level"] != "info"]) <= 2
    assert bench.board.position is None, "nothing after it is confirmed"
    topics = Counter(message["topic"] for message in published(bench.seen))
    assert topics["table"] <= 5
    assert topics["notice"] <= 3

    bench.boot(2)
    bench.board.opened(bench.host_ms * 1_000_000)
    turning(bench, 3)
    assert states(bench)[-1] == (True, None)
    assert bench.board.is_up
    assert bench.board.troubles == {}


def test_a_clock_that_ran_back_is_a_fault_though_nothing_happens_at_the_wheel() -> None:
    bench = before_the_wrap(wraps=True)
    bench.run(BEFORE_WRAP_MS + 3_000)
    assert states(bench) == [(False, Trouble.CLOCK_RAN_BACK)]


def test_the_table_says_what_to_do_about_a_clock_that_ran_back() -> None:
    bench = before_the_wrap(wraps=True)
    turning(bench, 15)
    messages = published(bench.seen)
    table = [each for each in messages if each["topic"] == "table"][-1]
    assert (table["state"], table["failing"]) == ("suspended", ["link"])
    assert table["waiting_for"].startswith("switch the sensor board off and on")
    (*_, notice) = [each for each in messages if each["topic"] == "notice"]
    assert (notice["notice"], notice["figures"]) == ("sensor_trouble", {"sensor": "link", "what": "clock_ran_back"})
    assert "the line to the sensors: the clock of the sensor board ran backwards" in notice["text"]


def test_a_board_that_goes_deaf_in_play_is_a_fault_of_which_it_is_known_what_it_is(bench: Bench) -> None:
    bench.run(2_000)
    bench.deaf_to = EVERYTHING
    with capture_logs() as logs:
        turning(bench, 120)
    assert states(bench) == [(False, Trouble.NO_ANSWER)]
    (fault,) = [seen for seen in bench.plain() if isinstance(seen, SensorState)]
    assert fault.t_us == pytest.approx(2_000_000 + DEAF_NS // 1_000, abs=1_200_000)
    assert [entry["reason"] for entry in logs if entry["event"] == "board.link_fault"] == ["no_answer"]
    assert bench.board.troubles == {"link": (Trouble.NO_ANSWER,)}
    bench.deaf_to = ()
    turning(bench, 3)
    assert states(bench)[-1] == (True, None)


def test_one_answer_in_some_seconds_is_enough(bench: Bench) -> None:
    bench.run(1_000)
    for _ in range(5):
        bench.deaf_to = EVERYTHING
        bench.run(DEAF_MS - 2_500)
        bench.deaf_to = ()
        bench.run(1_100)
    assert states(bench) == []


def nothing(bench: Bench) -> None:
    bench.mute = True


def garbage(bench: Bench) -> None:
    bench.mute = True
    bench.noise = random.Random(5)


def no_answer(bench: Bench) -> None:
    bench.deaf_to = (m.Hello,)
    bench.board.opened(bench.host_ms * 1_000_000)
    bench.boot(2)


def refused(bench: Bench) -> None:
    bench.serial = "B-2"
    bench.board.opened(bench.host_ms * 1_000_000)


def missing(bench: Bench) -> None:
    bench.loses = (m.Events,)


def no_events(bench: Bench) -> None:
    bench.withholds = True


def no_beats(bench: Bench) -> None:
    bench.withholds = bench.mute_beats = True


@pytest.mark.parametrize(
    ("silence", "what"),
    [
        (nothing, Trouble.NOTHING_HEARD),
        (garbage, Trouble.GARBAGE_HEARD),
        (no_answer, Trouble.NO_ANSWER),
        (refused, Trouble.REFUSED_SERIAL),
        (missing, Trouble.EVENTS_MISSING),
        (no_events, Trouble.NO_EVENTS),
        (no_beats, Trouble.NO_EVENTS),
    ],
)
def test_six_kinds_of_silence_are_told_apart(silence: Callable[[Bench], None], what: Trouble) -> None:
    bench = Bench(msgspec.structs.replace(SETTING, board_serial="B-1"))
    turning(bench, 2)
    silence(bench)
    with capture_logs() as logs:
        turning(bench, 4)
    assert states(bench)[-1] == (False, what)
    assert bench.board.troubles["link"][0] is what
    assert [entry["reason"] for entry in logs if entry["event"] == "board.link_fault"][-1] == what.value
    table = [each for each in published(bench.seen) if each["topic"] == "table"][-1]
    assert what.mend in table["waiting_for"]
    assert what.text in table["waiting_for"]


@pytest.mark.parametrize("silence", [nothing, garbage])
def test_a_board_that_is_heard_again_owes_no_answer_of_its_silence(
    silence: Callable[[Bench], None], bench: Bench
) -> None:
    turning(bench, 2)
    silence(bench)
    turning(bench, DEAF_NS / 1e9 + 5)
    bench.mute, bench.noise = False, None
    turning(bench, 4)
    assert Trouble.NO_ANSWER not in {what for _, what in states(bench)}
    assert states(bench)[-1][0]


def test_a_refused_board_that_is_pulled_out_is_not_heard_any_more() -> None:
    bench = Bench(msgspec.structs.replace(SETTING, board_serial="B-2"))
    bench.run(3_000)
    bench.mute = True
    bench.run(3_000)
    assert states(bench) == [(False, Trouble.REFUSED_SERIAL), (False, Trouble.NOTHING_HEARD)]


@pytest.mark.parametrize("ppm", [1_000, -1_000])
def test_a_clock_that_drifts_is_told_once_and_its_drift_is_measured(ppm: int, bench: Bench) -> None:
    bench.drift_ppm = ppm
    with capture_logs() as logs:
        bench.run(90_000)
    assert states(bench) == [(True, Trouble.CLOCK_DRIFTS)]
    assert len([entry for entry in logs if entry["log_level"] == "warning"]) == 1
    assert bench.board.is_up
    assert bench.board.troubles == {"link": (Trouble.CLOCK_DRIFTS,)}
    at = bench.board.clock_now(bench.host_ms * 1_000_000)
    assert at is not None
    assert at.rate_ppb / 1e3 == pytest.approx(-ppm, abs=50)
    notices = [each for each in published(bench.seen) if each["topic"] == "notice"]
    assert [each["figures"]["what"] for each in notices] == ["clock_drifts"]
    bench.drift_ppm = 0
    bench.boot(2, bench.started_ms)
    bench.run(90_000)
    assert bench.board.troubles == {}


def test_a_line_that_damages_frames_is_told_once_and_is_good_again_after_a_minute(bench: Bench) -> None:
    with capture_logs() as logs:
        for _ in range(60):
            bench.run(500)
            bench.board.receive(b"\x07garbage\x00", bench.host_ms * 1_000_000, UtcPair(0, 0, 0))
    assert states(bench) == [(True, Trouble.LINE_DAMAGED)]
    assert [entry["reason"] for entry in logs if entry["event"] == "board.link_warning"] == ["line_damaged"]
    assert bench.board.troubles == {"link": (Trouble.LINE_DAMAGED,)}
    bench.run(80_000)
    assert bench.board.troubles == {}
    assert states(bench) == [(True, Trouble.LINE_DAMAGED)]


def test_a_beam_that_chatters_fails_and_what_it_reports_counts_for_nothing(bench: Bench) -> None:
    bench.run(1_000)
    with capture_logs() as logs:
        for _ in range(1_000):
            for _ in range(9):
                bench.event(m.BallPass(2))
            bench.run(10)
        bench.event(m.SensorReport("beam", 2, ok=True))
        bench.run(10)
    beam = [seen for seen in bench.plain() if isinstance(seen, SensorState)]
    assert {(seen.sensor, seen.ok, seen.what) for seen in beam} == {("beam/2", False, Trouble.CHATTERS)}
    assert len([seen for seen in bench.seen if isinstance(seen, BallPass)]) == PULSES - 1
    assert [entry["event"] for entry in logs] == ["board.chatters"]
    assert bench.board.sensors["beam/2"] is False
    assert bench.board.troubles == {"beam/2": (Trouble.CHATTERS,)}
    messages = published(bench.seen)
    assert len([each for each in messages if each["topic"] in ("table", "notice")]) < 10
    table = [each for each in messages if each["topic"] == "table"][-1]
    assert table["failing"] == ["beam/2"]
    assert table["waiting_for"].startswith("beam 3: clean it")

    bench.sensors = [m.SensorReport("beam", 2, ok=True)]
    bench.board.opened(bench.host_ms * 1_000_000)
    bench.run(1_000)
    assert bench.plain()[-1] == beam[-1], "the self-test does not see that it chatters"
    bench.run(QUIET_US // 1_000)
    assert bench.plain()[-1] == SensorState(bench.plain()[-1].t_us, "beam/2", ok=True)
    assert bench.board.troubles == {}


def test_a_reader_that_chatters_and_fails_its_self_test_goes_on_failing(bench: Bench) -> None:
    bench.run(500)
    for _ in range(2 * PULSES):
        bench.event(m.PocketSighting(1))
    bench.event(m.SensorReport("reader", 1, ok=False))
    bench.run(QUIET_US // 1_000 + 500)
    assert bench.board.troubles == {}
    assert bench.board.sensors["reader/1"] is False
    assert not [seen for seen in bench.plain() if isinstance(seen, SensorState) and seen.ok]


def test_an_object_sensor_that_chattered_says_how_it_stands_when_it_is_quiet(bench: Bench) -> None:
    bench.run(500)
    for number in range(2 * PULSES + 1):
        bench.event(m.ObjectSeen(present=number % 2 == 0))
    bench.run(QUIET_US // 1_000 + 500)
    kept, works = bench.plain()[-2:]
    assert kept == ForeignObject(kept.t_us, present=True)
    assert works == SensorState(kept.t_us, "object", ok=True)


def test_a_line_that_fails_again_and_again_must_be_good_for_longer(bench: Bench) -> None:
    """Without end, at any rate, what is reported is bounded."""
    bench.run(500)
    with capture_logs() as logs:
        for _ in range(600):
            bench.event(m.BallPass(0), ago_ms=700)
            bench.run(100)
        for _ in range(60):
            bench.event(m.BallPass(0), ago_ms=700)
            bench.run(GOOD_MS + 100)
    assert len(states(bench)) < 30
    assert len([entry for entry in logs if entry["event"].startswith("board.link")]) < 30
    bench.run(20_000)
    assert states(bench)[-1] == (True, None)


def test_what_is_wrong_is_told_again_when_it_changes_but_not_at_any_rate(bench: Bench) -> None:
    bench.run(1_000)
    for _ in range(100):
        bench.mute = not bench.mute
        bench.noise = random.Random(1) if bench.mute else None
        bench.deaf_to = EVERYTHING
        bench.run(200)
    assert len(states(bench)) <= 21
