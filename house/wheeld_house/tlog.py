"""Trees of hashes as in RFC 6962: proofs that a leaf is in a tree, and that a later tree continues an earlier one.

A leaf is given by its hash (`leaf_hash`). A proof is a list of hashes. The largest tree of a wheel has some million
leaves, so all of its hashes fit in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

HASH_BYTES = 32


def leaf_hash(payload: bytes) -> bytes:
    """Return the hash of a leaf. Because of the byte before the payload, no inner node has the same hash."""
    return hashlib.sha256(b"\0" + payload).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node."""
    return hashlib.sha256(b"\1" + left + right).digest()


@dataclass
class Peaks:
    """A tree of `size` leaves that grows. `hashes`: the roots of its complete subtrees, the largest first. The sizes of
    these subtrees are the powers of two whose sum is `size`."""

    size: int = 0
    hashes: list[bytes] = field(default_factory=list)

    def add(self, leaves: Iterable[bytes]) -> None:
        """Add the hashes of leaves."""
        for leaf in leaves:
            node, size = leaf, self.size
            while size & 1:
                node, size = node_hash(self.hashes.pop(), node), size >> 1
            self.hashes.append(node)
            self.size += 1

    def root(self) -> bytes:
        """Return the hash of the tree."""
        if not self.hashes:
            return hashlib.sha256(b"").digest()
        *larger, node = self.hashes
        for peak in reversed(larger):
            node = node_hash(peak, node)
        return node


def root(leaves: Sequence[bytes]) -> bytes:
    """Return the hash of the tree with these leaves."""
    peaks = Peaks()
    peaks.add(leaves)
    return peaks.root()


def inclusion_proof(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """Return the proof that the leaf at `index` is in the tree, from the leaf to the root (RFC 6962, 2.1.1)."""
    proof: list[bytes] = []
    first, end = 0, len(leaves)
    while end - first > 1:
        middle = first + _left_size(end - first)
        if index < middle:
            proof.append(root(leaves[middle:end]))
            end = middle
        else:
            proof.append(root(leaves[first:middle]))
            first = middle
    return proof[::-1]


def root_of_inclusion(proof: Sequence[bytes], leaf: bytes, index: int, size: int) -> bytes | None:
    """Return the hash of the tree of `size` leaves with `leaf` at `index`, as the proof shows it. None if the proof has
    a wrong length, or `index` is not in the tree."""
    if not 0 <= index < size:
        return None
    node, rest = leaf, list(proof)
    last = size - 1
    while last:
        # At the right edge of the tree, a left child may have no sibling. Then it moves up unchanged.
        if index & 1 or index < last:
            if not rest:
                return None
            sibling = rest.pop(0)
            node = node_hash(sibling, node) if index & 1 else node_hash(node, sibling)
        index, last = index >> 1, last >> 1
    return None if rest else node


def consistency_proof(leaves: Sequence[bytes], size: int) -> list[bytes]:
    """Return the proof that this tree continues the tree of its first `size` leaves (RFC 6962, 2.1.2). Raises
    ValueError if `size` is 0, or more than the leaves of this tree."""
    if not 0 < size <= len(leaves):
        raise ValueError(f"a tree of {len(leaves)} leaves cannot continue a tree of {size}")
    return _subproof(leaves, size, is_known=True)


def _subproof(leaves: Sequence[bytes], size: int, *, is_known: bool) -> list[bytes]:
    """Return the hashes of `consistency_proof` for a part of the tree. `is_known`: the verifier knows the root of the
    first `size` of these leaves, so the proof need not contain this root."""
    if size == len(leaves):
        return [] if is_known else [root(leaves)]
    half = _left_size(len(leaves))
    if size <= half:
        return [*_subproof(leaves[:half], size, is_known=is_known), root(leaves[half:])]
    return [*_subproof(leaves[half:], size - half, is_known=False), root(leaves[:half])]


def is_consistent(proof: Sequence[bytes], size: int, root: bytes, earlier_size: int, earlier_root: bytes) -> bool:
    """Return whether `proof` proves that the tree of `size` leaves and this root continues the earlier tree (RFC 9162,
    2.1.4.2)."""
    if not 0 < earlier_size <= size:
        return False
    if earlier_size == size:
        return not proof and root == earlier_root
    rest = list(proof)
    if earlier_size.bit_count() == 1:
        rest.insert(0, earlier_root)
    index, last = earlier_size - 1, size - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    if not rest:
        return False
    earlier_node = node = rest.pop(0)
    for sibling in rest:
        if not last:
            return False
        if index & 1 or index == last:
            earlier_node, node = node_hash(sibling, earlier_node), node_hash(sibling, node)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            node = node_hash(node, sibling)
        index, last = index >> 1, last >> 1
    return not last and (earlier_node, node) == (earlier_root, root)


def _left_size(size: int) -> int:
    """Return the largest power of two below `size`."""
    return 1 << (size - 1).bit_length() - 1
