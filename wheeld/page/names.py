"""The names by which a browser may open the live page or a panel.

An attacker can make the name of his own site point to the address of this computer. A browser on that site then treats
our page as a part of the site, and the site can read the page (DNS rebinding). This is not possible with an address, or
with the names that this computer gives itself.
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
"""The length of the longest DNS name."""


def own_names() -> set[str]:
    """Return the names that this computer gives itself, also for mDNS."""
    name = socket.gethostname().lower()
    return {"localhost", name, f"{name.partition('.')[0]}.local"}


def named(more: Collection[str]) -> Middleware:
    """Make a check that refuses a request unless it uses an address, one of the computer's names, or one of `more`."""
    ours = own_names() | {name.lower() for name in more}

    @web.middleware
    async def called(request: web.Request, handler: Handler) -> web.StreamResponse:
        name = _name(request.host)
        if name in ours or _is_address(name):
            return await handler(request)
        refusal = Text(
            "{name} is not a name of this computer. Open the page with the computer's address. If your "
            "network gives the computer this name, add --name={name} to the options of wheeld page.",
            {"name": name[:CHARACTERS_MAX]},
        )
        raise web.HTTPMisdirectedRequest(text=Catalogue(language_of(request, "en")).say_text(refusal))

    return called


def _name(host: str) -> str:
    """Return the name or the address in a Host field, without its port. It is empty if there is none."""
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
