"""Checkpoints against the records that are stored, witnesses, and receipts out of the database."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519

from tests.feed.wheel import ROOT, SITE, TABLE, Wheel
from tests.house.postgres import Cluster
from tests.house.test_database import AT, message_of
from tests.journal.journals import RawSigner
from wheeld.journal.tree import FeedTree
from wheeld_house.checkpoints import (
    TreeWitness,
    WitnessKey,
    checkpoint_in,
    cosign,
    prove,
    read_signed,
    receipt_of,
)
from wheeld_house.database import Lease, NewRecord, RecordStore
from wheeld_house.note import WITNESS, NoteError, Verifier, read_note
from wheeld_house.receipt import verify_receipt
from wheeld_house.records import records_of
from wheeld_house.settings import HouseWheel, SettingsError

RAW = bytes([7]) * 32
SIGNER = RawSigner(RAW)
HOUSE = WitnessKey("house.example", ed25519.Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32))
AUTHORITY = WitnessKey("authority.example", ed25519.Ed25519PrivateKey.from_private_bytes(bytes([2]) * 32))
KEYS = {ROOT: SIGNER.public_key}


def verifier(witness: WitnessKey) -> Verifier:
    return Verifier(witness.name, witness.key.public_key().public_bytes_raw(), WITNESS)


def signing_wheel() -> Wheel:
    return Wheel(key=ed25519.Ed25519PrivateKey.from_private_bytes(RAW))


class Kept:
    """A wheel whose records are stored."""

    def __init__(self, cluster: Cluster, database: str) -> None:
        self.store = RecordStore(cluster.dsn(database), "first")
        self.store.open()
        self.number = self.store.register([HouseWheel(site=SITE, table=TABLE)])[ROOT]
        self.sql = psycopg.connect(cluster.dsn(database), autocommit=True)
        self.wheel = signing_wheel()

    def lease(self) -> Lease:
        return self.store.keep_leases(60.0, 1, [self.number])[0]

    def keep(self, count: int) -> None:
        """Store so many more results, of coups 1, 2, …"""
        fence = self.lease().fence
        said = [self.wheel.say(coup=self.wheel.seq + 1, at=AT) for _ in range(count)]
        self.store.add([NewRecord(self.number, fence, m := message_of(one), AT, m.body["coup"], True) for one in said])

    def tree(self, wheel: Wheel | None = None) -> str:
        tree = FeedTree()
        for _, payload in (wheel or self.wheel).sent:
            tree.add(payload)
        return tree.checkpoint(SITE, TABLE, SIGNER)

    def prove(self, raw: str) -> bool | None:
        return prove(self.sql, self.number, self.lease().fence, read_signed(raw, ROOT, SIGNER.public_key))

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self.sql.execute(statement).fetchall()
        return found


@pytest.fixture
def kept(cluster: Cluster, database: str) -> Iterator[Kept]:
    kept = Kept(cluster, database)
    with closing(kept.store), closing(kept.sql):
        yield kept


def test_a_checkpoint_is_stored_where_the_records_prove_it(kept: Kept) -> None:
    for count in (5, 8, 1):
        kept.keep(count)
        assert kept.prove(kept.tree())
    assert kept.prove(kept.tree()), "the same one again"
    assert kept.rows("select first_seq, size from house.checkpoints order by size") == [(1, 5), (1, 13), (1, 14)]


def test_another_history_is_not_believed_whatever_came_before(kept: Kept) -> None:
    kept.keep(5)
    other = signing_wheel()
    for _ in range(5):
        other.say(coup=99, at=AT)
    assert kept.prove(kept.tree(other)) is False
    assert kept.prove(kept.tree())
    assert kept.prove(kept.tree(other)) is False, "of a size that was proven before"
    kept.keep(3)
    for _ in range(3):
        other.say(at=AT)
    assert kept.prove(kept.tree(other)) is False
    assert kept.rows("select size from house.checkpoints") == [(5,)]


def test_records_that_are_missing_prove_nothing(kept: Kept) -> None:
    kept.keep(5)
    kept.wheel.say(at=AT)
    assert kept.prove(kept.tree()) is None


def test_a_collector_without_the_lease_stores_no_checkpoint(kept: Kept) -> None:
    kept.keep(5)
    signed = read_signed(kept.tree(), ROOT, SIGNER.public_key)
    assert prove(kept.sql, kept.number, kept.lease().fence - 1, signed)
    assert kept.rows("select size from house.checkpoints") == []


def test_a_receipt_proves_a_coup_to_somebody_who_has_only_keys(kept: Kept) -> None:
    kept.keep(9)
    with pytest.raises(LookupError, match="no checkpoint covers coup 4 of campione/campione-03 yet"):
        receipt_of(kept.sql, SITE, TABLE, 4)
    with pytest.raises(LookupError, match="no verdict on coup 40"):
        receipt_of(kept.sql, SITE, TABLE, 40)
    assert kept.prove(kept.tree())
    cosign(kept.sql, kept.number, read_signed(kept.tree(), ROOT, SIGNER.public_key), HOUSE)
    kept.keep(6)
    assert kept.prove(kept.tree())
    proven = verify_receipt(receipt_of(kept.sql, SITE, TABLE, 4)[0], SIGNER.public_key, [verifier(HOUSE)])
    assert (proven.root, proven.message.body["coup"], proven.size) == (ROOT, 4, 9)
    assert verify_receipt(receipt_of(kept.sql, SITE, TABLE, 12)[0], SIGNER.public_key).size == 15


def test_a_second_witness_signs_only_what_continues_what_it_saw(kept: Kept, tmp_path: Path) -> None:
    witness = TreeWitness(AUTHORITY, tmp_path / "state")
    assert witness.cosign(kept.sql, KEYS) == ([], [])
    for count in (5, 8):
        kept.keep(count)
        assert kept.prove(kept.tree())
        assert TreeWitness(AUTHORITY, tmp_path / "state").cosign(kept.sql, KEYS) == ([f"{ROOT}/1"], [])
        assert TreeWitness(AUTHORITY, tmp_path / "state").cosign(kept.sql, KEYS) == ([], [])
    proven = verify_receipt(receipt_of(kept.sql, SITE, TABLE, 7)[0], SIGNER.public_key, [verifier(AUTHORITY)])
    assert list(proven.witnessed_at_s) == ["authority.example"]
    assert TreeWitness(AUTHORITY, tmp_path / "other").cosign(kept.sql, {}) == ([], []), (
        "wheels that it was not asked to witness"
    )


def test_a_house_that_rewrites_its_records_finds_no_second_witness(
    cluster: Cluster, kept: Kept, tmp_path: Path
) -> None:
    """The house has the wheel's key, too, and begins everything anew: only who remembers can tell."""
    kept.keep(5)
    assert kept.prove(kept.tree())
    TreeWitness(AUTHORITY, tmp_path / "state").cosign(kept.sql, KEYS)
    again = Kept(cluster, cluster.database())
    with closing(again.store), closing(again.sql):
        for number in range(3):
            said = again.wheel.say(number=number, coup=1, at=AT)
            record = NewRecord(again.number, again.lease().fence, message_of(said), AT, 1, True)
            again.store.add([record])
        assert again.prove(again.tree())
        for size in (3, 6):
            refused = TreeWitness(AUTHORITY, tmp_path / "state").cosign(again.sql, KEYS).refused
            assert refused == [f"{ROOT}/1: {size} messages do not continue the 5 that were cosigned before"]
            again.keep(3)
            assert again.prove(again.tree())


def test_what_a_witness_may_do_in_the_database(cluster: Cluster, database: str, kept: Kept) -> None:
    cluster.sql(database, "create role authority login in role wheeld_witness")
    kept.keep(2)
    assert kept.prove(kept.tree())
    with psycopg.connect(cluster.dsn(database, "authority"), autocommit=True) as sql:
        cosign(sql, kept.number, read_signed(kept.tree(), ROOT, SIGNER.public_key), AUTHORITY)
        for forbidden in (
            "delete from house.cosignature",
            "update house.cosignature set line = ''",
            "delete from house.checkpoint",
            "insert into house.record select * from house.record",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                sql.execute(forbidden)
    with pytest.raises(psycopg.errors.RaiseException, match="never changed"):
        kept.sql.execute("delete from house.cosignature")


def test_a_checkpoint_of_another_wheel_or_key_is_refused() -> None:
    tree = FeedTree(size=0)
    tree.add(b"{}")
    with pytest.raises(NoteError, match="came from wheel/v1/campione/campione-03"):
        read_signed(tree.checkpoint(SITE, "campione-04", SIGNER), ROOT, SIGNER.public_key)
    with pytest.raises(NoteError, match="not signed with the wheel's key"):
        read_signed(tree.checkpoint(SITE, TABLE, RawSigner(bytes([8]) * 32)), ROOT, SIGNER.public_key)


def test_only_a_notice_of_a_seal_has_a_checkpoint() -> None:
    assert checkpoint_in(b'{"notice":"sealed","figures":{"checkpoint":"x"}}') == "x"
    for other in (b"", b"[]", b"{}", b'{"notice":"sealed"}', b'{"notice":"sealed","figures":{"checkpoint":1}}'):
        assert checkpoint_in(other) is None
    assert checkpoint_in(b'{"notice":"bouler","figures":{"checkpoint":"x"}}') is None
    half = checkpoint_in(rb'{"notice":"sealed","figures":{"checkpoint":"\ud800\n\nx\n"}}')
    assert half is not None
    with pytest.raises(NoteError, match="UTF-8"):  # anybody who can write on this topic could else end the collector
        read_note(half)


def test_files_that_are_no_key_or_state_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for call in (WitnessKey.read, lambda _, path: TreeWitness(HOUSE, path)):
        with pytest.raises(SettingsError, match="file"):
            call("x", tmp_path / "file")


def test_the_records_of_a_wheel_end_with_the_newest_checkpoint_of_what_it_still_has(kept: Kept) -> None:
    kept.keep(4)
    earlier = kept.tree()
    kept.keep(5)
    newest = kept.tree()
    for raw in (newest, earlier):
        assert kept.prove(raw) is True
        cosign(kept.sql, kept.number, read_signed(raw, ROOT, SIGNER.public_key), HOUSE)
    *messages, last = records_of(kept.sql, SITE, TABLE)
    assert messages == [payload for _, payload in kept.wheel.sent]
    checkpoint = json.loads(last)["checkpoint"]
    assert checkpoint.startswith(newest)
    assert verifier(HOUSE).signed_at(read_note(checkpoint)) is not None
    # A gap begins a new tree. The wheel has no checkpoint in it yet, and the old ones are of records that it lost.
    had = [payload for _, payload in kept.wheel.sent]
    kept.wheel.restore(7)
    kept.keep(1)
    assert list(records_of(kept.sql, SITE, TABLE)) == [*had, kept.wheel.sent[-1][1]]
    tree = FeedTree(first_seq=10)
    tree.add(kept.wheel.sent[-1][1])
    after = tree.checkpoint(SITE, TABLE, SIGNER)
    assert kept.prove(after) is True
    assert json.loads(list(records_of(kept.sql, SITE, TABLE))[-1]) == {"checkpoint": after}
    with pytest.raises(LookupError, match="there is no record of campione/other"):
        next(records_of(kept.sql, SITE, "other"))
