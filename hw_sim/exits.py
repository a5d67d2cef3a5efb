"""The exit codes of `hw-sim`, and the errors that end a subcommand with one of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

EXIT_FAILED = 1


class CommandError(Exception):
    """A subcommand ends with `exit_code`. The text goes to standard error and says what is wrong."""

    exit_code = EXIT_FAILED


class UsageError(CommandError):
    """An option is wrong, or two options cannot be used together."""

    exit_code = 2


class BadDataError(CommandError):
    """The input file is not valid."""

    exit_code = 65


class UnavailableError(CommandError):
    """A program or a package is missing or failed."""

    exit_code = 69


class FileError(CommandError):
    """A file, or a device, cannot be written."""

    exit_code = 73


def told(error: OSError) -> str:
    """Return the name of the file, if the error has one, and the system's text about the error."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


@contextmanager
def writing() -> Iterator[None]:
    """Turn an OSError of the block into a FileError, which names the file if there is one."""
    try:
        yield
    except BrokenPipeError:
        raise  # this error is about standard output, not a file: `cli.main` handles it
    except OSError as error:
        raise FileError(f"cannot write: {told(error)}") from error
