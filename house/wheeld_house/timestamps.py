"""Time-stamps of checkpoints by an authority (RFC 3161). With a time-stamp, a receipt also proves since when its tree
has existed, even to somebody who trusts neither the house nor its witnesses.

`openssl ts` writes the requests and verifies the answers. No code here reads their format.
"""

from __future__ import annotations

import subprocess
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg

from wheeld_house.note import NoteError, read_note
from wheeld_house.settings import SettingsError

TOKEN_BYTES_MAX = 65_536
"""The longest time-stamp (token). With the authority's certificates it has 3 to 8 kB."""
ANSWER_S = 30.0
"""How long to wait for the authority. It usually answers within two seconds."""

_UNSTAMPED = """
select c.wheel, c.first_seq, c.size, c.note from (
    select distinct on (wheel, first_seq) wheel, first_seq, size, note from house.checkpoint
    order by wheel, first_seq, size desc
) c left join house.stamp s using (wheel, first_seq, size) where s.token is null
"""
_STORE = "insert into house.stamp (wheel, first_seq, size, token) values (%s, %s, %s, %s) on conflict do nothing"


class StampError(Exception):
    """An authority gave no time-stamp, or a time-stamp that proves nothing. The text says why."""


def stamp_newest(database: psycopg.Connection[Any], authority: str, ca_file: Path) -> list[str]:
    """Let the authority at this URL stamp the newest checkpoint of each tree, if it has no stamp yet, and store the
    stamps. Returns the names of the stamped trees. Raises SettingsError, StampError, psycopg.Error."""
    if not authority.startswith(("http://", "https://")):
        raise SettingsError(
            f"{authority} is not the address of a time-stamping authority: it must begin with http:// or https://"
        )
    if not ca_file.is_file():
        raise SettingsError(f"{ca_file} does not exist: it must have the root certificate of the authority")
    stamped = []
    for wheel, first_seq, size, note in database.execute(_UNSTAMPED).fetchall():
        text = read_note(note).text
        token = ask(authority, text)
        stamped_at(text, token, ca_file)
        database.execute(_STORE, (wheel, first_seq, size, token))
        stamped.append(text.partition("\n")[0])
    return stamped


def ask(authority: str, text: str) -> bytes:
    """Return the authority's time-stamp of this text. Raises StampError."""
    question = _openssl(["-query", "-data", "text", "-sha256", "-cert"], text=text.encode())
    headers = {"Content-Type": "application/timestamp-query"}
    request = urllib.request.Request(authority, question, headers)  # noqa: S310  the address was checked before
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:  # noqa: S310  the address was checked before
            token: bytes = answer.read(TOKEN_BYTES_MAX + 1)
    except OSError as wrong:
        raise StampError(f"{authority} gives no time-stamp: {wrong}") from wrong
    if len(token) > TOKEN_BYTES_MAX:
        raise StampError(f"{authority} gives more than {TOKEN_BYTES_MAX} bytes: that is not a time-stamp")
    return token


def stamped_at(text: str, token: bytes, ca_file: Path) -> datetime:
    """Return the time at which the authority saw this text. `ca_file` has its root certificate. Raises StampError."""
    files = {"text": text.encode(), "token": token}
    _openssl(["-verify", "-data", "text", "-in", "token", "-CAfile", str(ca_file.absolute())], **files)
    shown = _openssl(["-reply", "-in", "token", "-text"], **files).decode(errors="replace")
    said = next(line for line in shown.splitlines() if line.startswith("Time stamp: "))
    month, day, clock, year, _ = said.removeprefix("Time stamp: ").split()
    at = f"{year} {month} {day} {clock.partition('.')[0]}"
    return datetime.strptime(at, "%Y %b %d %H:%M:%S").replace(tzinfo=UTC)


def checkpoint_text(receipt: str) -> str:
    """Return the text in a receipt that an authority stamps: the checkpoint without its signatures. Raises
    StampError."""
    try:
        return read_note(receipt.partition("\n\n")[2]).text
    except NoteError as error:
        raise StampError(str(error)) from error


def _openssl(arguments: list[str], **files: bytes) -> bytes:
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(folder, name).write_bytes(content)
        done = subprocess.run(  # noqa: S603  no shell is used, and the files are ours
            ["openssl", "ts", *arguments],  # noqa: S607  the program is found through the system's PATH
            cwd=folder,
            capture_output=True,
            check=False,
        )
    if done.returncode != 0:
        why = done.stderr.decode(errors="replace").strip().splitlines()
        raise StampError(f"the time-stamp proves nothing: {why[-1][:200] if why else 'openssl refuses it'}")
    return done.stdout
