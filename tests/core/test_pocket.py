"""A pocket is called when enough consecutive sightings agree (R3), and no sooner."""

from __future__ import annotations

import pytest

from tests.core.evening import CLOCKWISE, Way
from wheeld.core.observations import Rotor
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.core.tracking.pocket import SIGHTINGS_KEPT, PocketTracker
from wheeld.core.tracking.rotor import RotorFromEncoder

READERS = (30.0, 150.0, 270.0)
TICKS = 148


class Bowl:
    """A rotor turning evenly from 0° at time 0, and readers that a ball in a pocket passes."""

    def __init__(
        self, way: Way = "cw", rpm: float = 20.0, needed: int = 3, readers_deg: tuple[float, ...] = READERS
    ) -> None:
        self.turn_deg_s = rpm * 6 * (1 if way == "cw" else -1)
        self.way: Way = way
        self.rotor = RotorFromEncoder(TICKS, SINGLE_ZERO)
        self.readers_deg = readers_deg
        self.reading = PocketTracker(readers_deg, needed, self.rotor)
        self._border = 0

    def turn_to(self, t_us: int) -> None:
        step_deg = 360 / TICKS
        while (self._border + 1) * step_deg <= abs(self.turn_deg_s) * t_us / 1e6:
            self._border += 1
            border = self._border if self.way == "cw" else -self._border
            at_us = round(self._border * step_deg / abs(self.turn_deg_s) * 1e6)
            self.rotor.tick(Rotor(at_us, (border - (self.way == "ccw")) % TICKS, self.way))

    def passes(self, number: int, count: int, *, off: float = 0.0, after_us: int = 1_000_000) -> list[tuple[int, int]]:
        """The next `count` moments (t_us, reader) at which `number`, `off` pockets from its centre, passes a reader."""
        place_deg = (CLOCKWISE.index(number) + off) * 360 / 37
        turn_us = 360 / abs(self.turn_deg_s) * 1e6
        found = []
        for reader, reader_deg in enumerate(self.readers_deg):
            first_us = ((reader_deg - place_deg) / self.turn_deg_s * 1e6) % turn_us
            found += [(round(first_us + n * turn_us), reader) for n in range(12)]
        return sorted(one for one in found if one[0] > after_us)[:count]

    def number(self) -> int | None:
        """What the reading shows."""
        return None if self.reading.pocket is None else CLOCKWISE[self.reading.pocket]

    def see(self, *passes: tuple[int, int]) -> list[bool]:
        called = []
        for t_us, reader in passes:
            self.turn_to(t_us)
            called.append(self.reading.sighting(t_us, reader))
        return called


@pytest.mark.parametrize("way", ["cw", "ccw"])
@pytest.mark.parametrize("number", CLOCKWISE)
def test_every_pocket_is_read_right(way: Way, number: int) -> None:
    bowl = Bowl(way)
    assert bowl.see(*bowl.passes(number, 3)) == [False, False, True]
    assert bowl.number() == number
    assert bowl.reading.is_called


@pytest.mark.parametrize("needed", [1, 3, 5])
def test_a_pocket_is_called_once_at_the_sighting_asked_for(needed: int) -> None:
    bowl = Bowl(needed=needed)
    called = bowl.see(*bowl.passes(22, needed + 4))
    again = 3  # the first of three readers meets it again, a whole turn later
    assert called == [n == min(needed - 1, again) for n in range(needed + 4)]
    assert len(bowl.reading.state.streak) == min(needed + 4, SIGHTINGS_KEPT)


def test_a_bouncing_ball_is_not_called_where_it_bounces() -> None:
    """Readers catch it in a pocket that it leaves again: the count starts anew."""
    bowl = Bowl()
    first = bowl.passes(22, 2)
    then = bowl.passes(9, 3, after_us=first[-1][0] + 100_000)
    assert bowl.see(*first, *then) == [False, False, False, False, True]
    assert bowl.number() == 9


def test_the_pocket_seen_last_is_known_before_it_is_called() -> None:
    bowl = Bowl()
    assert bowl.number() is None
    bowl.see(*bowl.passes(22, 1))
    assert bowl.number() == 22
    assert not bowl.reading.is_called


def test_one_reader_sees_one_pass_once() -> None:
    bowl = Bowl()
    once = bowl.passes(22, 1)[0]
    assert bowl.see(once, (once[0] + 3_000, once[1]), (once[0] + 9_000, once[1])) == [False] * 3
    assert len(bowl.reading.state.streak) == 1


@pytest.mark.parametrize(("numbers", "shows_slip"), [((9, 9, 9), True), ((9, 31, 14), False), ((9, 9, 31), False)])
def test_between_the_same_two_pockets_no_ball_lies_and_between_others_it_bounces(
    numbers: tuple[int, ...], *, shows_slip: bool
) -> None:
    """Where it lies so for two turns, the pockets stand elsewhere than the encoder shows."""
    bowl, after_us = Bowl(readers_deg=(30.0,)), 1_000_000
    for number in numbers:
        assert not bowl.reading.is_between
        (seen,) = bowl.passes(number, 1, off=0.45, after_us=after_us + 100_000)
        after_us = seen[0]
        bowl.see(seen)
    assert bowl.reading.is_between is shows_slip


@pytest.mark.parametrize("off", [-0.45, 0.45])
def test_a_ball_on_the_wall_between_two_pockets_is_in_neither(off: float) -> None:
    bowl = Bowl()
    assert not any(bowl.see(*bowl.passes(22, 6, off=off)))
    assert bowl.reading.pocket is None
    assert bowl.reading.unplaced == 6


@pytest.mark.parametrize("off", [-0.3, 0.3])
def test_a_ball_lying_off_the_centre_of_its_pocket_is_read(off: float) -> None:
    bowl = Bowl()
    assert bowl.see(*bowl.passes(22, 3, off=off)) == [False, False, True]
    assert bowl.number() == 22
    assert bowl.reading.state.streak[-1].offset == pytest.approx(off, abs=0.01)


def test_a_sighting_without_a_known_rotor_places_nothing() -> None:
    reading = PocketTracker(READERS, 1, RotorFromEncoder(TICKS, SINGLE_ZERO))
    assert not reading.sighting(1_000_000, 0)
    assert reading.pocket is None
    assert reading.unplaced == 1


def test_after_a_restart_the_count_begins_anew() -> None:
    bowl = Bowl()
    first = bowl.passes(22, 3)
    bowl.see(*first)
    bowl.reading.restart()
    assert bowl.reading.pocket is None
    assert not bowl.reading.is_called
    assert bowl.see(*bowl.passes(22, 3, after_us=first[-1][0] + 300_000)) == [False, False, True]


def test_only_the_latest_sightings_are_kept_for_the_result() -> None:
    bowl = Bowl()
    passes = bowl.passes(22, 12)
    bowl.see(*passes)
    assert [seen.t_us for seen in bowl.reading.state.streak] == [t_us for t_us, _ in passes[-8:]]


@pytest.mark.parametrize(("readers_deg", "share"), [(READERS, 1 / 3), ((0.0, 90.0), 3 / 4), ((40.0,), 1.0)])
def test_how_long_a_lying_ball_may_go_unseen(readers_deg: tuple[float, ...], share: float) -> None:
    """The widest gap between two readers, at the rotor's speed: a turn takes 3 s at 20 rpm."""
    bowl = Bowl()
    bowl.turn_to(2_000_000)
    reading = PocketTracker(readers_deg, 3, bowl.rotor)
    assert reading.turn_us(2_000_000) == pytest.approx(share * 3_000_000, rel=0.01)


def test_without_a_rotor_the_wait_is_generous() -> None:
    assert PocketTracker(READERS, 3, RotorFromEncoder(TICKS, SINGLE_ZERO)).turn_us(0) == 5_000_000


# --- R3: sightings that agree make about one rotor turn ----------------------------------------------------------


@pytest.mark.parametrize("rpm", [5.0, 20.0, 45.0])
@pytest.mark.parametrize("needed", [2, 3, 5])
def test_sightings_within_half_a_turn_call_nothing_however_many(rpm: float, needed: int) -> None:
    """Readers side by side all see one bounce; only a turn later is it proven that the ball lies there."""
    bowl = Bowl(rpm=rpm, needed=needed, readers_deg=tuple(30.0 + n for n in range(needed + 1)))
    bounce = bowl.passes(22, needed + 2)
    while bounce[-2][0] - bounce[0][0] > 30e6 / rpm:
        bounce = bowl.passes(22, needed + 2, after_us=bounce[0][0])
    assert not any(bowl.see(*bounce[:-1]))
    assert len(bowl.reading.state.streak) == needed + 1
    assert bowl.see(bounce[-1]) == [True]


@pytest.mark.parametrize(("share", "called"), [(0.45, False), (0.55, True)])
def test_sightings_that_call_a_pocket_span_half_a_rotor_turn(share: float, *, called: bool) -> None:
    bowl = Bowl(way="ccw", readers_deg=(330.0, 330.0 - 180 * share, 330.0 - 360 * share))
    passes = bowl.passes(22, 6)
    first = next(n for n, (_, reader) in enumerate(passes) if reader == 0)
    assert bowl.see(*passes[first : first + 3]) == [False, False, called]


def test_one_sighting_is_enough_where_one_is_asked_for() -> None:
    bowl = Bowl(needed=1)
    assert bowl.see(*bowl.passes(22, 1)) == [True]


@pytest.mark.parametrize("rpm", [1.0, 2.0])
def test_one_reader_does_not_count_a_pocket_twice_within_half_a_turn(rpm: float) -> None:
    """The ball hops in its pocket under the reader of a slow rotor: a second pulse is no second sighting."""
    bowl = Bowl(rpm=rpm)
    (first,) = bowl.passes(22, 1, off=0.35)
    assert bowl.see(first, (first[0] + 300_000, first[1])) == [False, False]
    assert bowl.number() == 22
    assert len(bowl.reading.state.streak) == 1
