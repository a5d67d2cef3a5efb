"""The options of a wheel's pages, which `wheeld-page@NAME` serves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from wheeld.core.catalogue import Text
from wheeld.setup import steps
from wheeld.setup.configuration import BROKER_PORT
from wheeld.setup.places import Places
from wheeld.setup.steps import Put, SetupStep, looked

PAGES_STATE = "/var/lib/wheeld-page"
FIRST_PORT, NEXT_PORT = 8400, 10
"""The first wheel has the command's default port. The ports between two wheels are for panels, display and metrics."""


def steps_of(places: Places, broker_authority: Path, site: str, table: str) -> Iterator[SetupStep]:
    """Yield the steps for the options. The pages are served only after a person has started their unit."""
    computer, options = places.computer, places.pages
    about = Text("the options of pages; they contain no secret")
    yield looked(lambda: steps.directory(computer, options.parent, 0o755, "root", about), options.parent)
    # Keep the wheel's own port, or choose a port that no other wheel of this computer uses.
    found: dict[Path, list[int]] = {}  # of each list, the first is the port of the live page
    for path in filter(Path.is_file, options.parent.glob("*")):
        written = path.read_text(errors="replace")
        listen = re.search(r"^--listen[=\n].*:(\d+)$", written, re.MULTILINE)
        live = FIRST_PORT if listen is None else int(listen[1])
        found[path] = [live, *map(int, re.findall(r":(\d+)$", written, re.MULTILINE))]
    own = found.pop(options, None)
    taken = {port for ports in found.values() for port in ports}
    port = own[0] if own else next(port for port in count(FIRST_PORT, NEXT_PORT) if port not in taken)
    words = (
        f"{site}/{table}",
        *(() if port == FIRST_PORT else (f"--listen=127.0.0.1:{port}",)),
        f"--socket={places.monitor}",
        f"--state={PAGES_STATE}",
        "--host=localhost",
        f"--port={BROKER_PORT}",
        f"--ca-file={broker_authority}",
        "--cert-file=credential:page-certificate",
        "--key-file=credential:page-key",
    )
    text = "".join(f"{word}\n" for word in words).encode()
    start = {
        "address": f"http://127.0.0.1:{port}/",
        "command": f"systemctl enable --now wheeld-page@{places.name}",
    }
    why = Text("the wheel's pages are at {address}; start them with: {command}", start)
    put = Put(options, 0o644, lambda: text)
    yield looked(lambda: steps.text(computer, put, why, Text("setup leaves it as it is")), options)
