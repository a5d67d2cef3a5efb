"""A disk that loses its power: from a log of file calls, the files that could be there afterwards.

The model is harsher than ext4. What was written to a file before its last fsync (or fdatasync) is there. After that,
each 512-byte sector may have any of the contents that it had since, in any combination: whole writes dropped, kept, or
reordered, or a sector torn in the middle. The size is that of before, of later, or anything written so far, with zeros
where the size is ahead of the data. A directory has the names of its last fsync, or of any moment since; a file whose
name was not written is gone, a file that was removed is back. The -shm file has random bytes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.faults.disk_shim import Call

SECTOR = 512
SHM_BYTES = 32_768


class File:
    """One inode: what is on the disk for certain, what programs see, and all versions of each sector in between."""

    def __init__(self, content: bytes = b"") -> None:
        self._durable, self._seen = bytearray(content), bytearray(content)
        self._versions: dict[int, list[tuple[int, bytes]]] = {}
        self._sizes = [len(content)]
        self._writes = 0

    def write(self, offset: int, data: bytes) -> None:
        """Write into the cache."""
        end = offset + len(data)
        if end > len(self._seen):
            self._seen.extend(bytes(end - len(self._seen)))
            self._sizes.append(end)
        self._seen[offset:end] = data
        self._changed(offset, end)

    def cut(self, size: int) -> None:
        """Set the size, shorter or longer."""
        end = max(len(self._seen), size)
        del self._seen[size:]
        self._seen.extend(bytes(size - len(self._seen)))
        self._sizes.append(size)
        self._changed(size, end)

    def sync(self) -> None:
        """Put what programs see on the disk."""
        self._durable = bytearray(self._seen) if self._versions or len(self._sizes) > 1 else self._durable
        self._versions.clear()
        self._sizes = [len(self._seen)]
        self._writes = 0

    def _changed(self, start: int, end: int) -> None:
        self._writes += 1
        for sector in range(start // SECTOR, -(-end // SECTOR)):
            content = bytes(self._seen[sector * SECTOR : (sector + 1) * SECTOR]).ljust(SECTOR, b"\0")
            self._versions.setdefault(sector, []).append((self._writes, content))

    # --- what is left ----------------------------------------------------------------------------------------------

    def left(self, rng: random.Random) -> bytes:
        """One of the contents that it may have after the power failed."""
        kept = rng.choice(_POLICIES)(self, rng)
        size = rng.choice([self._sizes[-1], self._sizes[0], rng.choice(self._sizes), self._size_of(kept)])
        content = bytearray(self._durable[:size]).ljust(size, b"\0")
        for sector, data in kept.items():
            start = sector * SECTOR
            content[start : min(start + SECTOR, size)] = data[: max(0, size - start)]
        return bytes(content[:size])

    def _size_of(self, kept: dict[int, bytes]) -> int:
        last = max(((sector + 1) * SECTOR for sector in kept), default=0)
        return max(self._sizes[0], min(last, max(self._sizes)))

    def _was(self, sector: int) -> bytes:
        return bytes(self._durable[sector * SECTOR : (sector + 1) * SECTOR]).ljust(SECTOR, b"\0")

    def _kept_if(self, keeps: Callable[[int], bool]) -> dict[int, bytes]:
        """The newest version of each sector among those whose write satisfies `keeps`."""
        chosen = {}
        for sector, versions in self._versions.items():
            if found := [content for number, content in versions if keeps(number)]:
                chosen[sector] = found[-1]
        return chosen

    def _everything(self, rng: random.Random) -> dict[int, bytes]:
        return self._kept_if(lambda _: True)

    def _nothing(self, rng: random.Random) -> dict[int, bytes]:
        return {}

    def _in_order(self, rng: random.Random) -> dict[int, bytes]:
        last = rng.randint(0, self._writes)
        return self._kept_if(lambda number: number <= last)

    def _later_ones(self, rng: random.Random) -> dict[int, bytes]:
        first = rng.randint(0, self._writes)
        return self._kept_if(lambda number: number > first)

    def _some_writes(self, rng: random.Random) -> dict[int, bytes]:
        share = rng.random()
        kept = {number for number in range(self._writes + 1) if rng.random() < share}
        return self._kept_if(kept.__contains__)

    def _all_but_one(self, rng: random.Random) -> dict[int, bytes]:
        lost = rng.randint(0, self._writes)
        return self._kept_if(lambda number: number != lost)

    def _some_sectors(self, rng: random.Random) -> dict[int, bytes]:
        share = rng.random()
        return {sector: rng.choice(versions)[1] for sector, versions in self._versions.items() if rng.random() < share}

    def _torn(self, rng: random.Random) -> dict[int, bytes]:
        """All in order up to some write, which ends in the middle of a sector."""
        kept = self._in_order(rng)
        if kept:
            sector, tear = rng.choice(sorted(kept)), rng.randrange(SECTOR)
            kept[sector] = kept[sector][:tear] + self._was(sector)[tear:]
        return kept


_POLICIES: Sequence[Callable[[File, random.Random], dict[int, bytes]]] = (
    File._everything,
    File._nothing,
    File._in_order,
    File._later_ones,
    File._some_writes,
    File._all_but_one,
    File._some_sectors,
    File._torn,
)


class Disk:
    """One directory and its files, as the calls of a log change them."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._names = {name: File(content) for name, content in files.items()}
        self._versions = [dict(self._names)]

    def take(self, call: Call) -> None:
        """Apply one call; calls that failed and calls on -shm change nothing that lasts."""
        if call.result < 0 or call.name.endswith("-shm"):
            return
        match call.kind:
            case "create":
                self._rename({**self._names, call.name: File()})
            case "unlink":
                self._rename({name: file for name, file in self._names.items() if name != call.name})
            case "write":
                assert len(call.data) == call.result, "recorded without its data"
                self._names[call.name].write(call.offset, call.data)
            case "cut":
                self._names[call.name].cut(call.offset)
            case "sync" if call.name == ".":
                self._versions = [dict(self._names)]
            case "sync":
                self._names[call.name].sync()
            case "rename":
                raise AssertionError("renaming is not in the model: nothing under test does it")

    def _rename(self, names: dict[str, File]) -> None:
        self._names = names
        self._versions.append(names)

    def after_power_cut(self, rng: random.Random) -> dict[str, bytes]:
        """One set of files that may be there."""
        names = rng.choice([self._versions[-1], rng.choice(self._versions)])
        left = {name: file.left(rng) for name, file in names.items()}
        if rng.random() < 0.25:
            left["wheel.journal-shm"] = rng.randbytes(SHM_BYTES)
        return left


def moments(calls: Sequence[Call], count: int, rng: random.Random) -> Iterator[int]:
    """`count` moments, in order, each after so many entries of the log: half near a call that is no read or write."""
    decisive = [at for at, call in enumerate(calls) if call.kind not in {"write", "read"}]
    near = [max(0, min(len(calls), rng.choice(decisive) + rng.randint(-1, 2))) for _ in range(count // 2)]
    yield from sorted(near + [rng.randint(0, len(calls)) for _ in range(count - count // 2)])


def put(files: dict[str, bytes], directory: Path) -> None:
    """Write the files into `directory`, after removing all files there."""
    directory.mkdir(exist_ok=True)
    for old in directory.iterdir():
        old.unlink()
    for name, content in files.items():
        (directory / name).write_bytes(content)
