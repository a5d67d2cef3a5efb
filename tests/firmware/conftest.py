"""The firmware's core, compiled once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.firmware.harness import HERE, compiled, core


@pytest.fixture(scope="session")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole core."""
    return compiled(
        tmp_path_factory.mktemp("firmware") / "harness", HERE / "harness.c", *core("codec", "board", "sensors")
    )
