"""Reads the run on the track from the log of one coup.

Most lines of a log are encoder edges, some thousand for each coup. So lines are selected by their first bytes, and only
the edges that two turns need are decoded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import msgspec

from wheeld.core.observations import BallPass, Rotor
from wheeld.report.wheel import LoggedRun, SensorPlaces, ValidCoup

SLACK_US = 200_000
"""Times in a result are in UTC. Converted to the sensing clock they may differ from the pass, by as much as the host's
clock is corrected during a coup. No ball passes a beam so soon before its launch or after it leaves the track."""
_BALL, _ROTOR = b'{"kind":"ball"', b'{"kind":"rotor"'

_header = msgspec.json.Decoder(SensorPlaces)
_ball = msgspec.json.Decoder(BallPass)
_rotor = msgspec.json.Decoder(Rotor)


def layout_of(log: bytes) -> SensorPlaces:
    """Return the places of the sensors from the log's header. Raises msgspec's errors."""
    return _header.decode(log.partition(b"\n")[0])


def run_of(coup: ValidCoup, log: bytes, layout: SensorPlaces) -> LoggedRun | None:
    """Return the run of `coup` from its log, or None if the passes do not show it. Raises msgspec's errors."""
    if coup.left_us is None or coup.ball_direction is None or len(layout.beams_deg) < 2:
        return None
    lines = log.split(b"\n")
    first_us, last_us = coup.launched_us - SLACK_US, coup.left_us + SLACK_US
    passes = [
        seen
        for seen in (_ball.decode(line) for line in lines if line.startswith(_BALL))
        if first_us <= seen.t_us <= last_us
    ]
    if len(passes) < 2:
        return None
    edges = [line for line in lines if line.startswith(_ROTOR)]
    last = passes[-1]
    before_us = next((one.t_us for one in reversed(passes[:-1]) if one.beam == last.beam), None)
    return LoggedRun(
        at_utc_us=coup.at_utc_us,
        ball_direction=coup.ball_direction,
        last_beam=last.beam,
        last_lap_s=None if before_us is None else (last.t_us - before_us) / 1e6,
        slowing=_slowing(edges, coup.launched_us, layout.rotor_ticks),
        passes=tuple((one.t_us, one.beam) for one in passes),
    )


def _slowing(edges: Sequence[bytes], launched_us: int, ticks: int) -> float | None:
    """Return which part of its speed the rotor lost in a second, from its first turn after the launch to its last
    one."""
    begin = bisect_left(edges, launched_us, key=lambda line: _rotor.decode(line).t_us)
    if not ticks or len(edges) - begin < 3 * ticks:
        return None
    first, last = (_turn(edges[at], edges[at + ticks]) for at in (begin, len(edges) - 1 - ticks))
    if first is None or last is None:
        return None
    (first_s, first_at_s), (last_s, last_at_s) = first, last
    return (1 - first_s / last_s) / (last_at_s - first_at_s)


def _turn(edge: bytes, after: bytes) -> tuple[float, float] | None:
    """Return the duration of one turn and the time of its middle, in s. None if edges are missing between the two."""
    one, other = _rotor.decode(edge), _rotor.decode(after)
    if one.tick != other.tick or other.t_us <= one.t_us:
        return None
    return (other.t_us - one.t_us) / 1e6, (other.t_us + one.t_us) / 2e6
