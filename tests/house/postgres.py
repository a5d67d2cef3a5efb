"""A private PostgreSQL in a folder, on a random loopback port, that can be crashed and started again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psycopg

from tests.house.disk import Disk
from tests.mosquitto import free_port
from wheeld_house.migrate import migrate

START_S_MAX = 60.0
ROOM_BYTES = 2 << 30
TEMPLATE = "house_template"
"""A database of the newest schema, which each new database is a copy of."""


def programs() -> Path:
    """The folder with the programs of the newest PostgreSQL."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    assert found, "these tests need PostgreSQL: apt-get install postgresql"
    return found[-1].parent


def in_memory() -> str | None:
    """A folder in memory, if there is room: each database is 300 files, which a disk takes long to make and remove."""
    memory = Path("/dev/shm")
    return str(memory) if memory.is_dir() and shutil.disk_usage(memory).free > ROOM_BYTES else None


class Cluster:
    """One server. PostgreSQL refuses root, so as root it runs as the user `postgres` of Debian."""

    def __init__(self, source: Cluster | None = None, *, durable: bool = False, with_disk: bool = False) -> None:
        """With `source` it is a standby of that server, which follows it until `promote`. `durable`: on a disk, and
        each commit waits for it. `with_disk`: it has a `disk` that can be full or slow."""
        self.port = free_port()
        self._programs = programs()
        self._folder = Path(tempfile.mkdtemp(prefix="wheeld-house-", dir=None if durable else in_memory()))
        self._as = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self._as:
            shutil.chown(self._folder, "postgres", "postgres")
        self._disk = Disk(self._folder) if with_disk else None
        self._is_standby = source is not None
        if source is None:
            self._run("initdb", "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
        else:
            primary = f"host=127.0.0.1 port={source.port} user=postgres application_name=standby"
            self._run("pg_basebackup", "-R", "--no-sync", "-c", "fast", "-d", primary)
        settings = {
            "port": self.port,
            "listen_addresses": "'127.0.0.1'",
            "unix_socket_directories": f"'{self._folder}'",
            "max_connections": 60,
        }
        if not durable:  # the machine stays on: what a killed server has written is there
            settings |= {"fsync": "off", "shared_buffers": "32MB"}
        with (self._folder / "data" / "postgresql.conf").open("a") as file:
            file.writelines(f"{key} = {value}\n" for key, value in settings.items())
        self._databases = 0

    def __enter__(self) -> Self:
        self.start()
        if not self._is_standby:
            self.sql("postgres", f"create database {TEMPLATE}")
            migrate(self.dsn(TEMPLATE))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.crash()
        shutil.rmtree(self._folder)

    def start(self) -> None:
        """Start it and return when it takes connections."""
        deadline = time.monotonic() + START_S_MAX
        while True:
            try:
                self._run("pg_ctl", "-w", "-s", "-l", str(self._folder / "log"), "start")
                return
            except subprocess.CalledProcessError:
                # Processes of the one that was killed may not have ended yet.
                assert time.monotonic() < deadline, (self._folder / "log").read_text()[-2000:]
                time.sleep(0.2)

    def crash(self) -> None:
        """End it as a power cut does: it finishes nothing. Harmless if it does not run."""
        if (self._folder / "data" / "postmaster.pid").exists():
            self._run("pg_ctl", "-s", "-m", "immediate", "stop")

    @property
    def disk(self) -> Disk:
        """Of a server that was made with one."""
        assert self._disk is not None
        return self._disk

    def use_new_log(self) -> None:
        """What is written next needs a new file of the log. The server stops if there is no room for it."""
        with suppress(psycopg.Error):
            self.sql("postgres", "select pg_switch_wal()")

    def recover(self) -> None:
        """After its disk was full: return when it takes connections. If it has ended, somebody starts it."""
        deadline = time.monotonic() + START_S_MAX
        while True:
            try:
                self.sql("postgres", "select 1")
                return
            except psycopg.Error:
                assert time.monotonic() < deadline, (self._folder / "log").read_text()[-2000:]
            try:
                self._run("pg_ctl", "status")
            except subprocess.CalledProcessError:
                self.start()
            time.sleep(0.2)

    def promote(self) -> None:
        """Make a standby the server that is written."""
        self._run("pg_ctl", "-w", "-s", "promote")

    def wait_for_standby(self) -> None:
        """From now on no commit is confirmed before the standby has it."""
        self.sql("postgres", "alter system set synchronous_standby_names = 'standby'")
        self.sql("postgres", "select pg_reload_conf()")

    def kill(self) -> None:
        """Kill the server's first process. The others end when they see it."""
        os.kill(self.pid, signal.SIGKILL)

    @property
    def pid(self) -> int:
        """Of the server's first process."""
        return int((self._folder / "data" / "postmaster.pid").read_text().split()[0])

    def pause(self) -> None:
        """All its processes stand still, as behind a disk that does not answer."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """End a pause."""
        self._signal(signal.SIGCONT)

    def _signal(self, which: signal.Signals) -> None:
        """To the first process first: then it starts no other."""
        first = self.pid
        os.kill(first, which)
        for child in Path(f"/proc/{first}/task/{first}/children").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(child), which)

    def kill_backends(self, database: str) -> None:
        """Kill the processes that serve a collector. The server ends all others and recovers."""
        found = self.sql(
            "postgres",
            "select pid from pg_stat_activity where datname = %s and application_name = 'wheeld-house'",
            database,
        )
        for (pid,) in found:
            os.kill(pid, signal.SIGKILL)

    def dsn(self, database: str, user: str = "postgres", port: int | None = None) -> str:
        return f"host=127.0.0.1 port={port or self.port} dbname={database} user={user}"

    def database(self, schema: str | None = None) -> str:
        """Make a new database with the schema, or with this one, and return its name."""
        self._databases += 1
        name = f"house_{self._databases}"
        self.sql("postgres", f"create database {name}" + (f" template {TEMPLATE}" if schema is None else ""))
        if schema is not None:
            self.sql(name, schema)
        return name

    def sql(self, database: str, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.dsn(database), autocommit=True) as connection:
            done = connection.execute(statement, values or None)
            return done.fetchall() if done.description else []

    def _run(self, program: str, *words: str) -> None:
        command = [*self._as, str(self._programs / program), "-D", str(self._folder / "data"), *words]
        subprocess.run(
            command,
            check=True,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | ({} if self._disk is None else self._disk.environment),
        )
