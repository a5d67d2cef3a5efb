"""`hw-sim coup`: plays one coup of a campaign again, alone, compares it with its truth and draws it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from hw_sim import log
from hw_sim.campaign.black_box import HeardMessage, find, replay_all
from hw_sim.campaign.command import add_plan
from hw_sim.campaign.comparison import ComparedSpan, SpanComparer
from hw_sim.campaign.drawing import draw
from hw_sim.campaign.evening_run import CampaignPlan, run_segments
from hw_sim.campaign.slices import Slice
from hw_sim.campaign.timeline import Interval, read_timeline
from hw_sim.exits import EXIT_FAILED, UsageError, writing
from hw_sim.faults import KINDS

DRAWN_S_MAX = 120.0
"""Faults that last longer (jitter, drift) are not drawn: they affect the whole coup and would fill the picture."""


@dataclass(frozen=True)
class Played:
    """A coup that was played again: the part of its evening that was played, its comparisons, and all messages. It has
    no comparisons if before the coup the table was not in the state that people expect."""

    part: Slice
    compared: ComparedSpan | None
    messages: list[HeardMessage]


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "coup",
        help="play one coup of a campaign again, and draw it",
        description="Play one coup of a campaign alone and print its truth and its verdicts. Give the name that "
        "the report has for the coup, and the same options as for the campaign. Exit code 1 if truth and verdicts "
        "disagree.",
    )
    parser.add_argument("coup", metavar="SEED/EVENING/MARK", help="as in the report")
    add_plan(parser)
    parser.add_argument("--without", nargs="+", default=[], choices=KINDS, metavar="KIND",
                        help=f"leave out these kinds of faults: {', '.join(KINDS)}")  # fmt: skip
    parser.add_argument("--log", type=Path, metavar="FILE", help="write its observation log")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the coup in this file")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play the coup. Returns the exit code. Raises UsageError, UnavailableError, FileError."""
    seed, _, places = args.coup.partition("/")
    *more, index, mark = places.split("/") if "/" in places else ("", "")
    if not (index.isdecimal() and mark.isdecimal()):
        raise UsageError(f"{args.coup!r} does not name a coup: write SEED/EVENING/MARK, as in the report")
    plan = CampaignPlan("/".join([seed, *more]), args.faults, args.margin, args.people, args.americans)
    with writing():
        played = play(plan, int(index), int(mark), find(args.wheeld), frozenset(args.without))
        if args.log is not None:
            log.write(args.log, played.part.header, played.part.events())
        if args.svg is not None:
            args.svg.write_text(picture(played, args.coup), encoding="utf-8")
    sys.stdout.write("".join(f"{line}\n" for line in _summary(played)))
    return 0 if played.compared is not None and not played.compared.disagreement else EXIT_FAILED


def play(plan: CampaignPlan, index: int, mark: int, wheeld: Path, without: frozenset[str] = frozenset()) -> Played:
    """Play the coup of `mark` alone. If it then agrees, but disagreed in the campaign, play it again from the mark at
    which the campaign had started the daemon.

    Raises UsageError for a mark that the evening does not have, UnavailableError.
    """
    evening = plan.evening(index)
    if mark >= len(evening.marks):
        raise UsageError(f"evening {plan.named(index)} has no mark {mark}, only 0 to {len(evening.marks) - 1}")
    alone = Slice(evening, plan.faulty(evening, index, without), mark, mark)
    played = _replay(alone, wheeld)
    if played.compared is None or played.compared.disagreement:
        return played
    *_, segment = run_segments(replace(alone, first=0), wheeld)
    disagreed = bool(segment.compared[-1].disagreement) if segment.compared else True
    return _replay(replace(alone, first=segment.first), wheeld) if disagreed else played


def _replay(part: Slice, wheeld: Path) -> Played:
    """Play `part` to its end, even if something goes wrong in it, and compare its last mark."""
    comparer = SpanComparer(part.spans(), part.evening.world.layout.beams_deg)
    messages, _ = replay_all(wheeld, part.lines())
    for message in messages:
        comparer.receive(message)
    comparer.finish()
    last = comparer.compared[-1]
    return Played(part, last if last.span.index == part.last else None, messages)


def picture(played: Played, title: str) -> str:
    """Return the coup as SVG. Raises UnavailableError."""
    part = played.part
    own = replace(part, first=part.last)
    scale = part.faulty.scale
    beams_deg = part.evening.world.layout.beams_deg
    # The picture shows when each ball came to rest, and evidence and deadline of each true void.
    rests_s = [(fall.rest_s * scale, fall.number) for fall in part.evening.world.falls]
    truth = [(s, f"rests in {number}") for s, number in rests_s if own.start_us <= s * 1e6 < own.end_us]
    for outcome in (outcome for span in own.spans() for outcome in span.outcomes if "evidence_t" in outcome):
        truth.append((outcome["evidence_t"] / 1e6, f"truth: {outcome['cause']}"))
        truth.append((outcome["deadline_t"] / 1e6, "deadline"))
    timeline = replace(
        read_timeline(part.lines(), played.messages),
        start_s=own.start_us / 1e6,
        end_s=own.end_us / 1e6,
        true_passes=[(t_s * scale, beam) for run in part.evening.world.runs for t_s, beam in run.passes(beams_deg)],
        strikes=[
            Interval(one.from_us / 1e6, one.to_us / 1e6, one.fault)
            for one in own.strikes()
            if one.to_us - one.from_us < DRAWN_S_MAX * 1e6
        ],
        truth=truth,
    )
    return draw(timeline.cut(), title, "coup")


def _summary(played: Played) -> Iterator[str]:
    part, compared = played.part, played.compared
    mark = part.evening.marks[part.last]
    yield f"{mark.scenario}, {mark.start_s:.3f} to {mark.end_s:.3f} s of its evening"
    if part.first != part.last:
        yield f"the coup agrees if it is played alone, so it was played from mark {part.first} on, as in the campaign"
    for strike in replace(part, first=part.last).strikes():
        yield f"  sensors: {strike.from_us / 1e6:.6f} s {strike.fault}: {strike.what}"
    if compared is None:
        yield "not compared: already before this coup the table was not in the state that people expect"
        return
    for each in compared.comparisons:
        truth = told = "nothing"
        if (outcome := each.outcome) is not None and outcome["kind"] == "result":
            truth = f"result {outcome['number']}, {outcome['laps']} laps"
        elif outcome is not None:
            truth = f"void {outcome['cause']}, evidence at {outcome['evidence_t'] / 1e6:.6f} s"
            truth += f", to be published by {outcome['deadline_t'] / 1e6:.6f} s"
        if (verdict := each.verdict) is not None:
            payload = verdict.payload
            what = payload.get("cause") or f"{payload['number']}, {payload['laps']} laps"
            told = f"{verdict.topic} {what} at {verdict.t / 1e6:.6f} s"
            if payload.get("margin") is not None:
                told += f", margin {payload['margin']} of {payload['margin_of']}"
        yield f"{each.kind}: truth {truth}; published {told}"
