"""The clock against simulated crystals and delays: the truth is always inside the stated error."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from firmware_protocol.host import SyncSample
from wheeld.core.observations import ClockReading
from wheeld.sources.clock import (
    RATE_PPB_MIN,
    SAMPLES_MAX,
    WINDOW_NS,
    BoardClock,
    HostTime,
    UtcPair,
    clock_reading,
)

SEEDS = range(12)
DRIFT_PPM_MAX = 200


@dataclass
class Crystal:
    """A board clock whose rate wanders within a limit; `exact_us` is what it reads, not yet rounded."""

    rng: random.Random
    limit_ppm: float
    host_ns: float = 5e9
    exact_us: float = 1e6
    ppm: float = 0.0
    history: list[tuple[float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ppm = self.rng.uniform(-self.limit_ppm, self.limit_ppm)

    def advance(self, span_ns: float) -> None:
        self.host_ns += span_ns
        self.exact_us += span_ns / 1e3 / (1 + self.ppm / 1e6)
        self.ppm = min(max(self.ppm + self.rng.gauss(0, 1), -self.limit_ppm), self.limit_ppm)
        self.history.append((self.host_ns, self.exact_us))

    def sample(self, way_ns_max: float = 5e6) -> SyncSample:
        """Delays lean to one side, as they do when one way waits behind a batch of edges."""
        sent = self.host_ns
        self.advance(self.rng.uniform(1e5, way_ns_max))
        board_received = self.exact_us
        self.advance(self.rng.uniform(0, 2e5))
        board_sent = self.exact_us
        self.advance(self.rng.uniform(1e5, way_ns_max / 4))
        return SyncSample(
            host_sent_ns=int(sent),
            host_received_ns=int(self.host_ns) + 1,
            board_rx_us=int(board_received),
            board_tx_us=int(board_sent),
        )


@pytest.fixture
def clock() -> BoardClock:
    return BoardClock(DRIFT_PPM_MAX)


@pytest.mark.parametrize("seed", SEEDS)
def test_truth_is_inside_the_error_whatever_the_drift_and_the_delays(seed: int) -> None:
    rng = random.Random(seed)
    crystal = Crystal(rng, limit_ppm=rng.choice([0, 20, 150, 195]))
    clock = BoardClock(DRIFT_PPM_MAX)
    for _ in range(100):
        crystal.advance(rng.uniform(2e8, 3e9))
        assert clock.add(crystal.sample(rng.choice([1e6, 5e6, 4e7]))) == "ok", f"seed {seed}"
        crystal.advance(rng.uniform(0, 1e9))
        # Moments of the last minute of the crystal's own history.
        for host_ns, exact_us in crystal.history[-200::20]:
            estimate = clock.host_time(int(exact_us))
            assert estimate is not None
            assert abs(estimate.host_ns - host_ns) <= estimate.error_ns, f"seed {seed}: outside at board {exact_us}"


@pytest.mark.parametrize("seed", SEEDS)
def test_error_is_at_most_half_the_best_round_trip_and_its_allowance(seed: int) -> None:
    rng = random.Random(seed)
    crystal = Crystal(rng, limit_ppm=50)
    clock = BoardClock(DRIFT_PPM_MAX)
    samples: list[SyncSample] = []
    for _ in range(30):
        crystal.advance(1e9)
        samples.append(crystal.sample())
        clock.add(samples[-1])
    estimate = clock.host_time(samples[-1].board_rx_us)
    assert estimate is not None
    promised_ns = min(
        (s.host_received_ns - s.host_sent_ns) / 2 + DRIFT_PPM_MAX * (samples[-1].board_rx_us - s.board_rx_us) / 1e3
        for s in samples
    )
    assert estimate.error_ns <= promised_ns + 5_000, f"seed {seed}"


@pytest.mark.parametrize("seed", SEEDS)
def test_rate_is_found_within_what_a_minute_can_show(seed: int) -> None:
    rng = random.Random(seed)
    crystal = Crystal(rng, limit_ppm=100)
    crystal.limit_ppm = abs(crystal.ppm)  # wanders little from here on
    clock = BoardClock(DRIFT_PPM_MAX)
    for _ in range(70):
        crystal.advance(1e9)
        clock.add(crystal.sample(2e6))
    (host_a, board_a), (host_b, board_b) = crystal.history[-160], crystal.history[-1]
    true_ppb = ((host_b - host_a) / (board_b - board_a) / 1e3 - 1) * 1e9
    estimate = clock.host_time(int(board_b))
    assert estimate is not None
    assert estimate.rate_ppb == pytest.approx(true_ppb, abs=60_000), f"seed {seed}"


def steady(count: int, *, ppm: int = 0, jump_us_at: dict[int, int] | None = None) -> Iterator[SyncSample]:
    """A sample a second, round trips of 1 ms, a constant rate, and jumps of the board's clock where asked."""
    board_us = 0
    for index in range(count):
        board_us += 1_000_000 + (jump_us_at or {}).get(index, 0)
        host_ns = (index + 1) * (1_000_000 + ppm) * 1_000
        yield SyncSample(
            host_sent_ns=host_ns - 500_000,
            host_received_ns=host_ns + 500_000,
            board_rx_us=board_us,
            board_tx_us=board_us,
        )


def test_nothing_is_known_before_the_first_sample(clock: BoardClock) -> None:
    assert not clock.synced
    assert clock.host_time(5) is None
    assert clock.board_us(5) is None


@pytest.mark.parametrize("jump_us", [40_000, -40_000])
def test_a_step_is_reported_once_and_the_clock_goes_on_from_it(jump_us: int, clock: BoardClock) -> None:
    samples = list(steady(30, jump_us_at={20: jump_us}))
    verdicts = [clock.add(sample) for sample in samples]
    assert verdicts == ["ok"] * 20 + ["step"] + ["ok"] * 9
    estimate = clock.host_time(samples[-1].board_rx_us)
    assert estimate is not None
    assert abs(estimate.host_ns - 30_000_000_000) <= estimate.error_ns


@pytest.mark.parametrize("ppm", [400, -400])
def test_drift_beyond_the_allowance_is_reported(ppm: int, clock: BoardClock) -> None:
    verdicts = [clock.add(sample) for sample in steady(30, ppm=ppm)]
    assert verdicts[:5] == ["ok"] * 5
    assert verdicts[-15:] == ["drift"] * 15
    assert "step" not in verdicts


@pytest.mark.parametrize("ppm", [190, -190])
def test_drift_within_the_allowance_is_followed(ppm: int, clock: BoardClock) -> None:
    assert {clock.add(sample) for sample in steady(60, ppm=ppm)} == {"ok"}
    estimate = clock.host_time(60_000_000)
    assert estimate is not None
    assert estimate.rate_ppb == pytest.approx(ppm * 1_000, abs=2_000)


def test_a_drift_is_measured_once_the_samples_are_sharp_enough(clock: BoardClock) -> None:
    measured = []
    for sample in steady(60, ppm=1_000):
        clock.add(sample)
        measured.append(clock.measured_ppb)
    assert measured[:4] == [None] * 4, "two round trips of 1 ms in so few seconds say less than the allowance"
    assert measured[-1] == pytest.approx(1_000_000, abs=50_000)


def test_rate_never_claims_more_than_the_allowance() -> None:
    clock = BoardClock(100)
    for sample in steady(60, ppm=103):
        clock.add(sample)
    estimate = clock.host_time(60_000_000)
    assert estimate is not None
    assert estimate.rate_ppb == 100_000


@pytest.mark.parametrize(
    "sample",
    [
        pytest.param((0, 1_000_000, 10, 9), id="answered before it was received"),
        pytest.param((0, 1_000_000, 0, 2_000), id="the board took longer than the host waited"),
        pytest.param((1_000_000, 0, 10, 10), id="received before it was sent"),
    ],
)
def test_a_sample_that_cannot_be_is_refused(sample: tuple[int, int, int, int]) -> None:
    sent, received, board_received, board_sent = sample
    clock = BoardClock(DRIFT_PPM_MAX)
    impossible = SyncSample(
        host_sent_ns=sent, host_received_ns=received, board_rx_us=board_received, board_tx_us=board_sent
    )
    assert clock.add(impossible) == "refused"
    assert not clock.synced


def test_a_sample_out_of_order_shows_that_the_board_s_clock_ran_back(clock: BoardClock) -> None:
    first, second = steady(2)
    assert clock.add(second) == "ok"
    assert clock.add(first) == "back"


def test_old_samples_are_forgotten_by_age_and_by_number(clock: BoardClock) -> None:
    crystal = Crystal(random.Random(1), limit_ppm=0)
    for _ in range(SAMPLES_MAX + 20):
        crystal.advance(1e6)
        clock.add(crystal.sample(2e5))
    assert len(clock._bounds) == SAMPLES_MAX
    crystal.advance(WINDOW_NS * 2)
    clock.add(crystal.sample())
    assert len(clock._bounds) == 1


@pytest.mark.parametrize("ppm", [-150, 0, 150])
def test_the_boards_reading_at_a_host_time_is_the_inverse(ppm: int, clock: BoardClock) -> None:
    for sample in steady(60, ppm=ppm):
        clock.add(sample)
    for board_us in (59_000_000, 60_000_000, 65_000_000):
        estimate = clock.host_time(board_us)
        assert estimate is not None
        back_us = clock.board_us(estimate.host_ns)
        assert back_us == pytest.approx(board_us, abs=5)


@pytest.mark.parametrize("speed", [5, 50])
def test_a_simulated_board_many_times_faster_than_real_time_is_followed(speed: int) -> None:
    clock = BoardClock(1_000_000)
    for second in range(1, 31):
        host_ns = second * 1_000_000_000
        board_us = second * 1_000_000 * speed
        sample = SyncSample(
            host_sent_ns=host_ns - 500_000,
            host_received_ns=host_ns + 500_000,
            board_rx_us=board_us,
            board_tx_us=board_us,
        )
        assert clock.add(sample) == "ok"
    estimate = clock.host_time(30_500_000 * speed)
    assert estimate is not None
    assert estimate.host_ns == pytest.approx(30_500_000_000, abs=1_000_000)
    assert clock.board_us(30_500_000_000) == pytest.approx(30_500_000 * speed, abs=1_000 * speed)


def test_no_rate_is_so_low_that_the_clock_would_stand_still() -> None:
    clock = BoardClock(1_000_000)
    for second in range(1, 31):
        host_ns = 1_000_000_000 + second
        board_us = second * 1_000_000
        clock.add(
            SyncSample(host_sent_ns=host_ns, host_received_ns=host_ns, board_rx_us=board_us, board_tx_us=board_us)
        )
    estimate = clock.host_time(30_000_000)
    assert estimate is not None
    assert estimate.rate_ppb == RATE_PPB_MIN


def test_utc_adds_both_errors_and_never_rounds_them_down() -> None:
    pair = UtcPair(host_ns=1_000_000_000, utc_us=1_700_000_000_000_000, error_us=3)
    reading = clock_reading(42, HostTime(host_ns=1_500_000_999, error_ns=2_001, rate_ppb=-7), pair)
    assert reading == ClockReading(t_us=42, utc_us=1_700_000_000_500_000, error_us=3 + 3 + 1, rate_ppb=-7)
