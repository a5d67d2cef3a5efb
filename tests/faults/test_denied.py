"""The shipped broker with a wrong access list: what it confirms and drops is missed, and no forged message passes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.broker_bench import Settlement, check, settling, turning, until
from tests.faults.broker_coups import ROOT, coups
from tests.feed.wheel import Wheel as Forger
from tests.security.authority import Authority
from tests.security.shipped import ShippedBroker, system_root

RESULT = f"topic write {ROOT}/result\n"
DENIED = "# no result\n"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[ShippedBroker]:
    with system_root() as root, ShippedBroker(root, Authority(tmp_path)) as shipped:
        yield shipped


def access(broker: ShippedBroker, old: str, new: str) -> None:
    """Change one line of the access list, and make the broker read it."""
    path = broker.access_list
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    broker.reload()


def files(broker: ShippedBroker, name: str) -> dict[str, Any]:
    own = broker.house.issue(name)
    assert own.ca_file
    assert own.cert_file
    assert own.key_file
    return {"ca_file": own.ca_file, "cert_file": own.cert_file, "key_file": own.key_file}


async def test_the_wheel_receives_the_refusal_and_waits(broker: ShippedBroker, tmp_path: Path, seed: str) -> None:
    access(broker, RESULT, DENIED)
    settlement = Settlement(broker.port, **files(broker, "settlement"))
    wheels = files(broker, "wheel-campione-03")
    async with settling(settlement), turning(broker.port, tmp_path / "journal", **wheels) as wheel:
        for step in coups(seed, 4):
            await wheel.store(step)
        await until(lambda: wheel.outbox.counters["refused"] > 0)
        access(broker, DENIED, RESULT)
        await settlement.until(len(wheel.sequenced))
        await wheel.until_settled()
    check(wheel.sequenced, settlement, f"seed {seed}")
    assert settlement.counters["gaps"] == 0, "nothing was published past what was refused"


@pytest.mark.parametrize("who", ["chef-campione-03", "display-campione-03", "wheel-campione-04", "nobody"])
async def test_a_result_that_another_forges_reaches_nobody(
    broker: ShippedBroker, tmp_path: Path, seed: str, who: str
) -> None:
    settlement = Settlement(broker.port, **files(broker, "settlement"))
    wheels = files(broker, "wheel-campione-03")
    forger = Forger("campione-03")
    async with (
        settling(settlement),
        turning(broker.port, tmp_path / "journal", **wheels) as wheel,
        broker.client(who) as impostor,
    ):
        for step in coups(seed, 3):
            await wheel.store(step)
            for leaf, payload in (forger.say("result"), forger.say("void")):
                await impostor.publish(f"{ROOT}/{leaf}", payload, qos=1)
        await settlement.until(len(wheel.sequenced))
    check(wheel.sequenced, settlement, f"seed {seed}, {who}")
    assert settlement.refused == []


async def test_a_forger_with_the_wheels_own_rights_breaks_the_chain_and_is_refused(
    broker: ShippedBroker, tmp_path: Path, seed: str
) -> None:
    """Where the access list allows it, the chain still shows it: the forged message is refused, the true one comes."""
    access(broker, "user chef-campione-03\n", f"user chef-campione-03\n{RESULT}")
    settlement = Settlement(broker.port, **files(broker, "settlement"))
    wheels = files(broker, "wheel-campione-03")
    forger = Forger("campione-03")
    async with (
        settling(settlement),
        turning(broker.port, tmp_path / "journal", **wheels) as wheel,
        broker.client("chef-campione-03") as impostor,
    ):
        for step in coups(seed, 3):
            await wheel.store(step)
            while forger.seq <= len(wheel.sequenced):
                leaf, payload = forger.say("result")
            await impostor.publish(f"{ROOT}/{leaf}", payload, qos=1)
            await settlement.until(len(wheel.sequenced))
        await settlement.until(len(wheel.sequenced))
    check(wheel.sequenced, settlement, f"seed {seed}")
    assert {error.fault for error in settlement.refused} <= {"chain", "conflict"}
    assert settlement.refused
