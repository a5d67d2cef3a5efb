"""The connection to a real mosquitto: late, killed, stalled, refusing; the last will; both versions of the protocol."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any

import mqtt5
import pytest
from structlog.testing import capture_logs

from tests.broker.mqtt_bench import (
    OFFLINE,
    ONLINE,
    PATIENCE_S,
    ROOT,
    TLS,
    connecting,
    observing,
    session_of,
    settings,
)
from tests.broker.world import settle
from tests.mosquitto import Mosquitto, free_port
from tests.mqtt.test_client import Peer
from wheeld.broker.lanes import BUDGETS, REFUSED_PER_NAME, Lane
from wheeld.broker.mqtt import (
    HEAR_S_MAX,
    REFUSED_RETRY_S,
    RETRY_FIRST_S,
    RETRY_MAX_S,
    SESSION_S,
    STABLE_S,
    UNHEARD,
    MqttConnection,
    Refusal,
)
from wheeld.mqtt.client import MqttClient
from wheeld.mqtt.session import MqttError
from wheeld.ports import ConnectionLostError, Publication, PublishRefusedError

# --- connecting --------------------------------------------------------------------------------------------------


async def test_a_broker_that_comes_later(tmp_path: Path) -> None:
    broker = Mosquitto(tmp_path)
    with capture_logs() as logs:
        async with connecting(settings(broker.port)) as (connection, clock):
            for _ in range(3):
                await clock.waiting()
                clock.go()
            await clock.waiting()
            assert connection.counters["connections"] == 0
            outage = connection.outage
            assert outage is not None
            assert outage[:2] == (f"127.0.0.1:{broker.port}", 0)
            assert outage.why.startswith("no broker listens there: start it")
            with broker:
                clock.go()
                assert await session_of(connection) == 1
                assert connection.is_connected
                assert connection.outage is None
                async with observing(broker) as observer:
                    message = await observer.until("availability")
                    assert (message.payload, message.retain) == (ONLINE, True)
    events = [log["event"] for log in logs]
    assert events == ["broker.unreachable", "broker.connected"]
    assert "no broker listens there" in logs[0]["why"]
    assert connection.counters["failures"] == 4


async def test_waits_grow_to_a_ceiling_and_start_again_after_a_stable_connection(tmp_path: Path) -> None:
    broker = Mosquitto(tmp_path)
    async with connecting(settings(broker.port)) as (connection, clock):
        waits = []
        for _ in range(12):
            waits.append(await clock.waiting())
            clock.go()
        for failures, wait_s in enumerate(waits, 1):
            ceiling = min(RETRY_MAX_S, RETRY_FIRST_S * 2**failures)
            assert ceiling / 2 <= wait_s <= ceiling, (failures, waits)
        assert len(set(waits)) == 12
        await clock.waiting()
        broker.start()
        clock.go()
        await session_of(connection)
        clock.now_ns = 7
        broker.kill()
        assert await clock.waiting() > RETRY_MAX_S / 2 - 1  # it hardly lasted
        clock.now_ns = 9
        assert connection.outage is not None
        assert connection.outage.since_ns == 7
        broker.start()
        clock.go()
        await session_of(connection)
        clock.now_ns += round((STABLE_S + 1) * 1e9)
        broker.kill()
        assert await clock.waiting() <= RETRY_FIRST_S


async def test_a_host_that_answers_the_door_and_never_speaks() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, capture_logs() as logs:
        port = server.getsockname()[1]
        async with connecting(settings(port, publish_timeout_s=0.2)) as (_, clock):
            await clock.waiting()
            server.accept()[0].close()
            clock.go()
            server.setblocking(False)
            connection, _ = await asyncio.wait_for(asyncio.get_running_loop().sock_accept(server), PATIENCE_S)
        connection.close()  # it was stopped in the middle of a connection that never became one
    assert [log["event"] for log in logs] == ["broker.unreachable"]


async def test_a_stop_while_the_connection_is_being_made(broker: Mosquitto) -> None:
    """Cancelled at whatever point: the half connection must end, and end without a will."""
    for turns in range(0, 40, 3):
        async with connecting(settings(broker.port)):
            for _ in range(turns):
                await asyncio.sleep(0)
    async with observing(broker) as observer, connecting(settings(broker.port)) as (_, clock):
        clock.go()  # the broker may have a session of one that was stopped before it was accepted
        await observer.until("availability", state="online")


async def test_password_file_read_at_each_attempt(tmp_path: Path) -> None:
    passwords, ours = tmp_path / "passwords", tmp_path / "ours"
    passwords.write_text("wheel:good\n")
    tool = ["mosquitto_passwd", "-U", str(passwords)]
    subprocess.run(tool, check=True)  # noqa: ASYNC221
    passwords.chmod(0o644)
    with Mosquitto(tmp_path, f"password_file {passwords}", "allow_anonymous false") as broker:
        wanted = settings(broker.port, username="wheel", password_file=ours)
        with capture_logs() as logs:
            async with connecting(wanted) as (connection, clock):
                await clock.waiting()
                ours.write_text("bad\n")
                clock.go()
                await clock.waiting()
                ours.write_text("good\n")
                clock.go()
                await session_of(connection)
    assert [log["event"] for log in logs] == ["broker.unreachable", "broker.unreachable", "broker.connected"]
    assert "ours" in logs[0]["why"]
    assert "correct username and password_file" in logs[1]["why"], logs[1]


async def test_tls(tmp_path: Path) -> None:
    port = free_port()
    certificate = [f"certfile {TLS / 'localhost.crt'}", f"keyfile {TLS / 'localhost.key'}"]
    with Mosquitto(tmp_path, f"listener {port} 127.0.0.1", *certificate) as broker:
        async with connecting(settings(port, ca_file=TLS / "localhost.crt")) as (connection, _):
            await session_of(connection)
            async with observing(broker) as observer:
                await observer.until("availability", state="online")
        with capture_logs() as logs:
            async with connecting(settings(port, ca_file=TLS / "none.crt")) as (_, clock):
                await clock.waiting()
            async with connecting(settings(broker.port, ca_file=TLS / "localhost.crt")) as (_, clock):
                await clock.waiting()
            gc.collect()  # pytest fails a test in which an open socket is collected
        assert len(logs) == 2
        assert all(log["event"] == "broker.unreachable" for log in logs)


# --- publishing --------------------------------------------------------------------------------------------------


async def test_publishes_and_receives(broker: Mosquitto) -> None:
    async with (
        observing(broker) as observer,
        connecting(settings(broker.port)) as (connection, _),
    ):
        session = await session_of(connection)
        for qos in (0, 1):
            publication = Publication(topic=ROOT + "result", payload=b'{"qos":%d}' % qos, qos=qos, correlation=b"\x07")
            await connection.publish(publication, session=session)
        first = await observer.until("result", qos=0)
        second = await observer.until("result", qos=1)
        assert (first.qos, second.qos) == (0, 1)
        assert getattr(second.properties, "CorrelationData", None) == b"\x07"
        await observer.send("cmd/chef-3/open", {"id": "1"})
        await observer.send("ack", {"seq": 4})
        arrived = await asyncio.wait_for(connection.inbox.get(), PATIENCE_S)
        assert (arrived.leaf, arrived.retained, arrived.payload) == ("cmd/chef-3/open", False, b'{"id":"1"}')
        assert await asyncio.wait_for(connection.inbox.acks.get(), PATIENCE_S) == 4


async def test_another_session_is_refused(broker: Mosquitto) -> None:
    async with connecting(settings(broker.port)) as (connection, _):
        publication = Publication(topic=ROOT + "result", payload=b"{}")
        with pytest.raises(ConnectionLostError):
            await connection.publish(publication, session=1)
        session = await session_of(connection)
        with pytest.raises(ConnectionLostError):
            await connection.publish(publication, session=session + 1)
        await connection.publish(publication, session=session)
        await asyncio.wait_for(connection.lost(session - 1), PATIENCE_S)


async def test_a_broker_killed_while_it_should_confirm(broker: Mosquitto) -> None:
    """The wait for the confirmation ends with the connection, long before its time-out."""
    async with connecting(settings(broker.port, publish_timeout_s=600.0, keepalive_s=600)) as (connection, clock):
        session = await session_of(connection)
        broker.pause()
        publishing = asyncio.create_task(
            connection.publish(Publication(topic=ROOT + "result", payload=b"{}"), session=session)
        )
        waiting = asyncio.create_task(connection.lost(session))
        await asyncio.sleep(0)
        broker.kill()
        with pytest.raises(ConnectionLostError, match="ended before"):
            await asyncio.wait_for(publishing, PATIENCE_S)
        await asyncio.wait_for(waiting, PATIENCE_S)
        await clock.waiting()
        assert not connection.is_connected


async def test_a_broker_that_takes_and_does_not_confirm(broker: Mosquitto) -> None:
    async with connecting(settings(broker.port)) as (connection, clock):
        session = await session_of(connection)
        assert connection._client is not None
        connection._client._timeout_s = 0.1  # connecting may take longer on a loaded machine
        broker.pause()
        publication = Publication(topic=ROOT + "result", payload=b"{}")
        with capture_logs() as logs:
            with pytest.raises(ConnectionLostError, match="timed out"):
                await connection.publish(publication, session=session)
            await clock.waiting()
        assert "no confirmation" in logs[0]["why"]
        assert connection.counters["timeouts"] == 1
        broker.resume()
        clock.go()
        again = await session_of(connection)
        await connection.publish(publication, session=again)
        assert again == session + 1


async def test_a_publication_that_the_access_list_refuses(tmp_path: Path) -> None:
    """MQTT 5 tells it in the confirmation; to take that for a success would lose the message."""
    access = tmp_path / "access"
    access.write_text(f"topic readwrite {ROOT}availability\ntopic readwrite {ROOT}table\n")
    access.chmod(0o644)
    with Mosquitto(tmp_path, f"acl_file {access}") as broker:
        async with connecting(settings(broker.port)) as (connection, _):
            session = await session_of(connection)
            refused = Publication(topic=ROOT + "result", payload=b"{}")
            accepted = Publication(topic=ROOT + "table", payload=b"{}")
            outcomes = await asyncio.gather(
                *(connection.publish(each, session=session) for each in (accepted, refused, accepted)),
                return_exceptions=True,
            )
            assert [type(outcome) for outcome in outcomes] == [type(None), PublishRefusedError, type(None)]
            assert "result: Not authorized" in str(outcomes[1])


async def test_a_refused_subscription_is_logged(broker: Mosquitto, monkeypatch: pytest.MonkeyPatch) -> None:
    """mosquitto's own access lists accept every subscription; other brokers' do not."""

    real = MqttClient.subscribe

    async def subscribe(self: MqttClient, *topics: str) -> dict[str, str]:
        await real(self, *topics)
        return {topic: "Not authorized" for topic in topics if topic.endswith("ack")}

    monkeypatch.setattr(MqttClient, "subscribe", subscribe)
    with capture_logs() as logs:
        async with connecting(settings(broker.port)) as (connection, clock):
            await session_of(connection)
            assert connection.refusals == {("subscription", "ack"): Refusal(0, "Not authorized")}
            assert await clock.waiting() == REFUSED_RETRY_S
            monkeypatch.undo()
            clock.go()
            async with asyncio.timeout(PATIENCE_S):
                while connection.refusals:  # noqa: ASYNC110  it tells nobody
                    await asyncio.sleep(0.01)
    refused = [(log["topic"], log["answer"]) for log in logs if log["event"] == "broker.refuses"]
    assert refused == [(ROOT + "ack", "Not authorized")]


async def test_a_refused_publication_is_named_until_it_is_allowed(tmp_path: Path) -> None:
    access = tmp_path / "access"
    access.write_text(f"topic read {ROOT}#\n")
    access.chmod(0o644)
    with Mosquitto(tmp_path, f"acl_file {access}") as broker, capture_logs() as logs:
        async with connecting(settings(broker.port)) as (connection, clock):
            session = await session_of(connection)
            table = Publication(topic=ROOT + "table", payload=b"{}")
            elsewhere = Publication(topic="reply/campione/3/who", payload=b"{}")
            clock.now_ns = 5
            for publication in (table, elsewhere, table):
                with pytest.raises(PublishRefusedError):
                    await connection.publish(publication, session=session)
            assert connection.refusals == {
                ("publication", "availability"): Refusal(0, "Not authorized"),
                ("publication", "table"): Refusal(5, "Not authorized"),
            }
            access.write_text(f"topic readwrite {ROOT}#\n")
            broker.reload()
            await clock.waiting()
            async with asyncio.timeout(PATIENCE_S):
                while connection.refusals:
                    clock.go()
                    with suppress(PublishRefusedError):
                        await connection.publish(table, session=session)
                    await asyncio.sleep(0.05)
    assert [log["event"] for log in logs].count("broker.refuses") == 2


async def test_a_silent_refusal_of_what_we_should_hear_is_named_until_it_is_allowed(tmp_path: Path) -> None:
    """mosquitto confirms a subscription that its access list forbids; only what does not come shows it."""
    access = tmp_path / "access"
    access.write_text(f"topic write {ROOT}#\n")
    access.chmod(0o644)
    refused = {("subscription", "availability"): Refusal(0, UNHEARD)}
    with Mosquitto(tmp_path, f"acl_file {access}") as broker, capture_logs() as logs:
        async with connecting(settings(broker.port)) as (connection, clock):
            await session_of(connection)
            assert connection.refusals == refused
            clock.now_ns = 5
            await lose(connection)
            clock.go()
            clock.go()
            assert await session_of(connection) == 2
            assert connection.refusals == refused, "it is refused since the first connection"
            access.write_text(f"topic readwrite {ROOT}#\n")
            broker.reload()
            async with asyncio.timeout(PATIENCE_S):
                while connection.refusals:
                    clock.go()
                    await asyncio.sleep(0.05)
    assert [log["topic"] for log in logs if log["event"] == "broker.refuses"] == [ROOT + "availability"]


@pytest.mark.parametrize("retained", ["before", "after", "never"])
async def test_what_it_sends_to_find_out_whether_it_hears(retained: str) -> None:
    """Nothing, if a message is there when it connects; else it asks once. The broker is played byte by byte."""
    own = mqtt5.PublishPacket(ROOT + "availability", ONLINE, qos=mqtt5.QoS.AT_MOST_ONCE, retain=True)
    asked = list[str]()

    async def plays(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Peer(reader, writer)
        await peer.accept()
        with suppress(EOFError):
            while True:
                packet = await peer.read()
                if isinstance(packet, mqtt5.PingReqPacket):
                    peer.send(mqtt5.PingRespPacket())
                    continue
                asked.append(type(packet).__name__.removesuffix("Packet"))
                if isinstance(packet, mqtt5.SubscribePacket):
                    granted = [mqtt5.SubAckReasonCode.GRANTED_QOS_AT_LEAST_ONCE] * len(packet.topic_filters)
                    peer.send(mqtt5.SubAckPacket(packet.packet_id, granted))
                    wants = ROOT + "availability" in [each.pattern for each in packet.topic_filters]
                    if wants and retained == ("after" if "Publish" in asked else "before"):
                        peer.send(own)
                elif isinstance(packet, mqtt5.UnsubscribePacket):
                    done = [mqtt5.UnsubAckReasonCode.SUCCESS] * len(packet.patterns)
                    peer.send(mqtt5.UnsubAckPacket(packet.packet_id, done))
                elif isinstance(packet, mqtt5.PublishPacket) and packet.packet_id is not None:
                    peer.send(mqtt5.PubAckPacket(packet.packet_id))
        writer.close()

    server = await asyncio.start_server(plays, "127.0.0.1", 0)
    async with server, connecting(settings(server.sockets[0].getsockname()[1])) as (connection, _):
        await session_of(connection)
        assert bool(connection.refusals) == (retained == "never")
        first = ["Subscribe", "Unsubscribe", "Subscribe", "Publish"]
        assert asked == first + ([] if retained == "before" else ["Subscribe", "Unsubscribe"])


async def test_a_flood_is_dropped_and_counted(broker: Mosquitto) -> None:
    """Nothing of it is decoded, all of it is confirmed, and another command comes through."""
    budget, refused = BUDGETS[Lane.WORDS].at_once, REFUSED_PER_NAME.at_once
    async with (
        observing(broker) as observer,
        connecting(settings(broker.port)) as (connection, _),
    ):
        session = await session_of(connection)
        with capture_logs() as logs:
            for number in range(budget + refused + 30):
                await observer.send("cmd/chef-3/open", {"number": number})
                await observer.send("ack", {"seq": number})
            await observer.send("cmd/chef-3/rien_va", {"number": -1})
            # Its confirmation comes after what the broker sent before.
            await connection.publish(Publication(topic=ROOT + "x", payload=b""), session=session)
        counters = connection.inbox.counters
        assert (counters["words_taken"], counters["words_refused"], counters["words_dropped"]) == (
            budget + 1,
            refused,
            30,
        )
        assert [log["event"] for log in logs if log["log_level"] != "info"] == ["command.over_budget"]
        arrived = [connection.inbox.get() for _ in range(budget + 1 + refused)]
        leaves = [(incoming.leaf, incoming.is_over_budget) for incoming in await asyncio.gather(*arrived)]
        assert (
            leaves
            == [("cmd/chef-3/open", False)] * budget
            + [("cmd/chef-3/rien_va", False)]
            + [("cmd/chef-3/open", True)] * refused
        )
        assert await connection.inbox.acks.get() == counters["acks"] - 1


# --- being there, and not ----------------------------------------------------------------------------------------


async def test_an_orderly_stop_says_offline(broker: Mosquitto) -> None:
    async with observing(broker) as observer:
        async with connecting(settings(broker.port)) as (connection, _):
            await session_of(connection)
            await observer.until("availability", state="online")
        message = await observer.until("availability", state="offline")
        assert message.payload == OFFLINE
    async with observing(broker) as late:
        assert (await late.until("availability")).payload == OFFLINE


async def test_the_last_will_of_a_killed_daemon(broker: Mosquitto) -> None:
    program = textwrap.dedent(
        f"""
        import asyncio, random
        from wheeld.service.host_clock import SystemClock
        from tests.broker.world import access_of
        from wheeld.broker.mqtt import MqttConnection
        from wheeld.broker.settings import MqttSettings
        async def main():
            settings = MqttSettings(host="127.0.0.1", port={broker.port}, client_id="doomed")
            await MqttConnection(settings, access=access_of({ROOT!r}), online={ONLINE!r}, offline={OFFLINE!r},
                                 clock=SystemClock(), rng=random.Random()).run()
        asyncio.run(main())
        """
    )
    async with observing(broker) as observer:
        child = subprocess.Popen([sys.executable, "-c", program])  # noqa: ASYNC220
        try:
            await observer.until("availability", state="online")
        finally:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
        await observer.until("availability", state="offline")


async def test_the_last_will_is_retained(broker: Mosquitto) -> None:
    """Who comes later must not see it online."""
    async with connecting(settings(broker.port)) as (connection, clock):
        await session_of(connection)
        assert connection._client is not None
        assert connection._client._transport is not None
        connection._client._transport.abort()
        await clock.waiting()
        async with observing(broker) as late:
            message = await late.until("availability")
            assert (message.payload, message.retain) == (OFFLINE, True)


async def test_it_is_online_only_when_it_has_subscribed(broker: Mosquitto, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads `online` may send a command at once."""
    done = list[str]()
    subscribe, publish = MqttClient.subscribe, MqttClient.publish

    async def subscribed(self: MqttClient, *topics: str) -> dict[str, str]:
        refused = await subscribe(self, *topics)
        done.extend(topics)
        return refused

    async def published(self: MqttClient, topic: str, payload: bytes, **more: Any) -> None:
        done.append(payload.decode())
        await publish(self, topic, payload, **more)

    monkeypatch.setattr(MqttClient, "subscribe", subscribed)
    monkeypatch.setattr(MqttClient, "publish", published)
    async with connecting(settings(broker.port)) as (connection, clock):
        for number in (1, 2):
            assert await session_of(connection) == number
            assert {ROOT + "ack", ROOT + "cmd/+/+"} <= set(done[: done.index(ONLINE.decode())]), done
            done.clear()
            await lose(connection)
            await clock.waiting()
            clock.go()


async def test_no_message_leaves_a_task_behind(broker: Mosquitto) -> None:
    async with connecting(settings(broker.port)) as (connection, _), observing(broker, topics="none") as sender:
        session = await session_of(connection)
        before = len(asyncio.all_tasks())
        for number in range(10):
            await connection.publish(Publication(topic=ROOT + "table", payload=b"{}"), session=session)
            await connection.answer(Publication(topic=ROOT + "reply", payload=b"{}", qos=0))
            await sender.send("cmd/chef-3/open", {"number": number})
            await asyncio.wait_for(connection.inbox.get(), PATIENCE_S)
            connection.inbox.task_done()
            connection.ask()
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == before


# --- what the broker keeps ---------------------------------------------------------------------------------------


async def lose(connection: MqttConnection) -> None:
    """The connection ends, as after a stall that was longer than the keep-alive."""
    assert connection._client is not None
    await connection._client.close()


@pytest.mark.parametrize(("gone_s", "kept"), [(SESSION_S - 1, True), (SESSION_S + 1, False)])
async def test_the_broker_keeps_commands_for_a_minute(broker: Mosquitto, gone_s: int, *, kept: bool) -> None:
    async with connecting(settings(broker.port)) as (connection, clock), observing(broker) as sender:
        await session_of(connection)
        await lose(connection)
        await clock.waiting()
        await sender.send("cmd/chef-3/rien_va", {"id": "while away"})
        clock.now_ns += gone_s * 1_000_000_000
        clock.go()
        await session_of(connection)
        await sender.send("cmd/chef-3/open", {"id": "later"})
        leaves = [(await asyncio.wait_for(connection.inbox.get(), PATIENCE_S)).leaf for _ in range(1 + kept)]
        assert leaves == [*(["cmd/chef-3/rien_va"] * kept), "cmd/chef-3/open"]


async def test_what_another_run_was_told_is_not_heard(broker: Mosquitto) -> None:
    async with observing(broker) as sender:
        async with connecting(settings(broker.port)) as (connection, _):
            await session_of(connection)
        await sender.send("cmd/chef-3/open", {"id": "in between"})
        async with connecting(settings(broker.port)) as (connection, _):
            await session_of(connection)
            await sender.send("cmd/chef-3/close", {"id": "later"})
            assert (await asyncio.wait_for(connection.inbox.get(), PATIENCE_S)).leaf == "cmd/chef-3/close"


async def test_hearing_ends_when_all_that_was_sent_has_been_handled(broker: Mosquitto) -> None:
    async with connecting(settings(broker.port)) as (connection, clock), observing(broker) as sender:
        await session_of(connection)
        for number in range(10):
            await sender.send("cmd/chef-3/open", {"id": str(number)})
        hearing = asyncio.create_task(connection.hear(clock.now_ns))
        for _ in range(10):
            assert not hearing.done()
            incoming = await asyncio.wait_for(connection.inbox.get(), PATIENCE_S)
            assert (incoming.came_ns, incoming.came_utc_us is not None) == (clock.now_ns, True)
            connection.inbox.task_done()
        await asyncio.wait_for(hearing, PATIENCE_S)


async def test_hearing_waits_for_a_connection_that_failed_since_then(broker: Mosquitto) -> None:
    async with connecting(settings(broker.port)) as (connection, clock), observing(broker) as sender:
        await connection.hear(0)  # there was none yet
        await session_of(connection)
        clock.now_ns = 10
        await lose(connection)
        while await clock.waiting() == HEAR_S_MAX:  # that of the hearing, which did not need it
            pass
        await connection.hear(11)  # it was gone before
        hearing = asyncio.create_task(connection.hear(9))
        await sender.send("cmd/chef-3/rien_va", {"id": "1"})
        await settle()
        assert not hearing.done()
        clock.go()
        await asyncio.wait_for(connection.inbox.get(), PATIENCE_S)
        connection.inbox.task_done()
        await asyncio.wait_for(hearing, PATIENCE_S)


async def test_hearing_that_begins_as_the_connection_ends_waits_for_the_next_one(broker: Mosquitto) -> None:
    """A connection is over before `run` knows of it; who then asks again at once must not keep it from knowing."""
    async with connecting(settings(broker.port)) as (connection, clock):
        await session_of(connection)
        assert connection._client is not None
        clock.go()  # the next attempt
        connection._client._end(MqttError("a test"))
        await connection._hear(0)
        assert connection.counters["connections"] == 2


async def test_hearing_does_not_wait_for_ever(tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as broker:
        async with connecting(settings(broker.port)) as (connection, clock):
            await session_of(connection)
            await lose(connection)
            await clock.waiting()
            hearing = asyncio.create_task(connection.hear(0))
            while await clock.waiting() != HEAR_S_MAX:
                pass
            clock.go()  # the attempt
            clock.go()
            await asyncio.wait_for(hearing, PATIENCE_S)
