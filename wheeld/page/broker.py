"""One login at the broker. It reads topics of one wheel, publishes on them, and connects again after each loss."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import NoReturn

import mqtt5
import structlog

from wheeld.broker.hints import hint_of
from wheeld.broker.login import opened
from wheeld.broker.settings import MqttSettings
from wheeld.broker.tls import TlsFilesError
from wheeld.errors import WheeldError
from wheeld.mqtt.client import MqttClient
from wheeld.mqtt.session import MqttError, Unread

RETRY_S, RETRY_S_MAX = 1.0, 15.0
"""The first and the longest time between two attempts. Each time is twice as long as the one before."""


class NotSentError(WheeldError):
    """The broker is not connected. Nothing was sent."""


class NotConfirmedError(WheeldError):
    """The message was sent, but the broker has not confirmed it. The broker may have it, or get it later."""


class PageLogin:
    """A login that connects again after each loss. `take(leaf, payload, retained)` gets each message on `leaves` below
    `root`. `reached` is called when the broker is connected, `lost` when it is not. At each change, `tell` gets what to
    do about the login or what is wrong with it, or an empty text if nothing is wrong."""

    def __init__(
        self,
        settings: MqttSettings,
        root: str,
        leaves: Sequence[str],
        *,
        take: Callable[[str, bytes, bool], None],
        reached: Callable[[], None],
        lost: Callable[[], None],
        tell: Callable[[str], None],
    ) -> None:
        self._settings, self._root, self._leaves = settings, root, leaves
        self._take, self._reached, self._lost, self._tell = take, reached, lost, tell
        self._client: MqttClient | None = None
        self._told: str | None = None
        self._log = structlog.get_logger("page").bind(broker=f"{settings.host}:{settings.port}", user=settings.username)

    async def run(self) -> NoReturn:
        """Connect, and connect again after each loss, until cancelled."""
        wait_s = RETRY_S
        while True:
            try:
                async with opened(self._settings, take=self._came) as client:
                    refused = await client.subscribe(*(self._root + leaf for leaf in self._leaves))
                    leaves = ", ".join(topic.removeprefix(self._root) for topic in refused)
                    self._note_trouble(f"the broker's access list refuses {leaves}" if refused else "")
                    self._client = client
                    self._reached()
                    raise await asyncio.shield(client.gone)
            except (MqttError, OSError, TlsFilesError) as wrong:
                self._note_trouble(str(wrong))
            wait_s = RETRY_S if self._client is not None else min(RETRY_S_MAX, 2 * wait_s)
            self._client = None
            self._lost()
            await asyncio.sleep(wait_s * random.uniform(0.5, 1.0))  # noqa: S311  the pause need not be secret

    async def publish(self, leaf: str, payload: bytes, *, expiry_s: int | None = None) -> None:
        """Return when the broker has the message. If a receiver is away, the broker keeps the message for it, at most
        `expiry_s`. Raises NotSentError, NotConfirmedError."""
        if self._client is None:
            raise NotSentError("the broker is not reached")
        try:
            await self._client.publish(self._root + leaf, payload, expiry_s=expiry_s)
        except MqttError as wrong:
            raise NotConfirmedError(str(wrong)) from wrong

    def _came(self, message: mqtt5.PublishPacket | Unread) -> None:
        if isinstance(message, mqtt5.PublishPacket) and message.payload:
            self._take(message.topic.removeprefix(self._root), message.payload, message.retain)

    def _note_trouble(self, trouble: str) -> None:
        """Log and tell `trouble` if it has changed. An empty text means that nothing is wrong."""
        if trouble == self._told:
            return
        self._told, mend = trouble, hint_of(trouble)
        if trouble:
            self._log.warning("broker.trouble", why=trouble, mend=mend)
        else:
            self._log.info("broker.reached")
        self._tell(mend or trouble)
