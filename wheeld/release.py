"""`python -m wheeld.release ROOT KEY COMMIT` writes the signed manifest of the program below ROOT, for the wheel file.

`make release` runs this on a clean export of the commit, installs the wheel file elsewhere, and verifies the result.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from wheeld.journal.seal import FileSigner
from wheeld.service.program import MANIFEST, SIGNATURE, manifest_of


def release(root: Path, key: Path, commit: str) -> None:
    """Write the manifest and its signature. Raises OSError, KeyFileError."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    manifest = manifest_of(root, version=project["version"], commit=commit)
    (root / MANIFEST).write_bytes(manifest)
    (root / SIGNATURE).write_bytes(FileSigner(key).sign(manifest))


if __name__ == "__main__":
    release(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
