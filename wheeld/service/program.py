"""The files of the installed program: the digest of each, the digest of all, and a comparison with the manifest.

A changed program can report anything about itself. So this result is only as reliable as the account that runs it. An
inspector runs it from his own medium, or computes the same digest with `sha256sum` (docs/release.md).
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import marshal
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
import structlog

from wheeld import VERSION
from wheeld.errors import WheeldError

PACKAGES = ("wheeld", "firmware_protocol")
"""The packages of this project that a wheel file installs, in one directory."""
MANIFEST, SIGNATURE = "wheeld/manifest.json", "wheeld/manifest.sig"
CACHE = "__pycache__"
"""The directory of Python's compiled copies. They are made on each computer, by the installer or at the first start."""
PYC_HEADER_BYTES = 16
"""The length of a copy's header: magic, flags, and the time and size of the source, or its hash (PEP 552)."""
MANIFEST_BYTES_MAX = 4_000_000
"""How much of a manifest is read at most: a hundred times the size of our own."""


class ManifestError(WheeldError, ValueError):
    """A manifest cannot be read. The text says why."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a release installs. `files`: SHA-256 of each file by its path. `program`: the digest of all files."""

    schema: Literal["manifest/1"] = "manifest/1"
    version: str
    commit: str
    program: str
    files: dict[str, str]


def installed_at() -> Path:
    """Return the directory that contains the packages of the running program."""
    return Path(__file__).parents[2]


def file_digests(root: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of the packages, by path. For a symbolic link, it is the SHA-256 of the path to
    which the link leads."""
    digests = {}
    for path in _files(root):
        if path.is_symlink():
            digest = hashlib.sha256(f"link to {path.readlink()}".encode())
        else:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256")
        digests[path.relative_to(root).as_posix()] = digest.hexdigest()
    return digests


def program_digest(files: dict[str, str]) -> str:
    """Return the digest of all files: SHA-256 of the lines that `sha256sum` prints for them, in the order of the
    paths."""
    lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(files.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def manifest_of(root: Path, *, version: str, commit: str) -> bytes:
    """Return the manifest of the files below `root`."""
    files = dict(sorted(file_digests(root).items()))
    manifest = Manifest(version=version, commit=commit, program=program_digest(files), files=files)
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def read_manifest(root: Path) -> tuple[bytes, Manifest] | None:
    """Return the manifest as bytes and decoded. None if there is no manifest. Raises OSError, ManifestError."""
    path = root / MANIFEST
    if not path.exists():
        return None
    with path.open("rb") as file:
        data = file.read(MANIFEST_BYTES_MAX)
    try:
        return data, msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        raise ManifestError(f"{path}: not a manifest of a release: {wrong}") from wrong


def differences(manifest: Manifest, files: dict[str, str]) -> Iterator[str]:
    """Yield each difference between a manifest and the files, as one line."""
    for path in sorted({*manifest.files, *files}):
        if path not in files:
            yield f"missing: {path}"
        elif path not in manifest.files:
            yield f"not of the release: {path}"
        elif files[path] != manifest.files[path]:
            yield f"changed: {path}"
    if program_digest(manifest.files) != manifest.program:
        yield "the manifest's own digest of the program is wrong"


def false_copies(root: Path) -> Iterator[str]:
    """Yield the compiled copies that this Python would run although they differ from their source. Yield also files in
    the same directories that are not a copy of a source."""
    for package in PACKAGES:
        for path in sorted((root / package).rglob(f"{CACHE}/*")):
            name, _, kind = path.name.partition(".")
            if not kind.endswith("pyc") or not path.parent.with_name(f"{name}.py").is_file():
                yield f"not of the release: {path.relative_to(root).as_posix()}"
    for source in _files(root):
        if source.suffix == ".py":
            for optimize, level in (("", 0), ("1", 1), ("2", 2)):
                copy = Path(importlib.util.cache_from_source(str(source), optimization=optimize))
                if copy.is_file() and _is_false(copy, source, level):
                    yield f"compiled from something else: {copy.relative_to(root).as_posix()}"


class Program:
    """What the daemon has found out about its own files. `digest` is None until the files have been read. They are read
    only once."""

    def __init__(self) -> None:
        self.version = VERSION
        self.digest: str | None = None
        self.as_released: bool | None = None
        """Whether the release's manifest has the same digest. None if there is no manifest."""

    async def read(self) -> None:
        """Read all files in a thread. There are hundreds of them, and a slow card must not delay a verdict."""
        log = structlog.get_logger("program")
        try:
            root = installed_at()
            digest = program_digest(await asyncio.to_thread(file_digests, root))
            manifest = await asyncio.to_thread(read_manifest, root)
        except (OSError, ManifestError) as wrong:
            log.error("program.unreadable", why=str(wrong), then="health has no digest of the program")
            return
        self.digest, self.as_released = digest, None if manifest is None else manifest[1].program == digest
        log.info("program.read", version=self.version, digest=self.digest, as_released=self.as_released)


def _files(root: Path) -> Iterator[Path]:
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*")):
            is_ours = path.parent.name != CACHE and path.relative_to(root).as_posix() not in (MANIFEST, SIGNATURE)
            if is_ours and (path.is_symlink() or path.is_file()):
                yield path


def _is_false(copy: Path, source: Path, level: int) -> bool:
    """Return whether Python would run the copy although it differs from its source. It would if the copy is of this
    Python version. Also, the copy's flags must tell Python not to check the time of the source, or the copy must have
    the time and size of this source."""
    compiled, of_source = copy.read_bytes(), source.stat()
    flags, *made_of = (int.from_bytes(compiled[at : at + 4], "little") for at in (4, 8, 12))
    is_newest = made_of == [int(of_source.st_mtime) & 0xFFFFFFFF, of_source.st_size & 0xFFFFFFFF]
    if compiled[:4] != importlib.util.MAGIC_NUMBER or not (flags or is_newest):
        return False
    try:
        code = marshal.loads(compiled[PYC_HEADER_BYTES:])  # noqa: S302  the code is compared, never run
    except (ValueError, EOFError, TypeError):
        return True
    return bool(code != compile(source.read_bytes(), str(source), "exec", dont_inherit=True, optimize=level))
