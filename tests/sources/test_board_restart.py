"""What a new process receives of a board whose events the former one had received already."""

from __future__ import annotations

from firmware_protocol import messages as m
from firmware_protocol.host import Position
from tests.sources.scripted_board import Bench
from wheeld.core.observations import BallPass, SensorState


def test_what_was_applied_before_a_kill_does_not_come_again() -> None:
    """The process was killed after it had stored what followed, and before it acknowledged it to the board."""
    bench = Bench(resume_at=Position(boot_id=1, next_seq=2))
    for beam in (0, 1, 2, 3):
        bench.event(m.BallPass(beam))
    bench.run(500)
    assert [seen.beam for seen in bench.seen if isinstance(seen, BallPass)] == [2, 3]


def test_a_board_that_started_anew_meanwhile_is_no_fault_and_loses_nothing() -> None:
    """Wheel and controller are switched off together every day; the restart voids a coup that ran then."""
    bench = Bench(resume_at=Position(boot_id=0, next_seq=2))
    for beam in (0, 1, 2, 3):
        bench.event(m.BallPass(beam))
    bench.run(500)
    assert [seen.beam for seen in bench.seen if isinstance(seen, BallPass)] == [0, 1, 2, 3]
    assert not [seen for seen in bench.seen if isinstance(seen, SensorState)]
    bench.boot(2)
    bench.run(1_500)
    assert SensorState(bench.plain()[-1].t_us, "link", ok=True) == bench.plain()[-1]
    assert bench.board.counters["resets"] == 2
