"""The MQTT library's client, made to tell two things that it knows and keeps to itself."""

from __future__ import annotations

import asyncio
from typing import Any

import aiomqtt
from paho.mqtt.client import Client as PahoClient
from paho.mqtt.client import DisconnectFlags
from paho.mqtt.enums import LogLevel
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode


class MqttClient(aiomqtt.Client):
    """aiomqtt drops the reason in a PUBACK, so that a publication that the broker threw away looks stored.

    And where a broker leaves before it has answered the connection, with TLS 1.3 to refuse a certificate, it waits out
    its time limit, and says that the time was out.
    """

    refusal: str | None = None

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._fault = "the broker closed the connection before it answered"
        self._client.on_log = self._note_fault

    @property
    def gone(self) -> asyncio.Future[None]:
        """Done when the connection has ended."""
        future: asyncio.Future[None] = self._disconnected
        return future

    def _note_fault(self, _client: PahoClient, _userdata: Any, level: int, text: str) -> None:
        """The only place where paho tells what it met on the socket, a TLS alert say."""
        if level == LogLevel.MQTT_LOG_ERR:
            self._fault = text

    def _on_disconnect(
        self,
        client: PahoClient,
        userdata: Any,
        flags: DisconnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        if not self._connected.done():
            self._connected.set_exception(aiomqtt.MqttError(self._fault))
            return
        super()._on_disconnect(client, userdata, flags, reason_code, properties)
        if self.gone.done():
            self.gone.exception()  # looked at, or the collector prints it between the lines of our log

    def _on_publish(
        self, client: PahoClient, userdata: Any, mid: int, reason_code: ReasonCode, properties: Properties
    ) -> None:
        if reason_code.is_failure:
            self.refusal = str(reason_code)
        super()._on_publish(client, userdata, mid, reason_code, properties)
