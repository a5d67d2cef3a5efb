"""Sensors of the simulated house that are blind, late, or on a disc that slips."""

from __future__ import annotations

from hw_sim.events import BallPass, ForeignObject, RotorEdge, Sighting, SimEvent
from hw_sim.whole.sight import LATE_US, SimSight
from hw_sim.whole.timeline import Timeline

SEEN: list[SimEvent] = [BallPass(0, 1), BallPass(0, 2), Sighting(0, 1), Sighting(0, 2), RotorEdge(0, 36, "cw")]


def reported(sight: SimSight, timeline: Timeline, told: list[SimEvent]) -> list[SimEvent]:
    told.clear()
    for event in SEEN:
        sight.see(event)
    timeline.pass_to(LATE_US, woken=lambda: False)
    return list(told)


def test_each_sensor_shows_what_it_can() -> None:
    told: list[SimEvent] = []
    timeline = Timeline()
    sight = SimSight(timeline, 37, told.append)
    assert reported(sight, timeline, told) == SEEN
    sight.blind["beam/1"] += 1
    sight.blind["reader/2"] += 1
    sight.slipped = -2
    assert reported(sight, timeline, told) == [BallPass(0, 2), Sighting(0, 1), RotorEdge(0, 34, "cw")]
    sight.see(ForeignObject(9, present=True))
    assert told[-1] == ForeignObject(9, present=True)


def test_a_late_sensor_reports_in_the_order_of_its_reports() -> None:
    told: list[SimEvent] = []
    timeline = Timeline()
    sight = SimSight(timeline, 37, told.append)
    sight.late["beam/2"] += 1
    assert reported(sight, timeline, told) == [*(one for one in SEEN if one != BallPass(0, 2)), BallPass(LATE_US, 2)]
