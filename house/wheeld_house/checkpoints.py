"""Checkpoints in the database: proven by the stored records, cosigned by witnesses, and made into receipts.

A wheel signs a checkpoint of its feed with each seal. The collector computes the same tree from the records that it has
stored. If the hashes agree, it stores the checkpoint, and cosigns it if it has a key. If they differ, the wheel has
signed other messages than it has published, and a person must look.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import psycopg
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from wheeld_house.note import LOG, Checkpoint, Note, NoteError, Verifier, cosignature, read_checkpoint, read_note
from wheeld_house.receipt import ORIGIN, write_receipt
from wheeld_house.settings import SettingsError
from wheeld_house.tlog import Peaks, consistency_proof, inclusion_proof, is_consistent

LEAVES_AT_ONCE = 10_000
"""How many hashes are read at a time."""

_LEAVES = """
select sha256('\\x00'::bytea || payload) from house.record
where wheel = %s and seq between %s and %s order by seq
"""
_EARLIER = """
select size, peaks, root from house.checkpoint
where wheel = %s and first_seq = %s and size <= %s order by size desc limit 1
"""
_STORE = """
insert into house.checkpoint (wheel, first_seq, size, root, peaks, note)
select %s, %s, %s, %s, %s::bytea[], %s from house.wheel w where w.id = %s and w.fence = %s
on conflict do nothing
"""
_COSIGN = """
insert into house.cosignature (wheel, first_seq, size, witness, line) values (%s, %s, %s, %s, %s)
on conflict do nothing
"""
_NEWEST = """
select distinct on (wheel, first_seq) wheel, first_seq, size, note from house.checkpoint
order by wheel, first_seq, size desc
"""
_VERDICT = """
select w.id, r.seq, r.payload from house.record r join house.wheel w on w.id = r.wheel
where w.site = %s and w.table_name = %s and r.coup = %s and r.kind in ('result', 'void') order by r.seq limit 1
"""
_COVERING = """
select c.first_seq, c.size, c.note, array(
    select s.line from house.cosignature s
    where (s.wheel, s.first_seq, s.size) = (c.wheel, c.first_seq, c.size) order by s.witness
), t.token
from house.checkpoint c left join house.stamp t using (wheel, first_seq, size)
where c.wheel = %(wheel)s and c.first_seq <= %(seq)s and %(seq)s < c.first_seq + c.size
and (t.token is not null or not %(stamped)s)
order by c.first_seq desc, c.size limit 1
"""
STAMPED = ". Then `wheeld-house stamp` has it stamped by the authority"


class TooManyRecordsError(LookupError):
    """The receipt of a coup needs more records than may be read for one receipt."""


class Signed(NamedTuple):
    """A checkpoint that a wheel signed. `first_seq`: the number of the first message in its tree."""

    note: Note
    raw: str
    first_seq: int
    checkpoint: Checkpoint


class WitnessKey(NamedTuple):
    """The name and the private key with which a witness cosigns."""

    name: str
    key: ed25519.Ed25519PrivateKey

    @classmethod
    def read(cls, name: str, path: Path) -> WitnessKey:
        """Read the key, a PEM file as `openssl genpkey -algorithm ed25519` writes it. Raises SettingsError."""
        try:
            key = load_pem_private_key(path.read_bytes(), None)
        except (OSError, ValueError, TypeError) as wrong:
            raise SettingsError(f"{path} is not a private key that can be read: {wrong}") from None
        if not isinstance(key, ed25519.Ed25519PrivateKey):
            raise SettingsError(f"{path} is a key of another kind: a witness signs with Ed25519")
        return cls(name, key)


def read_signed(raw: str, root: str, wheel_key: bytes) -> Signed:
    """Read a checkpoint that came from the wheel at `root`. Raises NoteError if this wheel did not sign it."""
    note = read_note(raw)
    checkpoint = read_checkpoint(note)
    origin = ORIGIN.fullmatch(checkpoint.origin)
    if origin is None or origin[1] != root:
        raise NoteError(f"a checkpoint of {checkpoint.origin[:200]} came from {root}")
    if Verifier(checkpoint.origin, wheel_key, LOG).signed_at(note) is None:
        raise NoteError("a checkpoint is not signed with the wheel's key")
    return Signed(note, raw, int(origin[2]), checkpoint)


def checkpoint_in(notice: bytes) -> str | None:
    """Return the checkpoint in a notice `sealed`, or None if the notice has no checkpoint."""
    try:
        body = json.loads(notice)
        found = body["figures"]["checkpoint"] if body["notice"] == "sealed" else None
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return found if isinstance(found, str) else None


def leaves(database: psycopg.Connection[Any], wheel: int, first_seq: int, end_seq: int) -> Iterator[bytes]:
    """Yield the hash of each record of the wheel from `first_seq` to `end_seq` - 1."""
    for seq in range(first_seq, end_seq, LEAVES_AT_ONCE):
        last = min(seq + LEAVES_AT_ONCE, end_seq) - 1
        for (leaf,) in database.execute(_LEAVES, (wheel, seq, last)):
            yield bytes(leaf)


def prove(database: psycopg.Connection[Any], wheel: int, fence: int, signed: Signed) -> bool | None:
    """Compare a checkpoint of a wheel with the stored records of the wheel. If they agree, store the checkpoint and
    return True. If they differ, return False. Return None if the checkpoint covers no record, or if some of its records
    are not stored. Raises psycopg.Error."""
    first_seq, size, root = signed.first_seq, signed.checkpoint.size, signed.checkpoint.root
    if size == 0:
        return None
    earlier = database.execute(_EARLIER, (wheel, first_seq, size)).fetchone()
    peaks = Peaks() if earlier is None else Peaks(earlier[0], [bytes(peak) for peak in earlier[1]])
    peaks.add(leaves(database, wheel, first_seq + peaks.size, first_seq + size))
    if peaks.size != size:
        return None
    if peaks.root() != root:
        return False
    database.execute(_STORE, (wheel, first_seq, size, root, peaks.hashes, signed.raw, wheel, fence))
    return True


def cosign(database: psycopg.Connection[Any], wheel: int, signed: Signed, witness: WitnessKey) -> None:
    """Cosign a stored checkpoint with the key of `witness`, and store the cosignature. Raises psycopg.Error."""
    line = cosignature(signed.note, witness.name, witness.key, int(time.time()))
    database.execute(_COSIGN, (wheel, signed.first_seq, signed.checkpoint.size, witness.name, line))


class Witnessed(NamedTuple):
    """What a witness did: the trees that it cosigned, and why it refused other trees."""

    cosigned: list[str]
    refused: list[str]


class TreeWitness:
    """A witness in addition to the collector. It trusts neither the house nor the wheel. It keeps the size and the hash
    of each tree that it has cosigned, in its own file. It cosigns a tree that has grown only if a proof shows that the
    tree continues the one that it cosigned last."""

    def __init__(self, key: WitnessKey, state: Path) -> None:
        self._key, self._path = key, state
        try:
            self._seen = msgspec.json.decode(state.read_bytes(), type=dict[str, tuple[int, bytes]])
        except FileNotFoundError:
            self._seen = {}
        except msgspec.MsgspecError as wrong:
            raise SettingsError(f"{state} is not what a witness wrote: {wrong}") from None

    def cosign(self, database: psycopg.Connection[Any], wheel_keys: Mapping[str, bytes]) -> Witnessed:
        """Cosign the newest checkpoint of each tree of these wheels, if it continues the checkpoint that was cosigned
        before. `wheel_keys`: the public keys, by root. Raises psycopg.Error."""
        done = Witnessed([], [])
        for wheel, first_seq, size, raw in database.execute(_NEWEST).fetchall():
            try:
                origin = read_checkpoint(read_note(raw)).origin
                root = origin.rpartition("/")[0]
                if root not in wheel_keys:
                    continue
                signed = read_signed(raw, root, wheel_keys[root])
            except NoteError as error:
                done.refused.append(str(error))
                continue
            before = self._seen.get(origin)
            if before == (signed.checkpoint.size, signed.checkpoint.root):
                continue
            if before is not None:
                # A proof is needed, because the witness does not trust what the house says about its records.
                leaf_hashes = list(leaves(database, wheel, first_seq, first_seq + size))
                proof = consistency_proof(leaf_hashes, before[0]) if before[0] <= len(leaf_hashes) else []
                if not is_consistent(proof, signed.checkpoint.size, signed.checkpoint.root, *before):
                    why = f"{size} messages do not continue the {before[0]} that were cosigned before"
                    done.refused.append(f"{origin}: {why}")
                    continue
            # The checkpoint is stored before it is cosigned. Even after a crash between the two, the witness never
            # cosigns two different histories of one tree.
            self._seen[origin] = (signed.checkpoint.size, signed.checkpoint.root)
            beside = self._path.with_name(f"{self._path.name}.new")
            with beside.open("wb") as file:
                file.write(msgspec.json.encode(self._seen))
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self._path)
            cosign(database, wheel, signed, self._key)
            done.cosigned.append(origin)
        return done


def receipt_of(
    database: psycopg.Connection[Any],
    site: str,
    table: str,
    coup: int,
    *,
    stamped: bool = False,
    records_max: int = sys.maxsize,
) -> tuple[str, bytes]:
    """Return the receipt of a coup's verdict, and the time-stamp of its checkpoint (empty if it has none).

    The checkpoint is the first one that covers the verdict; if `stamped`, the first that also has a time-stamp. All
    records that it covers are read. `records_max`: the largest number of records that may be read. Raises
    TooManyRecordsError, LookupError, psycopg.Error.
    """
    found = database.execute(_VERDICT, (site, table, coup)).fetchone()
    if found is None:
        raise LookupError(f"{site}/{table} has no verdict on coup {coup}")
    wheel, seq, payload = found
    covering = database.execute(_COVERING, {"wheel": wheel, "seq": seq, "stamped": stamped}).fetchone()
    if covering is None:
        raise LookupError(
            f"no checkpoint covers coup {coup} of {site}/{table} yet: the wheel signs one with each seal, and the "
            f"command seal asks for one{STAMPED if stamped else ''}"
        )
    first_seq, size, note, lines, token = covering
    if size > records_max:
        raise TooManyRecordsError(f"the receipt of coup {coup} of {site}/{table} is made from {size} records")
    proof = inclusion_proof(list(leaves(database, wheel, first_seq, first_seq + size)), seq - first_seq)
    return write_receipt(bytes(payload), seq - first_seq, proof, note + "".join(lines)), bytes(token or b"")
