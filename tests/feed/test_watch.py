"""`wheeld watch` as a process, against a real mosquitto."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import aiomqtt
import pytest

from tests.broker.mqtt_bench import PATIENCE_S
from tests.feed.test_real import ROOT, TABLE, daemon
from tests.feed.wheel import SITE, Wheel
from tests.mosquitto import Mosquitto, free_port
from tests.security.authority import Authority, strict
from tests.security.shipped import ShippedBroker, system_root
from wheeld.cli.login import Troubles
from wheeld.cli.main import main
from wheeld.cli.watch import line
from wheeld.core.catalogue import Catalogue, Language
from wheeld.core.instants import to_text
from wheeld.exits import Exit
from wheeld.feed.message import FeedError, check_test, read_message

NAME = f"{SITE}/{TABLE}"


class Watch:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self.process, self.out, self.err = process, process.stdout, process.stderr

    async def line(self) -> str:
        return (await asyncio.wait_for(self.out.readline(), PATIENCE_S)).decode().rstrip("\n")

    async def trouble(self) -> str:
        return (await asyncio.wait_for(self.err.readline(), PATIENCE_S)).decode().rstrip("\n")

    async def code(self) -> int:
        return await asyncio.wait_for(self.process.wait(), PATIENCE_S)


@asynccontextmanager
async def watching(port: int, *more: str) -> AsyncIterator[Watch]:
    words = ("watch", NAME, "--host", "127.0.0.1", "--port", str(port), "--language", "it", *more)
    async with started(*words) as watch:
        yield watch


@asynccontextmanager
async def started(*words: str) -> AsyncIterator[Watch]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "wheeld", *words, stdout=pipe, stderr=pipe)
    try:
        yield Watch(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_it_only_listens_from_what_comes_first(tmp_path: Path) -> None:
    wheel = Wheel(TABLE)
    wheel.say("result", coup=1)
    said = {
        "language": "it",
        "state": "faites_vos_jeux",
        "bets": "open",
        "waiting_for": "lancio della pallina",
        "at": "2026-01-01T20:00:00.000000Z",
    }
    with Mosquitto(tmp_path) as broker:
        async with aiomqtt.Client("127.0.0.1", broker.port) as house:
            await house.subscribe(f"{ROOT}/#", qos=1)
            leaf, payload = wheel.say("table", coup=2, **said)
            await house.publish(f"{ROOT}/{leaf}", payload, qos=1, retain=True)
            async with watching(broker.port, "--count", "3") as watch:
                assert (await watch.line()).startswith(
                    "2026-01-01T20:00:00.000000Z       2  tavolo    colpo 2    "
                    "fate il vostro gioco, puntate aperte — in attesa: lancio della pallina [conservato dal broker, "
                )
                wheel.say("void")  # lost
                evil = wheel.say("result", why="\x1b[2J", coup=4)
                await house.publish(f"{ROOT}/result", evil[1].replace(b'"coup":4', b'"coup":5'), qos=1)
                assert (await watch.trouble()).startswith("wheeld: rifiutato (edited): seq 4: its bytes do not have")
                await house.publish(f"{ROOT}/result", evil[1], qos=1)
                assert await watch.trouble() == "wheeld: seq 3 to 3 did not come and are skipped"
                assert "\x1b" not in await watch.line()
                await house.publish(f"{ROOT}/table", wheel.say("table")[1], qos=1)
                assert "5  table" in await watch.line()
                assert await watch.code() == Exit.OK
            await house.publish(f"{ROOT}/end", b"")
            heard = []
            async for message in house.messages:
                heard.append(message.topic.value.removeprefix(f"{ROOT}/"))
                if heard[-1] == "end":
                    break
            assert set(heard) <= {"table", "result", "end"}, "nothing was asked for, nothing acknowledged"


async def test_from_a_number_on_it_asks_and_never_acknowledges(tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as broker:
        async with daemon(broker.port, tmp_path) as running:
            for _ in range(5):
                await running.say("result")
            await running.connection.connected()
            async with watching(broker.port, "--from-seq", "2", "--count", "4") as watch:
                seqs = [int((await watch.line()).split()[0]) for _ in range(4)]
                assert await watch.code() == Exit.OK
            assert seqs == [2, 3, 4, 5]
            owed = await running.journal.owed(0, 100)
            assert sum(one.topic == "result" for one in owed) == 5
            assert running.outbox.counters["acks"] == 0


async def test_a_number_that_the_wheel_has_not_reached_is_said_to_be_too_high(tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as broker:
        async with daemon(broker.port, tmp_path) as running:
            await running.say("result")
            await running.connection.connected()
            said = await troubled(broker.port, "--from-seq", "50")
    assert "the wheel reports that its last message is 1: this number is too high, or" in said


async def test_a_bench_table_only_on_demand(tmp_path: Path) -> None:
    said = {"language": "it", "state": "closed", "bets": "closed", "waiting_for": "-", "at": "-", "coup": 1}
    leaf, payload = Wheel(TABLE, test=True).say("table", **said)
    with Mosquitto(tmp_path) as broker:
        async with aiomqtt.Client("127.0.0.1", broker.port) as house:
            await house.publish(f"{ROOT}/{leaf}", payload, qos=1, retain=True)
            async with watching(broker.port, "--count", "1") as watch:
                said_of_it = await watch.trouble()
                assert said_of_it.startswith("wheeld: rifiutato (test): seq 1: it is marked as a test")
                assert "; indicare --test per leggere" in said_of_it
            async with watching(broker.port, "--test", "--count", "1") as watch:
                assert "tavolo    colpo 1    PROVA: tavolo chiuso, puntate chiuse" in await watch.line()
                assert await watch.code() == Exit.OK


@pytest.mark.parametrize(
    ("age_s", "language", "said"),
    [
        (2, "en", "2 s old"),
        (119, "en", "119 s old"),
        (120, "fr", "vieux de 2 min"),
        (7_200, "it", "vecchio di 2 h"),
        (172_799, "en", "47 h old"),
        (172_800, "fr", "vieux de 2 jours"),
    ],
)
def test_what_the_broker_had_kept_is_marked_with_its_age(age_s: int, language: Language, said: str) -> None:
    at_us = 1_795_197_600_000_000
    leaf, payload = Wheel().say("result", at=to_text(at_us))
    message = read_message(leaf, payload, root=f"wheel/v1/{SITE}/campione-03")
    now_us = at_us + age_s * 1_000_000
    assert said not in line(message, language, now_us)
    assert line(replace(message, retained=True), language, now_us).endswith(f"{said}]")


@pytest.mark.parametrize("age_s", [-5, 0, 1])
def test_what_comes_at_once_is_not_marked_although_the_broker_keeps_it(age_s: int) -> None:
    at_us = 1_795_197_600_000_000
    leaf, payload = Wheel().say("result", at=to_text(at_us))
    message = read_message(leaf, payload, root=f"wheel/v1/{SITE}/campione-03")
    now_us = at_us + age_s * 1_000_000
    assert line(replace(message, retained=True), "en", now_us) == line(message, "en", now_us)


def test_an_age_that_nobody_knows() -> None:
    leaf, payload = Wheel().say("result", at="yesterday")
    message = read_message(leaf, payload, root=f"wheel/v1/{SITE}/campione-03")
    assert line(replace(message, retained=True), "en", 0).endswith("[kept by the broker]")


PAGE = Path(__file__).parents[2] / "docs" / "operations.md"
(EXAMPLE,) = re.findall(r"^ {4}wheeld (watch .+)$", PAGE.read_text(), re.MULTILINE)


async def test_the_example_of_the_page_at_the_broker_that_ships(tmp_path: Path) -> None:
    """Only host, port and the places of the files are others."""
    wheel, house = Wheel("campione-03"), Authority(tmp_path)
    house.issue("inspector")
    assert house.file == tmp_path / "house-ca.crt"
    files = re.sub(r"(\S+\.(?:crt|key))", rf"{tmp_path}/\1", EXAMPLE)
    words = files.replace("broker.casino.example", "127.0.0.1").split()
    table = {"state": "closed", "bets": "closed", "waiting_for": "ouverture de la table", "language": "fr", "coup": 7}
    with system_root() as root, ShippedBroker(root, house) as broker:
        async with broker.client("wheel-campione-03") as daemon:
            topic = f"wheel/v1/{SITE}/campione-03/"
            leaf, payload = wheel.say("table", **table, at="2026-01-01T20:00:00.000000Z")
            await daemon.publish(topic + leaf, payload, qos=1, retain=True)
            async with started(*words, "--port", str(broker.port), "--language", "en") as watch:
                shown = await watch.line()
                assert "1  table     coup 7     table closed, bets closed — waiting for: opening of the table" in shown
                assert re.search(r" \[kept by the broker, \d+ days old\]$", shown)
                leaf, payload = wheel.say("void", coup=8, words="rien va", why="N7", language="fr", at="-")
                await daemon.publish(topic + leaf, payload, qos=1)
                assert (await watch.line()).endswith("2  void      coup 8     rien va — N7")


# --- what goes wrong ------------------------------------------------------------------------------------------------


async def troubled(port: int, *more: object, language: str = "en") -> str:
    """The first line of what `watch` says of its connection."""
    words = ("watch", NAME, "--host", "127.0.0.1", "--port", str(port), "--language", language)
    async with started(*words, *map(str, more)) as watch:
        return await watch.trouble()


async def test_a_port_where_nobody_listens() -> None:
    said = await troubled(free_port())
    assert said.endswith("no broker listens there: check --host and --port, and whether the broker runs")
    assert "aucun broker n'écoute là" in await troubled(free_port(), language="fr")


async def test_a_broker_that_keeps_the_user_out(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret")
    (tmp_path / "passwords").write_text("")
    with Mosquitto(tmp_path, f"password_file {tmp_path / 'passwords'}") as broker:
        said = await troubled(broker.port, "--username", "nobody", "--password-file", tmp_path / "password")
    assert said.endswith("the broker refuses this user: check --username and --password-file")


async def test_a_broker_with_tls(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    house = Authority(tmp_path)
    theirs = Authority(tmp_path / "theirs")
    with strict(tmp_path / "broker", house.issue("broker", server=True)) as broker:
        assert (await troubled(broker.port)).endswith("check --port and --ca-file")
        assert (await troubled(broker.port, "--ca-file", theirs.file)).endswith("check --ca-file and --host")
        assert (await troubled(broker.port, "--ca-file", house.file)).endswith("give --cert-file and --key-file")
        lost = theirs.issue("inspector")
        files = ("--ca-file", house.file, "--cert-file", lost.cert_file, "--key-file", lost.key_file)
        assert (await troubled(broker.port, *files)).endswith("check --cert-file, and whether it has expired")
    with strict(tmp_path / "early", house.issue("broker", server=True, begins=1)) as broker:
        said = await troubled(broker.port, "--ca-file", house.file)
        assert said.endswith(
            "is not valid yet: the clock of the broker or of this computer is wrong (`timedatectl` on both)"
        )


@pytest.mark.parametrize(
    ("user", "said"),
    [
        (None, f"check {NAME}, whether its wheel runs, and `wheeld acl {NAME}`"),
        ("auditor", f"check {NAME}, whether its wheel runs, and `wheeld acl {NAME}`"),
        (
            f"page-{NAME.partition('/')[2]}",
            f"check {NAME}, whether its wheel runs, and `wheeld acl {NAME}`",
        ),
        (f"display-{NAME.partition('/')[2]}", "may read none of these messages: log in with another name"),
    ],
)
def test_silence_is_said_to_be_one(
    user: str | None, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    silent = Troubles.notice_silence

    def noticed(_: Troubles, table: str, blind: str | None) -> None:
        silent(Troubles(Catalogue("en")), table, blind)
        raise KeyboardInterrupt

    monkeypatch.setattr("wheeld.cli.watch.SILENCE_S", 0.0)
    monkeypatch.setattr(Troubles, "notice_silence", noticed)
    words = [] if user is None else ["--username", user]
    assert main(["watch", NAME, "--host", "127.0.0.1", "--port", str(free_port()), *words]) == Exit.INTERRUPTED
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--ca-file", "ca_file {} holds no certificate in PEM"),
        ("--password-file", "{}: it is not a text in UTF-8, so it cannot be a password"),
        ("--key-file", "--key-file needs --cert-file, the certificate that belongs to the key"),
        ("--cert-file", "cert_file {} and key_file None are not a certificate and its key in PEM"),
        ("--public-key", "{}: neither a public key in PEM, nor 32 bytes in base64"),
    ],
)
def test_files_that_no_broker_could_accept(
    option: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    garbage = tmp_path / "garbage"
    garbage.write_bytes(bytes(range(128, 256)))
    assert main(["watch", NAME, option, str(garbage)]) == Exit.BAD_CONFIG
    assert capsys.readouterr().err == f"wheeld: {said.format(garbage)}\n"


def test_a_trouble_is_said_once_until_the_connection_stands(capsys: pytest.CaptureFixture[str]) -> None:
    """Also a refusal that the feed reports at each try, in other words each time."""
    troubles = Troubles(Catalogue("en"))
    for trouble in (
        "the broker refuses cmd/chef/resend: Not authorized",
        "no answer to resend from seq 1 (1 in a row): the wheel is offline, or the broker's access list refuses it",
        "no answer to resend from seq 1 (2 in a row): the wheel is offline, or the broker's access list refuses it",
    ):
        troubles.tell(trouble)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(
        "only the settlement system and the collector may ask for earlier messages: log in as one of them, or leave "
        "--from-seq out"
    )
    refused = "b:1: Connection refused; trying again"
    for trouble in (refused, "b:1: Operation timed out; trying again", refused, "b:1: connected", refused):
        troubles.tell(trouble)
    troubles.caught(None, {"message": "Exception in callback", "exception": OSError(9, "Bad file descriptor")})
    troubles.notice_silence(NAME, None)
    said = capsys.readouterr().err.splitlines()
    assert [line.split()[-1] for line in said] == ["runs", "again", "connected", "runs", "descriptor"]


def test_the_mark_of_a_test_is_said_once_and_not_of_each_message(capsys: pytest.CaptureFixture[str]) -> None:
    troubles = Troubles(Catalogue("en"))
    for seq in (1, 2, 3):
        with pytest.raises(FeedError) as refused:
            check_test({"test": True}, seq, test=False)
        troubles.tell(f"refused (test): {refused.value}")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("give --test to read a bench table's messages")


@pytest.mark.parametrize("user", ["chef-campione-03", "auditor"])
def test_who_may_not_ask_for_earlier_messages_is_told_who_may(user: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Before it connects: it would wait for ever for what nobody sends again."""
    asked = ["watch", "campione/campione-03", "--from-seq", "3", "--username", user]
    assert main(asked) == Exit.BAD_CONFIG
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"wheeld: {user} may not ask for earlier messages: log in as settlement or collector, or ")
    assert "root's `wheeld watch campione-03 --from-seq 3` logs in as the collector" in line


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = str(tmp_path / "no-such-file")
    assert main(["watch", NAME, "--ca-file", missing]) == Exit.NO_INPUT
    assert missing in capsys.readouterr().err


@pytest.mark.parametrize("words", [["campione/#"], ["a/b/c"], ["a/b", "--port", "0"], ["a/b", "--from-seq", "-1"]])
def test_nonsense_on_the_command_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["watch", *words])
    assert ended.value.code == Exit.USAGE
