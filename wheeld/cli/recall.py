"""`wheeld journal show --last N`: prints the last coups. Each has its verdict, then its late bets and rulings, its
figures, the people who answered for it, a drawing of its evidence, and the facts that decided it.

The facts come from a replay of the stored evidence. The replay must give the stored verdict again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from wheeld.broker.payloads import UNREADABLE
from wheeld.cli.drawing import draw, read, said
from wheeld.core.catalogue import Language
from wheeld.core.instants import to_text
from wheeld.core.messages.chain import unsigned
from wheeld.journal.reader import PAGE, JournalReader
from wheeld.journal.rows import StoredMessage
from wheeld.replay import LogError, LogReplay, OutputLine
from wheeld.screen.describe import describe

BEFORE_US = 1_000_000
"""The drawing begins this long before the launch."""

UNLAUNCHED_US = 20_000_000
"""If no launch was proven, the drawing begins this long before the end. An unseen ball falls within this time."""

BEGINNINGS = ("launched", "weak_launch")
"""The facts that begin a coup."""

FIGURES = ("laps", "laps_needed", "ball_direction", "rotor_direction", "rotor_rpm", "margin", "margin_of")
PEOPLE = ("confirmed_by", "confirmed_reason", "by", "reason")
TIMES = ("launched_at", "left_track_at", "number_at", "evidence_at")


class _Fact(msgspec.Struct):
    fact: str
    evidence_us: int


class _Word(msgspec.Struct):
    """A notice or a ruling. `coup` is the present coup, `about` is the coup that a ruling decides."""

    coup: int
    about: int = 0
    notice: str = ""


def recalled(journal: JournalReader, count: int, language: Language) -> Iterator[str]:
    """Yield lines about the last `count` verdicts, oldest first. The details, for a laboratory, are in English."""
    verdicts = journal.last_verdicts(count + 1)
    words = _words(journal, verdicts[0].id if len(verdicts) > count else 0, language)
    for verdict in verdicts[-count:]:
        yield from _coup(journal, verdict, words, language)
        yield ""


def _words(journal: JournalReader, after_id: int, language: Language) -> Mapping[int, list[str]]:
    """Return a line for each late bet and each ruling that was stored after the message `after_id`, by coup."""
    words = defaultdict[int, list[str]](list)
    # Damaged records are left out, here and below: `wheeld journal verify` reports them. A damaged table may repeat its
    # ids, so each page must have a new one.
    while (page := journal.records(after_id, PAGE)) and page[-1].id > after_id:
        after_id = page[-1].id
        for message in (each for each in page if each.topic in ("notice", "ruling")):
            try:
                word = msgspec.json.decode(message.payload, type=_Word)
            except UNREADABLE:
                continue
            if message.topic == "ruling" or word.notice == "late_bet":
                line = f"  {to_text(message.at_utc_us)}  {describe(message.topic, message.payload, language)}"
                words[word.about or word.coup].append(line)
    return words


def _coup(
    journal: JournalReader, verdict: StoredMessage, words: Mapping[int, list[str]], language: Language
) -> Iterator[str]:
    body: dict[str, Any] = msgspec.json.decode(verdict.payload)
    yield f"{to_text(verdict.at_utc_us)} seq {verdict.seq}  {describe(verdict.topic, verdict.payload, language)}"
    coup = int(body["coup"])
    yield from words.get(coup, ())
    for title, names in (("figures", FIGURES), ("times", TIMES), ("people", PEOPLE)):
        known = [f"{name} {body[name]}" for name in names if body.get(name) is not None]
        if known:
            yield f"  {title}: {', '.join(known)}"
    if body.get("evidence"):
        yield f"  evidence: {', '.join(f'{name} {value}' for name, value in body['evidence'].items())}"
    evidence = journal.evidence(coup)
    if evidence is None:
        pruning = journal.pruning(coup)
        gone = ""
        if pruning is not None:
            gone = f"; they were removed at {to_text(pruning.at_utc_us)}, to stay within the limit of {pruning.why}"
        yield f"  its observations are not stored{gone}"
        return
    yield from (f"  {line}".rstrip() for line in _evidence(evidence.log, verdict))


def _evidence(log: bytes, verdict: StoredMessage) -> Iterator[str]:
    """Yield a drawing of the observations, then commands, changes of sensors and the facts that a replay finds."""
    observations = read(log)
    try:
        lines = [msgspec.json.decode(line, type=OutputLine) for line in LogReplay(facts=True).run(log.splitlines())]
    except LogError as wrong:
        yield f"its observations cannot be replayed: {wrong}"
        return
    facts = [(msgspec.json.decode(line.payload, type=_Fact), line) for line in lines if line.topic == "fact"]
    end_us = max((seen.t_us for seen in observations), default=0)
    begun_us = [fact.evidence_us for fact, _ in facts if fact.fact in BEGINNINGS]
    from_us = begun_us[-1] - BEFORE_US if begun_us else end_us - UNLAUNCHED_US
    yield from draw(observations, from_us, end_us)
    proven = [
        (fact.evidence_us, describe("fact", bytes(line.payload), "en").split(maxsplit=1)[1]) for fact, line in facts
    ]
    for t_us, what in sorted([*said(observations), *proven], key=lambda each: each[0]):
        if t_us >= from_us:
            yield f"{(t_us - from_us) / 1e6:8.3f} s  {what}"
    same = any(bytes(line.payload) == unsigned(verdict.payload) for line in lines if line.topic == verdict.topic)
    yield "replayed: the same verdict" if same else "replayed: NOT the same verdict"
