"""The state of a table by its feed alone, compared with what the table itself remembers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import msgspec
import pytest

from hw_sim import log
from hw_sim.evening import draw_evening
from hw_sim.faults import Rates, add_faults
from tests.core.evening import FRENCH, START_UTC_US, Evening
from tests.core.table_in_state import STATES, table_in
from tests.core.test_number_awaited import NUMBER, TABLES, a_fault_of_a_reader
from tests.core.test_table_launches import both_owed, first_passes, null, opened, operations, proof, say
from wheeld.core.instants import from_text
from wheeld.core.law.published import PublishedState
from wheeld.core.observations import CommandName, Observation
from wheeld.core.setting import Header, TableSetting, from_header
from wheeld.core.step import SEQUENCED, Message, Step
from wheeld.core.table import Table
from wheeld.core.table_state import TableState

LATER_UTC_US = START_UTC_US + 3_600_000_000
FIELDS = (
    "state", "resume_to", "since_at", "moved_by", "coup", "decided", "seq", "prev", "last_number", "numbers",
    "last_void", "last_coup", "tout_va_owed", "left_out", "slipped", "told_us", "awaits_chef", "ball_belongs_in",
)  # fmt: skip
BOULER = ("who", "next_who", "acknowledged_by")


def compared(state: TableState) -> dict[str, object]:
    found = {name: getattr(state, name) for name in FIELDS}
    return found | {name: getattr(state.spinning, name) for name in BOULER}


def by_feed(evening: Evening) -> PublishedState:
    known = PublishedState()
    for message in evening.published:
        if message.topic in SEQUENCED:
            known.take(message.topic, message.bytes, from_text(message.payload["at"]))
    return known


def take(known: PublishedState, message: Message) -> None:
    at = msgspec.json.decode(message.payload)["at"]
    known.take(message.topic, message.payload, from_text(at))


def remembered(evening: Evening) -> TableState:
    assert evening.memory is not None
    return msgspec.json.decode(evening.memory, type=TableState)


def again(before: Evening, setting: TableSetting = FRENCH) -> Evening:
    memory = msgspec.json.encode(by_feed(before).state)
    return type(before)(setting, memory=memory, started_utc_us=LATER_UTC_US)


def played(seed: int) -> tuple[TableSetting, Iterator[Step]]:
    """An evening of the simulator, every second one with sensors that err."""
    evening = draw_evening(seed)
    events = add_faults(evening, f"published {seed}", Rates()).events if seed % 2 else evening.events()
    header, *lines = log.lines(evening.header, events)
    setting = from_header(msgspec.json.decode(header, type=Header))
    table, opening = Table.start(setting, boot_id="b" * 32, started_utc_us=START_UTC_US)

    def steps() -> Iterator[Step]:
        yield opening
        for line in lines:
            yield table.apply(msgspec.json.decode(line, type=Observation))

    return setting, steps()


def feed_of(step: Step) -> list[Message]:
    return [message for message in step.messages if message.topic in SEQUENCED]


@pytest.mark.parametrize("seed", range(8))
def test_after_each_message_it_is_what_the_table_remembers(seed: int) -> None:
    known, count = PublishedState(), 0
    for step in played(seed)[1]:
        messages = feed_of(step)
        for message in messages:
            take(known, message)
        if messages and step.memory is not None:
            count += 1
            assert compared(known.state) == compared(msgspec.json.decode(step.memory, type=TableState)), known.state.seq
    assert count > 30


@pytest.mark.parametrize("seed", [3, 4])
def test_wherever_the_feed_ends_no_coup_gets_a_second_verdict_and_the_chain_goes_on(seed: int) -> None:
    """A step may be cut in the middle: its verdict was collected, and the state after it was not."""
    setting, steps = played(seed)
    known, verdicts, ends = PublishedState(), set[int](), 0
    for message in (message for step in steps for message in feed_of(step)):
        take(known, message)
        if message.topic in ("result", "void"):
            verdicts.add(known.state.coup)
        memory = msgspec.json.encode(known.state)
        _, opening = Table.start(setting, boot_id="c" * 32, started_utc_us=LATER_UTC_US, memory=memory)
        told = [msgspec.json.decode(more.payload) for more in feed_of(opening)]
        assert not {one["coup"] for one in told if "cause" in one} & verdicts, (message.topic, known.state.coup)
        assert (told[0]["seq"], told[0]["prev"]) == (known.state.seq + 1, known.state.prev)
        ends += 1
    assert ends > 40


@pytest.mark.parametrize("state", STATES)
def test_a_table_in_each_state_stands_where_it_stood_or_its_coup_is_void(state: str) -> None:
    before = table_in(state)
    assert compared(by_feed(before).state) == compared(remembered(before))
    after, usual = again(before), Evening(memory=before.memory, started_utc_us=LATER_UTC_US)
    assert (after.state, after.verdicts(), after.table.coup) == (usual.state, usual.verdicts(), usual.table.coup)


@pytest.mark.parametrize("stops", [say("suspend"), say("close"), a_fault_of_a_reader])
@pytest.mark.parametrize("at_first_pass", [opened, operations, null, both_owed])
def test_a_launch_that_is_proven_only_after_play_was_stopped(
    at_first_pass: Callable[[Evening], None], stops: Callable[[Evening], None]
) -> None:
    """Its coup gets its verdict while play is stopped. That changes where a later "resume" leads."""
    before = Evening()
    at_first_pass(before)
    count = len(before.verdicts())
    first_passes(before)
    stops(before)
    proof(before)
    assert len(before.verdicts()) == count + 1
    assert compared(by_feed(before).state) == compared(remembered(before))


@pytest.mark.parametrize("stops", ["", "suspend", "close"])
@pytest.mark.parametrize("table", TABLES)
def test_a_number_goes_on_awaiting_the_chef_who_answers_for_all_of_it(
    table: Callable[[], Evening], stops: CommandName | Literal[""]
) -> None:
    before = table()
    if stops:
        before.say(stops, by="direction")
    assert compared(by_feed(before).state) == compared(remembered(before))
    after = again(before, before.setting)
    assert after.verdicts() == []
    assert "confirm" in after.of("table")[-1]["waiting_codes"]
    if not stops:
        assert after.say("confirm", number=NUMBER, coup=before.table.coup, reason="I saw it").done
        (result,) = after.of("result")
        assert (result["number"], result["coup"]) == (NUMBER, before.table.coup)
        assert (result["laps"], result["margin"], result["unproven"]) == (None, None, ["R1", "R2", "R3"])


def test_a_verdict_and_a_ruling_move_no_table_that_is_closed() -> None:
    published = PublishedState()
    said = {"hash": "0" * 64, "coup": 7, "at": "2026-11-20T20:06:14.208655Z"}
    told: list[tuple[str, dict[str, object]]] = [
        ("table", {"state": "closed"}),
        ("void", {"cause": "chef"}),
        ("ruling", {"number": 5}),
    ]
    for seq, (topic, more) in enumerate(told, 1):
        published.take(topic, msgspec.json.encode(said | {"seq": seq} | more), LATER_UTC_US)
    state = published.state
    assert (state.state.name, state.seq, state.coup, state.decided) == ("CLOSED", 3, 7, True)
    assert state.last_void is not None
    assert (state.last_void.coup, state.tout_va_owed) == (7, True)
    assert state.numbers == [], "the number of a ruling did not come out"
