"""Lines where nobody looks on, a picture on a terminal."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import pytest

from hw_sim.exits import UnavailableError
from hw_sim.scenarios import SCENARIOS
from hw_sim.subscriber import Subscriber
from hw_sim.view import ROWS, view_of
from tests.hw_sim_demo.test_subscriber import TABLE, message, result, void


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_are_printed_as_they_come() -> None:
    out = io.StringIO()
    with view_of(Subscriber(), out) as view:
        view.show_scenario(SCENARIOS["valid"])
        view.show_message("something")
        view.show_message(None)
    assert out.getvalue().splitlines() == [
        f"--- the wheel plays valid: {SCENARIOS['valid'].about}",
        "something",
    ]


def test_a_terminal_shows_the_state_and_the_last_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    out, subscriber = Terminal(), Subscriber()
    with view_of(subscriber, out) as view:
        assert "nothing yet" in out.getvalue()
        view.show_scenario(SCENARIOS["chef_void"])
        subscriber.take("board", json.dumps({"coup": 1, "numbers": [32, 4]}).encode())
        view.show_message(subscriber.take("result", result(1)))
        for seq in range(2, ROWS + 3):
            view.show_message(subscriber.take("void", void(seq)))
        out.seek(0)
        out.truncate()
        view.show_message(subscriber.take("table", message(ROWS + 3, **TABLE)))
    picture = out.getvalue()
    for text in ("closed", "ouverture", "32 4", "chef_void", "chef · N7", f"seq              {ROWS + 3}"):
        assert text in picture, picture
    assert "Trente-deux" not in picture, "the oldest went out of view"


def test_without_rich_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    missing: Any = None
    monkeypatch.setitem(sys.modules, "rich.console", missing)
    with pytest.raises(UnavailableError, match=r"pip install '\./hw_sim\[demo\]'"), view_of(Subscriber(), Terminal()):
        pass
