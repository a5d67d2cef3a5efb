"""Evenings at a wheel that another simulator wrote: every verdict and every cause equals their truth."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.truth import differences, verdicts
from wheeld.replay import replay

SAMPLES = Path(__file__).parents[2] / "shared" / "samples"
LOGS = sorted(SAMPLES.glob("*.jsonl.gz"))


@pytest.mark.skipif(not LOGS, reason="the sample evenings are not beside the project")
@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name.split(".")[0])
def test_every_verdict_and_cause_equals_the_truth(log: Path) -> None:
    truth = json.loads(log.with_name(log.name.replace(".jsonl.gz", ".truth.json")).read_text())
    with gzip.open(log) as lines:
        published = verdicts(replay(lines))
    assert len(truth) > 10
    assert differences(published, truth) == []
