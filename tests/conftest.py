"""What holds for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mosquitto import Mosquitto

# Commands speak the language of the locale, and tests expect English where they name none.
os.environ["LC_ALL"] = "C.UTF-8"
# What Python is about to change is an error in the processes that tests start, too (`filterwarnings`: in pytest's own).
os.environ["PYTHONWARNINGS"] = "error::DeprecationWarning,error::PendingDeprecationWarning,error::ResourceWarning"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    """A broker that lets everybody do everything. Some directories and files have another one."""
    with Mosquitto(tmp_path) as running:
        yield running
