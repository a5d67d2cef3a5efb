"""One login at the broker: reads topics of one wheel, again and again, and publishes on them."""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import aiomqtt
import structlog

from wheeld.broker.hints import hint_of
from wheeld.broker.mqtt_client import opened, read_password, tls_files
from wheeld.broker.settings import MqttSettings
from wheeld.broker.tls import TlsFilesError
from wheeld.errors import WheeldError

TIMEOUT_S = 5.0
"""A broker in the house answers in milliseconds."""
RETRY_S, RETRY_S_MAX = 1.0, 15.0
"""Between two attempts, doubled from the first to the second."""
INBOX_MAX = 1_000
"""Messages that wait to be read: minutes of a busy wheel. More come only from a flood, and are dropped."""
REFUSED = 0x80
"""A SUBACK's codes from here on are refusals (MQTT 3.1.1, 3.9.3)."""


class NotSentError(WheeldError):
    """The broker is not there: nothing went out."""


class NotConfirmedError(WheeldError):
    """It went out, and the broker has not confirmed it: it may have it all the same, or get it later."""


class Login:
    """A connection that comes and goes. `take(leaf, payload, retained)` gets what comes on `leaves` below `root`;
    `reached` and `lost` are called when the broker is there, and when no longer."""

    def __init__(
        self,
        settings: MqttSettings,
        root: str,
        leaves: Sequence[str],
        *,
        take: Callable[[str, bytes, bool], None],
        reached: Callable[[], None],
        lost: Callable[[], None],
    ) -> None:
        self._settings, self._root, self._leaves = settings, root, leaves
        self._take, self._reached, self._lost = take, reached, lost
        self._client: aiomqtt.Client | None = None
        self._told: str | None = None
        self._log = structlog.get_logger("page").bind(broker=f"{settings.host}:{settings.port}", user=settings.username)

    async def run(self) -> NoReturn:
        """Connect until cancelled."""
        wait_s = RETRY_S
        while True:
            try:
                await self._connect()
            except (aiomqtt.MqttError, OSError, TlsFilesError) as wrong:
                self._tell(str(wrong))
            wait_s = RETRY_S if self._client is not None else min(RETRY_S_MAX, 2 * wait_s)
            self._client = None
            self._lost()
            await asyncio.sleep(wait_s * random.uniform(0.5, 1.0))  # noqa: S311  spreads reconnections, keeps no secret

    async def publish(self, leaf: str, payload: bytes) -> None:
        """Return when the broker has it; raises NotSentError, NotConfirmedError."""
        if self._client is None:
            raise NotSentError("the broker is not reached")
        try:
            await self._client.publish(self._root + leaf, payload, qos=1, timeout=TIMEOUT_S)
        except aiomqtt.MqttError as wrong:
            raise NotConfirmedError(str(wrong)) from wrong

    async def _connect(self) -> None:
        setting = self._settings
        client = aiomqtt.Client(
            setting.host,
            setting.port,
            username=setting.username,
            password=read_password(setting.password_file),
            protocol=aiomqtt.ProtocolVersion.V5 if setting.protocol == "5" else aiomqtt.ProtocolVersion.V311,
            keepalive=setting.keepalive_s,
            timeout=TIMEOUT_S,
            tls_context=await asyncio.to_thread(self._context),
            max_queued_incoming_messages=INBOX_MAX,
        )
        async with opened(client):
            await self._listen(client)

    async def _listen(self, client: aiomqtt.Client) -> None:
        codes: Sequence[Any] = await client.subscribe([(self._root + leaf, 1) for leaf in self._leaves])
        refused = [
            leaf for leaf, code in zip(self._leaves, codes, strict=True) if int(getattr(code, "value", code)) >= REFUSED
        ]
        self._tell(f"the broker's access list refuses {', '.join(refused)}" if refused else "")
        self._client = client
        self._reached()
        async for message in client.messages:
            if isinstance(message.payload, bytes) and message.payload:
                self._take(message.topic.value.removeprefix(self._root), message.payload, message.retain)

    def _context(self) -> ssl.SSLContext | None:
        files = tls_files(self._settings)
        return files.context() if files.named else None

    def _tell(self, trouble: str) -> None:
        """Log a change once."""
        if trouble and trouble != self._told:
            self._log.warning("broker.trouble", why=trouble, mend=hint_of(trouble))
        elif trouble != self._told:
            self._log.info("broker.reached")
        self._told = trouble
