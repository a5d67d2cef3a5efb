"""Finds the files that the configuration names, and checks whether they can be used.

A value that should name a secret file is never shown. A person may have written the secret itself as the value.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from wheeld.core.catalogue import Part, Text
from wheeld.text_error import TextError, reason

Credentials: TypeAlias = Callable[[str], Path]
"""A function that returns the file of a credential. It raises PathError with the reason if there is none."""

CREDENTIAL = "credential:"
"""`credential:mqtt-password` means the file that systemd gives to this service by `LoadCredential=mqtt-password:…`."""

SECRETS = ("password_file", "key_file")
"""The endings of keys that name secret files. Only owner and group may have rights to these files."""

MISPLACED = frozenset({"key", "passphrase", "passwd", "password", "pin", "private_key", "secret", "token"})
"""Keys that people use for secrets. A secret must not be in a file that is copied, mailed and versioned."""


class PathError(TextError, ValueError):
    """A value does not name a usable file."""


def is_in_service() -> bool:
    """Return whether systemd gave credentials to this process."""
    return bool(os.environ.get("CREDENTIALS_DIRECTORY"))


def given_by_systemd(name: str) -> Path:
    """Return the file of a credential that systemd gave to this service. Raises PathError if it gave none."""
    if not is_in_service():
        raise PathError(
            Text(
                "names a credential, but systemd gave none: name the wheel and not its file, as in `{command}`, or "
                "see LoadCredential= in systemd.exec(5)",
                {"command": "wheeld check-config campione-03"},
            )
        )
    path = Path(os.environ["CREDENTIALS_DIRECTORY"]) / name
    if not path.exists():
        # systemd leaves out a credential that it does not find. The directory of the credentials has the name of the
        # unit.
        instance = path.parent.name.removesuffix(".service").partition("@")[2]
        named = {"why": not_stored(name, instance, Path("/etc/credstore") / f"wheeld.{instance}.{name}")}
        raise PathError(
            Text(
                "{why}. If the file exists, the unit has not been restarted since, or has no LoadCredential= for it",
                named,
            )
        )
    return path


def not_stored(name: str, instance: str, file: Path) -> Text:
    """Return the text about a credential that is in no store of this computer. The text says what to do."""
    named: dict[str, Part] = {
        "credential": f"{CREDENTIAL}{name}",
        "file": str(file),
        "setup": setup_again(f"/etc/wheeld/{instance}.toml"),
    }
    if name.endswith("password"):  # only the broker's owner knows the password
        return Text("names {credential}, but {file} does not exist: write the password into it (mode 0600)", named)
    if name == "signing-key":  # setup makes no new key while the public half of the lost key exists
        journal, public = f"/var/lib/wheeld/{instance}.sqlite", f"/etc/wheeld/{instance}.pub"
        kept = f"/var/lib/wheeld/{instance}.lost"
        return Text(
            "names {credential}, but {file} does not exist: put the copy of the key back. If there is none, a new key "
            "begins a new journal: `{move}` keeps the old one and its public key (correct {journal} in it if `path` in "
            "[journal] is another file), then `{setup}`, then start the wheel. If the start ends with 65, give the "
            "command that `{logs}` then names, so that the numbers go on",
            {
                **named,
                "journal": journal,
                "move": f"mkdir {kept} && mv {journal}* {public} {kept}",
                "logs": f"wheeld logs {instance}",
            },
        )
    return Text("names {credential}, but {file} does not exist: put it back, or let `{setup}` make it", named)


def setup_again(file: str) -> str:
    """Return the command that sets the wheel of this configuration file up again. The command takes the answers from
    the file, and asks nothing, so it also works without a terminal."""
    return shlex.join(["wheeld", "setup", Path(file).stem, "--answers", file, "--yes"])


def resolve(value: str, directory: Path, credentials: Credentials) -> Path:
    """Return the file of `value`: a credential, or a path. A relative path begins at `directory`. Raises PathError."""
    if not value or not value.isprintable():
        raise PathError(Text("is not a path"))
    if not value.startswith(CREDENTIAL):
        return directory / value
    name = value.removeprefix(CREDENTIAL)
    if not re.fullmatch(r"(?!\.)[A-Za-z0-9._-]{1,255}", name):
        raise PathError(
            Text(
                "names no credential: write letters, digits, dots, hyphens or underscores after {prefix}",
                {"prefix": CREDENTIAL},
            )
        )
    return credentials(name)


def trouble(path: Path, *, secret: bool) -> Text | None:
    """Return why the file cannot be used, or None if it can."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode & 0o777
            is_empty = not file.read(1)
    except OSError as wrong:
        why = reason(wrong)
        if secret:
            wanted: dict[str, Part] = {"reason": why, "credential": f"{CREDENTIAL}NAME"}
            return Text("the file cannot be read: {reason}; name a file with the secret in it, or {credential}", wanted)
        return Text(
            "{file} cannot be read: {reason}; name one that wheeld can read", {"file": str(path), "reason": why}
        )
    if is_empty and secret:
        return Text("the file is empty; write into it what this key needs")
    if is_empty:
        return Text("{file} is empty; write into it what this key needs", {"file": str(path)})
    if secret and mode & 0o007:
        return Text(
            "the file is open to all on this computer (mode {mode}): close it with `{command}`, and choose "
            "a new secret",
            {"mode": f"{mode:04o}", "command": shlex.join(["chmod", "o=", str(path)])},
        )
    return None
