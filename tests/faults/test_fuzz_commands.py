"""Commands and acks of any bytes: each is answered or counted, and the intake continues."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.broker.test_commands import NOW, Bench
from tests.faults.fuzz_mutate import drawn
from tests.journal.journals import OWNER
from wheeld.broker.commands import CORRELATION_BYTES_MAX, TOPIC_CHARACTERS_MAX
from wheeld.broker.payloads import COMMANDS
from wheeld.journal.journal import Journal

TOKENS = (
    b'"id":"c-1"', b'"by":"chef"', b'"reason":"x"', b'"coup":9007199254740992', b'"expires_at":"2030-01-01T00:00:00Z"',
    b'"expires_at":"0001-01-01T00:00:00+23:59"', b'"from_seq":0', b'"who":""', b"cmd/settlement/resend\n", b"ack\n",
    b"cmd/chef-3/bouler\n",    b'{"seq":-1}', b'{"seq":9007199254740991}', b"/",
)  # fmt: skip
TOPICS = (
    None,
    "",
    "reply/campione/3/desk-7",
    "wheel/v1/x",
    "$SYS/x",
    "a/+/b",
    "a\0b",
    "x" * (TOPIC_CHARACTERS_MAX + 1),
    "é",
    "\x1b[2J",
)
CORRELATIONS = (None, b"", b"\x00\xff", bytes(CORRELATION_BYTES_MAX + 1))
DONE = ("commands", "refused", "repeated", "unknown_topics")


async def test_every_command_and_ack_is_answered_or_counted(
    tmp_path: Path, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    outcomes: Counter[str] = Counter()
    journal = await Journal.open(tmp_path / "j", OWNER, at_utc_us=NOW)
    bench = Bench(journal)
    try:
        for number, (where, data) in enumerate(drawn("commands", seed, how_many("commands"), TOKENS)):
            leaf, _, payload = data.partition(b"\n")
            if number % 3:
                payload = payload.replace(b"c-1", b"c-%d" % number)  # else nearly all would be repeats
            try:
                with capture_logs():
                    outcomes[await _sent(bench, leaf.decode(errors="ignore"), payload, random.Random(where))] += 1
            except Exception as error:
                error.add_note(f"{where}: {data[:2000]!r}")
                raise
            if number % 50 == 0:
                await journal.mark_sent([each.id for each in await journal.owed(0, 1000)], await_settlement=False)
    finally:
        await journal.close()
    counted(f"{outcomes.total():,} commands and acks: {dict(outcomes)}, none unanswered, 0 errors")
    assert {"taken", "refused", "ack", "acks_malformed", "unknown_topics"} <= set(outcomes)


async def _sent(bench: Bench, leaf: str, payload: bytes, rng: random.Random) -> str:
    """Send it. Returns its outcome, of which there must be exactly one."""
    if leaf == "ack":
        malformed = bench.inbox.counters["acks_malformed"]
        bench.inbox.acks.put(payload)
        return "acks_malformed" if bench.inbox.counters["acks_malformed"] > malformed else "ack"
    before = dict(bench.intake.counters)
    owed = {each.id for each in await bench.owed()}
    await bench.send(
        leaf,
        payload,
        retained=rng.random() < 0.1,
        response_topic=rng.choice(TOPICS),
        correlation=rng.choice(CORRELATIONS),
    )
    counts = {name: bench.intake.counters[name] - before[name] for name in DONE}
    answers = [each for each in await bench.owed() if each.id not in owed]
    for answer in answers:
        topic = answer.response_topic or ""
        assert topic in ("", "reply/campione/3/desk-7")
        assert len(answer.correlation or b"") <= CORRELATION_BYTES_MAX
    if not counts["commands"]:
        assert not answers
        assert bench.requests.empty()
        assert counts["unknown_topics"]
        return "unknown_topics"
    taken = not bench.requests.empty()
    if taken:
        assert bench.requests.get_nowait().name in COMMANDS
    assert bench.requests.empty()
    assert taken + len(answers) + (counts["repeated"] and not answers) == 1, (counts, answers)
    return "refused" if counts["refused"] else "repeated" if counts["repeated"] else "taken" if taken else "resend"


@pytest.mark.parametrize("payload", [b'{"id":"\xff"}', b'{"id":"c","by":"\xff","reason":"x"}'])
async def test_a_text_that_is_not_utf_8_is_refused(tmp_path: Path, payload: bytes) -> None:
    journal = await Journal.open(tmp_path / "j", OWNER, at_utc_us=NOW)
    bench = Bench(journal)
    try:
        await bench.send("cmd/chef-3/open", payload)
        assert "cannot be read" in await bench.refusal()
    finally:
        await journal.close()
