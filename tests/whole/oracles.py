"""What is wrong with an evening, by docs/rulebook.md and by what truly happened. Nothing here knows the core."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from hw_sim.whole.house import House
from hw_sim.whole.plan import HEADS, KINDS
from hw_sim.whole.settlement import Settlement
from hw_sim.whole.witness import Published, Round, TrueCoup, Witness

LAUNCH_KNOWN_US = 2_500_000
"""A launch has no deadline; several passes take less."""
REST_KNOWN_US = 200_000
"""A word said so little before the ball's rest may be late."""
SILENCE_US = 2_500_000
"""A silent line is a fault after 1 s; it is published and seen on a screen within 1.5 s more."""
HEAD_SILENCE_US = 1_000_000
"""A head speaks twice a second: by default its silence is a fault after 2 s."""
WINDOW_US = 10_000_000
MESSAGES_MAX, LOG_LINES_MAX = 60, 100
"""In ten seconds: a coup makes some ten messages, people who fumble some more."""


def problems(house: House) -> list[str]:
    """All that is wrong, the worst kinds first."""
    witness = house.witness
    return [
        *(f"unsafe: {one}" for one in unsafe(witness)),
        *(f"unsafe: {one}" for one in _feed(witness, house.settlement)),
        *(f"unsafe: {one}" for one in _shown_open(house)),
        *(f"wrong: {one}" for one in _quiet_rounds(house)),
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
        number = result.body["number"]
        coup = next((one for one in reversed(unused) if one.number == number and one.rest_us <= result.t_us), None)
        if coup is None:
            yield f"{_told(result)}: no such coup was played"
            continue
        del unused[: unused.index(coup) + 1]
        yield from (f"{_told(result)}: {why}" for why in _not_borne_out(witness, coup, result))


def _not_borne_out(witness: Witness, coup: TrueCoup, result: Published) -> Iterator[str]:
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
    """`seq` and bytes: each once, without a gap, in a chain; the settlement core has all in the end."""
    by_seq: dict[int, Published] = {}
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
        if published != played.truth:
            yield f"round {played.index}: played {played.truth}, published {published}"


def _is_disturbed(house: House, played: Round) -> bool:
    harmful = (n for n, fault in enumerate(house.plan.faults) if not KINDS[fault.kind].is_harmless)
    if any(house.witness.was(f"fault {n}", played.from_us - 1e6, played.to_us) for n in harmful):
        return True
    # A number that is owed while broker or network are away comes later than the people look.
    return house.witness.was("daemon unwell", played.from_us, played.to_us)


def _floods(witness: Witness) -> Iterator[str]:
    """The rate of messages and of log lines is bounded."""
    for what, times, most in (
        ("messages", [one.t_us for one in witness.published], MESSAGES_MAX),
        ("log lines", [t_us for t_us, _, _ in witness.logged], LOG_LINES_MAX),
    ):
        for first, last in zip(times, times[most:], strict=False):
            if last - first < WINDOW_US:
                yield f"more than {most} {what} in {(last - first) / 1e6:.1f} s at {first}"
                break
    for one in witness.of("table"):
        if witness.was("tail", one.t_us, one.t_us):
            yield f"a table that nobody touched changed to {_told(one)}"
            break


def _told(one: Published) -> str:
    body = one.body
    what = body.get("number", body.get("cause", body.get("state")))
    return f"{one.leaf} {what} (coup {body['coup']}, seq {body['seq']}, at {one.t_us})"
