"""Under which names a browser may open the live page.

An attacker can let the name of his own site lead to the address of this computer. A browser on that site then takes our
page for a part of it, and the site can read the page (DNS rebinding). He cannot do so with an address, nor with the
names that this computer has by itself.
"""

from __future__ import annotations

import socket
from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from wheeld.core.catalogue import Catalogue, Text
from wheeld.page.http import language_of

CHARACTERS_MAX = 253
"""A name of DNS is no longer."""


def own_names() -> set[str]:
    """Those that this computer has by itself, also for mDNS."""
    name = socket.gethostname().lower()
    return {"localhost", name, f"{name.partition('.')[0]}.local"}


def named(more: Collection[str]) -> Middleware:
    """Refuses a request for the page unless it names the computer's address, one of its own names, or one of
    `more`."""
    ours = own_names() | {name.lower() for name in more}

    @web.middleware
    async def called(request: web.Request, handler: Handler) -> web.StreamResponse:
        name = _name(request.host)
        if name in ours or _is_address(name):
            return await handler(request)
        refusal = Text(
            "{name} is no name of this computer. Call the page by the computer's address. If your network gives the "
            "computer this name, add --name={name} to the options of wheeld page.",
            {"name": name[:CHARACTERS_MAX]},
        )
        raise web.HTTPMisdirectedRequest(text=Catalogue(language_of(request, "en")).say_text(refusal))

    return called


def _name(host: str) -> str:
    """The name, or the address, of a Host field: without its port; empty where it is none."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
