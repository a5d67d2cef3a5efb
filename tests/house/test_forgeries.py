"""Forgeries, and who notices each of them after how long: docs/proof.md has the table.

Time is virtual. A wheel says a message each ten seconds, six of them in a coup, and seals after each 20 coups. The
forger has the wheel's key: all that he says is signed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.feed.wheel import ROOT, SITE, TABLE, Sent, Wheel
from tests.house.postgres import Cluster
from tests.house.test_checkpoints import AUTHORITY, HOUSE, KEYS, RAW, SIGNER, signing_wheel, verifier
from tests.house.test_database import AT
from wheeld.core.messages.chain import close_with_hash, signed
from wheeld.journal.tree import FeedTree
from wheeld_house.checkpoints import TreeWitness, receipt_of
from wheeld_house.database import RecordStore
from wheeld_house.receipt import ReceiptError, verify_receipt, write_receipt
from wheeld_house.settings import HouseWheel
from wheeld_house.tlog import inclusion_proof, leaf_hash
from wheeld_house.wheel import CollectedWheel

MESSAGE_S = 10.0
COUP = ("table",) * 5 + ("result",)
SEAL_COUPS = 20
QUIET_S = 600
"""After so long without a message the collector asks (`Manner.quiet_s`)."""


class Watched:
    """A wheel that plays, and a collector that takes what it hears, as `Collector` does in a turn."""

    def __init__(self, cluster: Cluster, database: str, folder: Path) -> None:
        self.now_s = 0.0
        self.noticed: list[tuple[str, float]] = []
        """The alarms, each with its time."""
        self.wheel = signing_wheel()
        key = folder / "wheel.pub"
        key.write_bytes(SIGNING.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        settings = HouseWheel(site=SITE, table=TABLE, public_key_file=str(key))
        self.store = RecordStore(cluster.dsn(database), "first")
        self.store.open()
        self.sql = psycopg.connect(cluster.dsn(database), autocommit=True)
        self.number = self.store.register([settings])[ROOT]
        self.collected = CollectedWheel(settings, number=self.number, user="settlement", by="test", tell=lambda _: None)
        self.renew()

    def renew(self) -> None:
        """As a collector does each few seconds."""
        self.collected.begin(self.store.keep_leases(600.0, 3, [self.number])[0], self.now_s)

    def hear(self, *sent: Sent) -> None:
        """What comes from a broker of the house."""
        for leaf, payload in sent:
            self.collected.take(leaf, payload, self.now_s)
        records = self.collected.records(1000)
        if records:
            self.store.add(records)
            self.collected.stored(len(records))
        if self.collected.repeats:
            self.collected.compare(self.store.hashes([(self.number, seq) for seq in self.collected.repeats]))
        for checkpoint in self.collected.provable():
            if self.store.prove(self.number, self.collected.fence, checkpoint, HOUSE) is False:
                self.collected.disproven(checkpoint)
        self.noticed += [(alarm.kind, self.now_s) for alarm in self.collected.alarms]
        self.collected.alarms.clear()

    def play(self, coups: int, *wheels: Wheel, unheard: Wheel | None = None) -> None:
        """These wheels play beside each other; without any, the true one. `unheard` plays too, for others."""
        for coup in range(coups):
            for leaf in COUP:
                self.now_s += MESSAGE_S
                for each in wheels or (self.wheel,):
                    self.hear(says(each, leaf, is_true=each is self.wheel))
                if unheard is not None:
                    says(unheard, leaf, is_true=False)
            if (coup + 1) % SEAL_COUPS == 0:
                for each in wheels or (self.wheel,):
                    self.hear(("notice", sealed(each)))

    def wait(self, seconds: int, wheel: Wheel) -> None:
        """Nobody plays. `wheel` answers what the collector asks."""
        assert self.collected.order is not None
        for _ in range(seconds):
            self.now_s += 1.0
            question = self.collected.order.question(self.now_s)
            if question is not None:
                self.hear(*wheel.answer(question))

    def after_s(self, kind: str, began_s: float) -> float:
        """How long after `began_s` the first alarm came, which must be of this kind."""
        assert self.noticed, "nobody noticed"
        assert self.noticed[0][0] == kind
        return self.noticed[0][1] - began_s


SIGNING = Ed25519PrivateKey.from_private_bytes(RAW)


def says(wheel: Wheel, leaf: str, *, is_true: bool) -> Sent:
    return wheel.say(leaf, at=AT, coup=wheel.seq // len(COUP) + 1, number=7 if is_true else 36)


def copied(wheel: Wheel, messages: int | None = None) -> Wheel:
    """Another wheel with the same key and journal, or with an older copy of so many messages."""
    other = signing_wheel()
    count = len(wheel.sent) if messages is None else messages
    other.sent, other.seqs, other.hashes = wheel.sent[:count], wheel.seqs[:count], wheel.hashes[: count + 1]
    return other


def checkpoint_of(wheel: Wheel) -> str:
    tree = FeedTree()
    for _, payload in wheel.sent:
        tree.add(payload)
    return tree.checkpoint(SITE, TABLE, SIGNER)


def sealed(wheel: Wheel) -> bytes:
    return json.dumps({"notice": "sealed", "figures": {"checkpoint": checkpoint_of(wheel)}}).encode()


@pytest.fixture
def watched(cluster: Cluster, database: str, tmp_path: Path) -> Iterator[Watched]:
    watched = Watched(cluster, database, tmp_path)
    with closing(watched.store), closing(watched.sql):
        watched.play(2 * SEAL_COUPS)
        watched.wait(2, watched.wheel)  # a collector asks when it begins
        assert watched.noticed == []
        yield watched


def test_a_cloned_card_beside_its_wheel_is_noticed_at_the_first_message(watched: Watched) -> None:
    clone = copied(watched.wheel)
    began_s = watched.now_s + MESSAGE_S
    watched.play(1, watched.wheel, clone)
    assert watched.after_s("conflict", began_s) == 0.0


def test_a_cloned_card_in_place_of_its_wheel_is_noticed_when_the_wheel_says_its_first_message(
    watched: Watched,
) -> None:
    """Until then nobody can know: there is one history, with one key."""
    clone = copied(watched.wheel)
    watched.play(2 * SEAL_COUPS, clone)
    watched.wait(QUIET_S + 60, clone)
    assert watched.noticed == []
    began_s = watched.now_s + MESSAGE_S
    watched.play(1)
    assert watched.after_s("conflict", began_s) == 0.0


def test_a_rolled_back_wheel_is_noticed_at_the_first_message(watched: Watched) -> None:
    older = copied(watched.wheel, messages=100)
    began_s = watched.now_s + MESSAGE_S
    watched.play(1, older)
    assert watched.after_s("conflict", began_s) == 0.0


def test_a_rolled_back_wheel_that_is_silent_is_noticed_at_the_next_question(watched: Watched) -> None:
    older = copied(watched.wheel, messages=100)
    began_s = watched.now_s
    watched.wait(QUIET_S + 60, older)
    assert QUIET_S - 2 <= watched.after_s("rolled_back", began_s) <= QUIET_S


def test_a_rolled_back_wheel_is_noticed_a_second_after_a_new_connection(watched: Watched) -> None:
    older = copied(watched.wheel, messages=100)
    assert watched.collected.order is not None
    watched.collected.order.connected(watched.now_s)
    began_s = watched.now_s
    watched.wait(60, older)
    assert watched.after_s("rolled_back", began_s) <= 1.0


def test_what_a_restored_wheel_reports_as_lost_is_noticed_at_the_first_message(watched: Watched) -> None:
    """Three messages came to nobody, and its journal is an older copy without them. This is no forgery."""
    stored = len(watched.wheel.sent)
    for leaf in COUP[:3]:
        says(watched.wheel, leaf, is_true=True)
    watched.wheel.restore(stored)
    began_s = watched.now_s + MESSAGE_S
    watched.play(1)
    assert watched.after_s("lost", began_s) == 0.0


def test_what_waits_behind_a_commit_whose_answer_was_lost_is_not_asked_for_again(watched: Watched) -> None:
    for leaf in COUP:
        watched.collected.take(*says(watched.wheel, leaf, is_true=True), watched.now_s)
    watched.store.add(watched.collected.records(2))
    watched.renew()
    assert [each.seq for each in watched.collected.pending] == watched.wheel.seqs[-4:]


def test_a_lease_that_is_kept_asks_for_nothing(watched: Watched) -> None:
    order = watched.collected.order
    watched.renew()
    assert watched.collected.order is order


def test_a_checkpoint_that_comes_before_its_records_waits_for_them(watched: Watched) -> None:
    sent = [says(watched.wheel, leaf, is_true=True) for leaf in COUP]
    watched.hear(("notice", sealed(watched.wheel)))
    watched.hear(*sent)
    (size,) = watched.sql.execute("select max(size) from house.checkpoint").fetchone() or (None,)
    assert size == len(watched.wheel.sent)


def rewrite(watched: Watched, first_seq: int, last_seq: int) -> None:
    """As the owner of the database: other numbers in these records, each with its own hash and a true signature."""
    execute = watched.sql.execute
    execute("alter table house.record disable trigger user")
    prev = watched.wheel.hashes[first_seq - 1]
    for seq, _, payload in [(seq, *watched.wheel.sent[seq - 1]) for seq in range(first_seq, last_seq + 1)]:
        body = {key: of for key, of in json.loads(payload).items() if key not in ("prev", "hash", "signature")}
        written = json.dumps({**body, "number": 36, "prev": prev}, separators=(",", ":")).encode()
        before, (closed, digest) = prev, close_with_hash(written)
        whole = signed(closed, base64.b64encode(SIGNING.sign(digest.encode())))
        execute(
            "update house.record set payload = %s, prev = %s, hash = %s where seq = %s",
            (whole, bytes.fromhex(before), bytes.fromhex(digest), seq),
        )
        prev = digest
    if last_seq == watched.wheel.seq:
        execute("update house.wheel set head_hash = %s", (bytes.fromhex(prev),))
    execute("alter table house.record enable trigger user")


def test_records_rewritten_up_to_the_last_are_noticed_at_the_next_message(watched: Watched) -> None:
    rewrite(watched, 61, watched.wheel.seq)
    watched.renew()
    began_s = watched.now_s + MESSAGE_S
    watched.play(1)
    assert watched.after_s("chain", began_s) == 0.0


def test_one_rewritten_record_is_noticed_by_each_receipt_and_by_a_second_witness_at_the_next_seal(
    watched: Watched, tmp_path: Path
) -> None:
    """The collector goes on from the trees that it has proven, and does not read old records again."""
    witness = TreeWitness(AUTHORITY, tmp_path / "state")
    assert witness.cosign(watched.sql, KEYS).refused == []
    rewrite(watched, 66, 66)
    for coup in (11, 12):
        with pytest.raises(ReceiptError, match="not in the tree"):
            verify_receipt(receipt_of(watched.sql, SITE, TABLE, coup)[0], SIGNER.public_key)
    watched.play(SEAL_COUPS - 1)
    assert witness.cosign(watched.sql, KEYS) == ([], [])
    watched.play(1)
    watched.hear(("notice", sealed(watched.wheel)))
    (why,) = witness.cosign(watched.sql, KEYS).refused
    assert "do not continue" in why
    assert watched.noticed == []


def test_a_split_view_has_no_cosignature_and_is_noticed_when_its_checkpoint_is_shown(watched: Watched) -> None:
    """The collector hears one history, another reader hears the other one. Each is whole, and signed."""
    other = copied(watched.wheel)
    watched.play(SEAL_COUPS, unheard=other)
    assert (watched.noticed, other.seq) == ([], watched.wheel.seq)
    index = other.seq - 1
    leaves = [leaf_hash(payload) for _, payload in other.sent]
    shown = write_receipt(other.sent[index][1], index, inclusion_proof(leaves, index), checkpoint_of(other))
    assert verify_receipt(shown, SIGNER.public_key).message.body["number"] == 36
    with pytest.raises(ReceiptError, match=r"the witness house\.example has not cosigned"):
        verify_receipt(shown, SIGNER.public_key, [verifier(HOUSE)])
    true, _ = receipt_of(watched.sql, SITE, TABLE, 3 * SEAL_COUPS)
    assert verify_receipt(true, SIGNER.public_key, [verifier(HOUSE)]).message.body["number"] == 7
    watched.hear(("notice", sealed(other)))
    assert watched.after_s("split", watched.now_s) == 0.0
