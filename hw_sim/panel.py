"""The chef's panel of a simulated table: a client of its broker, which hears the table and says what no button says."""

from __future__ import annotations

import asyncio
import json
import secrets
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn

import mqtt5

from firmware_protocol.messages import BUTTONS
from hw_sim.events import TableCommand
from hw_sim.logins import command_leaf
from hw_sim.subscriber import SEQUENCED, Payload, Subscriber

READ_BYTES = 65_536
PACKET_BYTES_MAX = 65_536
"""The broker keeps larger ones to itself; a message of the feed has far less."""
KEEPALIVE_S = 15
AGAIN_S = 1.0
"""From the end of a connection to the next attempt: a broker that restarts is back in a second or two."""
AS_USUAL = "as usual"
"""The reason of people who have given none: a panel asks for one."""


class BrokerAddress(NamedTuple):
    """Where a table's broker is, and the files of TLS for the chef's login there; without an authority no TLS."""

    root: str
    """Above the topics of the table, with a "/" at its end."""
    table: str
    host: str = "localhost"
    port: int = 1883
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None


def no_button_says(command: TableCommand) -> bool:
    """Whether a command needs a panel: a number or a name belongs to it, or there is no such button."""
    return command.name not in BUTTONS or command.number is not None


def payload_of(command: TableCommand, shown: Payload | None) -> bytes:
    """The command as a panel sends it. Who answers for a coup means the one that he sees there, in the table's message
    `shown`: the journal has coups of earlier evenings, which the simulator does not count."""
    own = {"who": command.who, "number": command.number}
    own |= {"coup": None if command.coup is None or shown is None else shown["coup"]}
    asked = {"id": f"panel-{secrets.token_hex(4)}", "by": command.by, "reason": command.reason or AS_USUAL}
    return json.dumps(asked | {name: value for name, value in own.items() if value is not None}).encode()


class ChefClient:
    """Connects again and again. `subscriber` gets what the table publishes; `tell` a line when the broker comes or
    goes."""

    def __init__(self, broker: BrokerAddress, subscriber: Subscriber, *, tell: Callable[[str], None]) -> None:
        self.subscriber = subscriber
        self._broker, self._tell = broker, tell
        self._writer: asyncio.StreamWriter | None = None
        self._told = ""

    def say(self, command: TableCommand) -> None:
        """Give the command as the chef. While there is no broker it is lost: people see that, and say it again."""
        if self._writer is not None:
            leaf = command_leaf("chef", command.name, self._broker.table)
            payload = payload_of(command, self.subscriber.table)
            self._writer.write(mqtt5.PublishPacket(self._broker.root + leaf, payload, qos=mqtt5.QoS(0)).write())

    async def run(self) -> NoReturn:
        """Listen until cancelled."""
        while True:
            try:
                await self._connect()
            except (OSError, ValueError) as wrong:
                self._change(f"# the people do not see the table: {wrong}")
            self._writer = None
            await asyncio.sleep(AGAIN_S)

    async def _connect(self) -> NoReturn:
        """Raises OSError when the connection ends, ValueError when nobody could use it."""
        broker = self._broker
        tls = None
        if broker.ca_file is not None:
            tls = ssl.create_default_context(cafile=broker.ca_file)
            if broker.cert_file is not None:
                tls.load_cert_chain(broker.cert_file, broker.key_file)
        reader, writer = await asyncio.open_connection(broker.host, broker.port, ssl=tls)
        try:
            hello = mqtt5.ConnectPacket("", clean_start=True, keep_alive=KEEPALIVE_S, max_packet_size=PACKET_BYTES_MAX)
            writer.write(hello.write())
            rest = b""
            while True:
                try:
                    async with asyncio.timeout(KEEPALIVE_S / 2):
                        data = await reader.read(READ_BYTES)
                except TimeoutError:
                    writer.write(mqtt5.PingReqPacket().write())
                    continue
                if not data:
                    raise ConnectionError("the broker has ended the connection")
                packets, rest = _whole(rest + data)
                for packet in packets:
                    self._take(packet, writer)
        finally:
            writer.close()

    def _take(self, packet: mqtt5.Packet, writer: asyncio.StreamWriter) -> None:
        match packet:
            case mqtt5.ConnAckPacket():
                if int(packet.reason_code) >= 0x80:
                    raise ValueError(f"the broker refuses us: {packet.reason_code.name}")
                leaves = [mqtt5.TopicFilter(self._broker.root + leaf, max_qos=mqtt5.QoS(1)) for leaf in SEQUENCED]
                writer.write(mqtt5.SubscribePacket(1, leaves).write())
                self._writer = writer
                self._change("# the people see the table")
            case mqtt5.PublishPacket():
                if packet.packet_id is not None:
                    writer.write(mqtt5.PubAckPacket(packet.packet_id).write())
                self.subscriber.take(packet.topic.removeprefix(self._broker.root), bytes(packet.payload))

    def _change(self, line: str) -> None:
        if line != self._told:
            self._told = line
            self._tell(line)


def _whole(data: bytes) -> tuple[list[mqtt5.Packet], bytes]:
    """The packets that have come whole, and what has come of the next one. Raises ValueError for what is none."""
    packets: list[mqtt5.Packet] = []
    while True:
        try:
            packet, length = mqtt5.read(memoryview(data))
        except IndexError:
            return packets, data
        packets.append(packet)
        data = data[length:]
