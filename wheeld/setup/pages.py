"""The options of a wheel's pages, which `wheeld-page@NAME` serves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wheeld.core.catalogue import Text
from wheeld.setup import steps
from wheeld.setup.configuration import BROKER_PORT
from wheeld.setup.places import Places
from wheeld.setup.steps import Put, Step, looked

PAGES_STATE = "/var/lib/wheeld-page"


def steps_of(places: Places, broker_authority: Path, site: str, table: str) -> Iterator[Step]:
    """They are there for who wants pages; nothing is served before somebody starts the unit."""
    computer, options = places.computer, places.pages
    about = Text("options of pages, which hold no secret")
    yield looked(lambda: steps.directory(computer, options.parent, 0o755, "root", about), options.parent)
    words = (
        f"{site}/{table}",
        f"--socket={places.monitor}",
        f"--state={PAGES_STATE}",
        "--host=localhost",
        f"--port={BROKER_PORT}",
        f"--ca-file={broker_authority}",
        "--cert-file=credential:page-certificate",
        "--key-file=credential:page-key",
    )
    text = "".join(f"{word}\n" for word in words).encode()
    start = {"command": f"systemctl enable --now wheeld-page@{places.name}"}
    why = Text("its pages, for who wants them: {command}", start)
    put = Put(options, 0o644, lambda: text)
    yield looked(lambda: steps.text(computer, put, why, Text("it stays as it is")), options)
