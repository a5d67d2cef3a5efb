"""What the demo shows: on a terminal a picture that changes in place, elsewhere lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TextIO

from hw_sim.child import DemoError
from hw_sim.scenarios import Scenario
from hw_sim.subscriber import Subscriber, numbers_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

ROWS = 11
"""Verdicts shown: with the other lines they fit a terminal of 24 lines."""


class View(Protocol):
    """What the demo shows to its viewer."""

    def show_address(self, address: str) -> None:
        """The bench page is served there."""
        ...

    def show_scenario(self, scenario: Scenario) -> None:
        """The simulated people begin this scenario."""
        ...

    def show_message(self, line: str | None) -> None:
        """A message arrived; `line` is its text, None if it needs no line."""
        ...


class Lines:
    """A line for each scenario and each message."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def show_address(self, address: str) -> None:
        """Print the address."""
        self.show_message(f"bench page: {address}")

    def show_scenario(self, scenario: Scenario) -> None:
        """Print the scenario."""
        self.show_message(f"--- the wheel plays {scenario.name}: {scenario.about}")

    def show_message(self, line: str | None) -> None:
        """Print it at once: the output may be a pipe."""
        if line is not None:
            self._out.write(f"{line}\n")
            self._out.flush()


class Screen:
    """A picture of `subscriber` that is drawn again after each change."""

    def __init__(self, subscriber: Subscriber, console: Console) -> None:
        from rich.live import Live  # noqa: PLC0415  an extra, wanted on a terminal only

        self._subscriber = subscriber
        self._playing = "waiting for the table"
        self._address = ""
        self._live = Live(self._picture(), console=console, auto_refresh=False)

    @contextmanager
    def on(self) -> Iterator[Screen]:
        """Show the picture while this is entered; its last state stays on the terminal."""
        with self._live:
            yield self

    def show_address(self, address: str) -> None:
        """Show the address."""
        self._address = address
        self.show_message(None)

    def show_scenario(self, scenario: Scenario) -> None:
        """Show the scenario."""
        self._playing = f"{scenario.name}: {scenario.about}"
        self.show_message(None)

    def show_message(self, line: str | None) -> None:  # noqa: ARG002  the picture shows the state, not the message
        """Draw the picture again."""
        self._live.update(self._picture(), refresh=True)

    def _picture(self) -> RenderableType:
        from rich.console import Group  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        subscriber, table = self._subscriber, self._subscriber.table
        seq = subscriber.seqs[-1] if subscriber.seqs else "none"
        coups = Table("coup", "seq", "verdict", expand=True)
        for verdict in subscriber.verdicts[-ROWS:]:
            style = "green" if verdict.name.startswith("result") else "red"
            coups.add_row(str(verdict.coup), str(verdict.seq), Text(verdict.text, style))
        return Group(
            Text(f"bench page       {self._address}"),
            Text(f"the wheel plays  {self._playing}", "dim", overflow="ellipsis", no_wrap=True),
            Text.assemble("state            ", (table["state"] if table else "nothing yet", "bold")),
            Text(f"bets             {table['bets'] if table else ''}"),
            Text(f"waiting for      {table['waiting_for'] if table else ''}"),
            Text(f"last numbers     {numbers_text(subscriber.numbers)}"),
            Text(f"last notice      {subscriber.remark}", "dim", overflow="ellipsis", no_wrap=True),
            Text(f"seq              {seq}, {subscriber.gaps or 'nothing'} missing"),
            coups,
        )


@contextmanager
def view_of(subscriber: Subscriber, out: TextIO | None = None) -> Iterator[View]:
    """A screen on a terminal, lines elsewhere. Raises DemoError when rich, an extra, is missing on a terminal."""
    out = out or sys.stdout
    if not out.isatty():
        yield Lines(out)
        return
    try:
        from rich.console import Console  # noqa: PLC0415
    except ImportError:
        raise DemoError("rich is not installed: pip install './hw_sim[demo]', or | cat for plain lines") from None
    with Screen(subscriber, Console(file=out)).on() as screen:
        yield screen
