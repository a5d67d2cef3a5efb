"""One message: what the core seals is read, whatever is changed in it is refused by name."""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hw_sim import log as sim_log
from hw_sim.evening import script
from tests.feed.wheel import ROOT, Wheel
from wheeld.core.messages import chain
from wheeld.core.messages import payloads as messages
from wheeld.core.messages.chain import verify_link
from wheeld.core.observations import Observation
from wheeld.core.setting import Header, from_header
from wheeld.core.table import Table
from wheeld.feed import GENESIS, SEQUENCED, FeedError, Manner
from wheeld.feed.message import MESSAGE_BYTES_MAX, ed25519, read_message
from wheeld.feed.order import Order


def fault_of(topic: str, payload: bytes, **more: Any) -> tuple[str, int | None]:
    with pytest.raises(FeedError) as refused:
        read_message(topic, payload, root=ROOT, **more)
    return refused.value.fault, refused.value.seq


def test_reads_what_the_core_seals() -> None:
    wheel = Wheel()
    wheel.say("table")
    topic, payload = wheel.say("result", number=17, words="«é»")
    message = read_message(topic, payload, root=ROOT)
    assert (message.seq, message.topic, message.payload) == (2, "result", payload)
    assert (message.prev, message.hash) == (wheel.hashes[1], wheel.hashes[2])
    assert message.hash == verify_link(payload, wheel.hashes[1])
    assert message.body["number"] == 17


def test_reads_a_whole_evening_of_the_core() -> None:
    played = script(["same_direction", "valid", "valid"], seed=5)
    first, *rest = sim_log.lines(played.header, played.events())
    setting = from_header(msgspec.json.decode(first, type=Header))
    table, opening = Table.start(setting, boot_id="b", started_utc_us=1_800_000_000_000_000)
    order = Order(0, None, Manner())
    steps = [opening, *(table.apply(msgspec.json.decode(line, type=Observation)) for line in rest)]
    published = [message for step in steps if step for message in step.messages if message.seq is not None]
    root = f"wheel/v1/{setting.site}/{setting.table}"
    taken = [order.take(read_message(message.topic, message.payload, root=root), 0.0) for message in published]
    assert len(taken) > 10
    assert all(taken)
    assert {message.topic for message in published} == set(SEQUENCED) - {"ruling"}


def test_its_rule_of_the_chain_is_the_cores() -> None:
    assert GENESIS == chain.GENESIS
    assert [
        kind.__struct_fields__[-3:] for kind in (messages.Result, messages.Void, messages.Ruling, messages.TableMessage)
    ] == [("prev", "hash", "signature")] * len(SEQUENCED)


def test_every_single_byte_is_guarded() -> None:
    topic, payload = Wheel().say("void", cause="chef")
    for at in range(len(payload)):
        changed = payload[:at] + bytes([payload[at] ^ 1]) + payload[at + 1 :]
        assert fault_of(topic, changed)[0] in ("edited", "malformed"), changed
        assert fault_of(topic, payload[:at])[0] in ("edited", "malformed"), payload[:at]


@pytest.mark.parametrize(
    "payload",
    [b"{", b"[]", b'"seq"', b"null", b"{}", b'{"seq":0}', b'{"seq":true}', b'{"seq":"7"}', b'{"seq":1e3}',
     b'{"seq":9007199254740992}', b"\xff\xfe", b"[" * 60_000, b'{"seq":1' + b"0" * 60_000 + b"}",
     b" " * (MESSAGE_BYTES_MAX + 1)],
)  # fmt: skip
def test_malformed(payload: bytes) -> None:
    assert fault_of("result", payload) == ("malformed", None)


def test_of_another_table_or_topic() -> None:
    assert fault_of(*Wheel("campione-04").say("result")) == ("foreign", 1)
    assert fault_of("void", Wheel().say("result")[1]) == ("foreign", 1)
    topic, payload = Wheel().say("result", table=3)
    with pytest.raises(FeedError, match="it belongs to"):
        read_message(topic, payload, root="wheel/v1/campione/3")  # a table whose name is the text "3"


def test_a_message_of_a_bench_table_is_refused_unless_it_is_asked_for() -> None:
    topic, payload = Wheel(test=True).say("result", number=17)
    assert fault_of(topic, payload) == ("test", 1)
    with pytest.raises(FeedError, match=r"name. The owner .+ ask for tests \(test=True in Python"):
        read_message(topic, payload, root=ROOT)
    assert read_message(topic, payload, root=ROOT, test=True).body["number"] == 17


def test_a_live_message_is_refused_where_a_bench_table_is_asked_for() -> None:
    topic, payload = Wheel().say("result", number=17)
    assert fault_of(topic, payload, test=True) == ("test", 1)
    with pytest.raises(FeedError, match="to read a live table, ask for no tests"):
        read_message(topic, payload, root=ROOT, test=True)


@pytest.mark.parametrize("mark", [1, "true", None, [], {}])
def test_what_is_no_mark_is_of_neither(mark: object) -> None:
    topic, payload = Wheel().say("result", test=mark)
    for test in (False, True):
        assert fault_of(topic, payload, test=test) == ("test", 1)


def test_the_mark_cannot_be_taken_away() -> None:
    topic, payload = Wheel(test=True).say("result")
    assert fault_of(topic, payload.replace(b',"test":true', b"")) == ("edited", 1)


def signed(payload: bytes, signature: bytes) -> bytes:
    return payload[:-1] + b',"signature":"' + base64.b64encode(signature) + b'"}'


def test_a_signature_leaves_the_chain_as_it_is() -> None:
    topic, payload = Wheel().say("result")
    plain = read_message(topic, payload, root=ROOT)
    assert read_message(topic, signed(payload, bytes(64)), root=ROOT).hash == plain.hash


def test_the_signature_is_over_the_hash_in_hex() -> None:
    topic, payload = Wheel().say("result")
    digest = json.loads(payload)["hash"].encode()

    def verify(signature: bytes, over: bytes) -> bool:
        return (signature, over) == (b"s" * 64, digest)

    assert read_message(topic, signed(payload, b"s" * 64), root=ROOT, verify=verify).seq == 1
    assert fault_of(topic, signed(payload, b"x" * 64), verify=verify) == ("signature", 1)
    assert fault_of(topic, payload, verify=verify) == ("signature", 1)


def test_an_ed25519_signature_of_the_wheels_key() -> None:
    key, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    verify = ed25519(key.public_key().public_bytes_raw())
    topic, payload = Wheel().say("result")
    digest = json.loads(payload)["hash"].encode()
    assert read_message(topic, signed(payload, key.sign(digest)), root=ROOT, verify=verify).seq == 1
    assert fault_of(topic, signed(payload, other.sign(digest)), verify=verify) == ("signature", 1)
    assert fault_of(topic, signed(payload, key.sign(payload)), verify=verify) == ("signature", 1)
