"""The command `wheeld-report`: the health of wheels over time, as a page or as JSON."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from wheeld.cli.journal import judge
from wheeld.cli.main import carried_out
from wheeld.config.instance import journal_of
from wheeld.core.catalogue import Catalogue
from wheeld.exits import Exit
from wheeld.journal.database import Database
from wheeld.journal.reader import JournalReader
from wheeld.screen.locale import LANGUAGES, language_here

ABOUT = """\
Say how healthy wheels are, from any number of journals: numbers and sectors compared with chance, where the ball
leaves the track, laps and speeds, drift, voids, what the sensors missed, and what a technician should do. The page is
one HTML file. Of a hundred wheels with nothing wrong, at most one gets a finding. Make the report in the office, from a
backup of the journal.
"""

EXAMPLES = """\
examples:
  wheeld-report campione-03 -o report.html
  wheeld-report campione-03-2026.sqlite campione-04-2026.sqlite --since 2026-10-01 -o report.html
  wheeld-report campione-03.sqlite --json

exit codes: wheeld help exit-codes
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line asks, and return the exit code."""
    return carried_out(report, parser().parse_args(argv))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    lines = argparse.RawDescriptionHelpFormatter
    whole = argparse.ArgumentParser(prog="wheeld-report", description=ABOUT, epilog=EXAMPLES, formatter_class=lines)
    whole.add_argument(
        "journals", metavar="JOURNAL", nargs="+", help="the name of a wheel, or a journal's file (may be repeated)"
    )
    whole.add_argument("--json", action="store_true", help="write JSON for programs, not a page for people")
    for option, default, when in (("--since", 0, "at this time or later"), ("--until", 2**63, "before this time")):
        about = f"only what was stored {when} (UTC)"
        whole.add_argument(option, metavar="DATE", type=instant, default=default, help=about)
    about = "the language of texts for people (default: the locale's, else en)"
    whole.add_argument("--language", choices=LANGUAGES, default=language_here(), help=about)
    whole.add_argument("-o", "--output", metavar="FILE", type=Path, help="write there rather than to standard output")
    return whole


def report(options: argparse.Namespace) -> Exit:
    """Write the report. Raises ConfigError, JournalError, OSError."""
    # The packages are built, with the manual page, where SciPy is not installed.
    from wheeld_report.health import health  # noqa: PLC0415
    from wheeld_report.page import BENCH, page, verdict  # noqa: PLC0415
    from wheeld_report.reading import wheels  # noqa: PLC0415

    files = [journal_of(name) for name in options.journals]
    found = wheels(files, range(options.since, options.until))
    if not any(wheel.coups or wheel.voids for wheel in found):
        sys.stderr.write("wheeld-report: there is no coup in that time in these journals\n")
        return Exit.NO_INPUT
    code = Exit.OK
    for file in files:
        with closing(JournalReader(Database(file, read_only=True))) as journal:
            code = max(code, judge(journal, file, options))
    say = Catalogue(options.language)
    reports = [health(wheel, say) for wheel in found]
    text = msgspec.json.format(msgspec.json.encode(reports)).decode() + "\n" if options.json else page(reports, say)
    if options.output is None:
        sys.stdout.write(text)
        return code
    options.output.write_text(text, encoding="utf-8")
    for each in reports:
        bench = f", {say.say(BENCH)}" if each.test else ""
        sys.stdout.write(f"{each.site}/{each.table}{bench}: {verdict(each, say)}\n")
        for finding in each.findings:
            sys.stdout.write(f"  {finding.said}. {finding.action}\n")
    return code


def instant(text: str) -> int:
    """Return a date or an instant of the command line, in µs since 1970. Without an offset it is UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as wrong:
        message = f"{text!r} is not a date like 2026-11-20, and not an instant like 2026-11-20T18:00:00Z"
        raise argparse.ArgumentTypeError(message) from wrong
    return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1_000_000)
