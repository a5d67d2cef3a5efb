"""What a new process hears of a board that the former one had heard already."""

from __future__ import annotations

from firmware_protocol import messages as m
from firmware_protocol.host import Position
from tests.sources.scripted_board import Bench
from wheeld.core.observations import BallPass, SensorState


def test_what_was_judged_before_a_kill_does_not_come_again() -> None:
    """Nobody acknowledged it yet: the process was killed after it had stored what followed, and before it said so."""
    bench = Bench(resume_at=Position(boot_id=1, next_seq=2))
    for beam in (0, 1, 2, 3):
        bench.event(m.BallPass(beam))
    bench.run(500)
    assert [seen.beam for seen in bench.seen if isinstance(seen, BallPass)] == [2, 3]


def test_a_board_that_started_anew_meanwhile_is_no_fault_and_is_heard_whole() -> None:
    """Wheel and controller are switched off together every night; of the coup that ran then the restart tells."""
    bench = Bench(resume_at=Position(boot_id=0, next_seq=2))
    for beam in (0, 1, 2, 3):
        bench.event(m.BallPass(beam))
    bench.run(500)
    assert [seen.beam for seen in bench.seen if isinstance(seen, BallPass)] == [0, 1, 2, 3]
    assert not [seen for seen in bench.seen if isinstance(seen, SensorState)]
    bench.boot(2)
    bench.run(500)
    assert SensorState(bench.plain()[-1].t_us, "link", ok=True) == bench.plain()[-1]
    assert bench.board.counters["resets"] == 2
