"""The commands of "Off site" in docs/collector.md, typed: a standby follows, and takes over with all records."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.house.postgres import Cluster, programs
from tests.house.test_checkpoints import Kept
from tests.mosquitto import free_port

PAGE = Path(__file__).parents[2] / "docs" / "collector.md"
PATIENCE_S = 60.0
DIRECTORY, SERVER = "/var/lib/postgresql/15/main", "host=db.casino.example port=5432"


def typed() -> list[tuple[str, list[str]]]:
    """The blocks of the section, each with its language and its lines."""
    section = PAGE.read_text().partition("## Off site\n")[2].partition("\n## ")[0]
    return [(kind, block.splitlines()) for kind, block in re.findall(r"```(sh|sql)\n(.*?)\n```", section, re.DOTALL)]


class OffSite:
    """The computer in the other place."""

    def __init__(self, folder: Path, primary: Cluster) -> None:
        self.data, self.port = folder / "main", free_port()
        self._primary = primary

    def type(self, command: str) -> None:
        """Type a command of the page, with the directory and the server of this test, as the user `postgres`."""
        here = command.replace(DIRECTORY, str(self.data))
        here = here.replace(SERVER, f"host=127.0.0.1 port={self._primary.port}")
        if here.endswith("start"):  # the page's computer has the usual port for itself
            here += f' -l {self.data}.log -o "-p {self.port} -c unix_socket_directories={self.data.parent}"'
        switch = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        path = os.pathsep.join((str(programs()), os.environ["PATH"]))
        nothing = subprocess.DEVNULL
        words = [*switch, "env", f"PATH={path}", "sh", "-c", here]
        subprocess.run(words, check=True, cwd="/", stdin=nothing, stdout=nothing, timeout=PATIENCE_S)

    def records(self, database: str) -> list[bytes]:
        address = f"host=127.0.0.1 port={self.port} dbname={database} user=postgres"
        with psycopg.connect(address, autocommit=True) as there:
            rows = there.execute("select payload from house.record order by seq").fetchall()
        return [bytes(payload) for (payload,) in rows]

    def dsn(self, database: str) -> str:
        return f"host=127.0.0.1 port={self.port} dbname={database} user=postgres"


@contextmanager
def off_site(primary: Cluster) -> Iterator[OffSite]:
    folder = Path(tempfile.mkdtemp(prefix="wheeld-off-site-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
    other = OffSite(folder, primary)
    try:
        yield other
    finally:
        if (other.data / "postmaster.pid").exists():
            other.type(f"pg_ctl -s -m immediate -D {DIRECTORY} stop")
        shutil.rmtree(folder)


def test_a_standby_off_site_follows_and_takes_over() -> None:
    (_, make), (_, begin), (_, look), (_, take_over) = typed()
    with Cluster() as primary, off_site(primary) as other:
        database = primary.database()
        for statement in make:
            primary.sql(database, statement)
        kept = Kept(primary, database)
        kept.keep(5)
        for command in begin:
            other.type(command)
        kept.keep(5)
        published = [payload for _, payload in kept.wheel.sent]
        until_s = time.monotonic() + PATIENCE_S
        while other.records(database) != published:
            assert time.monotonic() < until_s, "the standby does not follow"
            time.sleep(0.1)
        ((slot, is_active, behind),) = primary.sql(database, look[0])
        assert (slot, is_active) == ("offsite", True)
        assert behind >= 0
        kept.store.close()
        kept.sql.close()
        primary.crash()
        for command in take_over:
            other.type(command)
        assert other.records(database) == published
        with psycopg.connect(other.dsn(database), autocommit=True) as there:
            there.execute("select house.make_month('2031-01-15Z')")
