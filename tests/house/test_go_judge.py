"""The wheel's checkpoints and the house's proofs, judged by the code of Go's own checksum database (`judge/`)."""

from __future__ import annotations

import base64
import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from tests.house.test_receipts import KEY, checkpoint_of, feed, receipt_of, witnessed
from wheeld_house.note import LOG, Verifier
from wheeld_house.tlog import consistency_proof, leaf_hash

SOURCE = Path(__file__).with_name("judge") / "main.go"
WHEEL = str(Verifier("wheel/v1/campione/c-3/1", KEY.public_key, LOG))
GOOD = ["checkpoint: good", "inclusion: good", "later checkpoint: good", "consistency: good"]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The judge, built from Debian's packages golang-go and golang-golang-x-mod-dev."""
    made = tmp_path_factory.mktemp("judge")
    go = os.environ | {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": str(made / "cache")}
    subprocess.run(["go", "build", "-o", made / "judge", SOURCE], check=True, env=go, timeout=300)
    return made / "judge"


def judged(judge: Path, receipt: str, note: str = "", consistency: list[bytes] | None = None) -> list[str]:
    proof = [base64.b64encode(each).decode() for each in consistency or []]
    asked = json.dumps({"key": WHEEL, "receipt": receipt, "note": note, "consistency": proof})
    ended = subprocess.run([judge], input=asked, capture_output=True, text=True, check=True, timeout=60)
    return ended.stdout.splitlines()


def test_go_agrees_with_every_proof_and_refuses_every_forgery(judge: Path) -> None:
    messages = feed(200)
    leaves = [leaf_hash(message) for message in messages]
    for seed in range(40):
        rng = random.Random(f"go {seed}")
        size = rng.randrange(2, 200)
        earlier = rng.randrange(1, size + 1)
        index = rng.randrange(earlier)
        checkpoint, later = witnessed(checkpoint_of(messages[:earlier])), checkpoint_of(messages[:size])
        receipt = receipt_of(messages[:earlier], index, checkpoint)
        proof = consistency_proof(leaves[:size], earlier)
        assert judged(judge, receipt, later, proof) == GOOD, seed
        forged = bytearray(messages[index])
        forged[rng.randrange(len(forged))] ^= 1
        false = receipt_of([*messages[:index], bytes(forged), *messages[index + 1 : earlier]], index, checkpoint)
        assert judged(judge, false)[1:] != GOOD[1:2], seed
        other = checkpoint_of([*messages[: earlier - 1], *messages[earlier : size + 1]])
        assert judged(judge, receipt, other, proof)[3:] != GOOD[3:], seed
        line = receipt.index("\u2014 wheel") + len("\u2014 wheel/v1/campione/c-3/1 ") + 10
        unsigned = f"{receipt[:line]}{'A' if receipt[line] != 'A' else 'B'}{receipt[line + 1 :]}"
        assert judged(judge, unsigned)[:1] != GOOD[:1], seed
