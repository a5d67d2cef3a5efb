"""The command `wheeld`: does what the command line asks, and turns errors into messages and exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from wheeld import VERSION
from wheeld.cli.failure import catalogue_of, fail, file_trouble, notify_failure, warn
from wheeld.cli.parser import parser
from wheeld.errors import WheeldError
from wheeld.exits import Exit


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line asks, and return the exit code."""
    return carried_out(_chosen, parser().parse_args(argv))


def _chosen(options: argparse.Namespace) -> Exit:
    if options.verify:
        from wheeld.cli.version import version  # noqa: PLC0415  this import takes long

        return version(options)
    if options.version:
        sys.stdout.write(f"wheeld {VERSION}\n")
        return Exit.OK
    code: Exit = options.do(options)
    return code


def carried_out(do: Callable[[argparse.Namespace], Exit], options: argparse.Namespace) -> Exit:
    """Call `do`, print the error that it may raise, and return the exit code."""
    try:
        code = do(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The program that reads our output has ended. Without this, Python would report at exit that it cannot write
        # the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except (WheeldError, OSError) as wrong:
        return _told(wrong, options)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    return code


def _told(wrong: WheeldError | OSError, options: argparse.Namespace) -> Exit:
    """Print an error that any command may meet, and return its exit code. Raise any other error again."""
    if isinstance(wrong, OSError):
        return fail(file_trouble(wrong), Exit.NO_INPUT if wrong.filename else Exit.IO_FAILED, options)
    from wheeld.config.problems import ConfigError  # noqa: PLC0415  only a command that fails needs these three imports
    from wheeld.journal.rows import JournalError  # noqa: PLC0415
    from wheeld.journal.seal import KeyFileError  # noqa: PLC0415

    if isinstance(wrong, ConfigError):
        catalogue = catalogue_of(options)
        warn(catalogue.say("the configuration is wrong"))
        sys.stderr.write(f"{wrong.said(catalogue)}\n")
        notify_failure(str(wrong))
        return Exit.BAD_CONFIG
    if isinstance(wrong, KeyFileError):
        return fail(str(wrong), Exit.BAD_CONFIG, options)
    if isinstance(wrong, JournalError):
        codes = {"io": Exit.IO_FAILED, "full": Exit.IO_FAILED, "locked": Exit.NOT_OPENED}
        return fail(str(wrong), codes.get(wrong.fault, Exit.BAD_DATA), options)
    raise wrong
