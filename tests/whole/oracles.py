"""What is wrong with an evening, by docs/rulebook.md and by what truly happened. Nothing here knows the core."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from hw_sim.whole.house import House
from hw_sim.whole.plan import HEADS, HEADS_ALONE, KINDS, READ
from hw_sim.whole.settlement import Settlement
from hw_sim.whole.witness import FirstTaken, Round, TimeSpan, TrueCoup, Witness, Word

LAUNCH_KNOWN_US = 2_500_000
"""A launch has no deadline; several passes take less."""
REST_KNOWN_US = 200_000
"""A word said so little before the ball's rest may be late."""
SILENCE_US = 2_500_000
"""A silent line is a fault after 1 s; it is published and seen on a screen within 1.5 s more."""
TOLD_LATE_US = 3_000_000
"""A fault that is over may still be found out: a head's line counts as silent after 2 s."""
HEAD_SILENCE_US = 1_000_000
"""A head speaks twice a second: by default its silence is a fault after 2 s."""
LEFT_KNOWN_US = 3_000_000
"""Two and a half gaps between four beams take the slowest ball 1.5 s, what a head reports is late by one, and a screen
is looked at twice a second."""
SENT_US = 300_000
"""What a sensor saw is heard by then."""
HEAD_RUN_US = 2_000_000
"""A head that sees the wheel alone reports a launch so much later at most (rulebook 7)."""
RUNNING = ("ball_running", "rien_ne_va_plus", "ball_on_obstacle")
LAUNCHED_FROM = ("faites_vos_jeux", "rien_ne_va_plus")
STARTED_US = 5_000_000
"""At the start of the evening nobody is connected yet."""
ANSWER_US = 60_000_000
"""The broker keeps a word for a minute, and a daemon is connected again within half of one."""
STALL_TOLD_US = 1_600_000
DEAF_TOLD_US = 14_000_000
"""A standstill of a second is told; a board that has answered nothing for 10 s."""
FORGETS = {"broker_forgot", "all_power"}
OF_THE_BROKER = {"broker_restarted", "network_cut", "stall", "rien_va_in_a_stall"}
TELLS_US = 8_000_000
"""After a standstill a daemon hears people first, five seconds at most, and stores what it then tells on a disk that
may take most of a second for each call. Who stops it sooner learns of the stop."""
WINDOW_US = 10_000_000
MESSAGES_MAX, LOG_LINES_MAX = 60, 100
"""In ten seconds: a coup makes some ten messages, people who fumble some more."""
LINE_CHANGES_MAX = 6
"""In ten seconds: a line that fails as often as it works again is told to have failed, not each of its changes."""


def problems(house: House) -> list[str]:
    """All that is wrong, the worst kinds first."""
    witness = house.witness
    return [
        *(f"unsafe: {one}" for one in unsafe(witness)),
        *(f"unsafe: {one}" for one in _feed(witness, house.settlement)),
        *(f"unsafe: {one}" for one in _shown_open(house)),
        *(f"unsafe: {one}" for one in _opened_in_a_run(house)),
        *(f"unsafe: {one}" for one in _lost_numbers(witness)),
        *(f"unsafe: {one}" for one in _open_after_the_run(house)),
        *(f"unsafe: {one}" for one in _unjudged(house)),
        *(f"wrong: {one}" for one in _voided_at_rest(house)),
        *(f"wrong: {one}" for one in _quiet_rounds(house)),
        *(f"untold: {one}" for one in _unanswered(house)),
        *(f"untold: {one}" for one in _untold(house)),
        *(f"flood: {one}" for one in _floods(witness)),
        *witness.troubles,
    ]


# --- safety ----------------------------------------------------------------------------------------------------------


def unsafe(witness: Witness) -> Iterator[str]:
    """Results that the physical world does not bear out, or that pass over the chef's word."""
    unused = list(witness.coups)
    numbers = Counter(one.body["coup"] for one in witness.of("result", "void"))
    yield from (f"coup {coup} has {count} verdicts" for coup, count in numbers.items() if count > 1)
    for result in witness.of("result"):
        fell = (one for one in reversed(unused) if one.rest_us <= result.t_us)
        coup = next((one for one in fell if one.number == result.body["number"] or _is_named(witness, result)), None)
        if coup is None:
            yield f"{_told(result)}: no such coup was played"
            continue
        del unused[: unused.index(coup) + 1]
        yield from (f"{_told(result)}: {why}" for why in _not_borne_out(witness, coup, result))


def _is_named(witness: Witness, result: FirstTaken) -> bool:
    """R3b: the chef named that number himself, right or wrong, and answers for it where no sensor could prove one."""
    named = (word.number for word in witness.words if word.name == "confirm")
    return result.body["confirmed_by"] is not None and result.body["number"] in named


def _not_borne_out(witness: Witness, coup: TrueCoup, result: FirstTaken) -> Iterator[str]:
    if not witness.is_good(coup):
        yield "a foreign object lay in the cylinder"
    if result.body["confirmed_by"] is None and witness.was("board off", coup.launch_us, coup.rest_us):
        yield "the board had no power in the run"
    for word in witness.words:
        is_in_time = coup.launch_us + LAUNCH_KNOWN_US < word.t_us < coup.rest_us - REST_KNOWN_US
        if word.name == "rien_va" and word.reply is not None and is_in_time:
            before_s = (coup.rest_us - word.t_us) / 1e6
            yield f"the chef said rien va {before_s:.1f} s before the number, and was told: {word.reply['why']}"


def _feed(witness: Witness, settlement: Settlement) -> Iterator[str]:
    """`seq` and bytes: each once, without a gap, in a chain; no bets open on a coup after its verdict; the settlement
    core has all in the end."""
    by_seq: dict[int, FirstTaken] = {}
    for one in witness.of("result", "void", "table"):
        seq = one.body["seq"]
        if seq in by_seq:
            yield f"seq {seq} is {_told(by_seq[seq])}, and also {_told(one)}"
        by_seq.setdefault(seq, one)
    if sorted(by_seq) != list(range(1, len(by_seq) + 1)):
        yield f"gaps in what was published: {sorted(set(range(1, max(by_seq) + 1)) - set(by_seq))}"
    for before, after in pairwise(by_seq[seq] for seq in sorted(by_seq)):
        if after.body["prev"] != before.body["hash"] and after.body["seq"] == before.body["seq"] + 1:
            yield f"the chain is broken at {_told(after)}"
    decided = set[int]()
    for one in (by_seq[seq] for seq in sorted(by_seq)):
        if one.leaf != "table":
            decided.add(one.body["coup"])
        elif one.body["bets"] == "open" and one.body["coup"] in decided:
            yield f"{_told(one)} opens the bets on a coup that has its verdict"
    if settlement.stored != [by_seq[seq].payload for seq in sorted(by_seq)]:
        yield f"the settlement core has {len(settlement.stored)} of {len(by_seq)} messages"


def _shown_open(house: House) -> Iterator[str]:
    """Bets are never shown open while a daemon that is well can't see the wheel."""
    witness = house.witness
    silence_us = SILENCE_US + (HEAD_SILENCE_US if house.plan.source in HEADS else 0)
    for blind in witness.spans.get("blind", ()):
        from_us, to_us = blind.from_us + silence_us, blind.to_us
        for shown in witness.spans.get("shown open", ()):
            began_us, ended_us = max(from_us, shown.from_us), min(to_us, shown.to_us)
            if ended_us > began_us and not witness.was("daemon unwell", began_us - silence_us, ended_us):
                yield f"bets open for {(ended_us - began_us) / 1e6:.1f} s of a line that was down since {blind.from_us}"


def _opened_in_a_run(house: House) -> Iterator[str]:
    """No word opens the bets while a launched ball runs that a daemon has seen from its launch on."""
    witness = house.witness
    known_us = LAUNCH_KNOWN_US + (HEAD_SILENCE_US if house.plan.source in HEADS else 0)
    for before, after in pairwise(witness.of("table")):
        opens = after.body["state"] == "faites_vos_jeux" and before.body["state"] != "faites_vos_jeux"
        for run in witness.runs if opens else ():
            is_in = run.from_us + known_us < after.t_us < run.to_us - REST_KNOWN_US
            unseen = (witness.was(what, run.from_us - 1e6, after.t_us) for what in ("blind", "daemon unwell", "stall"))
            if is_in and not any(unseen):
                yield f"{_told(after)} opens the bets while a ball runs since {run.from_us}"


def _lost_numbers(witness: Witness) -> Iterator[str]:
    """A number that awaits the chef is lost by nothing but his word (rulebook 6)."""
    awaited = {one.body["coup"]: one.t_us for one in witness.of("table") if one.body["state"] == "awaiting_chef"}
    for void in witness.of("void"):
        coup, cause = void.body["coup"], void.body["cause"]
        if void.t_us >= awaited.get(coup, math.inf) and cause != "chef":
            yield f"{_told(void)}: its number awaited the chef"


def _open_after_the_run(house: House) -> Iterator[str]:
    """Bets that are open in a run close as the ball leaves the track (rulebook 6), whatever anybody says. A head alone
    does not report that."""
    for run in house.witness.runs if house.plan.source not in HEADS_ALONE else ():
        for shown in house.witness.spans.get("shown open", ()):
            is_open = shown.from_us < run.to_us and shown.to_us > run.to_us + LEFT_KNOWN_US
            if is_open and not _harmed(house, run.from_us, run.to_us + LEFT_KNOWN_US):
                yield f"bets open until {shown.to_us}, and the ball left the track at {run.to_us}"


def _unjudged(house: House) -> Iterator[str]:
    """A launch that the table awaited has a verdict before the bets are open again, though nothing but its first two
    passes was seen, or nothing but a head's report that a ball runs (rulebook 7)."""
    witness, told = house.witness, list(house.witness.of("table", "result", "void"))
    is_head_alone = house.plan.source in HEADS_ALONE
    for run in witness.runs:
        before = next((one for one in reversed(told) if one.leaf == "table" and one.t_us <= run.from_us), None)
        if before is None or before.body["state"] not in LAUNCHED_FROM:
            continue
        known_us = run.from_us + HEAD_RUN_US if is_head_alone else run.second_pass_us
        # Of a run that two beams of four do not meet nothing is sure before its third lap.
        is_met = all(coup.scenario != "two_beams_blind" for coup in house.plan.coups)
        if _harmed(house, run.from_us, known_us + SENT_US if is_met else run.to_us):
            continue
        # Two passes less than a third of a lap apart prove no launch (rulebook 6), and a stop forgets them.
        if not is_head_alone and witness.was("down", known_us, run.third_of_lap_us + SENT_US):
            continue
        after = (one for one in told if one.t_us > known_us)
        first = next((one for one in after if one.leaf != "table" or one.body["state"] == "faites_vos_jeux"), None)
        if first is not None and first.leaf == "table" and first.t_us > run.to_us:
            yield f"{_told(first)} opens the bets, and the launch at {run.from_us} has no verdict"


def _voided_at_rest(house: House) -> Iterator[str]:
    """Once readers saw the fallen ball of a proven run in a pocket, no breakdown voids its coup (rulebook N8, R3b)."""
    witness = house.witness
    for coup in witness.coups if house.plan.source in READ else ():
        played = house.plan.coups[coup.round].scenario if coup.round < len(house.plan.coups) else ""
        seen_us = next((t_us for t_us in witness.sightings if t_us >= coup.rest_us), None)
        if seen_us is None or played == "lap_margin" or _harmed(house, coup.launch_us, seen_us + SENT_US):
            continue
        at_rest = next((one for one in reversed(list(witness.of("table"))) if one.t_us <= seen_us), None)
        if at_rest is None or at_rest.body["state"] not in RUNNING:
            continue
        for void in witness.of("void"):
            is_of_it = void.body["coup"] == at_rest.body["coup"] and void.t_us > seen_us + SENT_US
            if is_of_it and void.body["cause"] == "breakdown":
                yield f"{_told(void)}: a reader saw its ball at rest at {seen_us}"


def _harmed(house: House, from_us: float, to_us: float) -> bool:
    """Whether a fault, or the daemon, may have changed what is known of the wheel in that time."""
    harmful = (f"fault {n}" for n, fault in enumerate(house.plan.faults) if not KINDS[fault.kind].is_harmless)
    what = (*harmful, "blind", "board off", "daemon unwell", "stall", "down", "object")
    return any(house.witness.was(one, from_us - TOLD_LATE_US, to_us) for one in what)


# --- what must go on -------------------------------------------------------------------------------------------------


def _quiet_rounds(house: House) -> Iterator[str]:
    """A round without faults, or with harmless ones, has the verdicts that were played."""
    witness = house.witness
    for played in witness.rounds:
        if _is_disturbed(house, played):
            continue
        published = [
            f"result {one.body['number']}" if one.leaf == "result" else f"void {one.body['cause']}"
            for one in witness.of("result", "void")
            if played.from_us <= one.t_us < played.to_us
        ]
        truths = [played.truth]
        if _is_last_to_come(witness, played):
            last = next((n for n, one in enumerate(played.truth) if one.startswith("result")), len(played.truth))
            truths = [played.truth[: last + 1]]  # the next that is valid is the last: a void before it is none
            if played.truth[last + 1 :] == ["void early_launch"]:  # N2, if its operations are not done yet
                truths.append(played.truth)
        if published not in truths and not _is_place_doubted(house, played):
            yield f"round {played.index}: played {truths[0]}, published {published}"


def _is_last_to_come(witness: Witness, played: Round) -> bool:
    """Whether la dernière was announced in a round before and is still to be played: the table closes after it (A5)."""
    said = (one.t_us for one in witness.of("notice") if one.body["notice"] == "last_coup")
    said_us = max((t_us for t_us in said if t_us < played.from_us), default=played.from_us)
    closed = (one.t_us for one in witness.of("table") if one.body["state"] == "closed")
    return said_us < played.from_us and not any(said_us < t_us < played.from_us for t_us in closed)


def _is_place_doubted(house: House, played: Round) -> bool:
    """Whether its number awaits the chef, or nothing is played, because of something before: where nobody watched, a
    hand may have moved the ball, or the pockets stand elsewhere (rulebook 7)."""
    witness, kinds = house.witness, (fault.kind for fault in house.plan.faults)
    slips = any(coup.scenario.startswith("disc_slips") for coup in house.plan.coups)
    harmful = (n for n, kind in enumerate(kinds) if not KINDS[kind].is_harmless)
    before = ("blind", *(f"fault {n}" for n in harmful))  # blind: a scenario's own outage of the line, too
    is_doubted = slips or any(witness.was(what, 0, played.from_us) for what in before)
    told = [one for one in witness.of("table") if one.t_us < played.to_us]
    since = next((n for n, one in enumerate(told) if one.t_us >= played.from_us), len(told))
    shown = [one.body for one in told[max(0, since - 1) :]]
    return is_doubted and any(one["state"] == "awaiting_chef" or "rotor/place" in one["failing"] for one in shown)


def _is_disturbed(house: House, played: Round) -> bool:
    harmful = (n for n, fault in enumerate(house.plan.faults) if not KINDS[fault.kind].is_harmless)
    since_us = played.from_us - TOLD_LATE_US
    if any(house.witness.was(f"fault {n}", since_us, played.to_us) for n in harmful):
        return True
    # A number that is owed while broker or network are away comes later than the people look.
    return house.witness.was("daemon unwell", played.from_us, played.to_us)


def _unanswered(house: House) -> Iterator[str]:
    """A word that the broker took is answered by a daemon that goes on running, if the broker forgets nothing."""
    witness, kinds = house.witness, [fault.kind for fault in house.plan.faults]
    if FORGETS & set(kinds) or sum(kind in OF_THE_BROKER for kind in kinds) > 1:
        return  # or it was away for longer than it keeps anything
    for word in witness.words:
        until_us = word.t_us + ANSWER_US
        is_there = (
            word.t_us > STARTED_US and until_us < house.now_us and not witness.was("down", word.t_us - 1e6, until_us)
        )
        if word.is_taken and word.reply is None and is_there and not _may_lose_its_answer(witness, word):
            yield f"nobody answered {word.name} at {word.t_us}"


def _may_lose_its_answer(witness: Witness, word: Word) -> bool:
    """Who sends more than his budget is told so once, and it is not stored: it may be lost with the connection."""
    until_us = word.t_us + ANSWER_US
    is_one_too_many = any(
        what == "command.over_budget" and word.t_us <= t_us <= until_us for t_us, _, what in witness.logged
    )
    return _is_for_another_run(witness, word) or (is_one_too_many and witness.was("cut off", word.t_us, until_us))


def _is_for_another_run(witness: Witness, word: Word) -> bool:
    """Said while the daemon had started and was not connected yet: the broker kept it for the run before, and what that
    was told is of the past (docs/interfaces.md)."""
    away = (one for one in witness.spans.get("cut off", ()) if one.from_us <= word.t_us < one.to_us)
    return any(witness.was("down", one.from_us, word.t_us) for one in away)


def _untold(house: House) -> Iterator[str]:
    """A standstill of seconds, and a board that does not hear, are told by a notice (rulebook 7)."""
    witness = house.witness
    for still in witness.spans.get("stall", ()):
        is_long = still.to_us - still.from_us > STALL_TOLD_US
        ready = (t_us for t_us, _, what in witness.logged if what == "daemon.ready" and t_us < still.from_us)
        ready_us = max(ready, default=0)
        is_there = still.from_us > STARTED_US and not witness.was("down", ready_us, still.to_us + TELLS_US)
        until_us = still.to_us + ANSWER_US
        if (
            is_long
            and is_there
            and until_us < house.now_us
            and not _has_notice(witness, "standstill", still.from_us, until_us)
        ):
            yield f"nobody told of the standstill at {still.from_us}"
    if any(fault.kind == "board_clock_back" for fault in house.plan.faults):
        return  # that says more, and stands until somebody switches the board off and on
    for number, fault in enumerate(house.plan.faults):
        deaf = next(iter(witness.spans.get(f"fault {number}", ())), None)
        if (
            fault.kind != "board_deaf"
            or house.plan.source != "board"
            or deaf is None
            or fault.for_s * 1e6 < DEAF_TOLD_US
            or _is_deaf_already(house, number, deaf)
        ):
            continue
        until_us = deaf.from_us + DEAF_TOLD_US
        disturbed = ("blind", "board off", "daemon unwell", "stall", "down")
        if any(witness.was(what, deaf.from_us - 20e6, until_us) for what in disturbed):
            continue
        if not _has_notice(witness, "sensor_trouble", deaf.from_us, until_us):
            yield f"nobody told of the board that is deaf since {deaf.from_us}"


def _is_deaf_already(house: House, number: int, deaf: TimeSpan) -> bool:
    others = (n for n, fault in enumerate(house.plan.faults) if n != number and fault.kind == "board_deaf")
    spans = (one for n in others for one in house.witness.spans.get(f"fault {n}", ()))
    return any(one.from_us <= deaf.from_us <= one.to_us for one in spans)


def _has_notice(witness: Witness, kind: str, from_us: float, to_us: float) -> bool:
    return any(one.body["notice"] == kind and from_us <= one.t_us <= to_us for one in witness.of("notice"))


def _floods(witness: Witness) -> Iterator[str]:
    """The rate of messages and of log lines is bounded."""
    tables = list(witness.of("table"))
    line_us = [after.t_us for before, after in pairwise(tables) if _fails(before) is not _fails(after)]
    for what, times, most in (
        ("messages", [one.t_us for one in witness.published], MESSAGES_MAX),
        ("log lines", [t_us for t_us, _, _ in witness.logged], LOG_LINES_MAX),
        ("changes of the line", line_us, LINE_CHANGES_MAX),
    ):
        for first, last in zip(times, times[most:], strict=False):
            if last - first < WINDOW_US:
                yield f"more than {most} {what} in {(last - first) / 1e6:.1f} s at {first}"
                break
    for one in tables:
        if witness.was("tail", one.t_us, one.t_us):
            yield f"a table that nobody touched changed to {_told(one)}"
            break


def _fails(table: FirstTaken) -> bool:
    return "link" in table.body.get("failing", [])


def _told(one: FirstTaken) -> str:
    body = one.body
    what = body.get("number", body.get("cause", body.get("state")))
    return f"{one.leaf} {what} (coup {body['coup']}, seq {body['seq']}, at {one.t_us})"
