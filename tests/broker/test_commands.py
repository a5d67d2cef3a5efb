"""The intake: what is a command, what is refused and how, and that each delivery has one answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import get_args

import msgspec
import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from tests.broker.feed import Feed
from tests.broker.world import Answers, FakeBroker, Heard, VirtualClock, queued_intake, settle
from tests.journal.journals import OWNER, open_reader
from tests.security.roles import roles
from wheeld.broker.budget import LOG_GAP_NS
from wheeld.broker.commands import ACK_GAP_S, TOPIC_CHARACTERS_MAX
from wheeld.broker.lanes import COMMAND_BYTES_MAX, Inbox, Incoming
from wheeld.broker.outbox import QUESTIONS_MAX, RESEND_PAUSE_S, Outbox
from wheeld.broker.payloads import COMMANDS
from wheeld.broker.roles import TableAccess
from wheeld.core.catalogue import Language
from wheeld.core.facts import Case, Person
from wheeld.core.observations import CommandName
from wheeld.core.pockets import number_of
from wheeld.core.step import Reply, Step
from wheeld.journal.journal import Journal
from wheeld.journal.rows import StoredCommand, StoredSeal
from wheeld.ports import OwedMessage
from wheeld.service.program import Program

ROOT = "wheel/v1/campione/3/"
NOW = 1_700_000_000_000_000  # 2023-11-14T22:13:20Z
GOOD: dict[str, object] = {"id": "c-1", "by": "chef", "reason": "a test"}


async def until(holds: Callable[[], bool]) -> None:
    """The journal's thread takes real time."""
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110  nothing is told of it
            await asyncio.sleep(0.001)


async def cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()


class Bench:
    """An intake with its journal; nothing is connected, so the answers stay in the journal to be looked at."""

    def __init__(self, journal: Journal, language: Language = "en", *, test: bool = False) -> None:
        self.journal = journal
        self.clock = VirtualClock(NOW)
        self.broker = FakeBroker()
        self.network = Answers(ROOT, self.clock)
        self.outbox = Outbox(
            store=journal,
            publisher=self.broker,
            clock=self.clock,
            root=ROOT,
            settlement_ack=True,
            sparing_log=self.network.sparing_log,
        )
        self.heard = Heard()
        self.inbox = Inbox(self.clock, self.network.sparing_log, self.network.access.users)
        self.intake, self.requests = queued_intake(
            journal,
            self.outbox,
            root=ROOT,
            clock=self.clock,
            language=language,
            heard=self.heard,
            network=self.network,
            test=test,
        )

    async def send(self, leaf: str, payload: object, **more: object) -> None:
        raw = payload if isinstance(payload, bytes) else msgspec.json.encode(payload)
        await self.intake.handle(msgspec.convert({"leaf": leaf, "payload": raw, **more}, Incoming))

    async def owed(self) -> list[OwedMessage]:
        return [message for message in await self.journal.owed(0, 1000) if message.topic == "reply"]

    async def answers(self) -> list[dict[str, object]]:
        return [msgspec.json.decode(message.payload) for message in await self.owed()]

    async def refusal(self) -> str:
        """The only answer, which must be a refusal: why."""
        (answer,) = await self.answers()
        assert answer["done"] is False
        assert self.requests.empty()
        return str(answer["why"])


@pytest_asyncio.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    journal = await Journal.open(tmp_path / "j", OWNER, at_utc_us=NOW)
    yield Bench(journal)
    await journal.close()


@pytest.mark.parametrize("name", [name for name in get_args(CommandName) if name not in ("bouler", "acknowledge")])
async def test_every_command_of_the_core_gets_through(bench: Bench, name: str) -> None:
    user = "direction" if name == "ruling" else "chef-3"
    await bench.send(f"cmd/{user}/{name}", complete(name, coup=5))
    asked = bench.requests.get_nowait()
    assert (asked.name, asked.id, asked.by, asked.reason, asked.coup, asked.who, asked.t_us) == (
        name,
        "c-1",
        "chef",
        "a test",
        5,
        None,
        0,
    )
    assert await bench.answers() == []


async def test_bouler_needs_who(bench: Bench) -> None:
    await bench.send("cmd/chef-3/bouler", GOOD | {"who": "Anna"})
    assert bench.requests.get_nowait().who == "Anna"
    await bench.send("cmd/chef-3/bouler", GOOD | {"id": "c-2"})
    assert await bench.refusal() == 'the command has no "who": its sender has to correct it'


async def test_the_chef_announces_the_next_bouler_and_the_inspector_acknowledges_it(bench: Bench) -> None:
    await bench.send("cmd/chef-3/bouler", GOOD | {"who": "Anna", "announced": True})
    assert bench.requests.get_nowait().announced
    await bench.send("cmd/inspector/acknowledge", GOOD | {"who": "Anna", "by": "Neri"})
    asked = bench.requests.get_nowait()
    assert (asked.name, asked.who, asked.by, asked.role) == ("acknowledge", "Anna", "Neri", "inspector")


@pytest.mark.parametrize("answers", [{"without": ["beam/1"]}, {"number": 4}])
async def test_the_bouler_opens_the_bets_and_answers_for_nothing_that_no_sensor_sees(
    bench: Bench, answers: dict[str, object]
) -> None:
    await bench.send("cmd/bouler-3/open", GOOD)
    assert bench.requests.get_nowait().name == "open"
    await bench.send("cmd/bouler-3/open", GOOD | {"id": "c-2"} | answers)
    assert "has no right to give this command; those who have it: chef-3, direction" in await bench.refusal()
    await bench.send("cmd/chef-3/open", GOOD | {"id": "c-3"} | answers)
    assert bench.requests.get_nowait().user == "chef-3"


async def test_rien_va_may_name_a_case_of_article_11(bench: Bench) -> None:
    await bench.send("cmd/chef-3/rien_va", GOOD | {"case": "rotor_stopped"})
    assert bench.requests.get_nowait().case is Case.ROTOR_STOPPED
    await bench.send("cmd/chef-3/rien_va", GOOD | {"id": "c-2"})
    assert bench.requests.get_nowait().case is None
    await bench.send("cmd/chef-3/rien_va", GOOD | {"id": "c-3", "case": "chef"})
    assert await bench.refusal() == 'the command has a wrong value in "case": its sender has to correct it'


async def test_resume_may_name_sensors_to_leave_out(bench: Bench) -> None:
    await bench.send("cmd/chef-3/resume", GOOD | {"without": ["beam/2", "object"]})
    assert bench.requests.get_nowait().without == ("beam/2", "object")
    await bench.send("cmd/chef-3/close", GOOD | {"id": "c-2", "without": ["beam/2"]})
    assert '"without"' in await bench.refusal()


@pytest.mark.parametrize(("given", "number"), [("00", number_of("00")), (17, 17)])
async def test_a_number_may_be_given_as_it_is_printed(bench: Bench, given: object, number: int) -> None:
    await bench.send("cmd/chef-3/confirm", GOOD | {"coup": 3, "number": given})
    assert bench.requests.get_nowait().number == number


@pytest.mark.parametrize("given", ["37", "000", "0", "x"])
async def test_what_is_printed_in_no_pocket_is_refused(bench: Bench, given: str) -> None:
    await bench.send("cmd/chef-3/confirm", GOOD | {"coup": 3, "number": given})
    assert bench.requests.empty()


async def test_the_step_answers(bench: Bench) -> None:
    await bench.send("cmd/chef-3/open", GOOD, response_topic="reply/campione/3/desk-7", correlation=b"\x01")
    await bench.journal.append(Step(replies=(Reply(9, "c-1", "open", "chef", done=True, user="chef-3"),)), NOW)
    (reply,) = await bench.owed()
    assert (reply.response_topic, reply.correlation) == ("reply/campione/3/desk-7", b"\x01")
    answer = {"schema": "reply/1", "id": "c-1", "name": "open", "by": "chef", "user": "chef-3"} | {
        "done": True,
        "why": "",
    }
    assert (await bench.answers())[0] == answer


@pytest.mark.parametrize(
    ("leaf", "payload", "why", "detail"),
    [
        ("cmd/chef-3/dance", GOOD, "no such command; the commands are acknowledge, bouler, close", ""),
        ("cmd/chef-3/open/now", GOOD, "no such command", ""),
        ("cmd/chef-3/open", b"{", "cannot be read: its sender has to correct it", "truncated"),
        ("cmd/chef-3/open", b"", "cannot be read", "truncated"),
        ("cmd/chef-3/open", b"\xff\xfe", "cannot be read", "malformed"),
        ("cmd/chef-3/open", [1, 2], "cannot be read", "Expected `object`"),
        ("cmd/chef-3/open", {"id": "a", "by": "b"}, 'has no "reason"', "missing required field"),
        ("cmd/chef-3/open", {"id": "a", "reason": "b"}, 'has no "by"', "missing required field"),
        ("cmd/chef-3/open", {"by": "a", "reason": "b"}, 'has no "id"', "missing required field"),
        ("cmd/chef-3/open", GOOD | {"reason": ""}, "the reason must have 1 to 500 characters", "length >= 1"),
        (
            "cmd/chef-3/open",
            GOOD | {"id": "x" * 65},
            "the identifier of the command must have 1 to 64 characters",
            "length <= 64",
        ),
        ("cmd/chef-3/open", GOOD | {"by": "two\nlines"}, "the name of the sender must have 1 to 64", "matching regex"),
        ("cmd/chef-3/bouler", GOOD | {"who": ""}, "the name of the bouler must have 1 to 64 characters", "length >= 1"),
        ("cmd/chef-3/open", GOOD | {"id": 7}, "the identifier of the command must have 1 to 64", "Expected `str`"),
        ("cmd/chef-3/open", GOOD | {"coup": "7"}, 'a wrong value in "coup"', "Expected `int"),
        (
            "cmd/chef-3/open",
            GOOD | {"who": "Anna"},
            'this command must not have "who"',
            "unknown field `who`",
        ),
        (
            "cmd/chef-3/open",
            GOOD | {"case": "too_few_laps"},
            'this command must not have "case"',
            "`case`",
        ),
        ("cmd/chef-3/open", GOOD | {"a\nb": 1}, 'this command must not have "a\ufffdb"', "unknown field"),
        ("cmd/chef-3/open", GOOD | {"expires_at": "tomorrow"}, 'a wrong value in "expires_at"', "RFC3339"),
        (
            "cmd/chef-3/open",
            GOOD | {"expires_at": "2030-01-01T00:00:00"},
            'a wrong value in "expires_at"',
            "timezone",
        ),
        ("cmd/chef-3/open", GOOD | {"expires_at": "2023-11-14T22:13:20Z"}, "expired at 2023-11-14T22:13:20+00:00", ""),
        (
            "cmd/chef-3/open",
            GOOD | {"reason": "x" * COMMAND_BYTES_MAX},
            f"but only {COMMAND_BYTES_MAX} are allowed",
            "",
        ),
        ("cmd/settlement/resend", GOOD, 'has no "from_seq"', "missing required field"),
        ("cmd/settlement/resend", GOOD | {"from_seq": 0}, 'a wrong value in "from_seq"', ">= 1"),
    ],
)
async def test_refused_with_what_is_wrong(bench: Bench, leaf: str, payload: object, why: str, detail: str) -> None:
    """The sender is answered in words, the log has what exactly the decoder found."""
    with capture_logs() as logs:
        await bench.send(leaf, payload)
    assert why in await bench.refusal()
    (log,) = logs
    assert detail in log["detail"]


async def test_a_resend_of_what_was_never_published_is_refused(bench: Bench) -> None:
    await bench.send("cmd/settlement/resend", GOOD | {"from_seq": 1})
    assert await bench.refusal() == "there is no message 1: the last one is 0"


async def test_refused_in_the_language_of_the_table(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "j", OWNER, at_utc_us=NOW)
    bench = Bench(journal, "it")
    await bench.send("cmd/chef-3/open", GOOD | {"reason": ""})
    assert await bench.refusal() == "il motivo deve avere da 1 a 500 caratteri, su una sola riga"
    await journal.close()


async def test_not_yet_expired(bench: Bench) -> None:
    await bench.send("cmd/chef-3/open", GOOD | {"expires_at": "2023-11-14T22:13:21Z"})
    assert bench.requests.qsize() == 1


async def test_who_is_outside_the_cabinet_must_say_until_when_it_is_wanted(bench: Bench) -> None:
    """Others need not: the clock of a panel may be wrong, and its "rien va" must be heard."""
    bench.intake._access = bench.intake._access._replace(must_expire=("direction",))
    await bench.send("cmd/direction/suspend", GOOD)
    assert 'the command has no "expires_at", which each command of "direction" must have' in await bench.refusal()
    await bench.send("cmd/direction/suspend", GOOD | {"id": "c-2", "expires_at": "2023-11-14T22:13:21Z"})
    await bench.send("cmd/chef-3/suspend", GOOD | {"id": "c-3"})
    assert bench.requests.qsize() == 2


async def test_it_expires_by_when_it_came(bench: Bench) -> None:
    """Not by when it was stored at last: a slow disk is not its sender's fault."""
    await bench.send("cmd/chef-3/open", GOOD | {"expires_at": "2023-11-14T22:13:15Z"}, came_utc_us=NOW - 6_000_000)
    assert bench.requests.qsize() == 1
    await bench.send("cmd/chef-3/close", GOOD | {"id": "c-2", "expires_at": "2023-11-14T22:13:15Z"}, came_utc_us=NOW)
    assert "the command expired at 2023-11-14T22:13:15" in str((await bench.answers())[0]["why"])


@pytest.mark.parametrize(
    ("name", "at", "is_refused"),
    [
        ("rien_va", None, False),
        ("open", None, True),
        ("open", "2023-11-14T22:13:14Z", False),
        ("open", "2023-11-14T22:13:15Z", True),
        ("open", "2023-11-14T22:13:16Z", True),
        ("rien_va", "2023-11-14T22:13:16Z", True),
    ],
)
async def test_in_a_standstill_it_expires_by_when_it_counts(
    bench: Bench, name: str, at: str | None, *, is_refused: bool
) -> None:
    """It stood still for seven seconds; the command was good for the first two of them."""
    bench.heard.still = (NOW - 7_000_000, NOW)
    asked = GOOD | {"expires_at": "2023-11-14T22:13:15Z"} | ({} if at is None else {"at": at})
    await bench.send(f"cmd/chef-3/{name}", asked)
    if not is_refused:
        assert bench.requests.qsize() == 1
        return
    why = await bench.refusal()
    assert "the command expired at 2023-11-14T22:13:15" in why
    assert "from 2023-11-14T22:13:13.000000Z to 2023-11-14T22:13:20.000000Z the wheel could hear nobody" in why


@pytest.mark.parametrize(
    ("at", "said_utc_us"),
    [
        ("2023-11-14T22:13:13.5Z", NOW - 6_500_000),
        ("2023-11-14T23:13:15+01:00", NOW - 5_000_000),
        ("2023-11-14T21:13:20Z", NOW - 3_600_000_000),
    ],
)
async def test_when_it_was_said_goes_with_it(bench: Bench, at: str, said_utc_us: int) -> None:
    await bench.send("cmd/chef-3/rien_va", GOOD | {"at": at}, came_ns=5)
    assert bench.heard.said_utc_us == [said_utc_us]


@pytest.mark.parametrize("at", ["2023-11-14T21:13:19.9Z", "2023-11-14T23:13:21Z", "0001-01-01T00:00:00Z"])
async def test_a_sender_whose_clock_is_an_hour_wrong_does_not_date(bench: Bench, at: str) -> None:
    with capture_logs() as logs:
        await bench.send("cmd/chef-3/rien_va", GOOD | {"at": at})
    assert bench.heard.said_utc_us == [None]
    assert [log["event"] for log in logs] == ["command.date_not_used"]


@pytest.mark.parametrize("at", ["2023-11-14T22:13:13", "now", 5])
async def test_a_date_names_its_offset(bench: Bench, at: object) -> None:
    await bench.send("cmd/chef-3/rien_va", GOOD | {"at": at})
    assert await bench.refusal() == 'the command has a wrong value in "at": its sender has to correct it'


async def test_retained_is_refused_and_its_clearing_is_nobodys_command(bench: Bench) -> None:
    await bench.send("cmd/chef-3/open", GOOD, retained=True)
    assert "send it without retain" in await bench.refusal()
    await bench.send("cmd/chef-3/open", b"", retained=True)
    assert len(await bench.answers()) == 1


async def test_a_refusal_names_the_command_as_far_as_it_can_be_read(bench: Bench) -> None:
    await bench.send("cmd/chef-3/open", {"id": "half"})
    await bench.send("cmd/chef-3/open", b"nothing")
    await bench.send("cmd/chef-3/" + "y" * 100, {"id": "x" * 100})
    names = [(answer["id"], answer["name"]) for answer in await bench.answers()]
    assert names == [("half", "open"), (None, "open"), ("x" * 64, "y" * 64)]


async def test_each_delivery_has_one_answer(bench: Bench) -> None:
    await bench.send("cmd/chef-3/open", GOOD)
    await bench.send("cmd/chef-3/open", GOOD)
    assert bench.requests.qsize() == 1
    await bench.journal.append(Step(replies=(Reply(9, "c-1", "open", "chef", done=True, user="chef-3"),)), NOW)
    await bench.send("cmd/chef-3/open", GOOD)
    assert bench.requests.qsize() == 1
    assert [answer["done"] for answer in await bench.answers()] == [True, True]
    await bench.send("cmd/chef-3/close", GOOD)
    assert bench.requests.qsize() == 1
    assert "choose a new id" in str((await bench.answers())[-1]["why"])
    assert bench.intake.counters["repeated"] == 2


async def test_resend_is_answered_when_all_has_been_sent(bench: Bench) -> None:
    await bench.journal.append(Feed().step("result", "table"), NOW)
    await bench.journal.mark_sent([1, 2], await_settlement=False)
    await bench.send("cmd/settlement/resend", GOOD | {"from_seq": 2})
    assert bench.requests.empty()
    assert await bench.answers() == []
    publishing = asyncio.create_task(bench.outbox.run())
    bench.broker.up()
    await until(lambda: bench.outbox.counters["resent"] == 1)
    await bench.clock.advance(RESEND_PAUSE_S)
    await until(lambda: any(said.topic == ROOT + "reply" for _, said in bench.broker.received))
    (answer,) = [msgspec.json.decode(said.payload) for _, said in bench.broker.received if said.topic == ROOT + "reply"]
    assert (answer["done"], answer["why"], answer["last_seq"]) == (True, "messages 2 to 2 are sent again", 2)
    await cancelled(publishing)


async def test_a_resend_that_the_daemon_did_not_end_is_refused_at_the_next_start(bench: Bench) -> None:
    await bench.journal.append(Feed().step("result", "table"), NOW)
    await bench.send("cmd/settlement/resend", GOOD | {"from_seq": 1})
    await bench.journal.answer_unfinished(NOW)
    assert "send the command again if it is still wanted" in await bench.refusal()


async def test_of_too_many_questions_the_last_are_refused(bench: Bench) -> None:
    await bench.journal.append(Feed().step("result", "table"), NOW)
    for number in range(QUESTIONS_MAX + 1):
        await bench.send("cmd/settlement/resend", GOOD | {"id": str(number), "from_seq": 1})
    (answer,) = await bench.answers()
    assert (answer["id"], answer["done"], answer["last_seq"]) == (str(QUESTIONS_MAX), False, 2)
    assert "ask again when one of them is answered" in str(answer["why"])


async def test_a_resend_beyond_the_end_tells_the_end(bench: Bench) -> None:
    await bench.journal.append(Feed().step("result", "table"), NOW)
    await bench.send("cmd/settlement/resend", GOOD | {"from_seq": 3})
    (answer,) = await bench.answers()
    assert (answer["done"], answer["last_seq"]) == (False, 2)


async def test_an_inspection_is_an_event_record(bench: Bench) -> None:
    found = {"level": "good", "balance": "corrected"}
    await bench.send("cmd/technician/inspect", GOOD | found)
    await bench.send("cmd/technician/inspect", GOOD | found)  # delivered twice
    await bench.send("cmd/technician/inspect", GOOD | {"id": "c-2", "level": "crooked"})
    assert bench.requests.empty(), "the table has nothing to decide"
    answers = await bench.answers()
    assert [answer["done"] for answer in answers] == [True, True, False]
    assert answers[0]["why"] == "the inspection is in the journal"
    last = await bench.journal.last_event("inspection")
    assert last is not None
    assert (last.row, last.by, last.why) == (1, "chef", "a test"), "stored once"
    assert msgspec.json.decode(last.details) == {"user": "technician", **found}


async def test_seal_is_done_here(bench: Bench) -> None:
    await bench.send("cmd/chef-3/seal", GOOD)
    assert "no signing key" in await bench.refusal()
    asked = []

    async def seal(*, by: str, why: str, user: str | None = None) -> StoredSeal:
        asked.append((by, why, user))
        return StoredSeal(n=7, head=b"\x01\x02", at_utc_us=NOW, by=by, why=why, key_id="k", signature=b"")

    bench.intake._seal = seal
    await bench.send("cmd/chef-3/seal", GOOD | {"id": "c-2"})
    assert bench.requests.empty()
    assert asked == [("chef", "a test", "chef-3")]
    answer = (await bench.answers())[-1]
    assert (answer["done"], answer["why"]) == (True, "the journal is sealed; the head of its chain is 7:0102")


async def test_the_program_is_named(bench: Bench) -> None:
    await bench.send("cmd/control-office/program", GOOD)
    assert "could not be read" in await bench.refusal()
    program = bench.intake._program = Program()
    said = []
    for number, (digest, as_released) in enumerate((("ab12", None), ("ab12", True), ("ab12", False))):
        program.digest, program.as_released = digest, as_released
        await bench.send("cmd/control-office/program", GOOD | {"id": f"c-{number + 7}"})
        answer = (await bench.answers())[-1]
        assert answer["done"]
        said.append(answer["why"])
    assert bench.requests.empty()
    about = f"version {program.version}, program ab12"
    assert said == [
        f"{about}; the program has no manifest of a release",
        f"{about}: this is the program in the manifest of its release",
        f"{about}: this is NOT the program in the manifest of its release",
    ]


@pytest.mark.parametrize(
    "topic",
    [
        "wheel/v1/campione/3/result",
        "wheel/v1/venezia/1/cmd/open",
        "desk/7",
        "reply/campione/4/desk-7",
        "reply/campione/3",
        "reply/campione/33/desk-7",
        "reply/campione/3//desk-7",
        "reply/campione/3/\ufeff",
        "reply/campione/3" + 220 * "/x",
        "$SYS/x",
        "a/+",
        "#",
        "x" * (TOPIC_CHARACTERS_MAX + 1),
    ],
)
async def test_nobody_has_us_write_into_a_feed(bench: Bench, topic: str) -> None:
    with capture_logs() as logs:
        await bench.send("cmd/chef-3/dance", GOOD, response_topic=topic)
    (reply,) = await bench.owed()
    assert reply.response_topic is None
    assert "response_topic.ignored" in [log["event"] for log in logs]


@pytest.mark.parametrize("topic", ["", ROOT + "reply"])
async def test_a_response_topic_that_adds_nothing(bench: Bench, topic: str) -> None:
    await bench.send("cmd/chef-3/dance", GOOD, response_topic=topic)
    (reply,) = await bench.owed()
    assert reply.response_topic is None


async def test_acks(bench: Bench) -> None:
    await bench.journal.append(Feed().step("result", "result"), NOW)
    await bench.journal.mark_sent([1, 2], await_settlement=True)
    running = asyncio.create_task(bench.intake.run(bench.inbox))
    acks = bench.inbox.acks
    acks.put(b'{"seq":1,"from":"core"}')
    await until(lambda: bench.outbox.counters["acks"] == 1)
    assert await bench.journal.depth() == 1
    await bench.clock.advance(LOG_GAP_NS / 1e9)
    with capture_logs() as logs:
        for payload in (b"", b"2", b'{"seq":"2"}', b'{"seq":-1}'):
            acks.put(payload)
        acks.put(b'{"seq":3}')
        await until(lambda: bench.outbox.counters["acks_refused"] == 1)
    assert [log["event"] for log in logs] == ["ack.malformed"]
    assert bench.inbox.counters["acks_malformed"] == 4
    assert await bench.journal.depth() == 1
    assert await bench.answers() == []
    await cancelled(running)


async def test_of_many_acks_only_the_highest_is_settled(bench: Bench) -> None:
    await bench.journal.append(Feed().step(*("result",) * 9), NOW)
    await bench.journal.mark_sent(range(1, 10), await_settlement=True)
    for seq in (3, 9, 4, 0, 8):
        bench.inbox.acks.put(b'{"seq":%d}' % seq)
    running = asyncio.create_task(bench.intake.run(bench.inbox))
    await until(lambda: bench.outbox.counters["acks"] == 1)
    assert await bench.journal.depth() == 0
    bench.inbox.acks.put(b'{"seq":5}')
    await settle()
    assert bench.outbox.counters["acks"] == 1  # not before the gap
    await bench.clock.advance(ACK_GAP_S)
    await until(lambda: bench.outbox.counters["acks"] == 2)
    assert bench.inbox.counters["acks"] == 6
    await cancelled(running)


async def test_one_too_many_is_answered_and_not_stored(bench: Bench) -> None:
    await bench.send(
        "cmd/chef-3/open", GOOD, is_over_budget=True, response_topic="reply/campione/3/desk-7", correlation=b"\x01"
    )
    await bench.send("cmd/chef-3/open", b"{", is_over_budget=True)
    assert [(said.topic, said.qos, said.correlation) for said in bench.network.said] == [
        (ROOT + "reply", 0, b"\x01"),
        ("reply/campione/3/desk-7", 0, b"\x01"),
        (ROOT + "reply", 0, None),
    ]
    first, _, unread = [msgspec.json.decode(said.payload) for said in bench.network.said]
    assert (first["id"], first["name"], first["done"], unread["id"]) == ("c-1", "open", False, None)
    assert "send it again if it is still wanted" in first["why"]
    assert bench.requests.empty()
    assert await bench.answers() == []
    assert bench.intake.counters["over_budget"] == 2
    await bench.send("cmd/chef-3/open", GOOD)  # the same id, as nothing was done
    assert bench.requests.qsize() == 1


async def test_at_a_bench_table_that_answer_is_marked_too(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "j", OWNER, at_utc_us=NOW)
    bench = Bench(journal, test=True)
    await bench.send("cmd/chef-3/open", GOOD, is_over_budget=True)
    (said,) = bench.network.said
    assert msgspec.json.decode(said.payload)["test"] is True
    await journal.close()


async def test_other_topics_are_counted(bench: Bench) -> None:
    for leaf in ("cmd", "cmd/open", "cmd/chef-3/", "result"):
        await bench.send(leaf, GOOD)
    assert bench.intake.counters["unknown_topics"] == 4
    assert await bench.answers() == []


async def test_run_takes_from_the_inbox_in_order(bench: Bench) -> None:
    running = asyncio.create_task(bench.intake.run(bench.inbox))
    for number in range(3):
        payload = msgspec.json.encode(GOOD | {"id": str(number)})
        bench.inbox.put(Incoming(leaf="cmd/chef-3/open", payload=payload))
    asked = [await asyncio.wait_for(bench.requests.get(), 20) for _ in range(3)]
    assert [command.id for command in asked] == ["0", "1", "2"]
    await cancelled(running)


async def test_a_word_does_not_wait_for_errands(bench: Bench) -> None:
    for number in range(5):
        for leaf in ("cmd/control-office/program", "cmd/technician/inspect"):
            bench.inbox.put(Incoming(leaf=leaf, payload=msgspec.json.encode(GOOD | {"id": f"{number}"})))
    bench.inbox.put(Incoming(leaf="cmd/chef-3/rien_va", payload=msgspec.json.encode(GOOD)))
    running = asyncio.create_task(bench.intake.run(bench.inbox))
    await asyncio.wait_for(bench.inbox.join(), 20)
    assert bench.requests.get_nowait().name == "rien_va"
    assert stored(bench)[0].name == "rien_va"
    await until(lambda: bench.intake.counters["commands"] == 11)
    await cancelled(running)


async def test_of_many_inspections_at_once_a_few_are_stored_and_all_are_answered(bench: Bench) -> None:
    running = asyncio.create_task(bench.intake.run(bench.inbox))

    async def inspect(ids: range) -> None:
        for number in ids:
            payload = msgspec.json.encode(GOOD | {"id": f"{number}", "level": "good"})
            bench.inbox.put(Incoming(leaf="cmd/technician/inspect", payload=payload))
        counters = bench.intake.counters
        await until(lambda: counters["commands"] + counters["over_budget"] == ids.stop)

    await inspect(range(12))
    await bench.clock.advance(60.0)
    await inspect(range(12, 14))
    assert bench.intake.counters["over_budget"] == 8
    refused = [msgspec.json.decode(said.payload) for said in bench.network.said]
    assert [(answer["id"], answer["done"]) for answer in refused] == [(f"{n}", False) for n in (*range(5, 12), 13)]
    assert all("too many commands" in answer["why"] for answer in refused)
    await until(lambda: len(stored(bench)) == 6 and all(row.done for row in stored(bench)))
    assert {row.id for row in stored(bench)} == {"0", "1", "2", "3", "4", "12"}
    await cancelled(running)


# --- who says it -----------------------------------------------------------------------------------------------------

ENTITLED = {role.user("3"): set(role.gives) for role in roles()}
"""What docs/interfaces.md lets each user of this table give."""


def complete(name: str, **more: object) -> dict[str, object]:
    """A payload that has all that this command needs."""
    needed: dict[str, dict[str, object]] = {
        "acknowledge": {"who": "Anna"},
        "bouler": {"who": "Anna"},
        "confirm": {"coup": 1},
        "late_bet": {"accepted": True},
        "ruling": {"about": 1, "ruled_as": "void"},
        "resend": {"from_seq": 1},
    }
    return GOOD | needed.get(name, {}) | more


@pytest.mark.parametrize("user", ENTITLED)
async def test_a_role_gives_its_commands_and_no_other(bench: Bench, user: str) -> None:
    """Whatever the broker lets through: here it lets everything through."""
    await bench.journal.append(Feed().step("result"), NOW)
    taken = set()
    for name in COMMANDS:
        await bench.send(f"cmd/{user}/{name}", complete(name, id=name))
        answers = {answer["name"]: str(answer["why"]) for answer in await bench.answers()}
        if name not in answers or "no right" not in answers[name]:
            taken.add(name)
    assert taken == ENTITLED[user]
    while not bench.requests.empty():
        assert bench.requests.get_nowait().name in ENTITLED[user]


async def test_a_right_that_somebody_lacks_is_refused_with_who_has_it(bench: Bench) -> None:
    await bench.send("cmd/bouler-3/rien_va", GOOD)
    assert await bench.refusal() == '"bouler-3" has no right to give this command; those who have it: chef-3'
    (row,) = stored(bench)
    assert (row.user, row.by, row.reason, row.done) == ("bouler-3", "chef", "a test", False)


@pytest.mark.parametrize("user", ["chef", "chef-4", "bouler-3 ", "Chef-3", "+", "x" * 300, "\x1b[2J"])
async def test_a_name_without_a_role_is_refused_with_what_to_do(bench: Bench, user: str) -> None:
    await bench.send(f"cmd/{user}/open", GOOD)
    assert "this name has no role here: a technician has to give it a role" in await bench.refusal()
    (row,) = stored(bench)
    assert row.user is not None
    assert len(row.user) <= 64
    assert row.user.isprintable()


async def test_a_name_that_the_configuration_gives_a_role_has_its_rights(bench: Bench) -> None:
    bench.intake._access = TableAccess.of("campione", "3", {"panel-7": "bouler"})
    await bench.send("cmd/panel-7/last_coup", GOOD)
    assert bench.requests.get_nowait().user == "panel-7"
    await bench.send("cmd/panel-7/rien_va", GOOD | {"id": "c-2"})
    assert "no right" in await bench.refusal()


async def test_the_table_learns_who_sent_it(bench: Bench) -> None:
    await bench.send("cmd/chef-3/rien_va", GOOD | {"by": "Anna"})
    command = bench.requests.get_nowait()
    assert (command.user, command.by) == ("chef-3", "Anna")
    assert command.person == Person("Anna", "a test", "chef-3", "chef")


async def test_two_users_may_choose_the_same_id(bench: Bench) -> None:
    for user, name in (("bouler-3", "last_coup"), ("chef-3", "rien_va"), ("bouler-3", "last_coup")):
        await bench.send(f"cmd/{user}/{name}", GOOD)
    assert [bench.requests.get_nowait().user for _ in range(2)] == ["bouler-3", "chef-3"]
    assert bench.intake.counters["repeated"] == 1
    done = [Reply(9, "c-1", name, "chef", done=True, user=user) for user, name in (("chef-3", "rien_va"),)]
    await bench.journal.append(Step(replies=tuple(done)), NOW)
    assert [(answer["user"], answer["name"]) for answer in await bench.answers()] == [("chef-3", "rien_va")]
    assert [(row.user, row.done) for row in stored(bench)] == [("bouler-3", None), ("chef-3", True)]


def stored(bench: Bench) -> list[StoredCommand]:
    """The log of commands."""
    with closing(open_reader(bench.journal._writer.database.path)) as journal:
        return journal.commands(0, 100)
