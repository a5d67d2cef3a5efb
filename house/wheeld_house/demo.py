"""`wheeld-house demo`: a whole house on one computer: PostgreSQL, a broker, simulated wheels, daemons and a collector.

It needs the simulator (`wheeld-sim`), mosquitto and PostgreSQL.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from hw_sim.broker import broker
from hw_sim.child import child, free_port
from hw_sim.configuration import sections
from hw_sim.demo import LAYOUT
from hw_sim.exits import UnavailableError
from hw_sim.run import first_of, print_now
from wheeld_house.migrate import migrate
from wheeld_house.settings import SettingsError

SITE = "demo"
FIRST_NUMBER = 17
SPEED = 5.0
HW_SIM = "import sys; from hw_sim.cli import main; sys.exit(main())"
LOOK_S = 1.0
"""How often the demo looks into the database."""
WHEELS_MAX = 36
"""An ordinary computer cannot play more wheels at this speed."""

_VERDICTS = """
select table_name, seq, 'coup ' || coup || ': ' || said from (
    select table_name, seq, coup, 'number ' || label as said from house.results
    union all select table_name, seq, coup, 'rien va, ' || cause from house.voids
) verdicts order by table_name, seq
"""


def run(*, wheels: int, coups: int) -> int:
    """Run a house with this number of wheels until there are `coups` verdicts (0: until Ctrl-C). Returns the exit code.
    Raises SettingsError if a program is missing or fails."""
    if not 1 <= wheels <= WHEELS_MAX:
        raise SettingsError(f"--wheels must be 1 to {WHEELS_MAX}")
    try:
        with TemporaryDirectory(prefix="wheeld-house-") as name, _postgres(Path(name)) as database:
            asyncio.run(_play(Path(name), database, wheels, coups))
    except UnavailableError as error:
        raise SettingsError(str(error)) from None
    except KeyboardInterrupt:
        sys.stdout.write("\n")
    return 0


@contextmanager
def _postgres(folder: Path) -> Iterator[str]:
    """Make a PostgreSQL server in `folder` and run it until the block ends. Yields the connection string."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    if not found:
        raise SettingsError("there is no PostgreSQL: apt-get install postgresql")
    home, port = folder / "postgres", free_port()
    home.mkdir()
    # PostgreSQL refuses to run as root. If this demo runs as root, PostgreSQL runs as the user that Debian's package
    # makes.
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if as_user:
        folder.chmod(0o711)
        shutil.chown(home, "postgres")

    def call(program: str, *words: str) -> None:
        command = [*as_user, str(found[-1] / program), "-D", str(home / "data"), *words]
        done = subprocess.run(  # noqa: S603  the command has only words of this file
            command, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
        )
        if done.returncode:
            raise SettingsError(f"PostgreSQL: {program} failed: {done.stderr.decode(errors='replace')[-500:]}")

    print_now(f"# makes PostgreSQL in {home}")
    call("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={home}"
    call("pg_ctl", "-w", "-s", "-l", str(home / "log"), "-o", options, "start")
    try:
        database = f"host=127.0.0.1 port={port} dbname=postgres user=postgres"
        migrate(database)
        yield database
    finally:
        call("pg_ctl", "-s", "-m", "fast", "stop")


async def _play(folder: Path, database: str, wheels: int, coups: int) -> None:
    tables = [f"wheel-{n}" for n in range(1, wheels + 1)]
    settings = folder / "house.toml"
    async with AsyncExitStack() as up:
        served = await up.enter_async_context(broker(folder))
        commands: dict[str, list[str]] = {}
        for table in tables:
            config, board, private = (folder / f"{table}.{suffix}" for suffix in ("toml", "board", "key"))
            key = ed25519.Ed25519PrivateKey.generate()
            private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
            private.chmod(0o600)
            public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
            (folder / f"{table}.pub").write_bytes(public)
            wheel = sections(LAYOUT, site=SITE, table=table, last_number=FIRST_NUMBER, port=board, speed=SPEED)
            journal = f'[journal]\npath = "{table}.sqlite"\nsigning_key_file = "{private}"\n'
            mqtt = f'[mqtt]\nhost = "127.0.0.1"\nport = {served.port}\n'
            config.write_text("\n".join([wheel, journal, mqtt]), encoding="utf-8")
            played = ["--pty", str(board), "--layout", str(config), "--speed", f"{SPEED:g}", "--quick"]
            commands[f"{table}-sim"] = ["-c", HW_SIM, "run", *played]
            commands[f"{table}-daemon"] = ["-m", "wheeld", "run", "-c", str(config)]
        house = f'name = "demo"\ndatabase = "{database}"\n\n[[brokers]]\nhost = "127.0.0.1"\nport = {served.port}\n'
        wheel = f'[[wheels]]\nsite = "{SITE}"\ntable = "{{0}}"\npublic_key_file = "{folder}/{{0}}.pub"\n'
        settings.write_text("\n".join([house, *map(wheel.format, tables)]), encoding="utf-8")
        commands["collector"] = ["-m", "wheeld_house", "collect", str(settings)]
        running = [
            await up.enter_async_context(child(name, [sys.executable, *words], folder / f"{name}.log"))
            for name, words in commands.items()
        ]
        print_now(f"# {wheels} wheels play {SPEED:g} times as fast as real ones. The settings of the house: {settings}")
        print_now(f'# the database, for your own questions: psql "{database}"')
        await first_of(_show(database, coups), *(each.must_run() for each in (*running, served.process)))
    print_now("# the end")


async def _show(database: str, coups: int) -> None:
    """Print each new verdict until there are `coups` of them (0: without an end)."""
    shown: set[tuple[str, int]] = set()
    connection = await psycopg.AsyncConnection.connect(database, autocommit=True)
    async with connection:
        while not coups or len(shown) < coups:
            await asyncio.sleep(LOOK_S)
            for table, seq, text in await (await connection.execute(_VERDICTS)).fetchall():
                if (table, seq) not in shown:
                    shown.add((table, seq))
                    print_now(f"{table}  {text}")
