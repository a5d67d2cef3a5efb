"""The panel of a simulated table: an MQTT client that reads messages and sends commands that have no button."""

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
from hw_sim.subscriber import NAMES, Payload, Subscriber

READ_BYTES = 65_536
PACKET_BYTES_MAX = 65_536
"""The panel asks the broker to send no larger packets. A message of the feed is much smaller."""
KEEPALIVE_S = 15
AGAIN_S = 1.0
"""The time from the end of a connection to the next attempt. A broker restarts within a second or two."""
AS_USUAL = "as usual"
"""The panel sends this reason if a person has given none, because a command from a panel must have one."""
LOGINS = {"chef": "chef-{table}", "table": "table-system-{table}", "direction": "direction"}
"""The login names with which people send commands: those of the roles in docs/interfaces.md. A broker with an access
list accepts a name only from its own user. The demo's broker has no access list."""


class BrokerAddress(NamedTuple):
    """The address of a table's broker, and the TLS files of the chef's login there. Without `ca_file` TLS is off."""

    root: str
    """The common beginning of the table's topics, with a "/" at its end."""
    table: str
    host: str = "localhost"
    port: int = 1883
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None


def command_leaf(by: str, name: str, table: str) -> str:
    """Return the topic, below the table's root, on which the person `by` sends the command `name`."""
    return f"cmd/{LOGINS[by].format(table=table)}/{name}"


def no_button_says(command: TableCommand) -> bool:
    """Whether a command needs a panel, because it contains a number or the board has no such button."""
    return command.name not in BUTTONS or command.number is not None


def payload_of(command: TableCommand, shown: Payload | None) -> bytes:
    """Return the command as a panel sends it. A command about a coup gets the coup's number from the table's message
    `shown`, because the journal also counts coups of earlier evenings and the simulator does not."""
    own = {"who": command.who, "number": command.number}
    own |= {"coup": None if command.coup is None or shown is None else shown["coup"]}
    asked = {"id": f"panel-{secrets.token_hex(4)}", "by": command.by, "reason": command.reason or AS_USUAL}
    return json.dumps(asked | {name: value for name, value in own.items() if value is not None}).encode()


class ChefClient:
    """A client that connects again after each failure. `tell` is called with a line of text when the connection begins
    or ends. `hear` is called with each message of the table. Without it, `subscriber` gets all messages."""

    def __init__(
        self,
        broker: BrokerAddress,
        subscriber: Subscriber,
        *,
        tell: Callable[[str], None],
        hear: Callable[[str, bytes], object] | None = None,
    ) -> None:
        self.subscriber = subscriber
        self.sees = asyncio.Event()
        """The broker has confirmed the first subscription."""
        self._broker, self._tell, self._hear = broker, tell, hear or subscriber.take
        self._writer: asyncio.StreamWriter | None = None
        self._told = ""

    def say(self, command: TableCommand) -> None:
        """Send the command as the chef, or, at a broker without logins, as the person who gives it. Without a
        connection it is lost. People notice that, and give it again."""
        if self._writer is not None:
            by = command.by if self._broker.cert_file is None else "chef"
            leaf = command_leaf(by, command.name, self._broker.table)
            payload = payload_of(command, self.subscriber.table)
            self._writer.write(mqtt5.PublishPacket(self._broker.root + leaf, payload, qos=mqtt5.QoS(0)).write())

    async def run(self) -> NoReturn:
        """Connect and receive the table's messages, again after each failure, until the task is cancelled."""
        while True:
            try:
                await self._connect()
            except (OSError, ValueError) as wrong:
                self._change(f"# the people do not see the table: {wrong}")
            self._writer = None
            await asyncio.sleep(AGAIN_S)

    async def _connect(self) -> NoReturn:
        """Connect and receive messages. Raises OSError when the connection ends, ValueError if the login is refused."""
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
                    raise ValueError(f"the broker refuses the login of the chef: {packet.reason_code.name}")
                leaves = [mqtt5.TopicFilter(self._broker.root + leaf, max_qos=mqtt5.QoS(1)) for leaf in NAMES]
                writer.write(mqtt5.SubscribePacket(1, leaves).write())
            case mqtt5.SubAckPacket():
                self._writer = writer
                self.sees.set()
                self._change("# the people see the table")
            case mqtt5.PublishPacket():
                if packet.packet_id is not None:
                    writer.write(mqtt5.PubAckPacket(packet.packet_id).write())
                self._hear(packet.topic.removeprefix(self._broker.root), bytes(packet.payload))

    def _change(self, line: str) -> None:
        if line != self._told:
            self._told = line
            self._tell(line)


def _whole(data: bytes) -> tuple[list[mqtt5.Packet], bytes]:
    """Return the complete packets in `data`, and the bytes after them. Raises ValueError if the data is not MQTT."""
    packets: list[mqtt5.Packet] = []
    while True:
        try:
            packet, length = mqtt5.read(memoryview(data))
        except IndexError:
            return packets, data
        packets.append(packet)
        data = data[length:]
