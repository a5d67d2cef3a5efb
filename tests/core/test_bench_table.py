"""A bench table: every message that it publishes is marked as a test, and no message of a live one is."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening
from wheeld.core.messages.chain import GENESIS, ChainError, verify_link
from wheeld.core.setting import Header, TableSetting, from_header
from wheeld.replay import replay

BENCH = msgspec.structs.replace(FRENCH, test=True)
TOPICS = {"result", "void", "table", "notice", "board"}


def played(setting: TableSetting) -> Evening:
    """A valid coup, then a void one, commands with it, and one that is refused."""
    evening = Evening(setting).open()
    evening.coup(9)
    assert evening.say("operations_done").done
    evening.run(laps=2, rev_s=0.9)
    evening.wait(10)
    assert evening.verdicts() == [("result", 9), ("void", "too_few_laps")]
    assert not evening.say("confirm", coup=2).done
    evening.say("last_coup")
    assert {message.topic for message in evening.published} == TOPICS
    return evening


def test_every_message_of_a_bench_table_has_the_mark() -> None:
    evening = played(BENCH)
    for message in evening.published:
        assert message.payload["test"] is True, message
    assert len(evening.replies) >= 3
    for reply in evening.replies:
        assert msgspec.json.decode(reply.payload)["test"] is True, reply


def test_no_message_of_a_live_table_has_it() -> None:
    evening = played(FRENCH)
    for message in evening.published:
        assert b'"test"' not in message.bytes.replace(b'"boot_id":"test"', b"")
    assert all(b'"test"' not in reply.payload for reply in evening.replies)


def test_a_live_message_is_the_bench_tables_without_the_mark() -> None:
    """Nothing else differs, and the bytes of a live table are those of before there were bench tables."""
    bench, live = played(BENCH), played(FRENCH)
    without = [
        {name: value for name, value in each.payload.items() if name not in ("test", "prev", "hash")}
        for each in bench.published
    ]
    assert without == [
        {name: value for name, value in each.payload.items() if name not in ("prev", "hash")} for each in live.published
    ]


@pytest.mark.parametrize("change", [(b'"test":true,', b""), (b'"test":true', b'"test":false')])
def test_the_hash_covers_the_mark(change: tuple[bytes, bytes]) -> None:
    first = played(BENCH).of("table")[0]
    assert first["prev"] == GENESIS
    whole = next(message.bytes for message in played(BENCH).published if message.topic == "table")
    assert verify_link(whole, GENESIS) == first["hash"]
    assert whole.count(change[0]) == 1
    with pytest.raises(ChainError, match="it was edited"):
        verify_link(whole.replace(*change), GENESIS)


def test_the_mark_outlasts_a_restart() -> None:
    before = played(BENCH)
    again = Evening(BENCH, memory=before.memory)
    assert again.published
    assert all(message.payload["test"] is True for message in again.published)


def test_it_stands_in_a_logs_header_and_a_replay_has_it() -> None:
    header = played(BENCH).table.header()
    line = msgspec.json.encode(header)
    assert from_header(msgspec.json.decode(line, type=Header)).test
    assert b'"test":' not in msgspec.json.encode(played(FRENCH).table.header())
    fresh = msgspec.json.encode(Evening(BENCH).table.header())
    opened = [fresh, b'{"t":0,"kind":"command","id":"c-1","name":"open","by":"chef","reason":"start"}']
    lines = [msgspec.json.decode(each) for each in replay(opened)]
    assert {each["topic"] for each in lines} >= {"reply"}
    assert all(each["payload"]["test"] is True for each in lines)
