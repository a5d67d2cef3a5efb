"""`hw-sim coup`: one coup of a campaign, played again by itself, judged and drawn."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hw_sim import log
from hw_sim.campaign.black_box import BlackBoxError, Message, find, replay
from hw_sim.campaign.command import EXIT_CANNOT_WRITE, EXIT_FAILED, EXIT_UNAVAILABLE, add_plan
from hw_sim.campaign.comparison import ComparedSpan, Comparison, SpanComparer
from hw_sim.campaign.drawing import draw
from hw_sim.campaign.evening_run import Plan, comparisons
from hw_sim.campaign.pictures import MissingExtraError
from hw_sim.campaign.slices import Slice
from hw_sim.campaign.timeline import Interval, read_timeline
from hw_sim.faults import KINDS, Strike
from hw_sim.table import Outcome

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EXIT_USAGE = 2
EVERYWHERE_S = 120.0
"""A harm that lasts longer (jitter, drift) lies on the whole coup alike and would only crowd the picture."""


class NoCoupError(Exception):
    """No campaign has a coup of that name."""


@dataclass(frozen=True)
class Played:
    """A coup played again: the part of its evening that was needed, its own account, and all that was told."""

    part: Slice
    compared: ComparedSpan | None
    messages: list[Message]


def add(subparsers: Subparsers) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "coup",
        help="play one coup of a campaign again, and draw it",
        description="Play the coup that a campaign's report names by itself, with the same options as the campaign's, "
        "and print its truth and its verdicts. Exit code 1 if they disagree.",
    )
    parser.add_argument("coup", metavar="SEED/EVENING/MARK", help="as in the report")
    add_plan(parser)
    parser.add_argument("--without", nargs="+", default=[], choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--log", type=Path, metavar="FILE", help="write its observation log")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw it")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play it. Returns the exit code."""
    try:
        plan, index, mark = _named(args)
        played = play(plan, index, mark, find(args.wheeld), frozenset(args.without))
        _write(args, played)
    except NoCoupError as error:
        sys.stderr.write(f"hw-sim coup: {error}\n")
        return EXIT_USAGE
    except (MissingExtraError, BlackBoxError) as error:
        sys.stderr.write(f"hw-sim coup: {error}\n")
        return EXIT_UNAVAILABLE
    except BrokenPipeError:
        raise  # that is no file of ours
    except OSError as error:
        sys.stderr.write(f"hw-sim coup: cannot write {error.filename}: {error.strerror}\n")
        return EXIT_CANNOT_WRITE
    sys.stdout.write("".join(f"{line}\n" for line in _words(played)))
    return 0 if played.compared is not None and played.compared.agrees else EXIT_FAILED


def _named(args: argparse.Namespace) -> tuple[Plan, int, int]:
    seed, _, places = args.coup.partition("/")
    *more, index, mark = places.split("/") if "/" in places else ("", "")
    if not (index.isdecimal() and mark.isdecimal()):
        raise NoCoupError(f"{args.coup!r} is no SEED/EVENING/MARK")
    return Plan("/".join([seed, *more]), args.faults, args.margin), int(index), int(mark)


def play(plan: Plan, index: int, mark: int, wheeld: Path, without: frozenset[str] = frozenset()) -> Played:
    """Play the coup of `mark` by itself; where it is right so but was wrong in the campaign, with what came before.

    Raises NoCoupError for a mark that the evening doesn't have, NoBlackBoxError.
    """
    evening = plan.evening(index)
    if mark >= len(evening.marks):
        raise NoCoupError(f"evening {plan.named(index)} has the marks 0 to {len(evening.marks) - 1}")
    alone = Slice(evening, plan.faulty(evening, index, without), mark, mark)
    played = _replay(alone, wheeld)
    if played.compared is None or not played.compared.agrees:
        return played
    *_, segment = comparisons(replace(alone, first=0), wheeld)
    wrong = not segment.compared[-1].agrees if segment.compared else True
    return _replay(replace(alone, first=segment.first), wheeld) if wrong else played


def _replay(part: Slice, wheeld: Path) -> Played:
    """All that is told of that part, whatever goes wrong in it, and what came of its last mark."""
    comparer = SpanComparer(part.spans(), part.evening.world.layout.beams_deg)
    messages: list[Message] = []

    def receive(each: Message) -> bool:
        comparer.receive(each)
        messages.append(each)
        return True

    replay(wheeld, part.lines(), receive, facts=True)
    comparer.ended()
    last = comparer.compared[-1]
    return Played(part, last if last.span.index == part.last else None, messages)


def _write(args: argparse.Namespace, played: Played) -> None:
    if args.log is not None:
        log.write(args.log, played.part.header, played.part.events())
    if args.svg is not None:
        args.svg.write_text(picture(played, args.coup), encoding="utf-8")


def picture(played: Played, title: str) -> str:
    """The coup as SVG. Raises MissingExtraError."""
    part = played.part
    own = replace(part, first=part.last)
    scale = part.faulty.scale
    beams_deg = part.evening.world.layout.beams_deg
    seen = read_timeline(part.lines(), played.messages)
    seen = replace(
        seen,
        start_s=own.start_us / 1e6,
        end_s=own.end_us / 1e6,
        true_passes=[(t_s * scale, beam) for run in part.evening.world.runs for t_s, beam in run.passes(beams_deg)],
        strikes=[_interval(harm) for harm in _harms(own) if harm.to_us - harm.from_us < EVERYWHERE_S * 1e6],
        truth=[*_falls(own), *(line for span in own.spans() for outcome in span.outcomes for line in _true(outcome))],
    )
    return draw(seen.cut(), title, "coup")


def _harms(own: Slice) -> list[Strike]:
    return [harm for harm in own.faulty.strikes if harm.from_us < own.end_us and harm.to_us >= own.start_us]


def _interval(harm: Strike) -> Interval:
    return Interval(harm.from_us / 1e6, harm.to_us / 1e6, harm.fault)


def _falls(own: Slice) -> Iterator[tuple[float, str]]:
    for fall in own.evening.world.falls:
        rest_s = fall.rest_s * own.faulty.scale
        if own.start_us <= rest_s * 1e6 < own.end_us:
            yield rest_s, f"rests in {fall.number}"


def _true(outcome: Outcome) -> Iterator[tuple[float, str]]:
    """The moments of the truth that a void has; a result has none."""
    if "evidence_t" in outcome:
        yield outcome["evidence_t"] / 1e6, f"truth: {outcome['cause']}"
        yield outcome["deadline_t"] / 1e6, "deadline"


def _words(played: Played) -> Iterator[str]:
    part, compared = played.part, played.compared
    mark = part.evening.marks[part.last]
    yield f"{mark.scenario}, {mark.start_s:.3f} to {mark.end_s:.3f} s of its evening"
    if part.first != part.last:
        yield f"by itself it is judged rightly: played from mark {part.first} on, as in the campaign"
    for harm in _harms(replace(part, first=part.last)):
        yield f"  sensors: {harm.from_us / 1e6:.6f} s {harm.fault}: {harm.what}"
    if compared is None:
        yield "the daemon got out of step before this coup"
        return
    for each in compared.comparisons:
        yield f"{each.kind}: truth {_truth(each)}; told {_verdict(each)}"


def _truth(each: Comparison) -> str:
    outcome = each.outcome
    if outcome is None:
        return "nothing"
    if outcome["kind"] == "result":
        return f"result {outcome['number']}, {outcome['laps']} laps"
    evidence_s, deadline_s = outcome["evidence_t"] / 1e6, outcome["deadline_t"] / 1e6
    return f"void {outcome['cause']}, evidence at {evidence_s:.6f} s, to be said by {deadline_s:.6f} s"


def _verdict(each: Comparison) -> str:
    if each.verdict is None:
        return "nothing"
    payload = each.verdict.payload
    what = payload.get("cause") or f"{payload['number']}, {payload['laps']} laps"
    margin = f", margin {payload['margin']} of {payload['margin_of']}" if payload.get("margin") is not None else ""
    return f"{each.verdict.topic} {what} at {each.verdict.t / 1e6:.6f} s{margin}"
