"""Proofs and receipts, against the definitions of RFC 6962 written a second time, and with every byte changed."""

from __future__ import annotations

import base64
import hashlib
import random
from contextlib import suppress

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519

from tests.journal.journals import RawSigner
from wheeld.core.messages.chain import GENESIS, close_with_hash
from wheeld.journal.seal import sign_message
from wheeld.journal.tree import FeedTree
from wheeld_house.note import LOG, WITNESS, NoteError, Verifier, cosignature, read_checkpoint, read_note
from wheeld_house.receipt import ReceiptError, verify_receipt, write_receipt
from wheeld_house.tlog import consistency_proof, inclusion_proof, is_consistent, leaf_hash, root, root_of_inclusion

KEY = RawSigner(bytes([7]) * 32)
WITNESS_KEY = ed25519.Ed25519PrivateKey.from_private_bytes(bytes([9]) * 32)
SEEN_BY = Verifier("house.example", WITNESS_KEY.public_key().public_bytes_raw(), WITNESS)
AT_S = 1_795_000_000
SIZES = 70


def node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def root_by_definition(leaves: list[bytes]) -> bytes:
    if len(leaves) == 1:
        return leaves[0]
    half = max(1 << power for power in range(40) if 1 << power < len(leaves))
    return node(root_by_definition(leaves[:half]), root_by_definition(leaves[half:]))


LEAVES = [leaf_hash(b"%d" % n) for n in range(SIZES)]
ROOTS = [b"", *(root_by_definition(LEAVES[:size]) for size in range(1, SIZES + 1))]


def test_a_root_is_that_of_the_definition() -> None:
    assert [root(LEAVES[:size]) for size in range(1, SIZES + 1)] == ROOTS[1:]
    assert leaf_hash(b"x") == hashlib.sha256(b"\0x").digest()


def test_each_leaf_of_each_tree_is_proven_and_no_other() -> None:
    rng = random.Random("inclusion")
    for size in range(1, SIZES + 1):
        for index in range(size):
            proof = inclusion_proof(LEAVES[:size], index)
            assert root_of_inclusion(proof, LEAVES[index], index, size) == ROOTS[size], (size, index)
            elsewhere = rng.randrange(size)
            if elsewhere != index:
                assert root_of_inclusion(proof, LEAVES[index], elsewhere, size) != ROOTS[size], (size, index, elsewhere)
            assert root_of_inclusion([*proof, LEAVES[0]], LEAVES[index], index, size) is None
            assert not proof or root_of_inclusion(proof[:-1], LEAVES[index], index, size) is None
    assert root_of_inclusion([], LEAVES[0], 1, 1) is None


def test_each_tree_continues_each_earlier_one_and_no_other() -> None:
    for size in range(1, SIZES + 1):
        for earlier in range(1, size + 1):
            proof = consistency_proof(LEAVES[:size], earlier)
            assert is_consistent(proof, size, ROOTS[size], earlier, ROOTS[earlier]), (size, earlier)
            for wrong in (proof + LEAVES[:1], proof[:-1]) if proof else ([LEAVES[0]],):
                assert not is_consistent(wrong, size, ROOTS[size], earlier, ROOTS[earlier]), (size, earlier)
            other = root_by_definition([*LEAVES[: earlier - 1], LEAVES[-1] if earlier < SIZES else LEAVES[0]])
            assert not is_consistent(proof, size, ROOTS[size], earlier, other), (size, earlier)
            assert not is_consistent(proof, size, other, earlier, ROOTS[earlier]), (size, earlier)
    assert not is_consistent([], 0, b"", 0, b"")
    with pytest.raises(ValueError, match="cannot continue a tree of 3"):
        consistency_proof(LEAVES[:2], 3)


def feed(count: int, **more: object) -> list[bytes]:
    """Messages of a wheel's feed, signed."""
    messages, prev = [], GENESIS
    for seq in range(1, count + 1):
        body = {"schema": "result/1", "site": "campione", "table": "c-3", "seq": seq, "number": seq % 37, **more}
        payload, prev = close_with_hash(msgspec.json.encode(body | {"prev": prev}))
        messages.append(sign_message(payload, KEY))
    return messages


def checkpoint_of(messages: list[bytes], table: str = "c-3") -> str:
    tree = FeedTree()
    for message in messages:
        tree.add(message)
    return tree.checkpoint("campione", table, KEY)


def receipt_of(messages: list[bytes], index: int, checkpoint: str) -> str:
    proof = inclusion_proof([leaf_hash(message) for message in messages], index)
    return write_receipt(messages[index], index, proof, checkpoint)


def witnessed(checkpoint: str) -> str:
    return checkpoint + cosignature(read_note(checkpoint), SEEN_BY.name, WITNESS_KEY, AT_S)


def test_a_receipt_proves_what_the_wheel_published_and_who_saw_it() -> None:
    messages = feed(41)
    proven = verify_receipt(receipt_of(messages, 16, witnessed(checkpoint_of(messages))), KEY.public_key, [SEEN_BY])
    assert (proven.root, proven.message.seq, proven.message.body["number"], proven.size) == (
        "wheel/v1/campione/c-3",
        17,
        17,
        41,
    )
    assert proven.witnessed_at_s == {"house.example": AT_S}
    alone = receipt_of(messages, 16, checkpoint_of(messages))
    assert verify_receipt(alone, KEY.public_key).witnessed_at_s == {}
    with pytest.raises(ReceiptError, match=r"witness house\.example has not cosigned"):
        verify_receipt(alone, KEY.public_key, [SEEN_BY])


def test_a_receipt_with_any_byte_changed_is_refused() -> None:
    messages = feed(5)
    receipt = receipt_of(messages, 2, witnessed(checkpoint_of(messages))).encode()
    rng = random.Random("bytes")
    accepted = []
    for at in range(len(receipt)):
        changed = receipt[:at] + bytes([receipt[at] ^ rng.randrange(1, 128)]) + receipt[at + 1 :]
        with suppress(ReceiptError, UnicodeDecodeError):
            verify_receipt(changed.decode(), KEY.public_key, [SEEN_BY])
            accepted.append((at, changed))
    assert accepted == []


def test_what_proves_nothing_says_why() -> None:
    messages, others = feed(5), feed(5, coup=9)
    checkpoint = checkpoint_of(messages)
    other_key = RawSigner(bytes([8]) * 32).public_key
    wrong = [
        (receipt_of(messages, 2, checkpoint), other_key, "not signed with this wheel's key"),
        (receipt_of(others, 2, checkpoint), KEY.public_key, "not in the tree"),
        (receipt_of(messages, 2, checkpoint_of(messages, "c-4")), KEY.public_key, "not one of the wheel"),
        (receipt_of(messages, 2, checkpoint)[1:], KEY.public_key, "not a receipt"),
        (receipt_of(messages[1:], 2, checkpoint_of(messages[1:])), KEY.public_key, "is at the place of seq 3"),
        (receipt_of(feed(5, test=True), 2, checkpoint_of(feed(5, test=True))), KEY.public_key, "a test"),
        (receipt_of([b"{}"], 0, checkpoint_of([b"{}"])), KEY.public_key, "not one of the wheel"),
        ("", KEY.public_key, "not a receipt"),
    ]
    for receipt, key, why in wrong:
        with pytest.raises(ReceiptError, match=why):
            verify_receipt(receipt, key)


def test_a_false_cosignature_is_refused() -> None:
    checkpoint = checkpoint_of(feed(3))
    text, _, _ = witnessed(checkpoint).rpartition(" ")
    line = base64.b64encode(SEEN_BY.key_hash + bytes(72)).decode()
    with pytest.raises(NoteError, match=r"house\.example is false"):
        SEEN_BY.signed_at(read_note(f"{text} {line}\n"))
    short = base64.b64encode(SEEN_BY.key_hash + bytes(8)).decode()
    with pytest.raises(NoteError, match=r"house\.example is false"):
        SEEN_BY.signed_at(read_note(f"{text} {short}\n"))


def test_keys_are_written_and_read_as_other_logs_do() -> None:
    """The key is that of Go's `note` package documentation."""
    line = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    verifier = Verifier.read(line)
    assert (str(verifier), verifier.use, verifier.name) == (line, LOG, "PeterNeumann")
    with_plus = Verifier("a", b"\xfb" * 32, LOG)
    assert str(with_plus).count("+") > 2
    assert Verifier.read(str(with_plus)) == with_plus
    for wrong in ("", "a+b", "a+00000000+!!", line.replace("c74f", "c74e"), "a+00000000+AA=="):
        with pytest.raises(NoteError):
            Verifier.read(wrong)


@pytest.mark.parametrize(
    "raw", ["", "a\n", "a\n\nb\n", "a\n\n\u2014 a AAAA\n", "x" * 20_000, "a\n\n\u2014 a AAAAAA=\n"]
)
def test_what_is_no_note_is_refused(raw: str) -> None:
    with pytest.raises(NoteError):
        read_note(raw)


@pytest.mark.parametrize("text", ["a\n", "a\n01\n" + "A" * 43 + "=\n", "a\n1\nAAAA\n", "a b\n1\n" + "A" * 43 + "=\n"])
def test_what_is_no_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(NoteError):
        read_checkpoint(read_note(f"{text}\n\u2014 a AAAAAAAA\n"))
