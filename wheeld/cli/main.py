"""The command `wheeld`: does what the command line asks, and turns errors into messages and exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from wheeld.cli.parser import parser
from wheeld.config.problems import ConfigError
from wheeld.exits import Exit
from wheeld.journal.rows import JournalError
from wheeld.journal.seal import KeyFileError

_AS_ROOT = "; run this as root, or as a user that may use that file"
"""Most files of a wheel are closed to others: its secrets to all but root."""


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line asks; returns the exit code."""
    options = parser().parse_args(argv)
    try:
        code: Exit = _version(options) if options.version else options.do(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has seen enough; at exit Python would complain about what it cannot flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except ConfigError as wrong:
        return _fail(f"the configuration is wrong\n{wrong}", Exit.BAD_CONFIG)
    except KeyFileError as wrong:
        return _fail(str(wrong), Exit.BAD_CONFIG)
    except JournalError as wrong:
        return _fail(str(wrong), Exit.IO_FAILED if wrong.fault in ("io", "full", "locked") else Exit.BAD_DATA)
    except PermissionError as wrong:
        return _fail(f"{wrong}{_AS_ROOT if os.geteuid() else ''}", Exit.NO_INPUT if wrong.filename else Exit.IO_FAILED)
    except OSError as wrong:
        return _fail(str(wrong), Exit.NO_INPUT if wrong.filename else Exit.IO_FAILED)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    return code


def _version(options: argparse.Namespace) -> Exit:
    from wheeld.cli.version import version  # noqa: PLC0415  what it imports takes long

    return version(options)


def _fail(why: str, code: Exit) -> Exit:
    print(f"wheeld: {why}", file=sys.stderr)
    return code
