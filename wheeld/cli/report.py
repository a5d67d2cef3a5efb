"""`wheeld report`: the health of wheels over time, as a page or as JSON."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from wheeld.config.instance import journal_of
from wheeld.core.catalogue import Catalogue
from wheeld.exits import Exit
from wheeld.service.program import installed_at

LIBRARIES = ("matplotlib", "numpy", "scipy")
"""The libraries of the extra `report`."""
PACKAGE, OF_PACKAGE = Path("/usr/lib/wheeld"), "apt install python3-matplotlib python3-scipy"
"""Where the Debian package installs the program, and how to install these libraries there."""


def report(options: argparse.Namespace) -> Exit:
    """Write the report. Raises ConfigError, JournalError, OSError."""
    try:
        from wheeld.report.health import health  # noqa: PLC0415  the health report needs optional packages
        from wheeld.report.page import BENCH, page, verdict  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in LIBRARIES:
            raise
        how = OF_PACKAGE if installed_at() == PACKAGE else "pip install 'wheeld[report]'"
        sys.stderr.write(f"wheeld: report needs {missing.name}, which is not installed: {how}\n")
        return Exit.NOT_INSTALLED
    from wheeld.report.reading import wheels  # noqa: PLC0415

    found = wheels([journal_of(name) for name in options.journals], range(options.since, options.until))
    if not any(wheel.coups or wheel.voids for wheel in found):
        sys.stderr.write("wheeld: there is no coup in that time in these journals\n")
        return Exit.NO_INPUT
    say = Catalogue(options.language)
    reports = [health(wheel, say) for wheel in found]
    text = msgspec.json.format(msgspec.json.encode(reports)).decode() + "\n" if options.json else page(reports, say)
    if options.output is None:
        sys.stdout.write(text)
        return Exit.OK
    options.output.write_text(text, encoding="utf-8")
    for each in reports:
        bench = f", {say.say(BENCH)}" if each.test else ""
        sys.stdout.write(f"{each.site}/{each.table}{bench}: {verdict(each, say)}\n")
        for finding in each.findings:
            sys.stdout.write(f"  {finding.said}. {finding.action}\n")
    return Exit.OK


def instant(text: str) -> int:
    """Return a date or an instant of the command line, in µs since 1970. Without an offset it is UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as wrong:
        message = f"{text!r} is not a date like 2026-11-20, and not an instant like 2026-11-20T18:00:00Z"
        raise argparse.ArgumentTypeError(message) from wrong
    return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1_000_000)
