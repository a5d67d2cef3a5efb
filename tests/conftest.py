"""What holds for all tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mosquitto import Mosquitto

# Commands speak the language of the locale, and tests expect English where they name none.
os.environ["LC_ALL"] = "C.UTF-8"
# What Python is about to change is an error in the processes that tests start, too (`filterwarnings`: in pytest's own).
os.environ["PYTHONWARNINGS"] = "error::DeprecationWarning,error::PendingDeprecationWarning,error::ResourceWarning"
# jsonschema imports this if it is there, which compiles a grammar for seconds in each process. It is for addresses, a
# format that no schema of ours has.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    """A broker that lets everybody do everything. Some directories and files have another one."""
    with Mosquitto(tmp_path) as running:
        yield running
