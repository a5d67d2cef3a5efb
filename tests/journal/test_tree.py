"""The tree of the feed and its checkpoints, against RFC 6962 written a second time, and against its known hashes."""

from __future__ import annotations

import base64
import hashlib
from contextlib import closing
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519

from tests.broker.feed import Feed
from tests.journal.journals import NOW, RawSigner, open_writer
from wheeld.journal.tree import FeedTree

KEY = RawSigner(bytes([7]) * 32)
KNOWN = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
"""The leaves with which Certificate Transparency's own tests begin."""


def root_of(leaves: list[bytes]) -> bytes:
    """The tree hash as section 2.1 of RFC 6962 defines it."""
    if len(leaves) < 2:
        return hashlib.sha256(b"\0" + leaves[0] if leaves else b"").digest()
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + root_of(leaves[:half]) + root_of(leaves[half:])).digest()


def tree_of(leaves: list[bytes]) -> FeedTree:
    tree = FeedTree()
    for leaf in leaves:
        tree.add(leaf)
    return tree


@pytest.mark.parametrize(
    ("size", "root"),
    [
        (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
        (8, "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"),
    ],
)
def test_known_trees_have_their_known_hashes(size: int, root: str) -> None:
    assert tree_of([bytes.fromhex(leaf) for leaf in KNOWN[:size]]).root().hex() == root


def test_a_tree_of_any_size_has_the_hash_of_the_definition() -> None:
    leaves = [b"%d" % n for n in range(130)]
    wrong = [size for size in range(131) if tree_of(leaves[:size]).root() != root_of(leaves[:size])]
    assert wrong == []


def checked(note: str | None, published: list[bytes], origin: str) -> None:
    """Fail if the note is not the checkpoint of what was published, signed with KEY under the name `origin`."""
    assert note is not None
    text, signature = note.split("\n\n")
    assert text == f"{origin}\n{len(published)}\n{base64.b64encode(root_of(published)).decode()}"
    dash, name, code = signature.removesuffix("\n").split(" ")
    raw = base64.b64decode(code)
    key_hash = hashlib.sha256(origin.encode() + b"\n\x01" + KEY.public_key).digest()[:4]
    assert (dash, name, raw[:4]) == ("\u2014", origin, key_hash)
    ed25519.Ed25519PublicKey.from_public_bytes(KEY.public_key).verify(raw[4:], f"{text}\n".encode())


def test_a_checkpoint_covers_all_that_was_published_and_a_new_tree_begins_after_an_adoption(tmp_path: Path) -> None:
    path, feed = tmp_path / "wheel.journal", Feed()
    origin = "wheel/v1/testsite/table-1"
    with closing(open_writer(path, signer=KEY)) as journal:
        checked(journal.checkpoint(), [], f"{origin}/1")
        for _ in range(130):
            journal.append(feed.step("table", "result", "notice"), NOW)
        published = [owed.payload for owed in journal.reader.again(1, 1000)]
        assert len(published) == 260
        checked(journal.checkpoint(), published, f"{origin}/1")
    with closing(open_writer(path, signer=KEY)) as journal:  # it goes on after a restart
        journal.append(feed.step("void"), NOW)
        published = [owed.payload for owed in journal.reader.again(1, 1000)]
        checked(journal.checkpoint(), published, f"{origin}/1")
        checked(journal.checkpoint(), published, f"{origin}/1")
        journal.adopt(270, "a" * 64, by="Zoé", why="the card broke", at_utc_us=NOW)
        checked(journal.checkpoint(), [], f"{origin}/271")
        feed.seq = 270
        journal.append(feed.step("table"), NOW)
        checked(journal.checkpoint(), [owed.payload for owed in journal.reader.again(271, 10)], f"{origin}/271")


def test_without_a_key_there_is_no_checkpoint(tmp_path: Path) -> None:
    with closing(open_writer(tmp_path / "wheel.journal")) as journal:
        journal.append(Feed().step("result"), NOW)
        assert journal.checkpoint() is None
