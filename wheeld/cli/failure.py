"""What a command prints on standard error if it failed, and its exit code.

The texts of the command itself, and problems of a configuration or of an observation log, are in the language of the
screen. Faults of a journal, and texts that are also in the log of the service, are in English: a technician looks them
up or sends them to somebody.
"""

from __future__ import annotations

import argparse
import errno
import os
import shlex
import sys

from wheeld.core.catalogue import Catalogue, Part, Text, translatable
from wheeld.exits import Exit
from wheeld.screen.locale import language_here
from wheeld.screen.terminal import printable

FILE_TROUBLES = {
    errno.ENOENT: translatable("there is no such file or directory; check the name"),
    errno.EISDIR: translatable("it is a directory; name a file in it"),
    errno.ENOTDIR: translatable("a part of its path is not a directory; check the name"),
    errno.ENOSPC: translatable("the disk is full; make room on it, then run the command again"),
}
"""What to do about the most common errors of files. For other errors the text of the system is shown."""


def catalogue_of(options: argparse.Namespace) -> Catalogue:
    """Return the catalogue of the screen's language. `--language` chooses it, otherwise the locale does."""
    return Catalogue(getattr(options, "language", None) or language_here())


def fail(why: Text | str, code: Exit, options: argparse.Namespace) -> Exit:
    """Print why the command failed, notify systemd if it started the command, and return the exit code."""
    warn(why if isinstance(why, str) else catalogue_of(options).say_text(why))
    # The unit's status is in English, like its log.
    notify_failure(why if isinstance(why, str) else Catalogue("en").say_text(why))
    return code


def notify_failure(why: str) -> None:
    """Set the text that `systemctl status` shows, if systemd started this program, because a person may be unable to
    see the log."""
    if "NOTIFY_SOCKET" in os.environ:
        from wheeld.service.notify import ServiceNotifier  # noqa: PLC0415  only a unit that fails needs it

        ServiceNotifier().failed(why)


def file_trouble(wrong: OSError) -> Text | str:
    """Return what is wrong with a file, and what to do."""
    text = FILE_TROUBLES.get(wrong.errno or 0)
    if isinstance(wrong, PermissionError):
        text = None if os.geteuid() == 0 else _NOT_ALLOWED
    parts: dict[str, Part] = {}
    if text is _NOT_ALLOWED and str(wrong.filename).endswith(".toml"):
        file = shlex.quote(str(wrong.filename))
        text, parts = _NOT_ALLOWED_UNIT, {"command": f"chgrp wheeld {file} && chmod g+r {file}"}
    if text is None or wrong.strerror != os.strerror(wrong.errno or 0):
        # We wrote this text ourselves, for example for a wheel that does not exist.
        return f"{wrong.filename}: {wrong.strerror}" if wrong.filename else str(wrong)
    if not wrong.filename:
        return Text(text)
    return Text("{first}: {second}", {"first": str(wrong.filename), "second": Text(text, parts)})


_NOT_ALLOWED = translatable("this user may not use it; run the command as root, or as a user who may")
"""What to do if this user cannot use a file. Most files of a wheel are closed to other users, and only root may read
its secrets."""
_NOT_ALLOWED_UNIT = translatable(
    "this user may not use it; run the command as root, or as a user who may; if this is the wheel's unit, as root: "
    "`{command}`"
)
"""The same for a configuration file. The wheel's unit reads this file as the user wheeld. systemd reads the secrets for
the unit."""


def warn(trouble: str) -> None:
    """Print what is wrong, and continue."""
    sys.stderr.write(f"wheeld: {printable(trouble)}\n")
    sys.stderr.flush()
