"""Writes what the machine says into every script, and the pages: `python -m tests.evenings.record`.

It records what is, right or wrong. A person then reads the evenings against docs/rulebook.md and the regulations.
"""

from __future__ import annotations

from tests.evenings import page, script
from tests.evenings.players import Player, setting_of
from tests.evenings.wheels import Wheel


def recorded(name: str) -> script.Script:
    """The script of an evening, with what the machine says now."""
    written = script.read(name)
    said = Player(Wheel(setting_of(written))).play(written)
    for step, lines in zip(written.steps, said, strict=True):
        step.said = lines
    return written


def main() -> None:
    """Record every evening."""
    for name in script.names():
        written = recorded(name)
        script.path_of(name).write_text(written.text)
        page.path_of(name).write_text(page.page(written))


if __name__ == "__main__":
    main()
