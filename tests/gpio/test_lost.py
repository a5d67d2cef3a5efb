"""Lost edges on lines without edge counters, as on every chip: what the next edge still shows."""

from __future__ import annotations

import pytest

from tests.gpio.test_contract import MS, pulse
from tests.gpio.test_source import Rig
from wheeld.core.observations import BallPass, Command, ForeignObject
from wheeld.ports import Edge
from wheeld.sources.gpio.debounce import QUIET_NS, Blockage, Contact
from wheeld.sources.gpio.rpi import CALLBACK_ERROR_NS, KERNEL_ERROR_NS
from wheeld.sources.line_state import GOOD_US

RIEN_VA, OBJECT, BEAM = 13, 12, 5
FAULT = [("link", False), ("link", True)]


def uncounted(edges: list[Edge], *, error_ns: int = KERNEL_ERROR_NS, lost: tuple[int, ...]) -> Rig:
    """The source after `edges`, when those at the places `lost` never come."""
    rig = Rig(error_ns=error_ns)
    rig.report(edges, lost=lost)
    rig.looks(edges[-1].at_ns + 400 * MS + GOOD_US * 1_000)
    return rig


@pytest.mark.parametrize("error_ns", [KERNEL_ERROR_NS, CALLBACK_ERROR_NS])
def test_a_press_after_a_lost_release_is_a_press(error_ns: int) -> None:
    presses = [edge for second in (1, 5, 9) for edge in pulse(RIEN_VA, second * 1_000 * MS, 150 * MS)]
    rig = uncounted(presses, error_ns=error_ns, lost=(1,))
    assert rig.of(Command) == [
        Command(second * 1_000_000, name="rien_va", by="button") for second in (1, 5, 9)
    ]  # each at its own time
    assert rig.states == (FAULT if error_ns == KERNEL_ERROR_NS else [])
    assert rig.source.counters["lost_edges"] == (error_ns == KERNEL_ERROR_NS)


def test_a_lost_press_is_reported_as_a_link_fault() -> None:
    presses = [edge for second in (1, 5) for edge in pulse(RIEN_VA, second * 1_000 * MS, 150 * MS)]
    rig = uncounted(presses, lost=(2,))
    assert rig.of(Command) == [Command(1_000_000, name="rien_va", by="button")]
    assert rig.states == FAULT


@pytest.mark.parametrize("lost", [0, 1])
def test_an_object_with_a_lost_edge_is_reported_as_a_link_fault(lost: int) -> None:
    passages = [edge for second in (1, 3) for edge in pulse(OBJECT, second * 1_000 * MS, 300 * MS)]
    rig = uncounted(passages, lost=(lost,))
    assert rig.states == FAULT
    assert rig.observations[-1].t_us > 3_400_000
    assert rig.of(ForeignObject)[-2:] == [
        ForeignObject(3_000_000, present=True),
        ForeignObject(3_300_000, present=False),
    ]


def test_a_beam_that_was_never_seen_free_is_reported_as_a_link_fault() -> None:
    passes = [edge for number in (1, 2, 3) for edge in pulse(BEAM, number * 600 * MS, 12 * MS)]
    rig = uncounted(passes, lost=(1,))
    assert rig.states == FAULT
    assert rig.of(BallPass) == [BallPass(1_806_000, beam=0)]


def test_where_the_level_is_read_late_a_bounce_reads_as_one_level_and_is_one_press() -> None:
    rig = Rig(error_ns=CALLBACK_ERROR_NS)
    for at_ms, level in ((1_000, False), (1_150, True)):
        rig.report(Edge(RIEN_VA, level, (at_ms + bounce_ms) * MS) for bounce_ms in (0, 2, 5, 9, 40))
    rig.looks(2_000 * MS)
    assert rig.of(Command) == [Command(1_000_000, name="rien_va", by="button")]
    assert rig.states == []


def test_a_level_counts_again_after_a_quiet_time_and_when_it_lasts() -> None:
    contact = Contact(20, on=False)
    assert contact.edge(100, on=True) == []
    assert contact.until(150) == [(100, True)]
    assert contact.edge(150, on=True) == []
    assert (contact.until(300), contact.horizon_ns(300)) == ([], 300)
    again = 150 + QUIET_NS
    assert (contact.edge(again, on=True), contact.horizon_ns(again + 5)) == ([], again)
    assert (contact.edge(again + 2, on=False), contact.edge(again + 4, on=True)) == ([], [])
    assert contact.until(again + 23) == []
    assert contact.until(again + 24) == [(again + 4, True)]
    assert contact.repeats == 1


def test_a_first_contact_too_short_to_be_read_is_a_bounce() -> None:
    contact = Contact(20, on=False)
    assert (contact.edge(QUIET_NS, on=False), contact.edge(QUIET_NS + 3, on=True)) == ([], [])
    assert contact.until(QUIET_NS + 30) == [(QUIET_NS + 3, True)]
    assert contact.repeats == 0


def test_flicker_while_a_ball_blocks_a_beam_is_ignored() -> None:
    beam = Blockage(shortest_ns=10, longest_ns=100)
    assert [beam.edge(at_ns, blocked=True) for at_ns in (1_000, 1_050, 1_150)] == [None] * 3
    assert beam.repeats == 0
    assert beam.edge(1_251, blocked=True) is None
    assert beam.repeats == 1
