"""`wheeld rule` as a process, against a wheel that runs and against a broker that refuses."""

from __future__ import annotations

import asyncio
from argparse import ArgumentTypeError
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.live.bench import table, wheeld
from tests.mosquitto import Mosquitto, free_port
from tests.security.authority import Authority
from tests.security.shipped import ShippedBroker, system_root
from wheeld.cli.main import main
from wheeld.cli.rule import ruled_as
from wheeld.exits import Exit

SAID = ("--by", "Bianchi", "--reason", "seen by the camera", "--language", "en")


async def rule(port: int, *words: str, name: str = "live/wheel-1") -> CompletedProcess[bytes]:
    return await asyncio.to_thread(wheeld, "rule", name, "--host", "127.0.0.1", "--port", str(port), *SAID, *words)


async def test_the_answer_of_the_wheel_is_printed_and_the_ruling_published(tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as broker:
        async with table(tmp_path, broker.port, seed=1) as (wheel, subscriber, _):
            early = await rule(broker.port, "--coup", "1", "--as", "void")
            assert early.returncode == Exit.REFUSED, early
            assert b"ruling \xe2\x9c\x97 A9" in early.stdout
            await wheel.play("valid", "valid")
            await subscriber.until_verdicts(2)
            done = await rule(broker.port, "--coup", "1", "--as", "17")
            assert done.returncode == Exit.OK, done
            assert b"ruling \xe2\x9c\x93" in done.stdout
            # The chef has another role, and this broker has no list that says so.
            chef = await rule(broker.port, "--coup", "1", "--as", "void", "--username", "chef-wheel-1")
            assert chef.returncode == Exit.REFUSED, chef
            (ruling,) = subscriber.of("ruling")
        about = ("--coup", "1", "--topic", "ruling", "--language", "en")
        shown = await asyncio.to_thread(wheeld, "journal", "show", tmp_path / "journal.sqlite", *about)
        assert b"1 \xc2\xb7 the number is 17: seen by the camera (Bianchi)" in shown.stdout
    told = {key: ruling[key] for key in ("about", "ruled_as", "number", "by", "user", "reason")}
    assert told == {
        "about": 1, "ruled_as": "number", "number": 17, "by": "Bianchi", "user": "direction",
        "reason": "seen by the camera",
    }  # fmt: skip


async def test_only_the_direction_may_rule_at_the_broker_that_ships(tmp_path: Path) -> None:
    """Its name there is that of its certificate. The wheel is away, so that nobody answers."""
    house = Authority(tmp_path)
    with system_root() as root, ShippedBroker(root, house) as broker:
        for name, code, said in (
            ("inspector", Exit.REFUSED, b"does not let inspector rule"),
            ("direction", Exit.UNANSWERED, b"no answer came"),
        ):
            files = house.issue(name)
            words = [
                word
                for option in ("ca_file", "cert_file", "key_file")
                for word in (f"--{option.replace('_', '-')}", str(getattr(files, option)))
            ]
            given = await rule(broker.port, "--coup", "1", "--as", "stands", *words, name="campione/campione-03")
            assert given.returncode == code, given
            assert said in given.stderr


def test_a_broker_that_is_not_there_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rule", "live/wheel-1", "--port", str(free_port()), "--coup", "1", "--as", "other", *SAID]
    assert main(words) == Exit.UNANSWERED
    assert "no broker listens there" in capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong", [("--as", "017"), ("--as", "nothing"), ("--coup", "0"), ("--reason", ""), ("--by", "")]
)
def test_what_is_no_ruling_is_not_sent(wrong: tuple[str, str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["rule", "live/wheel-1", "--coup", "1", "--as", "stands", *SAID, *wrong])
    assert end.value.code == Exit.USAGE


def test_what_is_ruled_is_said_as_in_the_command() -> None:
    assert ruled_as("void") == {"ruled_as": "void"}
    assert ruled_as("0") == {"ruled_as": "number", "number": 0}
    assert ruled_as("00") == {"ruled_as": "number", "number": "00"}
    for printed_nowhere in ("37", "017", "-1"):
        with pytest.raises(ArgumentTypeError):
            ruled_as(printed_nowhere)
