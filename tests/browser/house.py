"""A house with pages, for tests with a browser: a broker, a simulated wheel, its daemon, and `wheeld page`.

All is on loopback ports that were free, and ended when the block ends.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cli.live import PATIENCE_S, Daemon, running
from tests.live.bench import Subscriber, Wheel, subscribed, turning, write_config
from tests.mosquitto import Mosquitto, free_port

SPEED = 6.0
"""A run of the ball takes a second or two: long enough to be looked at."""
TOKEN = "a-token-of-the-tests"
NAME, LIMIT = "Sala 3", "Plein 5–200 €"
"""What players read of the table."""
SILENCE_S = 10.0
"""A browser may take a whole machine for seconds; here no cable fails."""


class Page:
    """`wheeld page` as a process: the players' port, the chef's and the bouler's. It can be ended and started again."""

    def __init__(self, directory: Path, broker_port: int, *, monitor: bool = True) -> None:
        self.players, self.chefs, self.boulers = (f"http://127.0.0.1:{free_port()}" for _ in range(3))
        token = directory / "token"
        token.write_text(TOKEN)
        token.chmod(0o600)
        self._log = directory / "page.log"
        self._process: asyncio.subprocess.Process | None = None
        self._command = [
            *(sys.executable, "-m", "wheeld", "page", "live/wheel-1"),
            *("--host", "127.0.0.1", "--port", str(broker_port), "--state", str(directory)),
            *("--listen", self.players.removeprefix("http://")),
            *("--chef", self.chefs.removeprefix("http://"), "--token-file", str(token)),
            *("--bouler", self.boulers.removeprefix("http://"), "--bouler-token-file", str(token)),
            *(("--socket", str(socket(directory))) if monitor else ()),
        ]

    @property
    def pid(self) -> int:
        """Of the process."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        """Return when both ports are open."""
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(*self._command, stdout=log, stderr=log)
        async with asyncio.timeout(PATIENCE_S):
            for address in (self.players, self.chefs, self.boulers):
                await self._reached(int(address.rpartition(":")[2]))

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, to stop it for a while say."""
        assert self._process is not None
        self._process.send_signal(number)

    async def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it."""
        if self._process is not None:
            self._process.send_signal(how)
            async with asyncio.timeout(PATIENCE_S):
                await self._process.wait()
            self._process = None

    async def _reached(self, port: int) -> None:
        while True:
            assert self._process is not None
            assert self._process.returncode is None, self._log.read_text()
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return


@dataclass(frozen=True)
class House:
    """What runs."""

    directory: Path
    broker: Mosquitto
    wheel: Wheel
    subscriber: Subscriber
    daemon: Daemon
    page: Page

    @property
    def journal(self) -> Path:
        """The wheel's."""
        return self.directory / "journal.sqlite"


def socket(directory: Path) -> Path:
    """Where the daemon tells what its sensors see."""
    return directory / "monitor"


def configuration(
    directory: Path, port: int, *, test: bool = False, monitor: bool = True, silence_s: float = SILENCE_S
) -> Path:
    """The wheel's configuration. `monitor`: with its socket."""
    path = write_config(directory, port, test=test, silence_s=silence_s)
    path.write_text(f'{path.read_text()}\n[display]\nname = "{NAME}"\nlimits = ["{LIMIT}"]\n')
    if monitor:
        path.write_text(f'{path.read_text()}\n[monitor]\nsocket = "{socket(directory)}"\n')
    return path


@asynccontextmanager
async def paged(directory: Path, broker_port: int, *, monitor: bool = True) -> AsyncIterator[Page]:
    """`wheeld page`, until the block ends."""
    page = Page(directory, broker_port, monitor=monitor)
    try:
        await page.start()
        yield page
    finally:
        await page.stop()


@asynccontextmanager
async def opened(directory: Path, *, seed: int, test: bool = False, speed: float = SPEED) -> AsyncIterator[House]:
    """A whole house, its table open for its first coup."""
    with Mosquitto(directory) as broker:
        path = configuration(directory, broker.port, test=test)
        async with (
            subscribed(broker.port) as subscriber,
            turning(Wheel(seed), directory / "board", speed=speed) as wheel,
            running(path) as daemon,
            paged(directory, broker.port) as page,
        ):
            await subscriber.until_state("closed")
            await daemon.until("board.identified")
            await wheel.press("open")
            await subscriber.until_state("faites_vos_jeux")
            yield House(directory, broker, wheel, subscriber, daemon, page)
