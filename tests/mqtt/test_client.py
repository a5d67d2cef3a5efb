"""The connection on a real socket, at a broker that the test plays byte by byte: dishonest, slow, gone."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import mqtt5
import pytest

from wheeld.mqtt import client as module
from wheeld.mqtt.client import MqttClient, NoAnswerError, Take, connected
from wheeld.mqtt.session import BrokenProtocolError, DisconnectedError, MqttError, PublicationRefusedError, Unread

PATIENCE_S = 20.0
ACCEPTED = mqtt5.ConnAckPacket().write()


class Peer:
    """The broker's end of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._came = b""

    async def read(self) -> mqtt5.Packet:
        """The next packet of the client; raises EOFError at the end."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    packet, size = mqtt5.read(memoryview(self._came))
                except IndexError:
                    more = await self.reader.read(65_536)
                    if not more:
                        raise EOFError from None
                    self._came += more
                else:
                    self._came = self._came[size:]
                    return packet

    def send(self, *packets: mqtt5.Packet) -> None:
        self.writer.write(b"".join(each.write() for each in packets))

    async def accept(self, answer: mqtt5.ConnAckPacket | None = None) -> mqtt5.ConnectPacket:
        connect = await self.read()
        assert isinstance(connect, mqtt5.ConnectPacket)
        self.send(answer or mqtt5.ConnAckPacket())
        return connect


@asynccontextmanager
async def at_broker(
    plays: Callable[[Peer], Awaitable[None]], *, take: Take | None = None, keepalive_s: int = 0
) -> AsyncIterator[tuple[MqttClient, list[mqtt5.PublishPacket | Unread]]]:
    """A client of the broker that `plays`; what it takes. At the end the broker's part has to be over."""
    over: asyncio.Queue[BaseException | None] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await plays(Peer(reader, writer))
        except BaseException as wrong:  # noqa: BLE001  raised where the test sees it
            over.put_nowait(wrong)
        else:
            over.put_nowait(None)
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    took: list[mqtt5.PublishPacket | Unread] = []
    connect = mqtt5.ConnectPacket("w", max_packet_size=1000, keep_alive=keepalive_s)
    try:
        port = server.sockets[0].getsockname()[1]
        async with connected("127.0.0.1", port, connect, take=take or took.append, timeout_s=PATIENCE_S) as client:
            yield client, took
        wrong = await asyncio.wait_for(over.get(), PATIENCE_S)
        if wrong is not None:
            raise wrong
    finally:
        server.close()


async def test_answers_go_to_whom_they_belong_in_whatever_order() -> None:
    async def plays(peer: Peer) -> None:
        await peer.accept()
        first, second = await peer.read(), await peer.read()
        assert isinstance(first, mqtt5.PublishPacket)
        assert isinstance(second, mqtt5.PublishPacket)
        assert (first.packet_id, second.packet_id) == (1, 2)
        peer.send(mqtt5.PubAckPacket(2, reason_code=mqtt5.PubAckReasonCode.NOT_AUTHORIZED), mqtt5.PubAckPacket(1))
        assert isinstance(await peer.read(), mqtt5.DisconnectPacket)

    async with at_broker(plays) as (client, _):
        first, second = await asyncio.gather(client.publish("a", b""), client.publish("b", b""), return_exceptions=True)
    assert first is None
    assert isinstance(second, PublicationRefusedError)
    assert str(second) == "Not authorized"


async def test_the_broker_s_limit_of_what_waits_is_kept() -> None:
    async def plays(peer: Peer) -> None:
        await peer.accept(mqtt5.ConnAckPacket(receive_max=2))
        await peer.read()
        for mid in range(1, 5):
            assert isinstance(await peer.read(), mqtt5.PublishPacket)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(peer.read(), 0.02)
            peer.send(mqtt5.PubAckPacket(mid))
        peer.send(mqtt5.PubAckPacket(5))
        assert isinstance(await peer.read(), mqtt5.DisconnectPacket)

    async with at_broker(plays) as (client, _):
        await asyncio.gather(*(client.publish("a", b"") for _ in range(5)))


@pytest.mark.parametrize("bytes_sent", range(len(ACCEPTED)))
async def test_a_broker_that_leaves_at_any_byte_of_its_answer(bytes_sent: int) -> None:
    async def plays(peer: Peer) -> None:
        await peer.read()
        peer.writer.write(ACCEPTED[:bytes_sent])

    with pytest.raises(MqttError, match="closed the connection before it answered"):
        async with at_broker(plays):
            raise AssertionError


async def test_a_broker_that_had_left_when_we_wrote_is_said_to_have_left() -> None:
    client = MqttClient(mqtt5.ConnectPacket("wheel"), take=lambda _: None, timeout_s=PATIENCE_S)
    client.connection_lost(BrokenPipeError(32, "Broken pipe"))
    with pytest.raises(MqttError, match="the broker closed the connection before it answered"):
        await client.accepted


@pytest.mark.parametrize("bytes_sent", range(4))
async def test_a_broker_that_leaves_at_any_byte_of_a_confirmation(bytes_sent: int) -> None:
    async def plays(peer: Peer) -> None:
        await peer.accept()
        await peer.read()
        peer.writer.write(mqtt5.PubAckPacket(1).write()[:bytes_sent])

    async with at_broker(plays) as (client, _):
        with pytest.raises(MqttError, match="ended before the broker confirmed: the broker closed the connection"):
            await client.publish("a", b"")
        with pytest.raises(MqttError, match="closed the connection"):
            await client.publish("a", b"")


async def test_one_byte_at_a_time() -> None:
    async def plays(peer: Peer) -> None:
        await peer.accept()
        for byte in mqtt5.PublishPacket("t", b"x" * 200, qos=mqtt5.QoS.AT_LEAST_ONCE, packet_id=9).write():
            peer.writer.write(bytes((byte,)))
            await peer.writer.drain()
            await asyncio.sleep(0)
        confirmed = await peer.read()
        assert isinstance(confirmed, mqtt5.PubAckPacket)
        assert confirmed.packet_id == 9

    async with at_broker(plays) as (client, took):
        await asyncio.wait_for(client.gone, PATIENCE_S)
    assert [each.topic for each in took] == ["t"]


async def test_what_breaks_the_protocol_ends_this_connection_and_says_why_to_the_broker() -> None:
    async def plays(peer: Peer) -> None:
        await peer.accept()
        peer.send(mqtt5.PubAckPacket(77))
        left = await peer.read()
        assert isinstance(left, mqtt5.DisconnectPacket)
        assert left.reason_code == mqtt5.DisconnectReasonCode.PROTOCOL_ERROR

    async with at_broker(plays) as (client, _):
        error = await asyncio.wait_for(asyncio.shield(client.gone), PATIENCE_S)
    assert isinstance(error, BrokenProtocolError)


async def test_a_fault_of_who_takes_ends_this_connection_alone() -> None:
    async def plays(peer: Peer) -> None:
        await peer.accept()
        peer.send(mqtt5.PublishPacket("t", b""))
        with pytest.raises(EOFError):
            await peer.read()

    def fails(_: object) -> None:
        raise RuntimeError("a fault")

    async with at_broker(plays, take=fails) as (client, _):
        error = await asyncio.wait_for(asyncio.shield(client.gone), PATIENCE_S)
    assert str(error) == "RuntimeError: a fault"


async def test_a_session_that_was_taken_over_is_named() -> None:
    async def plays(peer: Peer) -> None:
        await peer.accept()
        peer.send(mqtt5.DisconnectPacket(reason_code=mqtt5.DisconnectReasonCode.SESSION_TAKEN_OVER))

    async with at_broker(plays) as (client, _):
        error = await asyncio.wait_for(asyncio.shield(client.gone), PATIENCE_S)
    assert isinstance(error, DisconnectedError)
    assert error.code == mqtt5.DisconnectReasonCode.SESSION_TAKEN_OVER


async def test_a_broker_that_never_confirms_is_left() -> None:
    async def plays(peer: Peer) -> None:
        await peer.accept()
        await peer.read()
        with pytest.raises(EOFError):
            await peer.read()

    async with at_broker(plays) as (client, _):
        with pytest.raises(NoAnswerError, match="timed out"):
            await client.publish("a", b"", timeout_s=0.05)
        assert client.gone.done()


async def test_a_broker_that_gives_no_sign_is_left_after_two_periods() -> None:
    async def plays(peer: Peer) -> None:
        await peer.accept(mqtt5.ConnAckPacket(server_keep_alive=1))
        assert isinstance(await peer.read(), mqtt5.PingReqPacket)
        with pytest.raises(EOFError):
            await peer.read()

    async with at_broker(plays, keepalive_s=600) as (client, _):
        error = await asyncio.wait_for(asyncio.shield(client.gone), PATIENCE_S)
    assert isinstance(error, NoAnswerError)


async def test_a_ping_is_answered_behind_what_was_sent_before() -> None:
    async def plays(peer: Peer) -> None:
        await peer.accept()
        assert isinstance(await peer.read(), mqtt5.PingReqPacket)
        peer.send(mqtt5.PublishPacket("t", b""), mqtt5.PingRespPacket())
        assert isinstance(await peer.read(), mqtt5.DisconnectPacket)

    async with at_broker(plays) as (client, took):
        before_ns = client.heard_ns
        client.ask()
        async with asyncio.timeout(PATIENCE_S):
            while client.heard_ns == before_ns:  # noqa: ASYNC110  it tells nobody
                await asyncio.sleep(0.001)
        assert len(took) == 1


async def test_while_the_broker_does_not_read_nothing_more_is_read_from_it() -> None:
    """What is read has to be confirmed, and the confirmations would wait here without end."""
    sent, is_small = 0, asyncio.Event()
    flood = b"".join(
        mqtt5.PublishPacket("t", b"", qos=mqtt5.QoS.AT_LEAST_ONCE, packet_id=mid).write() for mid in range(1, 1001)
    )

    async def plays(peer: Peer) -> None:
        nonlocal sent
        await peer.accept()
        await is_small.wait()
        while sent < 50_000_000:
            peer.writer.write(flood)
            sent += len(flood)
            try:
                await asyncio.wait_for(peer.writer.drain(), 0.3)
            except TimeoutError:
                break
        peer.writer.transport.abort()

    async with at_broker(plays) as (client, took):
        assert client._transport is not None
        # Else the system holds megabytes of confirmations, and a busy machine takes half a minute to make them.
        client._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        is_small.set()
        await asyncio.wait_for(asyncio.shield(client.gone), PATIENCE_S)
        assert sent < 50_000_000, "it went on reading"
        assert len(took) > 1000


async def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(MqttError, match="Connection refused") as refused:
        async with connected("127.0.0.1", port, mqtt5.ConnectPacket("w"), take=print, timeout_s=1.0):
            raise AssertionError
    assert isinstance(refused.value.__cause__, OSError)


async def test_a_door_behind_which_nobody_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLOSE_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(NoAnswerError, match=r"has not answered in 0\.05 s"):
            async with connected("127.0.0.1", port, mqtt5.ConnectPacket("w"), take=print, timeout_s=0.05):
                raise AssertionError


async def test_no_message_leaves_a_task_behind() -> None:
    async def plays(peer: Peer) -> None:
        await peer.accept()
        while isinstance(packet := await peer.read(), mqtt5.PublishPacket):
            assert packet.packet_id is not None
            peer.send(mqtt5.PubAckPacket(packet.packet_id), mqtt5.PublishPacket("t", b""))

    async with at_broker(plays) as (client, took):
        await client.publish("a", b"")
        before = len(asyncio.all_tasks())
        for _ in range(50):
            await client.publish("a", b"")
        assert len(asyncio.all_tasks()) == before
    assert len(took) >= 50


async def test_a_host_without_an_address_is_named_with_what_to_check() -> None:
    why = r"^no address is found for the host none\.invalid \([A-Z][a-z ]+\): check .+`getent hosts none\.invalid`\)$"
    with pytest.raises(MqttError, match=why):
        async with connected("none.invalid", 1, mqtt5.ConnectPacket("w"), take=print, timeout_s=PATIENCE_S):
            pass
