"""How pages are served: the port, the headers of every answer, the names of this computer, the files of the program.

`wheeld page` and `wheeld-house page` use this module. Only the first has catalogues, so the texts are in English.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Collection, Container, Mapping
from contextlib import asynccontextmanager
from importlib.resources.abc import Traversable
from ipaddress import ip_address
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

SHUTDOWN_S = 1.0
"""How long a shutdown waits for connections to end. Streams never end by themselves."""
IDLE_S_MAX = 30.0
"""The server closes a connection on which no request came for this long. A browser opens another when it needs one."""
UNREAD_S_MAX = 1.0
"""After an answer, the server still reads the rest of the request for this long, so that the sender gets the answer."""
HANDSHAKE_S_MAX = 10.0
"""The longest time for a TLS handshake. It takes a few hundredths of a second, or a few seconds on a bad radio link."""
CHARACTERS_MAX = 253
"""The length of the longest DNS name."""
NOBODY = "'none'"
TYPES: Mapping[str, str] = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}

TROUBLES = {
    errno.EADDRINUSE: "another program uses this port: stop that program, or give another port",
    errno.EADDRNOTAVAIL: "this computer does not have this address: give one of its own addresses",
    errno.EACCES: "only root may open a port below 1024: give a higher port",
}
"""For each error of the system: what is wrong with the address, and what to do."""


class _Refused(asyncio.Protocol):
    """Closes a connection at once, because there are too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        transport.abort()


@asynccontextmanager
async def listening(
    app: web.Application,
    address: tuple[str, int],
    *,
    tls: ssl.SSLContext | None = None,
    connections_max: int,
    kept: Container[object] | None = None,
) -> AsyncIterator[str]:
    """Keep the port open until the block ends, and give its URL. A connection beyond `connections_max` is closed at
    once: all ports of the process share the 1,024 files that systemd allows it, and one flooded port would block the
    others. `kept` contains the transports of known users. If it is given, the oldest connection of an unknown user is
    closed instead. Raises OSError."""
    runner = web.AppRunner(
        app,
        access_log=None,
        shutdown_timeout=SHUTDOWN_S,
        keepalive_timeout=IDLE_S_MAX,
        lingering_time=UNREAD_S_MAX,
    )
    await runner.setup()
    try:
        answers = runner.server
        assert answers is not None
        host, port = address
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            # The socket is opened here, because from Python 3.12 on the error of asyncio has no errno.
            opened = socket.create_server(address, family=family)
        except OSError as wrong:
            why = TROUBLES.get(wrong.errno or 0, str(wrong))
            raise OSError(f"{host}:{port} cannot be opened: {why}") from None

        def accepted() -> asyncio.Protocol:
            if len(answers.connections) >= connections_max:
                others = (one for one in answers.connections if kept is not None and one.transport not in kept)
                if (stranger := next(others, None)) is None:
                    return _Refused()
                stranger.force_close()
            return answers()

        server = await asyncio.get_running_loop().create_server(
            accepted,
            sock=opened,
            ssl=tls,
            ssl_handshake_timeout=None if tls is None else HANDSHAKE_S_MAX,
        )
        try:
            named = f"[{host}]" if ":" in host else host
            yield f"{'http' if tls is None else 'https'}://{named}:{opened.getsockname()[1]}/"
        finally:
            server.close()
    finally:
        await runner.cleanup()


def guard(*, frame_of: str | None = None, referrer: str = "no-referrer") -> Middleware:
    """Make a middleware that puts our headers on every answer and every error. `frame_of`: the origin whose pages may
    show ours in a frame. If it is None, no page may do this. `referrer`: to whom a browser names the page that it comes
    from."""
    headers = {
        # The browser uses only our own files, and loads nothing from another host.
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        f"connect-src 'self'; frame-ancestors {frame_of or NOBODY}; base-uri 'none'; form-action 'self'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": referrer,
        "Cache-Control": "no-store",
    }

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            response = await handler(request)
        except web.HTTPException as error:
            error.headers.update(headers)
            raise
        if not response.prepared:
            response.headers.update(headers)
        return response

    return guarded


def named(more: Collection[str], refusal: Callable[[web.Request, str], str]) -> Middleware:
    """Make a middleware that refuses a request, unless its host is an address, a name of this computer, or one of
    `more`. `refusal` returns the text of the refusal for a name.

    An attacker can make the name of his own site point to the address of this computer. A browser on that site then
    treats our page as a part of the site, and the site can read the page (DNS rebinding). This is not possible with an
    address, or with the names that this computer gives itself, which include its mDNS name.
    """
    name = socket.gethostname().lower()
    ours = {"localhost", name, f"{name.partition('.')[0]}.local"} | {name.lower() for name in more}

    @web.middleware
    async def called(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:  # the Host field contains the name or the address, and perhaps a port
            name = (urlsplit(f"//{request.host}").hostname or "").rstrip(".")
        except ValueError:
            name = ""
        if name not in ours:
            try:
                ip_address(name)
            except ValueError:
                raise web.HTTPMisdirectedRequest(text=refusal(request, name[:CHARACTERS_MAX])) from None
        return await handler(request)

    return called


def add_files(app: web.Application, folder: Traversable) -> None:
    """Serve the scripts and styles of a folder that comes with the program, and nothing else."""
    texts = {each.name: each.read_text("utf-8") for each in folder.iterdir() if _type(each.name) in TYPES}

    async def serve(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name not in texts:
            raise web.HTTPNotFound
        return web.Response(text=texts[name], content_type=TYPES[_type(name)])

    app.router.add_get("/files/{name}", serve)


def _type(name: str) -> str:
    return name.rpartition(".")[2]
