"""The whole house under a booted systemd: after every hang, kill or reboot the settlement core has the whole feed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.systemd.house import VERDICTS, FeedRecord, House, now_utc_s
from tests.systemd.machine import Machine

pytestmark = pytest.mark.timeout(180)


@dataclass(frozen=True)
class Fault:
    """A fault in the middle of a coup; `is_orderly`: the daemon is asked to stop, and can."""

    name: str
    happens: Callable[[House], None]
    ends_the_daemon: bool = True
    is_orderly: bool = False


def _kill(unit: str, how: str = "KILL") -> Callable[[House], None]:
    def happens(house: House) -> None:
        house.machine.run("systemctl", "kill", "--kill-who=main", f"--signal={how}", unit)

    return happens


def _kill_settlement_thrice(house: House) -> None:
    killed = {"0"}
    for _ in range(3):
        house.machine.until(lambda: house.pid_of("settlement") not in killed, "it runs")
        killed.add(house.pid_of("settlement"))
        house.machine.run("systemctl", "kill", "--signal=KILL", "settlement")


def _restart(house: House) -> None:
    house.wheel.systemctl("restart")


def _cut_power(house: House) -> None:
    house.machine.cut_power()
    house.machine.boot()


def _shut_down(verb: str) -> Callable[[House], None]:
    def happens(house: House) -> None:
        house.machine.shut_down(verb)
        house.machine.boot()

    return happens


WHEEL = "wheeld@whole.service"
FAULTS = (
    Fault("the daemon hangs", _kill(WHEEL, "STOP")),
    Fault("the daemon is killed", _kill(WHEEL)),
    Fault("the broker is killed", _kill("mosquitto"), ends_the_daemon=False),
    Fault("the settlement core is killed, three times", _kill_settlement_thrice, ends_the_daemon=False),
    Fault("systemctl restart", _restart, is_orderly=True),
    Fault("the power is cut", _cut_power),
    Fault("systemctl reboot", _shut_down("reboot"), is_orderly=True),
    Fault("systemctl poweroff, and on again", _shut_down("poweroff"), is_orderly=True),
)


@pytest.fixture(scope="module")
def house(own_machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> House:
    return House(own_machine, tmp_path_factory.mktemp("keys"))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_feed_is_whole_after(fault: Fault, house: House, measured: Callable[[str], None]) -> None:
    house.until_verdicts_of_the_sensors(1, since_utc_s=0.0)
    before, seals = house.stored(), house.seals_at_a_stop()
    house.until_the_ball_runs()
    at_utc_s = now_utc_s()
    fault.happens(house)
    first = house.until_verdicts_of_the_sensors(2, since_utc_s=at_utc_s)
    assert (house.moment("daemon.ready", at_utc_s) is not None) == fault.ends_the_daemon
    if fault.ends_the_daemon:
        hidden = next(each for each in house.written() if each.at_utc_s > at_utc_s and each.topic in VERDICTS)
        assert json.loads(hidden.payload).get("cause") == "breakdown", "a coup of which a part was hidden is void"
    assert_the_feed_is_whole(house, before)
    assert_sealed(house, seals, stops=int(fault.is_orderly))
    measured(f"{fault.name}: {figures(house, fault, at_utc_s, first)}")


def assert_the_feed_is_whole(house: House, before: list[FeedRecord]) -> None:
    """Each message once, in order, in the wheel's own bytes, nothing refused; each coup has one verdict."""
    written = house.written()
    house.machine.until(lambda: len(house.stored()) >= len(written), "the settlement core has caught up")
    stored = house.stored()
    assert [each.seq for each in stored] == list(range(1, len(stored) + 1))
    assert [(each.seq, each.topic, each.payload) for each in stored[: len(written)]] == [
        (each.seq, each.topic, each.payload) for each in written
    ]
    assert stored[: len(before)] == before
    assert house.refused() == []
    coups = [json.loads(each.payload)["coup"] for each in stored if each.topic in VERDICTS]
    assert coups == list(range(1, len(coups) + 1)), "each coup is a result or void, once"
    house.machine.until(lambda: house.owed() == 0, "every ack has arrived")
    house.verify()


def assert_sealed(house: House, before: list[str], *, stops: int) -> None:
    """An orderly stop makes one seal, and its notice reaches the auditor; any other end makes none."""
    seals = house.seals_at_a_stop()
    assert seals[: len(before)] == before
    assert len(seals) == len(before) + stops
    house.machine.until(lambda: house.published_seals()[-len(seals) :] == seals, "the auditor receives each seal")
    for head in house.published_seals():
        house.verify("--head", head)


def figures(house: House, fault: Fault, at_utc_s: float, first: FeedRecord) -> str:
    """The times from the fault on, as a text."""
    events = {"ready again": "daemon.ready", "board identified": "board.identified"}
    moments = {name: house.moment(event, at_utc_s) for name, event in events.items()}
    after = [f"{name} after {when - at_utc_s:.2f} s" for name, when in moments.items() if when is not None]
    after.append(f"first verdict of the sensors stored after {first.at_utc_s - at_utc_s:.2f} s")
    start = [f"start to READY=1 {house.start_s():.2f} s"] if fault.ends_the_daemon else []
    return ", ".join([*start, *after])
