"""The test vectors of docs/feed.md: `python -m tests.documents.vectors` writes docs/feed-vectors.json anew.

The messages are structures of the program, closed and signed by its own code with keys that are fixed here. What a
consumer must find in each case is written by hand; tests hold wheeld.feed and both examples to it. `histories.py` has
the rows about stakes, acks and order.
"""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.documents.histories import acks, late, order, settles, stakes
from wheeld.core.messages import chain
from wheeld.core.messages.payloads import Result, Ruling, TableMessage, Void
from wheeld.core.step import Topic

FILE = Path(__file__).parents[2] / "docs" / "feed-vectors.json"
SITE, TABLE = "campione", "campione-03"
ROOT = f"wheel/v1/{SITE}/{TABLE}"
KEY, OTHER_KEY = (Ed25519PrivateKey.from_private_bytes(bytes([n]) * 32) for n in (7, 9))
KINDS: Final[dict[Topic, type[Result | Void | Ruling | TableMessage]]] = {
    "result": Result, "void": Void, "ruling": Ruling, "table": TableMessage,
}  # fmt: skip
COMMON: Final[dict[str, Any]] = {
    "language": "fr", "site": SITE, "table": TABLE, "house": "campione", "game": "roulette", "boot_id": "b7d1",
    "coup": 812, "coup_id": "62ee15a0-3512-54ed-a554-ca6a2b0ab65e", "at": "2027-01-15T20:00:00.000000Z", "t_us": 1,
}  # fmt: skip
OWN: Final[dict[str, dict[str, Any]]] = {
    "table": {
        "state": "faites_vos_jeux", "bets": "open", "since": "2027-01-15T20:00:00.000000Z", "last_number": 4,
        "last_label": "4",
        "last_coup": None, "bouler": "Zoé", "waiting_for": "lancement de la bille", "waiting_codes": ["launch"],
        "failing": [], "without": [], "by": "Rossi", "user": "chef-campione-03", "reason": "l'heure",
    },
    "result": {
        "number": 32, "label": "32", "pocket_index": 1, "announcement": "Trente-deux, rouge, pair et passe",
        "colour": "rouge",
        "parity": "pair", "half": "passe", "dozen": 3, "column": 2, "sectors": ["voisins_du_zero"],
        "finals_plein": [2], "finals_cheval": [[2, 3], [1, 2], [2, 5], [9, 12]], "neighbours": [26, 0, 15, 19],
        "laps": 9.0, "laps_needed": 3, "ball_direction": "cw", "rotor_direction": "ccw", "rotor_rpm": 14.17,
        "launched_at": "2027-01-15T20:00:10.000000Z", "bets_closed_at": "2027-01-15T20:00:05.000000Z",
        "left_track_at": "2027-01-15T20:00:20.000000Z", "number_at": "2027-01-15T20:00:28.000000Z", "late_s": None,
        "sightings": [{"t_us": 28000000, "reader": 0, "offset": -0.0}], "unproven": [], "confirmed_by": None,
        "confirmed_user": None, "confirmed_reason": None, "margin": 1.0, "margin_of": "direction", "without": [],
    },
    "ruling": {
        "about": 812, "ruled_as": "number", "number": 17, "label": "17", "by": "Bianchi", "user": "direction",
        "reason": "seen by the camera",
    },
    "void": {
        "coup": 813, "coup_id": "0f0f5ae4-9c1b-5d63-8a3c-0f5e6b6b8a11",
        "cause": "chef", "rule": "N7", "case": None, "article": "Art. 11", "words": "rien va",
        "why": "N7, Art. 11: le chef a dit \"rien va\"", "laps_needed": 3,
        "evidence_at": "2027-01-15T20:01:00.000000Z", "evidence": {}, "by": "Rossi", "user": "chef-campione-03",
        "reason": "une main \"sur\" le cylindre, \\ déjà vue", "margin": None, "margin_of": None, "without": [],
    },
}  # fmt: skip


QUESTION: Final[dict[str, Any]] = {"id": "feed-7c1d", "user": "settlement", "from_seq": 3}


class Wheel:
    """A feed from its first message on, with the hash of each."""

    def __init__(self) -> None:
        self.seq, self.hash = 0, chain.GENESIS

    def say(self, topic: Topic, **more: Any) -> bytes:
        """The next message, without a signature."""
        self.seq += 1
        members = {"schema": f"{topic}/1", **COMMON, **OWN[topic], "seq": self.seq, "prev": self.hash, **more}
        message, self.hash = chain.chained(topic, msgspec.convert(members, KINDS[topic]))
        return message.payload


def sign(payload: bytes, key: Ed25519PrivateKey = KEY) -> bytes:
    """A message with its signature, as the journal stores it."""
    return chain.signed(payload, base64.b64encode(key.sign(chain.hash_of(payload))))


def _message(topic: Topic, payload: bytes) -> dict[str, Any]:
    digest = chain.hash_of(payload).decode()
    said = json.loads(payload)
    return {
        "topic": topic,
        "seq": said["seq"],
        "payload": payload.decode(),
        "hashed_bytes": payload.rindex(b',"hash":"'),
        "prev": said["prev"],
        "hash": digest,
        "signature": said.get("signature"),
    }


def vectors() -> dict[str, Any]:
    """Everything that the file holds."""
    wheel = Wheel()
    closed = {"state": "rien_ne_va_plus", "bets": "closed", "waiting_for": "le numéro", "waiting_codes": ["number"]}
    next_coup = {name: OWN["void"][name] for name in ("coup", "coup_id")}
    said: tuple[tuple[Topic, dict[str, Any]], ...] = (
        ("table", closed), ("result", {}), ("table", next_coup), ("void", {}), ("ruling", next_coup),
    )  # fmt: skip
    plain = [(topic, wheel.say(topic, **more)) for topic, more in said]
    signed = [(topic, sign(payload)) for topic, payload in plain]
    cases = _Cases(plain, signed)
    for some in (cases.good, cases.malformed, cases.edited, cases.of_others, cases.wrongly_signed, cases.out_of_order):
        some()
    named = _named(signed, cases.rows)
    for name, before, coup_id in (("ninth", "lost", COMMON["coup_id"]), ("fourth", "had", "818")):
        prev = json.loads(named[before][1])
        after = cases.variant(seq=prev["seq"] + 1, prev=prev["hash"], coup_id=coup_id)
        named[name] = "result", sign(after).decode()
    return {
        "about": "Test vectors of docs/feed.md. A payload is the UTF-8 bytes of its text. Use the keys in tests only.",
        "root": ROOT,
        "private_key": base64.b64encode(KEY.private_bytes_raw()).decode(),
        "public_key": base64.b64encode(KEY.public_key().public_bytes_raw()).decode(),
        "public_key_pem": KEY.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode(),
        "messages": [_message(*one) for one in signed],
        "cases": cases.rows,
        "question": QUESTION,
        "replies": _replies(),
        "asking": _asking(),
        "stakes": stakes(),
        "late": late(),
        "settles": settles(),
        "acks": acks(),
        "order": order(named),
    }


def _named(signed: list[tuple[Topic, bytes]], cases: list[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """Topic and payload of the messages in `order`: the first five by number, others from their cases."""
    named: dict[str, tuple[str, str]] = {
        str(n): (topic, payload.decode()) for n, (topic, payload) in enumerate(signed, 1)
    }
    for name, what in (
        ("lost", "the wheel has no messages 3 to 7: report them, then store this one"),
        *((topic, f"3 and 4, by a gap in a {topic}") for topic in KINDS),
        ("had", "the wheel has no message 2, but it is stored: nothing is lost"),
        ("other", "another message with a number that is stored"),
        ("chain", "its prev is not the hash of the message before"),
        ("forged", "forged: another number, with the right seq, prev and hash"),
        ("test", "a bench table's message, at a consumer that pays"),
        ("label", "the number 37"),
        ("later", "a member of a later version"),
    ):
        (case,) = (case for case in cases if case["what"] == what and case["key"])
        named[name] = case["topic"], case["payload"]
    return named


class _Cases:
    """Rows of the file: the consumer has stored the messages up to `stored`, then this one comes."""

    def __init__(self, plain: list[tuple[Topic, bytes]], signed: list[tuple[Topic, bytes]]) -> None:
        self.rows: list[dict[str, Any]] = []
        self.topics, self.signed = zip(*signed, strict=True)
        self.result, self.unsigned = signed[1][1], plain[1][1]
        self.digest, self.first_digest = chain.hash_of(self.result), chain.hash_of(plain[0][1])

    def add(self, finds: str, what: str, payload: bytes, topic: Topic = "result", **more: Any) -> None:
        row = {"finds": finds, "what": what, "stored": 1, "key": True, "topic": topic, **more}
        self.rows.append(row | _given(payload))

    def variant(self, topic: Topic = "result", seq: int = 2, prev: str = "", **more: Any) -> bytes:
        """Another message with that number, without a signature."""
        wheel = Wheel()
        wheel.seq, wheel.hash = seq - 1, prev or self.first_digest.decode()
        return wheel.say(topic, **more)

    def with_gap(self, topic: Topic) -> bytes:
        """The message 5, after 3 and 4 were lost, without a signature."""
        return _closed(self.variant(topic, 5), b'"seq":5', b'"seq":5,"gap":{"first_seq":3,"last_seq":4}')

    def good(self) -> None:
        forged = sign(self.variant(number=15), OTHER_KEY)
        self.add("next", "the first message of a table; its prev is 64 zeros", self.signed[0], "table", stored=0)
        self.add("next", "the message behind the one that is stored", self.result)
        self.add("next", "quotes, a backslash and letters beyond ASCII", self.signed[3], "void", stored=3)
        self.add("next", "what the direction rules of an earlier coup", self.signed[4], "ruling", stored=4)
        for number in (b"0", b"37"):
            payload = _anew(self.result, b'"number":32', b'"number":' + number)
            self.add("next", f"the number {number.decode()}", payload)
        self.add("next", "no key is configured, and the message has no signature", self.unsigned, key=False)
        self.add("next", "no key is configured: a false message that fits cannot be found yet", forged, key=False)
        self.add("repeat", "stored already, the same bytes", self.result, stored=2)
        self.add("repeat", "stored already, two messages ago", self.result, stored=4)
        self.add("gap", "seq 2 and 3 are missing: ask for them, do not store this one", self.signed[3], "void")
        self.add("gap", "nothing is stored, and the first message that comes is not the first", self.result, stored=0)

    def malformed(self) -> None:
        self.add("malformed", "nothing, as MQTT clears a retained message", b"", "table")
        self.add("malformed", "no JSON", b'{"seq":2')
        self.add("malformed", "no object", b"[2]")
        self.add("malformed", "no seq", b'{"schema":"result/1"}')
        self.add("malformed", "seq 0", _edit(self.unsigned, b'"seq":2', b'"seq":0'))
        self.add("malformed", "a seq that is a text", _edit(self.unsigned, b'"seq":2', b'"seq":"2"'))
        # Signed: who does not find them malformed stores them.
        for what, old, new in (
            ("a seq with a decimal point", b'"seq":2', b'"seq":2.0'),
            ("a seq with an exponent", b'"seq":2', b'"seq":2e0'),
            ("a seq of 2^53", b'"seq":2', b'"seq":9007199254740992'),
            ("a name that stands twice", b'"number":32', b'"number":15,"number":32'),
            ("the same, once written with an escape", b'"number":32', b'"number":32,"num\\u0062er":15'),
            ("the same, in an object inside", b'"reader":0', b'"reader":1,"reader":0'),
            ("a NUL in a text", b'"label":"32"', b'"label":"32\0"'),
            ("a NUL as an escape", b'"label":"32"', b'"label":"32\\u0000"'),
            ("a NUL in a name", b'"label":', b'"later\\u0000":0,"label":'),
            ("a byte order mark before it", b'{"schema"', b'\xef\xbb\xbf{"schema"'),
            ("a byte that is no UTF-8", b'"label":"32"', b'"label":"32\xff"'),
            ("a number that JSON has not", b'"laps":9.0', b'"laps":NaN'),
            ("a seq with a zero before it", b'"seq":2', b'"seq":02'),
            ("a control character in a text", b'"label":"32"', b'"label":"32\x01"'),
            ("a slash in two bytes, which UTF-8 forbids", b'"label":"32"', b'"label":"32\xc0\xaf"'),
            ("a slash in three bytes, which UTF-8 forbids, too", b'"label":"32"', b'"label":"32\xe0\x80\xaf"'),
            ("half of a surrogate pair in UTF-8", b'"label":"32"', b'"label":"32\xed\xa0\x80"'),
            ("a character beyond U+10FFFF", b'"label":"32"', b'"label":"32\xf4\x90\x80\x80"'),
            ("a comma too many", b'"without":[]', b'"without":[0,]'),
            ("a NUL as an escape, deep inside", b'"without":[]', b'"without":[{"a":["\\u0000"]}]'),
            ("a form feed between the signs", b'"without":[]', b'"without":[\f]'),
            ("a vertical tab between the signs", b'"without":[]', b'"without":[\v]'),
            ("an escape that JSON has not", b'"label":"32"', rb'"label":"\x332"'),
            ("an apostrophe as an escape", b'"label":"32"', rb'"label":"32\'"'),
            ("a number with nothing behind the point", b'"laps":9.0', b'"laps":9.'),
            ("a number with a plus sign", b'"laps":9.0', b'"laps":+9.0'),
        ):
            self.add("malformed", what, _anew(self.result, old, new))
        for finds, size in (("next", 65_536), ("malformed", 65_537)):
            letters = b"a" * (size - len(self.result))
            self.add(finds, f"{size} bytes", _anew(self.result, b'"label":"32"', b'"label":"32%b"' % letters))
        self.add("next", "blanks, with the right hash", _anew(self.result, b',"seq":2', b', "seq":2 '))
        self.add("next", "a line end inside, with the right hash", _anew(self.result, b'{"schema"', b'{\n"schema"'))
        self.add("next", "16 lists inside each other", _anew(self.result, b'"seq":2', b'"seq":2,"later":' + _DEEP))
        self.add("next", "a slash as an escape", _anew(self.result, b'"label":"32"', b'"label":"32\\/"'))
        self.add("next", "no NUL: a backslash and u0000", _anew(self.result, b'"label":"32"', b'"label":"32\\\\u0000"'))
        for what, old, new in (
            ("a number that no wheel has", b'"number":32', b'"number":38'),
            ("a number below 0", b'"number":32', b'"number":-1'),
            ("a number in a text", b'"number":32', b'"number":"32"'),
            ("no number", b'"number":32,', b""),
            ("no coup", b'"coup":812,', b""),
            ("no coup_id", f'"coup_id":"{COMMON["coup_id"]}",'.encode(), b""),
            ("a coup_id that is no text", f'"{COMMON["coup_id"]}"'.encode(), b"812"),
            ("a number with a decimal point", b'"number":32', b'"number":32.0'),
            ("a coup that is a text", b'"coup":812', b'"coup":"812"'),
        ):
            self.add("malformed", f"a result with {what}", _anew(self.result, old, new))
        empty = _anew(self.result, COMMON["coup_id"].encode(), b"")
        self.add("next", "a result with an empty coup_id", empty)
        for stored, what, old, new in (
            (1, "a result of the coup 0", b'"coup":812', b'"coup":0'),
            (1, "a result without bets_closed_at", b'"bets_closed_at":"2027-01-15T20:00:05.000000Z",', b""),
            (2, "a table without bets", b'"bets":"open",', b""),
            (2, "a table without a coup_id", f'"coup_id":"{OWN["void"]["coup_id"]}",'.encode(), b""),
            (4, "a ruling without about", b'"about":812,', b""),
            (4, "a ruling with another ruled_as", b'"ruled_as":"number"', b'"ruled_as":"half"'),
        ):
            payload = _anew(self.signed[stored], old, new)
            self.add("next", f"{what}: it is stored", payload, self.topics[stored], stored=stored)
        point = _anew(self.signed[3], b'"coup":813', b'"coup":813.0')
        self.add("malformed", "a void with a coup with a decimal point", point, "void", stored=3)
        too_high = _closed(self.unsigned, b'"number":32', b'"number":38')
        self.add("signature", "a result with the number 38, and no signature", too_high)
        for stored in (0, 4):
            what = "beyond a gap" if stored == 0 else "under a stored number"
            self.add("malformed", f"a result with the number 38 {what}", sign(too_high), stored=stored)
        no_coup = _anew(self.signed[3], b'"coup":813,', b"")
        self.add("malformed", "a void with no coup", no_coup, "void", stored=3)
        listed = _anew(self.signed[3], f'"{OWN["void"]["coup_id"]}"'.encode(), b"[]")
        self.add("malformed", "a void with a coup_id that is no text", listed, "void", stored=3)
        for what, gap in (
            ("no object", b"null"),
            ("without its first number", b'{"last_seq":1}'),
            ("that begins with 0", b'{"first_seq":0,"last_seq":1}'),
            ("with a decimal point", b'{"first_seq":1.0,"last_seq":1}'),
            ("that ends before it begins", b'{"first_seq":2,"last_seq":1}'),
            ("that does not end before its message", b'{"first_seq":1,"last_seq":2}'),
            ("whose last number is a text", b'{"first_seq":1,"last_seq":"1"}'),
        ):
            payload = _anew(self.result, b'"seq":2', b'"seq":2,"gap":' + gap)
            self.add("malformed", f"a gap {what}", payload)
        self.add("malformed", "a gap that is null, and a wrong hash", payload.replace(gap, b"null"))
        early = sign(self.variant("table", 8, "2" * 64, gap={"first_seq": 3, "last_seq": 6, "by": "Anna", "why": ""}))
        self.add("malformed", "a gap that ends two numbers before its message", early, "table", stored=2)

    def edited(self) -> None:
        result, digest = self.result, self.digest
        self.add("edited", "another number", _edit(result, b'"number":32', b'"number":15'))
        self.add("edited", "the same JSON with a blank", _edit(result, b',"seq":2', b', "seq":2'))
        self.add("edited", "the same value written in another way", _edit(result, b'"laps":9.0', b'"laps":9'))
        self.add("edited", "no hash", _edit(self.unsigned, b',"hash":"%b"' % digest, b""), key=False)
        self.add("edited", "no prev, with the right hash", _anew(result, b',"prev":"%b"' % self.first_digest, b""))
        self.add("edited", "a member behind the hash", _edit(self.unsigned, b'"}', b'","later":1}'), key=False)
        cut = result[:-5] + b'=="}'
        self.add("edited", "no key is configured, and the signature has 87 letters", cut, key=False)
        self.add("edited", "a hash in capital letters", _edit(self.unsigned, digest, digest.upper()), key=False)
        capitals = _anew(result, self.first_digest, self.first_digest.upper())
        self.add("edited", "a prev in capital letters, with the right hash", capitals)
        self.add("edited", "another prev", _edit(result, self.first_digest, digest[::-1]))
        self.add("edited", "a line end behind it", result + b"\n")

    def of_others(self) -> None:
        self.add("foreign", "another table's message", sign(self.variant(table="campione-04")))
        self.add("foreign", "another site's message", sign(self.variant(site="venezia")))
        self.add(
            "foreign", "another table's message on the topic table", sign(self.variant("table", table="x")), "table"
        )
        self.add("foreign", "a result that comes on the topic void", self.result, "void")
        self.add("foreign", "a void that comes on the topic result", self.signed[3], stored=3)
        self.add("foreign", "a version that this consumer does not know", sign(self.variant(schema="result/2")))
        self.add("test", "a bench table's message, at a consumer that pays", sign(self.variant(test=True)))
        for topic in _OTHERS:
            self.add("test", f"a bench table's {topic}", sign(self.variant(topic, test=True)), topic)
        self.add("foreign", "another table's message, without a signature", self.variant(table="campione-04"))
        self.add("foreign", "another table's message, of a bench", sign(self.variant(table="campione-04", test=True)))
        self.add("test", "a bench table's message, without a signature", self.variant(test=True))
        for finds, mark in (("test", b"null"), ("test", b'"false"'), ("next", b"false")):
            payload = _anew(self.result, b'"seq":2', b'"seq":2,"test":' + mark)
            self.add(finds, f"test is {mark.decode()}", payload)
        later = _anew(self.result, b'"seq":2', b'"seq":2,"later":{"seq":3.0,"number":5}')
        self.add("next", "a member of a later version", later)
        self.add("foreign", "without a site", _anew(self.result, b'"site":"campione",', b""))
        self.add("foreign", "without a schema", _anew(self.result, b'"schema":"result/1",', b""))
        for what, old, value in (
            ("a site in a list", b'"site":"campione"', b'["campione"]'),
            ("a table that no text can be made of", b'"table":"campione-03"', b'{"toString":1}'),
            ("a schema in a list", b'"schema":"result/1"', b'["result/1"]'),
        ):
            self.add("foreign", what, _anew(self.result, old, old[: old.index(b":") + 1] + value))

    def wrongly_signed(self) -> None:
        result, unsigned = self.result, self.unsigned
        own, other = chain.signature(result) or b"", chain.signature(self.signed[0]) or b""
        spelling = own[:-3] + bytes([_BASE64[_BASE64.index(own[-3]) ^ 1]]) + b"=="
        over_raw = KEY.sign(bytes.fromhex(self.digest.decode()))
        for what, payload in (
            ("a key is configured, and there is no signature", unsigned),
            ("signed with another key", sign(unsigned, OTHER_KEY)),
            ("the signature of another message", _edit(result, own, other)),
            ("signed over the 32 bytes of the hash, not over its 64 digits", _with(unsigned, over_raw)),
            ("signed over the payload, not over its hash", _with(unsigned, KEY.sign(unsigned))),
            ("64 bytes that are no signature at all", _with(unsigned, b"\xff" * 64)),
            ("the right signature in another spelling of base64", _edit(result, own, spelling)),
            ("forged: another number, with the right seq, prev and hash", sign(self.variant(number=15), OTHER_KEY)),
        ):
            self.add("signature", what, payload)
        for topic in _OTHERS:
            self.add("signature", f"a {topic} signed with another key", sign(self.variant(topic), OTHER_KEY), topic)
        for topic in KINDS:
            self.add("signature", f"a {topic} with a gap, and no signature", self.with_gap(topic), topic, stored=2)
        self.add("signature", "stored already, and there is no signature", unsigned, stored=2)
        later = self.variant("void", 4, "3" * 64)
        self.add("signature", "seq 2 and 3 are missing, and there is no signature", later, "void")

    def out_of_order(self) -> None:
        adopted, later = {"by": "Anna", "why": "the card broke"}, {"coup": 818, "coup_id": "818", "bets": "closed"}
        after = sign(self.variant("table", 8, "2" * 64, gap={"first_seq": 3, "last_seq": 7, **adopted}, **later))
        after_2 = sign(self.variant("table", 3, "2" * 64, gap={"first_seq": 2, "last_seq": 2, **adopted}, **later))
        last = _anew(self.result, b'"seq":2', b'"seq":9007199254740991')
        self.add("gap", "a seq of 2^53 - 1, the highest there is", last)
        self.add("chain", "its prev is not the hash of the message before", sign(self.variant(prev="1" * 64)))
        for topic in _OTHERS:
            self.add("chain", f"the same of a {topic}", sign(self.variant(topic, prev="1" * 64)), topic)
        first = sign(self.variant("table", 1, "1" * 64))
        self.add("chain", "the first message of a table, and its prev is not 64 zeros", first, "table", stored=0)
        other = sign(self.variant(number=15))
        self.add("conflict", "another message with a number that is stored", other, stored=2)
        self.add("conflict", "the same, two messages ago", other, stored=4)
        self.add("lost", "the wheel has no messages 3 to 7: report them, then store this one", after, "table", stored=2,
            lost=[3, 7])  # fmt: skip
        self.add("lost", "the same, where 3 and 4 are stored: 5 to 7 are lost", after, "table", stored=4, lost=[5, 7])
        self.add("gap", "the same, where seq 2 is missing too: ask for it first", after, "table")
        self.add("next", "the wheel has no message 2, but it is stored: nothing is lost", after_2, "table", stored=2)
        self.add("conflict", "a number that is stored, in another message, with a gap", after_2, "table", stored=5)
        for topic in KINDS:
            payload = sign(self.with_gap(topic))
            self.add("lost", f"3 and 4, by a gap in a {topic}", payload, topic, stored=2, lost=[3, 4])


def _replies() -> list[dict[str, str | int]]:
    """Rows of the file: 1 and 2 were stored and the question asked; those up to `stored` came, then this reply."""
    rows = list[dict[str, str | int]]()

    def add(finds: str, what: str, stored: int = 2, last: object = 2, more: bytes = b"", **other: object) -> None:
        whose = {"schema": "reply/1", "id": QUESTION["id"], "user": QUESTION["user"], "name": "resend", "by": "Anna"}
        said = {**whose, "done": True, "why": "", "last_seq": last, **other}
        payload = json.dumps({name: value for name, value in said.items() if value is not ...}, separators=(",", ":"))
        rows.append({"finds": finds, "what": what, "stored": stored, **_given(payload.encode()[:-1] + more + b"}")})

    add("all", "nothing was missing", done=False, why="there is no message 3: the last one is 2")
    add("all", "what was missing came", stored=5, last=5)
    add("all", "the last number came meanwhile, and more", stored=5, last=3)
    add("all", "done is no sign", done=None)
    add("all", "there is no done", done=...)
    add("drop", "more than 65,536 bytes", by="a" * 65_536)
    add("more", "there is more, and nothing came", last=5)
    add("more", "there is more than what came", stored=4, last=5)
    add("rolled_back", "message 2 was stored, and the wheel has 1 alone", last=1)
    add("rolled_back", "the wheel has none", last=0)
    add("rolled_back", "more came, but the wheel did not have what was stored before", stored=5, last=1)
    for what, value in (
        ("no last_seq", ...), ("null", None), ("a text", "5"), ("a decimal point", 5.0), ("2^53", 2**53),
        ("below 0", -1), ("no number", True),
    ):  # fmt: skip
        add("refused", f"last_seq: {what}", last=value, done=False, why="ask again")
    for finds, mark in (("test", True), ("test", None), ("all", False)):
        add(finds, f"test is {json.dumps(mark)}", test=mark)
    others: list[dict[str, Any]] = [
        {"id": "feed-7c1e"}, {"id": None}, {"user": "other"}, {"user": None}, {"name": "seal"},
    ]  # fmt: skip
    for other in others:
        add("drop", f"another's: {json.dumps(other)}", **other)
    for name in ("id", "user", "name"):
        absent: dict[str, Any] = {name: ...}
        add("drop", f"no {name}", **absent)
    add("drop", "another's, of a bench table", id="feed-7c1e", test=True)
    add("drop", "another's, refused", id="feed-7c1e", last=None)
    add("all", "65,536 bytes", by="a" * 65_421)
    add("test", "of a bench table, and no last_seq", test=True, last=None)
    rows.append({"finds": "drop", "what": "no object", "stored": 2, "payload": "[1]"})
    add("drop", "a name that stands twice", more=b',"last_seq":5')
    add("drop", "a NUL", by="Anna\0")
    add("drop", "a byte that is no UTF-8", more=b',"later":"\xff"')
    add("drop", "no JSON", more=b"}")
    add("drop", "the reply to the question before")
    rows[-1]["asked_again"] = True
    return rows


def _asking() -> list[dict[str, Any]]:
    """Rows of the file: what came when, in seconds, to a consumer that has stored nothing; and when it asks."""
    rows = list[dict[str, Any]]()

    def add(what: str, asks_s: list[float], *events: list[Any], until_s: int = 605) -> None:
        rows.append({"what": what, "events": [[0, "subscribed"], *events], "until_s": until_s, "asks_s": asks_s})

    add("nothing is missing: after ten quiet minutes", [0.5, 600.5], [1, "reply", 0])
    add("no reply comes", [0.5, 10.5, 30.5, 70.5, 150.5, 310.5, 610.5, 910.5], until_s=1_000)
    add("a stored message shortens a wait", [0.5, 10.5, 30.5, 50, 60, 80, 120, 200, 360], [40, "stored", 1])
    add("at a new connection the waits are short again", [0.5, 10.5, 30.5, 35.5, 45.5, 65.5, 105.5, 185.5, 345.5],
        [35, "subscribed"])  # fmt: skip
    add("all makes the waits short again", [0.5, 600.5, 1200.5, 1210.5], [1, "reply", 0], [601, "reply", 0],
        [1201, "reply", 0], [1203, "gap", 2], [1211, "stored", 1], [1211, "stored", 2], [1211, "reply", 2],
        until_s=1_300)  # fmt: skip
    add("a repeat is no reason", [0.5, 602], [1, "reply", 0], [2, "stored", 1], [3, "repeat", 1])
    add("conflict is no reason", [0.5, 602], [1, "reply", 0], [2, "stored", 1], [3, "conflict", 1])
    add("rolled_back makes no wait short again", [0.5, 20, 30, 50], [1, "stored", 1], [1, "reply", 1], [20, "fault"],
        [31, "reply", 0], [32, "fault"], [51, "reply", 1], until_s=100)  # fmt: skip
    add("a fault is no gap, whatever its number", [0.5, 13], [1, "reply", 0], [2, "fault", 9], [3, "stored", 1],
        [14, "reply", 1], until_s=100)  # fmt: skip
    add("a gap, something was stored, and no reply comes", [0.5, 10.7], [0.7, "stored", 1], [0.8, "gap", 3],
        [10.8, "stored", 2], [10.8, "stored", 3], [10.8, "reply", 3], until_s=100)  # fmt: skip
    add("more, up to a lower number than a gap", [0.5, 1.5], [0.7, "stored", 1], [0.8, "gap", 9], [1, "reply", 3],
        [1.2, "stored", 2], [1.2, "stored", 3], *([1.6, "stored", seq] for seq in range(4, 10)), [1.6, "reply", 9],
        until_s=100)  # fmt: skip
    add("rolled_back is none", [0.5, 20], [1, "stored", 1], [1, "reply", 1], [20, "fault"], [21, "reply", 0])
    add("each stored message moves it", [0.5, 22, 32, 52, 92, 172, 332], [5, "stored", 1], [12, "stored", 2])
    add("a new connection", [0.5, 3.5, 603.5], [3, "subscribed"], [4, "reply", 0])
    add("a gap, and something was stored since", [0.5, 101], [1, "reply", 0], [100, "stored", 1], [101, "gap", 3],
        [102, "stored", 2], [102, "stored", 3], [102, "reply", 3])  # fmt: skip
    add("a gap, and nothing was stored since", [0.5, 10.5], [1, "reply", 0], [5, "gap", 2], [11, "stored", 1],
        [11, "stored", 2], [11, "reply", 2])  # fmt: skip
    add("a gap that fills itself", [0.5, 602], [1, "reply", 0], [2, "gap", 2], [2, "stored", 1], [2, "stored", 2])
    add("a gap while the question is open, which its messages fill", [0.5, 602], [1, "gap", 2], [2, "stored", 1],
        [2, "stored", 2], [2, "reply", 2])  # fmt: skip
    add("a gap of which the reply knows nothing", [0.5, 10.5], [1, "gap", 9], [2, "reply", 0], [11, "reply", 0])
    add("a fault while the question is open, and all", [0.5, 10.5], [1, "fault"], [2, "reply", 0], [11, "reply", 0])
    add("faults without end", [0.5, 10.5, 20.5, 30.5, 40.5, 50.5, 60.5],
        *(one for n in range(1, 65, 10) for one in ([n, "fault"], [n + 0.75, "reply", 0])), until_s=65)  # fmt: skip
    add("a fault, and true messages after it", [0.5, 16], [1, "reply", 0], [2, "fault"], [3, "stored", 1],
        [6, "stored", 2], [16.5, "reply", 2])  # fmt: skip
    add("more, and something was stored", [0.5, 1.5, 602], [0.7, "stored", 1], [1, "reply", 2], [2, "stored", 2],
        [2, "reply", 2])  # fmt: skip
    add("more, and nothing was stored", [0.5, 10.5], [1, "reply", 2], [11, "stored", 1], [11, "stored", 2],
        [11, "reply", 2])  # fmt: skip
    add("more, and nothing is stored again and again", [0.5, 10.5, 30.5, 70.5], [1, "reply", 5], [11, "reply", 5],
        [31, "reply", 5], [71, "reply", 5], until_s=100)  # fmt: skip
    add("the highest of two gaps counts", [0.5, 3], [1, "gap", 9], [2, "gap", 2], [3, "stored", 1], [3, "stored", 2],
        [3, "reply", 2], [4, "reply", 2], until_s=100)  # fmt: skip
    add("what was stored before the last question", [0.5, 20, 30], [1, "stored", 1], [2, "reply", 1],
        [20, "gap", 3], [21, "reply", 1], [22, "gap", 3], [31, "stored", 2], [31, "stored", 3], [31, "reply", 3],
        until_s=100)  # fmt: skip
    add("refused", [0.5, 10.5], [1, "refused"], [11, "reply", 0])
    add("the reply of a bench table", [0.5, 10.5], [1, "test"], [11, "reply", 0])
    for what in ("refused", "test"):
        add(f"{what} again and again", [0.5, 10.5, 30.5, 70.5], [1, what], [11, what], [31, what], [71, "reply", 0],
            until_s=100)  # fmt: skip
        add(f"{what}, with a gap before it", [0.5, 1.5], [0.7, "stored", 1], [0.8, "gap", 3], [1, what],
            [1.6, "stored", 2], [1.6, "stored", 3], [1.6, "reply", 3], until_s=100)  # fmt: skip
    add("a stored message makes the waits after it short again, too", [0.5, 10.5, 22, 32], [1, "refused"],
        [11, "refused"], [12, "stored", 1], [23, "refused"], [33, "reply", 1], until_s=100)  # fmt: skip
    add("more, and what was missing comes by itself within the second", [0.5, 601.2], [0.7, "stored", 1],
        [1, "reply", 2], [1.2, "stored", 2])  # fmt: skip
    add("a second reply to the same question", [0.5, 600.5], [1, "reply", 0], [2, "reply", 5])
    return rows


_OTHERS: Final[tuple[Topic, ...]] = ("void", "ruling", "table")
_DEEP = b"[" * 16 + b"]" * 16
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _edit(payload: bytes, old: bytes, new: bytes) -> bytes:
    assert payload.count(old) == 1, (old, payload)
    return payload.replace(old, new)


def _anew(payload: bytes, old: bytes, new: bytes) -> bytes:
    """The message with another text in it, closed and signed anew by the wheel's own key."""
    return sign(_closed(payload, old, new))


def _closed(payload: bytes, old: bytes, new: bytes) -> bytes:
    return chain.close_with_hash(_edit(payload[: payload.rindex(b',"hash":"')] + b"}", old, new))[0]


def _with(payload: bytes, signature: bytes) -> bytes:
    return chain.signed(payload, base64.b64encode(signature))


def _given(payload: bytes) -> dict[str, str]:
    """A payload as a row has it. A reader that refuses a NUL must be able to read the file."""
    if b"\0" not in payload:
        with suppress(UnicodeDecodeError):
            return {"payload": payload.decode()}
    return {"base64": base64.b64encode(payload).decode()}


def payload_of(case: dict[str, Any]) -> bytes:
    """The bytes of a row."""
    return case["payload"].encode() if "payload" in case else base64.b64decode(case["base64"])


def text() -> str:
    """The file."""
    return json.dumps(vectors(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
