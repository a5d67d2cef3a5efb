"""An evening from the sensors to the subscriber; the replay of its evidence gives the same bytes."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from tests.cli.live import running
from tests.live.bench import ROOT, TABLE_TOPICS, Subscriber, expected, table, wheeld
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit

EVENING = ("valid", "same_direction", "too_few_laps", "obstacle_falls")


class _Line(msgspec.Struct):
    topic: str
    payload: msgspec.Raw


def replayed(journal: Path, coup: int) -> list[tuple[str, bytes]]:
    """The messages of the table when the stored evidence of a coup is replayed."""
    exported = wheeld("journal", "export", journal, "--coup", str(coup))
    assert exported.returncode == Exit.OK, exported.stderr
    again = wheeld("replay", "-", "--jsonl", data=exported.stdout)
    assert again.returncode == Exit.OK, again.stderr
    lines = [msgspec.json.decode(line, type=_Line) for line in again.stdout.splitlines()]
    return [(line.topic, bytes(line.payload)) for line in lines if line.topic in TABLE_TOPICS]


async def rule(subscriber: Subscriber) -> None:
    """The direction rules on the first coup; returns when that is published."""
    said = {"id": "r-1", "by": "Bianchi", "reason": "seen by the camera", "about": 1, "ruled_as": "stands"}
    assert subscriber.client is not None
    await subscriber.client.publish(f"{ROOT}cmd/direction/ruling", json.dumps(said), qos=1)
    await subscriber.until(lambda: len(subscriber.of("ruling")) == 1, "the ruling")


async def test_the_verdicts_are_the_truth_and_their_evidence_gives_the_same_bytes(
    tmp_path: Path, broker: Mosquitto
) -> None:
    journal = tmp_path / "journal.sqlite"
    async with table(tmp_path, broker.port, seed=1) as (wheel, subscriber, daemon):
        await wheel.play(*EVENING[:2])
        await rule(subscriber)
        await wheel.play(*EVENING[2:])
        await subscriber.until_state("faites_vos_jeux")
        assert await daemon.end() == Exit.OK
        assert subscriber.verdicts() == expected(wheel.truth)
        first_run = [(leaf, payload) for leaf, payload in subscriber.received if leaf in TABLE_TOPICS]

        async with running(tmp_path / "wheel.toml") as again:
            await again.until("board.identified")
            await wheel.play("valid")
            await subscriber.until_verdicts(len(wheel.truth))
            assert await again.end() == Exit.OK
        assert subscriber.verdicts() == expected(wheel.truth)
        assert list(subscriber.feed()) == list(range(1, len(subscriber.feed()) + 1))
        assert [one["coup"] for one in subscriber.of("result", "void")] == list(range(1, len(wheel.truth) + 1))

    verified = wheeld("journal", "verify", journal)
    assert verified.returncode == Exit.OK, verified.stdout
    from_evidence = [line for coup in range(1, len(EVENING) + 1) for line in replayed(journal, coup)]
    opening = [leaf for leaf, _ in first_run].index("table") + 2
    assert from_evidence == first_run[opening : opening + len(from_evidence)]
    assert [leaf for leaf, _ in from_evidence].count("result") == 2
    assert [leaf for leaf, _ in from_evidence].count("ruling") == 1
