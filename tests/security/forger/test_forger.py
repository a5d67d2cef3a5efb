"""Every forgery is found by the daemon, by `wheeld journal verify` and by the auditor, or it is said why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.security.forger.forgeries import FORGERIES, UNSEEN
from tests.security.forger.house import FINDERS, House, build

FORGERIES_MIN = 79


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    return build(tmp_path_factory.mktemp("house"))


@pytest.mark.parametrize("finder", FINDERS)
def test_the_untouched_journal_is_accepted(house: House, tmp_path: Path, finder: str) -> None:
    assert FINDERS[finder](house.copy(tmp_path)) == ""


@pytest.mark.parametrize("finder", FINDERS)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forgery_is_found(house: House, tmp_path: Path, forgery: str, finder: str) -> None:
    forged = house.copy(tmp_path)
    FORGERIES[forgery](forged)
    found = FINDERS[finder](forged)
    if (why := UNSEEN.get(forgery, {}).get(finder)) is not None:
        assert found == "", f"it is found after all, and this is not true any more: {why}"
    else:
        assert found


def test_there_are_as_many_as_promised() -> None:
    assert len(FORGERIES) >= FORGERIES_MIN
    assert UNSEEN.keys() <= FORGERIES.keys()
