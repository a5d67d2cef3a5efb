"""The command `wheeld`: does what the command line asks, and turns errors into messages and exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from wheeld.cli.failure import catalogue_of, fail, file_trouble
from wheeld.cli.parser import parser
from wheeld.config.problems import ConfigError
from wheeld.core.catalogue import Text
from wheeld.exits import Exit
from wheeld.journal.rows import JournalError
from wheeld.journal.seal import KeyFileError


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line asks; returns the exit code."""
    options = parser().parse_args(argv)
    try:
        code: Exit = _version(options) if options.version or options.verify else options.do(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has seen enough; at exit Python would complain about what it cannot flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except ConfigError as wrong:
        code = fail(Text("the configuration is wrong"), Exit.BAD_CONFIG, options)
        sys.stderr.write(f"{wrong.said(catalogue_of(options))}\n")
        return code
    except KeyFileError as wrong:
        return fail(str(wrong), Exit.BAD_CONFIG, options)
    except JournalError as wrong:
        code = Exit.IO_FAILED if wrong.fault in ("io", "full", "locked") else Exit.BAD_DATA
        return fail(str(wrong), code, options)
    except OSError as wrong:
        return fail(file_trouble(wrong), Exit.NO_INPUT if wrong.filename else Exit.IO_FAILED, options)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    return code


def _version(options: argparse.Namespace) -> Exit:
    from wheeld.cli.version import version  # noqa: PLC0415  what it imports takes long

    return version(options)
