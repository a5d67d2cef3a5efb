"""The cabinet's door on a board: event and level, and the bound on a switch that chatters."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from firmware_protocol import messages as m
from firmware_protocol.host import Position
from hw_sim import events as sim
from hw_sim.board import BoardSetup, SimBoard
from tests.sources.scripted_board import SETTING, TABLE, Bench
from tests.sources.test_line_troubles import published
from wheeld.core.facts import Trouble
from wheeld.core.observations import Level, SensorState
from wheeld.sources.board.board import Board
from wheeld.sources.chatter import DOOR_MOVES, DOOR_QUIET_US, DOOR_WITHIN_US, DoorFilter, DoorSeen
from wheeld.sources.clock import UtcPair

CLOSED, OPEN = m.Levels(object="clear", door="closed"), m.Levels(object="clear", door="open")


def doors(bench: Bench) -> list[bool]:
    return [seen.active for seen in bench.levels() if seen.sensor == "door"]


def notices(bench: Bench) -> list[str]:
    messages = [each for each in published(bench.seen) if each["topic"] == "notice"]
    return [each["notice"] for each in messages if each["notice"].startswith("door")]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_its_level_is_told_at_the_start_and_each_change(bench: Bench) -> None:
    bench.standing = CLOSED
    bench.run(500)
    assert (doors(bench), bench.board.door) == ([False], DoorSeen(False))
    bench.event(m.DoorMoved(True))
    bench.standing = OPEN
    bench.run(500)
    bench.event(m.DoorMoved(False))
    bench.standing = CLOSED
    bench.run(500)
    assert (doors(bench), bench.board.door) == ([False, True, False], DoorSeen(False, 1))
    assert notices(bench) == ["door_opened", "door_closed"]
    assert bench.board.sensors["door"] is True


def test_one_that_stands_open_at_the_start_is_told(bench: Bench) -> None:
    bench.standing = OPEN
    bench.run(1_000)
    assert (doors(bench), bench.board.door, notices(bench)) == ([True], DoorSeen(True, 1), ["door_opened"])


def test_a_level_without_an_event_is_a_change_too(bench: Bench) -> None:
    """The board was reset, or its ring had overwritten the event."""
    for bench.standing in (CLOSED, OPEN, OPEN):
        bench.run(300)
    assert doors(bench) == [False, True]


def test_after_a_gap_it_is_told_again_and_only_a_change_is_a_notice(bench: Bench) -> None:
    bench.standing = CLOSED
    bench.run(500)
    bench.boot(2)
    bench.run(1_500)
    assert (doors(bench), notices(bench)) == ([False, False], [])
    bench.boot(3)
    bench.standing = OPEN
    bench.run(3_500)
    assert (doors(bench), notices(bench)) == ([False, False, True], ["door_opened"])


def test_a_board_without_a_switch_tells_nothing_of_it(bench: Bench) -> None:
    bench.run(1_000)
    assert (doors(bench), bench.board.door) == ([], DoorSeen())
    assert "door" not in bench.board.sensors


def test_the_self_test_is_awaited_though_the_door_has_been_told(bench: Bench) -> None:
    bench.standing, bench.deaf_to = CLOSED, (m.SelfTestRequest,)
    bench.run(500)
    assert doors(bench) == [False]
    assert not bench.board.has_answered


@pytest.mark.parametrize("has_switch", [True, False])
def test_what_a_simulated_board_keeps_while_nobody_listens_is_told_later(*, has_switch: bool) -> None:
    layout = m.Layout(beams=4, readers=3, rotor_ticks=148, object_sensor=True, door_switch=has_switch)
    simulated = SimBoard(BoardSetup(layout))
    simulated.feed(sim.Door(1_000_000, True, "door"))
    simulated.feed(sim.Door(2_000_000, False, "door"))
    board = Board(SETTING, TABLE, hello_token=7, host_ns=10_000_000_000, resume_at=Position(1, 0))
    board.opened(10_000_000_000)
    seen = []
    for ms in range(10_000, 11_000, 10):
        now_ns = ms * 1_000_000
        simulated.advance(ms * 1_000)
        seen += board.tick(now_ns)
        simulated.receive(board.data_to_send())
        seen += board.receive(simulated.data_to_send(), now_ns, UtcPair(now_ns, ms * 1_000, 1))
    told = [each.active for each in seen if isinstance(each, Level) and each.sensor == "door"]
    assert told == ([True, False] if has_switch else [])
    assert board.door == (DoorSeen(False, 1) if has_switch else DoorSeen())


# --- a switch that chatters -------------------------------------------------------------------------------------------


def test_a_switch_that_chatters_is_told_to_be_open_and_floods_nobody(bench: Bench) -> None:
    bench.standing = CLOSED
    bench.run(500)
    with capture_logs() as logs:
        for number in range(1_000):
            bench.event(m.DoorMoved(number % 2 == 0))
            bench.run(20)
    assert bench.board.door.is_open is True
    assert len(notices(bench)) <= DOOR_MOVES
    assert [entry["event"] for entry in logs] == ["board.chatters"]
    assert (bench.board.sensors["door"], bench.board.troubles) == (False, {"door": (Trouble.CHATTERS,)})
    assert not [seen for seen in bench.plain() if isinstance(seen, SensorState)], "it stops no play"
    assert [each for each in published(bench.seen) if each["topic"] == "table"][-1]["failing"] == []
    assert bench.board.counters["chatter"] > 900
    bench.run(DOOR_QUIET_US // 1_000 + 500)
    assert (bench.board.sensors["door"], bench.board.troubles) == (True, {})
    assert (doors(bench)[-1], notices(bench)[-1]) == (False, "door_closed")


def moves(door: DoorFilter, count: int, *, apart_us: int, from_us: int = 0) -> list[Level]:
    told: list[Level] = []
    for number in range(count):
        t_us = from_us + number * apart_us
        told += [*door.calmed(t_us), *door.take(Level(t_us, "door", active=number % 2 == 0))]
    return told


def test_a_person_who_works_behind_it_opens_it_as_often_as_he_likes() -> None:
    door = DoorFilter("test")
    assert len(moves(door, 60, apart_us=DOOR_WITHIN_US // (DOOR_MOVES - 1) + 1)) == 60
    assert door.seen == DoorSeen(False, 30)


def test_to_be_told_again_how_it_stands_is_no_move() -> None:
    door = DoorFilter("test")
    same = Level(5, "door", active=False)
    assert [seen for _ in range(3 * DOOR_MOVES) for seen in door.take(same)] == [same] * 3 * DOOR_MOVES
    assert (door.sensors, door.dropped) == ({"door": True}, 0)


@pytest.mark.parametrize("moves_made", [2 * DOOR_MOVES, 2 * DOOR_MOVES + 1])
def test_while_it_chatters_nothing_more_is_told_and_then_how_it_stands(moves_made: int) -> None:
    door = DoorFilter("test")
    told = moves(door, moves_made, apart_us=1_000)
    assert len(told) == DOOR_MOVES
    assert told[-1].active is True
    last_us = (moves_made - 1) * 1_000
    assert [*door.take(Level(last_us, "door", active=moves_made % 2 == 1))] == []
    assert [*door.calmed(last_us + DOOR_QUIET_US - 1)] == []
    (after,) = door.calmed(last_us + DOOR_QUIET_US)
    assert after == Level(last_us + DOOR_QUIET_US, "door", active=moves_made % 2 == 1)
    assert [*door.calmed(last_us + 2 * DOOR_QUIET_US)] == []


def test_without_end_what_is_told_is_bounded() -> None:
    hour_us = 3_600_000_000
    for apart_us in (50_000, 1_000_000, 5_000_000, 6_700_000, 20_000_000):
        assert len(moves(DoorFilter("test"), hour_us // apart_us, apart_us=apart_us)) <= 60 * DOOR_MOVES
