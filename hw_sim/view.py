"""The output of the demo: on a terminal a picture that is updated in place, otherwise lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO, TypeAlias

from hw_sim.exits import UnavailableError
from hw_sim.scenarios import Scenario
from hw_sim.subscriber import Subscriber, numbers_text
from hw_sim.words import Words

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

ROWS = 11
"""The number of verdicts shown. With the other lines they fit on a terminal of 24 lines."""
NAME_WIDTH = 17
"""The length of the longest name of a line in any language, plus a space."""


class Lines:
    """Prints one line for each scenario and each message."""

    def __init__(self, out: TextIO, words: Words) -> None:
        self._out = out
        self._words = words

    def show_address(self, address: str) -> None:
        """Print the address of the bench page."""
        self.show_message(f"{self._words.say('bench page')}: {address}")

    def show_scenario(self, scenario: Scenario) -> None:
        """Print the scenario that people begin."""
        say = self._words.say
        about = say(scenario.about)
        self.show_message("--- " + say("the wheel plays {name}: {about}", name=scenario.name, about=about))

    def show_message(self, line: str | None) -> None:
        """Print the text of a message, if it has one. The text goes out at once, even if the output is a pipe."""
        if line is not None:
            self._out.write(f"{line}\n")
            self._out.flush()


class Picture:
    """A picture of the data in `subscriber`, which is drawn again after each change."""

    def __init__(self, subscriber: Subscriber, live: Live) -> None:
        self._subscriber, self._live = subscriber, live
        self._words = subscriber.words
        self._playing = self._words.say("waiting for the table")
        self._address = ""
        self.show_message(None)

    def show_address(self, address: str) -> None:
        """Show the address of the bench page."""
        self._address = address
        self.show_message(None)

    def show_scenario(self, scenario: Scenario) -> None:
        """Show the scenario that people begin."""
        self._playing = f"{scenario.name}: {self._words.say(scenario.about)}"
        self.show_message(None)

    def show_message(self, line: str | None) -> None:  # noqa: ARG002  the picture shows the state, not the message
        """Draw the picture again."""
        self._live.update(self._picture(), refresh=True)

    def _picture(self) -> RenderableType:
        from rich.console import Group  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        subscriber, say = self._subscriber, self._words.say
        coups = Table(say("coup"), "seq", say("verdict"), expand=True)
        for verdict in subscriber.verdicts[-ROWS:]:
            style = "green" if verdict.name.startswith("result") else "red"
            coups.add_row(str(verdict.coup), str(verdict.seq), Text(verdict.text, style))
        table, code = subscriber.table, self._words.code
        rows = [
            (say("state"), code("state", table["state"]) if table else say("nothing yet")),
            (say("bets"), code("bets", table["bets"]) if table else ""),
            (say("waiting for"), table["waiting_for"] if table else ""),
            (say("last numbers"), numbers_text(subscriber.numbers, self._words)),
        ]
        shown = [
            (f"{name:<{NAME_WIDTH}}", (value, "" if place else "bold")) for place, (name, value) in enumerate(rows)
        ]
        seq = subscriber.seqs[-1] if subscriber.seqs else say("none")
        if subscriber.gaps:
            received = say("{seq}, {gaps} missing", seq=seq, gaps=subscriber.gaps)
        else:
            received = say("{seq}, nothing missing", seq=seq)
        return Group(
            Text(f"{say('bench page'):<{NAME_WIDTH}}{self._address}"),
            Text(f"{say('the wheel plays')}  {self._playing}", "dim"),
            *(Text.assemble(*row) for row in shown),
            Text(f"{say('last notice'):<{NAME_WIDTH}}{subscriber.remark}", "dim", overflow="ellipsis", no_wrap=True),
            Text(f"{'seq':<{NAME_WIDTH}}{received}"),
            coups,
        )


DemoView: TypeAlias = Lines | Picture


@contextmanager
def view_of(subscriber: Subscriber, out: TextIO | None = None) -> Iterator[DemoView]:
    """Show a picture on a terminal, otherwise lines. The last picture stays on the terminal.

    Raises UnavailableError if the package rich is missing on a terminal.
    """
    out = out or sys.stdout
    if not out.isatty():
        yield Lines(out, subscriber.words)
        return
    try:
        from rich.console import Console  # noqa: PLC0415  rich is an optional package
        from rich.live import Live  # noqa: PLC0415
    except ImportError:
        why = "rich is not installed: pip install './hw_sim[demo]', or | cat for plain lines"
        raise UnavailableError(why) from None
    with Live(console=Console(file=out), auto_refresh=False) as live:
        yield Picture(subscriber, live)
