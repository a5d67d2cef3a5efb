"""The session with bytes: what it sends, what it takes, and a broker that does what none may do."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from itertools import chain

import mqtt5
import pytest

from wheeld.broker.hints import hint_of
from wheeld.broker.tls import fault
from wheeld.mqtt.session import (
    BrokenProtocolError,
    DisconnectedError,
    MqttError,
    PublicationRefusedError,
    Session,
    Unread,
)

BYTES_MAX = 1000
SEEDS = range(20)
ONCE = mqtt5.QoS.AT_LEAST_ONCE
CONNACK = mqtt5.ConnAckPacket().write()
PANICS = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""The codec panics at text that is not UTF-8, and its panic leaves an exception that nobody can catch."""


def session(accepted: bytes = CONNACK) -> Session:
    """One that the broker has accepted, with nothing to be sent."""
    made = Session(mqtt5.ConnectPacket("w", max_packet_size=BYTES_MAX))
    list(made.receive(accepted))
    made.take_out()
    return made


def packets(data: bytes) -> Iterator[mqtt5.Packet]:
    """What was sent."""
    view = memoryview(data)
    while view:
        packet, size = mqtt5.read(view)
        yield packet
        view = view[size:]


def publication(topic: bytes = b"t", payload: bytes = b"", *, mid: int = 7, properties: bytes = b"") -> bytes:
    """A PUBLISH at QoS 1, also one that the codec would not write."""
    body = struct.pack(">H", len(topic)) + topic + struct.pack(">H", mid) + bytes((len(properties),)) + properties
    more, least = divmod(len(body) + len(payload), 0x80)
    return b"\x32" + (bytes((least | 0x80, more)) if more else bytes((least,))) + body + payload


def said(code: int) -> bytes:
    """A PUBACK of packet 1 with this reason."""
    return bytes((0x40, 3, 0, 1, code))


# --- what it sends -----------------------------------------------------------------------------------------------


def test_the_connection_is_what_goes_out_first() -> None:
    will = mqtt5.Will("there", payload=b"offline", qos=ONCE, retain=True)
    made = Session(mqtt5.ConnectPacket("w", will=will, clean_start=False, session_expiry_interval=60, receive_max=9))
    (sent,) = packets(made.take_out())
    assert isinstance(sent, mqtt5.ConnectPacket)
    assert (sent.clean_start, sent.session_expiry_interval, sent.receive_max) == (False, 60, 9)
    assert sent.will is not None
    assert (sent.will.topic, sent.will.payload, sent.will.retain) == ("there", b"offline", True)
    assert made.take_out() == b""


def test_what_is_asked_is_sent_in_order_and_answered() -> None:
    made = session()
    ids = made.subscribe(["a/+", "b"]), made.publish("t", b"1", qos=1, retain=True, correlation=b"c", expiry_s=15)
    assert made.publish("t", b"0", qos=0) is None
    made.ping()
    last = made.unsubscribe(["b"])
    subscribed, first, second, ping, unsubscribed = packets(made.take_out())
    assert isinstance(subscribed, mqtt5.SubscribePacket)
    assert [each.pattern for each in subscribed.topic_filters] == ["a/+", "b"]
    assert all(each.retain_as_published and each.max_qos == ONCE for each in subscribed.topic_filters)
    assert isinstance(first, mqtt5.PublishPacket)
    assert (first.payload, first.retain, first.correlation_data, first.packet_id) == (b"1", True, b"c", ids[1])
    assert isinstance(second, mqtt5.PublishPacket)
    assert (second.payload, second.packet_id, second.qos == mqtt5.QoS.AT_MOST_ONCE) == (b"0", None, True)
    assert (first.message_expiry_interval, second.message_expiry_interval) == (15, None)
    assert isinstance(ping, mqtt5.PingReqPacket)
    assert isinstance(unsubscribed, mqtt5.UnsubscribePacket)
    answers: list[mqtt5.Packet] = [
        mqtt5.SubAckPacket(ids[0], [mqtt5.SubAckReasonCode.NOT_AUTHORIZED] * 2),
        mqtt5.PubAckPacket(ids[1] or 0, reason_code=mqtt5.PubAckReasonCode.QUOTA_EXCEEDED),
        mqtt5.PingRespPacket(),
        mqtt5.UnsubAckPacket(last, [mqtt5.UnsubAckReasonCode.SUCCESS]),
    ]
    came = list(made.receive(b"".join(each.write() for each in answers)))
    assert [type(each) for each in came] == [type(each) for each in answers]


def test_identifiers_come_round_and_leave_out_those_that_are_waited_for() -> None:
    made = session()
    first = made.publish("t", b"", qos=1)
    for number in range(2, 0x10000):
        assert made.publish("t", b"", qos=1) == number
        list(made.receive(mqtt5.PubAckPacket(number).write()))
    assert (first, made.publish("t", b"", qos=1)) == (1, 2)


def test_what_the_broker_does_not_take_is_not_sent() -> None:
    made = session(mqtt5.ConnAckPacket(max_packet_size=50).write())
    with pytest.raises(PublicationRefusedError, match="but the broker accepts only 50"):
        made.publish("t", bytes(60), qos=1)
    for topic in ("a/#", "x" * 70_000):
        with pytest.raises(PublicationRefusedError):
            made.publish(topic, b"", qos=1)
    assert made.take_out() == b""
    assert made.publish("t", bytes(20), qos=1)


# --- what it takes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_it_does_not_matter_where_the_stream_is_cut(seed: int) -> None:
    rng, stream, sent = random.Random(seed), CONNACK, 0
    for mid in range(1, rng.randrange(2, 30)):
        qos = mqtt5.QoS(rng.randrange(2))
        stream += mqtt5.PublishPacket(
            f"t/{mid}", rng.randbytes(rng.choice((0, 1, 100, 600))), qos=qos, packet_id=mid if qos == ONCE else None
        ).write()
        stream += rng.choice((b"", mqtt5.PingRespPacket().write()))
        sent += 1
    for cuts in ([], sorted(rng.choices(range(len(stream)), k=20)), list(range(len(stream)))):
        made, found, last = Session(mqtt5.ConnectPacket("w", max_packet_size=BYTES_MAX)), [], 0
        made.take_out()
        for cut in [*cuts, len(stream)]:
            found += [each.topic for each in made.receive(stream[last:cut]) if isinstance(each, mqtt5.PublishPacket)]
            last = cut
            assert len(made._rest) < BYTES_MAX
        assert found == [f"t/{mid}" for mid in range(1, sent + 1)], f"seed {seed}"


def test_a_publication_is_confirmed_when_it_has_been_dealt_with() -> None:
    made = session()
    coming = made.receive(publication(mid=5) + publication(mid=6) + mqtt5.PublishPacket("t", b"").write())
    next(coming)
    assert made.take_out() == b"", "not yet"
    next(coming)
    assert made.take_out() == mqtt5.PubAckPacket(5).write()
    list(coming)
    assert made.take_out() == mqtt5.PubAckPacket(6).write(), "one at QoS 0 is not confirmed"


UNREADABLE = (
    b"\x26\x00\x01x\x00\x02\xff\xfe",
    b"\x03\x00\x03\xed\xa0\x80",
    b"\x02\0\0\0\1" * 2,
    b"\x7f",
    b"\x0b\x00",
    b"\x08\0\x09x",
)
"""Properties with text that is not UTF-8, given twice, unknown, with a number that may not be, and cut off."""


@PANICS
@pytest.mark.parametrize("properties", UNREADABLE)
def test_a_publication_that_can_t_be_decoded_is_confirmed_and_named(properties: bytes) -> None:
    """A broker that lets it through would send it again in each session; so would one that we left over it."""
    made = session()
    unread, after = made.receive(publication(b"cmd/\xff", mid=3, properties=properties) + publication(mid=4))
    assert isinstance(unread, Unread)
    assert unread.topic == "cmd/\ufffd"
    assert isinstance(after, mqtt5.PublishPacket)
    assert made.take_out() == mqtt5.PubAckPacket(3).write() + mqtt5.PubAckPacket(4).write()


def test_a_refused_connection_says_why() -> None:
    for code, words in (("NOT_AUTHORIZED", "Not authorized"), ("SERVER_BUSY", "Server busy")):
        refused = mqtt5.ConnAckPacket(reason_code=getattr(mqtt5.ConnAckReasonCode, code))
        with pytest.raises(MqttError, match=f"refuses the connection: {words}") as wrong:
            session(refused.write())
        assert ("correct username and password_file" in fault(wrong.value)) is (code == "NOT_AUTHORIZED")


@pytest.mark.parametrize(
    "poor", [mqtt5.ConnAckPacket(max_qos=mqtt5.QoS.AT_MOST_ONCE), mqtt5.ConnAckPacket(retain_available=False)]
)
def test_a_broker_that_has_not_what_is_needed_is_refused(poor: mqtt5.ConnAckPacket) -> None:
    with pytest.raises(MqttError, match="both are needed here"):
        session(poor.write())


@pytest.mark.parametrize("code", [0, 1, 5])
def test_a_broker_of_an_older_version_is_named(code: int) -> None:
    """MQTT 3.1.1, 3.2: two bytes, the second says whether it accepts."""
    with pytest.raises(MqttError, match="does not speak MQTT 5"):
        session(bytes((0x20, 2, 0, code)))


def test_the_broker_s_farewell_has_its_reason() -> None:
    taken_over = mqtt5.DisconnectReasonCode.SESSION_TAKEN_OVER
    with pytest.raises(DisconnectedError, match="Session taken over") as ended:
        list(session().receive(mqtt5.DisconnectPacket(reason_code=taken_over).write()))
    assert ended.value.code == taken_over
    assert "log in with another name" in str(hint_of(str(ended.value)))


# --- what no broker may do ---------------------------------------------------------------------------------------


def answered(made: Session) -> bytes:
    made.publish("t", b"", qos=1)
    return mqtt5.PubAckPacket(1).write()


WRONG: list[tuple[Callable[[Session], bytes], str]] = [
    (lambda _: CONNACK, "which no broker may send"),
    (lambda _: mqtt5.ConnectPacket("x").write(), "which no broker may send"),
    (lambda _: mqtt5.PubRecPacket(1).write(), "which no broker may send"),
    (lambda _: mqtt5.PubAckPacket(1).write(), "answer to packet 1"),
    (lambda made: answered(made) * 2, "answer to packet 1"),
    (lambda made: answered(made)[:3] + b"\x02", "answer to packet 2"),
    (lambda made: answered(made) and mqtt5.SubAckPacket(1, []).write(), "answer to packet 1"),
    (lambda made: answered(made) and said(0x77), "bytes that are not a packet of MQTT"),
    (lambda _: mqtt5.PublishPacket("t", b"", qos=mqtt5.QoS.EXACTLY_ONCE, packet_id=1).write(), "QoS 2"),
    (lambda _: mqtt5.PublishPacket("t", b"", topic_alias=1).write(), "alias"),
    (lambda _: publication(mid=0), "without an identifier"),
    (lambda _: publication(mid=0, properties=b"\x7f"), "no identifier"),
    (lambda _: b"\x30\x03\x00\x09x", "no end"),
    (lambda _: b"\x32\x03\x00\x01x", "no end"),
    (lambda _: b"\x34\x05\x00\x01x\x00\x07", "QoS 2"),
    (lambda _: b"\x30\xff\xff\xff\xff\x01", "length of five bytes"),
    (lambda _: b"\x00\x00", "bytes that are not a packet of MQTT"),
    (lambda _: b"\xd0\x01\x00", "bytes that are not a packet of MQTT"),
    (lambda _: publication(payload=bytes(BYTES_MAX)), "we accept at most 1000"),
    (lambda _: b"\x90\x80\x80\x01", "we accept at most 1000"),
]


@pytest.mark.parametrize(("what", "why"), WRONG)
@pytest.mark.parametrize("in_pieces", [False, True])
def test_what_no_broker_may_send_ends_the_connection(
    what: Callable[[Session], bytes], why: str, *, in_pieces: bool
) -> None:
    made = session()
    stream = what(made)
    pieces = [stream[at : at + 1] for at in range(len(stream))] if in_pieces else [stream]
    with pytest.raises(BrokenProtocolError, match=why):
        list(chain.from_iterable(map(made.receive, pieces)))


@pytest.mark.parametrize(
    "first", [publication(), mqtt5.PingRespPacket().write(), b"\xe0\x00", publication(properties=b"\x7f")]
)
def test_nothing_comes_before_the_answer_to_the_connection(first: bytes) -> None:
    with pytest.raises(BrokenProtocolError, match="the first packet was not"):
        list(Session(mqtt5.ConnectPacket("w")).receive(first))


@PANICS
@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_comes_it_ends_by_an_error_of_ours_or_goes_on(seed: int) -> None:
    rng = random.Random(seed)
    whole = publication(b"cmd/chef/open", b"{}", properties=b"\x26\x00\x01a\x00\x01b") + said(0x87) + b"\xd0\x00"
    for _ in range(300):
        made = session()
        made.publish("t", b"", qos=1)
        damaged = bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        try:
            list(made.receive(bytes(damaged)))
        except MqttError:
            continue
        assert len(made._rest) <= BYTES_MAX, f"seed {seed}"
