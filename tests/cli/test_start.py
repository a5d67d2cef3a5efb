"""What a command imports before it does its work: each takes time at every start, on a Pi ten times as much."""

from __future__ import annotations

import subprocess
import sys

import pytest

PRINT_MODULES = """
import sys
before = {*sys.modules}
from wheeld.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print("MODULES", *({*sys.modules} - before))
"""
"""Without what whoever measures the coverage of this process has imported."""
OURS = {
    "wheeld",
    "wheeld.cli",
    "wheeld.cli.failure",
    "wheeld.cli.main",
    "wheeld.cli.parser",
    "wheeld.core",
    "wheeld.core.catalogue",
    "wheeld.errors",
    "wheeld.exits",
    "wheeld.screen",
    "wheeld.screen.locale",
    "wheeld.screen.terminal",
}
HEAVY = {"asyncio", "cryptography", "mqtt5", "msgspec", "serial", "sqlite3", "ssl", "structlog"}


def imported(*command: str) -> set[str]:
    """The modules that the command has imported when it has ended."""
    ended = subprocess.run([sys.executable, "-c", PRINT_MODULES, *command], capture_output=True, text=True, check=True)
    return set(ended.stdout.rpartition("MODULES ")[2].split())


@pytest.mark.parametrize("command", [("--version",), ("help",), ("help", "exit-codes"), ("run", "--help")])
def test_what_only_prints_imports_no_command(command: tuple[str, ...]) -> None:
    modules = imported(*command)
    assert {name for name in modules if name.partition(".")[0] in ("wheeld", "firmware_protocol")} == OURS
    assert not modules & HEAVY


def test_a_command_imports_no_other() -> None:
    modules = imported("check-config", "nowhere.toml")
    commands = {name for name in modules if name.startswith("wheeld.cli.")} - OURS
    assert commands == {"wheeld.cli.check", "wheeld.cli.provable", "wheeld.cli.rights"}
    assert not {name for name in modules if name.startswith(("wheeld.daemon", "wheeld.page", "wheeld.feed"))}
