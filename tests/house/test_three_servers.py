"""The files and commands of "Three servers" in docs/collector.md, used as they stand: a server is lost, no commit is.

All three are on loopback here, and only systemd's part is done by hand.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psycopg
import pytest

from tests.house.faults import FAULTS_LEAST, SEEDS, WHEELS, play, said
from tests.house.house import ROOT, house
from tests.house.postgres import Cluster, in_memory, programs
from tests.mosquitto import free_port

PAGE = ROOT / "docs" / "collector.md"
SERVERS = (1, 2, 3)
START_S, FAILOVER_S = 180.0, 120.0
OF_ALL = ("ETCD_INITIAL_CLUSTER=", "  hosts:")
"""Lines that are the same at each server."""


def blocks() -> list[str]:
    """What stands in the boxes of the section."""
    section = PAGE.read_text().partition("## Three servers\n")[2].partition("\n## ")[0]
    return re.findall(r"```\w+\n(.*?)\n```", section, re.DOTALL)


class Server:
    """One of the three computers: etcd, Patroni and its PostgreSQL."""

    def __init__(self, number: int, servers: Servers) -> None:
        self.name, self._servers = f"db{number}", servers
        self._number, self._folder = number, servers.folder / f"db{number}"
        self._folder.mkdir()
        self.processes: list[subprocess.Popen[bytes]] = []

    def write(self, etcd: str, patroni: str) -> None:
        """Its two files, as the page says what differs."""
        settings = self.here(etcd)
        self._etcd = dict(line.split("=", 1) for line in settings.splitlines())
        text = self.here(patroni).replace("…", "x").replace("10.0.0.0/24", "127.0.0.0/8")
        # The page's computer has the usual directory for itself.
        text = re.sub(r"( +)(data_dir: .*)", rf"\1\2\n\1parameters: {{unix_socket_directories: {self._folder}}}", text)
        self.config.write_text(text)

    @property
    def config(self) -> Path:
        return self._folder / "config.yml"

    @property
    def data(self) -> Path:
        return self._folder / "house"

    def here(self, text: str) -> str:
        lines = [
            line
            if line.startswith(OF_ALL)
            else line.replace("db1", self.name).replace("10.0.0.1", f"10.0.0.{self._number}")
            for line in text.splitlines()
        ]
        text = self._servers.on_loopback("\n".join(lines))
        for folder in ("/var/lib/etcd/", "/var/lib/postgresql/15/"):
            name = "etcd" if "etcd" in folder else ""
            text = text.replace(folder + "house", str(self._folder / (name or "house")))
        return text.replace("/usr/lib/postgresql/15/bin", str(programs()))

    def start(self, program: str, *words: str) -> None:
        """As its unit does."""
        environment = {name: of for name, of in os.environ.items() if not name.startswith(("PYTHON", "PG"))}
        with (self._folder / f"{program}.log").open("ab") as log:
            self.processes.append(
                subprocess.Popen(
                    [program, *words],
                    cwd="/",
                    env=environment | self._etcd | {"HOME": str(self._folder)},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    **self._servers.as_postgres,
                )
            )

    def run(self) -> None:
        self.start("etcd")
        self.start("patroni", str(self.config))

    def lose(self) -> None:
        """Its power is gone."""
        for process in reversed(self.processes):
            process.kill()
            process.wait(60.0)
        self.processes.clear()
        self.signal(signal.SIGKILL)

    def signal(self, which: signal.Signals) -> None:
        """To each process of its PostgreSQL, the first one first."""
        with suppress(OSError, ValueError, IndexError):
            first = int((self.data / "postmaster.pid").read_text().split()[0])
            children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
            for pid in (first, *map(int, children)):
                with suppress(ProcessLookupError):
                    os.kill(pid, which)

    def log(self) -> str:
        return "\n".join(f"{log}: {log.read_text()[-1500:]}" for log in self._folder.glob("*.log"))


class Servers(Cluster):
    """All three, as a house uses its server."""

    def __init__(self) -> None:
        self._ports: defaultdict[tuple[str, str], int] = defaultdict(free_port)
        self.folder = Path(tempfile.mkdtemp(prefix="wheeld-house-", dir=in_memory()))
        self.as_postgres: dict[str, Any] = {}
        if os.geteuid() == 0:
            self.as_postgres = {"user": "postgres", "group": "postgres", "extra_groups": []}
        self.servers = [Server(number, self) for number in SERVERS]

    def __enter__(self) -> Self:
        assert shutil.which("patroni"), "this test needs Patroni and etcd: apt-get install patroni etcd-server"
        assert shutil.which("etcd"), "this test needs etcd: apt-get install etcd-server"
        _, etcd, patroni, *_ = blocks()
        for server in self.servers:
            server.write(etcd, patroni)
        if self.as_postgres:
            subprocess.run(["chown", "-R", "postgres:postgres", str(self.folder)], check=True)
        for server in self.servers:
            server.run()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None:
            error.add_note("\n".join(server.log() for server in self.servers))
        for server in self.servers:
            server.lose()
        time.sleep(1.0)  # the processes of the servers see that the first of them has gone
        shutil.rmtree(self.folder, ignore_errors=True)

    def on_loopback(self, text: str) -> str:
        text = re.sub(
            r"host=10\.0\.0\.1,10\.0\.0\.2,10\.0\.0\.3 port=5432",
            lambda _: f"host=127.0.0.1,127.0.0.1,127.0.0.1 port={self.ports} password=x",
            text,
        )
        return re.sub(r"(10\.0\.0\.\d):(\d+)", lambda found: f"127.0.0.1:{self._ports[found[1], found[2]]}", text)

    @property
    def ports(self) -> str:
        return ",".join(str(self._ports[f"10.0.0.{number}", "5432"]) for number in SERVERS)

    def dsn(self, database: str, user: str = "postgres", port: int | None = None) -> str:
        assert port is None
        hosts = f"host=127.0.0.1,127.0.0.1,127.0.0.1 port={self.ports}"
        return f"{hosts} dbname={database} user={user} password=x connect_timeout=3 target_session_attrs=read-write"

    def leader(self) -> Server:
        """The server that is written. While there is none, the first."""
        for server, port in zip(self.servers, self.ports.split(","), strict=True):
            dsn = f"host=127.0.0.1 port={port} dbname=postgres user=postgres password=x connect_timeout=2"
            with suppress(psycopg.Error), psycopg.connect(dsn) as connection:
                if connection.execute("select not pg_is_in_recovery()").fetchone() == (True,):
                    return server
        return self.servers[0]

    # What may happen in a night, always to the server that is written.

    def crash(self) -> None:
        """The whole server is lost."""
        self.leader().lose()

    def kill(self) -> None:
        self.leader().signal(signal.SIGKILL)

    def start(self) -> None:
        """What was lost comes back. Returns when all three are there, and one is written."""
        for server in self.servers:
            if not server.processes:
                server.run()
        look = blocks()[-2]
        until_s = time.monotonic() + FAILOVER_S
        while len(roles := self.until(look, FAILOVER_S)) < len(SERVERS):
            assert time.monotonic() < until_s, roles
            time.sleep(1.0)
        self.sql("postgres", "create temporary table written ()")  # the roles are what the servers said last

    def kill_backends(self, database: str) -> None:
        super().kill_backends(database)
        self.start()

    def pause(self) -> None:
        self._paused = self.leader()
        self._paused.signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._paused.signal(signal.SIGCONT)

    def sql(self, database: str, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """While another server takes over, it waits."""
        until_s = time.monotonic() + FAILOVER_S
        while True:
            try:
                return super().sql(database, statement, *values)
            except psycopg.OperationalError:
                if time.monotonic() > until_s:
                    raise
            time.sleep(0.5)

    def listed(self, command: str) -> dict[str, str]:
        """The role of each server that runs, as the page's command shows it."""
        words = command.replace("/etc/patroni/config.yml", str(self.servers[-1].config))
        environment = {name: of for name, of in os.environ.items() if not name.startswith("PYTHON")}
        shown = subprocess.run(
            ["sh", "-c", words], capture_output=True, text=True, timeout=60, check=False, env=environment
        )
        rows = re.findall(r"^\| (db\d) +\| [^|]+\| ([^|]+?) +\| running ", shown.stdout, re.MULTILINE)
        return dict(rows)

    def until(self, command: str, seconds: float, lost: str = "") -> dict[str, str]:
        """Wait until there is a leader, and somebody whom it waits for, but for the one that is `lost`."""
        until_s = time.monotonic() + seconds
        while True:
            roles = {name: role for name, role in self.listed(command).items() if name != lost}
            if {"Leader", "Sync Standby"} <= set(roles.values()):
                return roles
            ended = [each.args for server in self.servers for each in server.processes if each.poll() is not None]
            assert not ended, ended
            assert time.monotonic() < until_s, roles
            time.sleep(1.0)


class Writer(threading.Thread):
    """Commits one row after the other, and knows of which it was told that they stand."""

    def __init__(self, dsn: str) -> None:
        super().__init__(daemon=True)
        self._dsn, self.over = dsn, threading.Event()
        self.told: list[int] = []
        self.unknown: list[int] = []
        """Those whose commit ended with an error."""
        self.standstill_s = 0.0

    def run(self) -> None:
        connection: psycopg.Connection[Any] | None = None
        number, last_s = 1, time.monotonic()
        while not self.over.is_set():
            is_asked = False
            try:
                if connection is None:
                    connection = psycopg.connect(self._dsn, autocommit=True)
                is_asked = True
                connection.execute("insert into told values (%s) on conflict do nothing", [number])
            except psycopg.Error:
                if is_asked:
                    self.unknown.append(number)
                if connection is not None:
                    connection.close()
                connection = None
                time.sleep(0.1)
                continue
            self.told.append(number)
            number += 1
            self.standstill_s = max(self.standstill_s, time.monotonic() - last_s)
            last_s = time.monotonic()
            time.sleep(0.02)
        if connection is not None:
            connection.close()


RECORDS = "select wheel, seq, hash, stored_at from house.record"


async def made(servers: Servers) -> dict[str, str]:
    """Make the database, as the page says. Returns the role of each server."""
    *_, look, make = blocks()
    roles = await asyncio.to_thread(servers.until, look, START_S)
    create, migrate = make.splitlines()
    migrate = migrate.replace("wheeld-house", f"{sys.executable} -m wheeld_house")
    path = os.pathsep.join((str(ROOT), str(ROOT / "house")))
    for command in (create, migrate):
        words = ["sh", "-c", servers.on_loopback(command)]
        await asyncio.to_thread(
            subprocess.run, words, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": path}
        )
    return roles


@pytest.mark.timeout(600 + 30 * FAULTS_LEAST)
async def test_drawn_faults(tmp_path: Path) -> None:
    """A night of the house, whose database fails with the whole server that is written. Others than the first seed,
    more wheels and a longer night as in `test_house`."""
    with Servers() as servers:
        await made(servers)
        async with house(servers, tmp_path, WHEELS, database="house") as whole:
            print(await play(whole, tmp_path, SEEDS[0], settle_s=FAILOVER_S))  # noqa: T201  with -s


@pytest.mark.timeout(600)
async def test_the_primary_is_lost_and_no_commit(tmp_path: Path) -> None:
    look = blocks()[-2]
    with Servers() as servers:
        before = await made(servers)
        await asyncio.to_thread(servers.sql, "house", "create table told (number bigint primary key)")
        async with house(servers, tmp_path, database="house") as whole:
            whole.collector(tmp_path)
            await said(whole, 10)
            await whole.settled()
            writer = Writer(servers.dsn("house"))
            writer.start()
            speaking = asyncio.create_task(said(whole, 200, 2))
            await asyncio.sleep(1.0)
            (lost,) = (server for server in servers.servers if before[server.name] == "Leader")
            # Nothing can be confirmed from here on. Without a standby that is waited for it would be, and then be lost.
            for (sender,) in await asyncio.to_thread(servers.sql, "postgres", "select pid from pg_stat_replication"):
                os.kill(sender, signal.SIGSTOP)
            await asyncio.sleep(1.0)
            stood = set(await asyncio.to_thread(servers.sql, "house", RECORDS))
            await asyncio.to_thread(lost.lose)
            await asyncio.to_thread(servers.until, look, FAILOVER_S, lost.name)
            await speaking
            await said(whole, 5, 3)
            await whole.settled(FAILOVER_S)
            writer.over.set()
            await asyncio.to_thread(writer.join, 60.0)
            # The date of storing is of the first time: a record that was lost and came again has another.
            assert stood <= set(await asyncio.to_thread(servers.sql, "house", RECORDS))
            numbers = await asyncio.to_thread(servers.sql, "house", "select number from told order by number")
            assert [number for (number,) in numbers][: len(writer.told)] == writer.told
            assert len(numbers) - len(writer.told) in (0, 1)
            assert whole.alarms() == []
            print(  # noqa: T201  pytest shows it with -s
                f"{len(writer.told)} commits told, all kept; {len(writer.unknown)} ended with an error; "
                f"{len(stood)} records stood, all kept; standstill {writer.standstill_s:.1f} s"
            )
