"""Writes learned angles into the configuration file. Only two lines of `[wheel]` change."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

from wheeld.core.catalogue import Text
from wheeld.text_error import TextError


class RewriteError(TextError, ValueError):
    """The file cannot be changed automatically. The text says what to write by hand."""


def with_angles(text: str, angles_deg: Mapping[str, Sequence[float]]) -> str:
    """Return the configuration `text` with new angles: each key of `angles_deg` in `[wheel]` gets its values. Nothing
    else changes.

    Raises RewriteError if a key or the section is missing, or if a key takes several lines.
    """
    found = re.search(r"^[ \t]*\[[ \t]*wheel[ \t]*\].*$", text, re.MULTILINE)
    if found is None:
        raise RewriteError(Text("there is no [wheel] section on a line of its own"))
    rest = text[found.end() :]
    following = re.search(r"^[ \t]*\[", rest, re.MULTILINE)
    end = len(rest) if following is None else following.start()
    before, mark, wheel, after = (text[: found.start()], found[0], rest[:end], rest[end:])
    for key, values in angles_deg.items():
        written = f"{key} = [{', '.join(f'{value:g}' for value in values)}]"
        wheel, count = re.subn(rf"^[ \t]*{key}[ \t]*=[ \t]*\[[^\]\n]*\]", written, wheel, flags=re.MULTILINE)
        if count != 1:
            line = {"key": key, "line": written}
            what = Text("in [wheel], {key} is missing or takes several lines: write {line} there by hand", line)
            raise RewriteError(what)
    return before + mark + wheel + after


def replace_file(path: Path, after: bytes) -> Path:
    """Replace the content of the file with `after`, completely or not at all. The file keeps its mode, and if possible
    its owner.

    Returns the path of a copy of the former file: `NAME.before`, with a number if that exists. Raises OSError.
    """
    path = path.resolve()  # if `path` is a link, replace the file behind it
    like, former = path.stat(), path.read_bytes()
    for number in count():
        kept = path.with_name(f"{path.name}.before" + (f".{number}" if number else ""))
        with contextlib.suppress(FileExistsError):
            _fill(os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), former, like)
            break
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        _fill(descriptor, after, like)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    return kept


def _fill(descriptor: int, data: bytes, like: os.stat_result) -> None:
    with os.fdopen(descriptor, "wb") as file:
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, like.st_uid, like.st_gid)
        os.fchmod(descriptor, like.st_mode & 0o777)
        file.write(data)
        file.flush()
        os.fsync(descriptor)
