"""`wheeld --version --verify`: checks whether the installed program is the program of a release."""

from __future__ import annotations

import argparse
import errno
import sys
from pathlib import Path

from wheeld import VERSION
from wheeld.exits import Exit
from wheeld.journal.seal import public_key
from wheeld.service.program import (
    MANIFEST,
    SIGNATURE,
    ManifestError,
    differences,
    false_copies,
    file_digests,
    installed_at,
    program_digest,
    read_manifest,
)


def version(options: argparse.Namespace) -> Exit:
    """Print the version, and compare every file of this program. Raises OSError, KeyFileError."""
    return verify(installed_at(), options.release_key)


def verify(root: Path, release_key: Path) -> Exit:
    """Compare the program below `root` with the manifest of its release, and verify the manifest's signature."""
    files = file_digests(root)
    sys.stdout.write(f"wheeld {VERSION}, program {program_digest(files)}\n")
    try:
        found = read_manifest(root)
    except ManifestError as wrong:
        return _fail([str(wrong)])
    if found is None:
        why = f"there is no {MANIFEST} in {root}: no release made this program, and there is nothing to compare it with"
        sys.stderr.write(f"wheeld: {why}\n")
        return Exit.NOT_INSTALLED
    data, manifest = found
    if not release_key.exists():
        why = (
            "there is no such file. It is the public key of who releases wheeld: get it from there, another way than "
            "the package, and put it here, or name it with --release-key (/usr/share/doc/wheeld/docs/release.md)"
        )
        raise FileNotFoundError(errno.ENOENT, why, str(release_key))
    key_id, check = public_key(release_key)
    signature = root / SIGNATURE
    if not signature.exists() or not check(signature.read_bytes(), data):
        return _fail([f"the key {key_id} ({release_key}) did not sign {MANIFEST}, so that file proves nothing"])
    if different := [*differences(manifest, files), *false_copies(root)]:
        return _fail(different)
    sys.stdout.write(
        f"all {len(files)} files are those of release {manifest.version} (commit {manifest.commit}), "
        f"signed with key {key_id}\n"
    )
    return Exit.OK


def _fail(why: list[str]) -> Exit:
    sys.stderr.write("".join(f"wheeld: {line}\n" for line in why))
    return Exit.BAD_DATA
