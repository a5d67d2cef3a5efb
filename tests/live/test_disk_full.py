"""No space left for the journal in mid-coup: only what is stored is published, and the next start continues."""

from __future__ import annotations

import asyncio
import resource
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.cli.live import running
from tests.live.bench import FEED, table, wheeld
from tests.mosquitto import Mosquitto
from tests.mount_namespace import mounted
from wheeld.exits import Exit

DISK_BYTES = 4_000_000


class Disk:
    """A directory on a disk that can be filled; A command with `prefix` sees it. `fault` is the journal's error."""

    def __init__(self, path: Path, prefix: Sequence[str], fault: str) -> None:
        self.path, self.prefix, self.fault = path, prefix, fault

    def fill(self, pid: int) -> None:
        """Leave no space for process `pid`."""
        if self.fault == "full":
            filled = subprocess.run([*self.prefix, "dd", "if=/dev/zero", f"of={self.path}/filler"], check=False)
            assert filled.returncode == 1, "it takes any amount"
        else:
            size = max(file.stat().st_size for file in self.path.iterdir())
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, size))

    def free(self) -> None:
        """Make space again, for later processes."""
        subprocess.run([*self.prefix, "rm", "-f", f"{self.path}/filler"], check=True)


@pytest.fixture(params=["full", "io"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    """A disk that is full, and a file that may not grow, which needs no right to mount anything."""
    path = tmp_path / "disk"
    path.mkdir()
    if request.param == "io":
        yield Disk(path, (), "io")
        return
    with mounted(f"mount -t tmpfs -o size={DISK_BYTES} tmpfs '{path}'") as prefix:
        if prefix is None:
            pytest.skip("no mount namespaces here; a file that may not grow tests the same code of the daemon")
        yield Disk(path, prefix, "full")


async def test_on_a_full_disk_only_stored_messages_are_published(tmp_path: Path, disk: Disk) -> None:
    journal = disk.path / "journal.sqlite"
    with Mosquitto(tmp_path) as broker:
        async with table(tmp_path, broker.port, seed=7, prefix=disk.prefix, journal=str(journal)) as (
            wheel,
            subscriber,
            daemon,
        ):
            playing = asyncio.create_task(wheel.play("valid"))
            await subscriber.until_state("ball_running")
            disk.fill(daemon.process.pid)
            failed = await daemon.until("journal.failed")
            assert await daemon.end(None) == Exit.IO_FAILED
            assert failed["fault"] == disk.fault
            assert failed["then"] == "nothing more was published"
            assert str(journal) in failed["why"]
            await playing
            published = {payload for leaf, payload in subscriber.received if leaf in FEED}
            assert subscriber.verdicts() == []

            disk.free()
            shown = wheeld("journal", "show", journal, "--jsonl", prefix=disk.prefix)
            assert shown.returncode == Exit.OK
            assert all(payload in shown.stdout for payload in published)
            async with running(tmp_path / "wheel.toml", prefix=disk.prefix) as again:
                await subscriber.until_verdicts(1)
                (void,) = subscriber.of("void")
                assert (void["coup"], void["cause"], void["rule"]) == (1, "breakdown", "N8")
                await subscriber.until_state("suspended")
                assert list(subscriber.feed()) == list(range(1, len(subscriber.feed()) + 1))
                assert await again.end() == Exit.OK
    assert wheeld("journal", "verify", journal, prefix=disk.prefix).returncode == Exit.OK
