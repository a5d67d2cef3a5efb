"""One browser and one house for all tests that only look."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.browser.browser import chromium
from tests.browser.house import House, opened

EVENING = ("valid", "same_direction", "valid")
"""What stands on the pages: two numbers, and a void with its evidence."""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as up:
        yield up


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """A house that has played some coups; the ball rests."""
    directory: Path = tmp_path_factory.mktemp("house")
    async with opened(directory, seed=15, speed=12) as up:
        await up.wheel.play(*EVENING)
        await up.subscriber.until_verdicts(len(EVENING))
        yield up
