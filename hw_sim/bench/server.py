"""Serves the bench page over HTTP: the page, its buttons, and a stream of server-sent events with what happens."""

from __future__ import annotations

import html
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import resources
from itertools import groupby
from string import Template

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from hw_sim.bench.buttons import Button, buttons
from hw_sim.bench.hand import NotPossibleError
from hw_sim.bench.ledger import Ledger
from hw_sim.bench.play import Play
from hw_sim.subscriber import NAMES
from hw_sim.words import Say, Words

HOST = "127.0.0.1"
READERS_MAX = 20
"""The largest number of open pages. Each needs a socket. A demo usually has one or two."""
SHUTDOWN_S = 1.0
"""How long the server waits for open streams before it ends. Streams never end by themselves."""
TYPES = {"css": "text/css", "js": "text/javascript"}


class Server:
    """Serves the page of `play` and `ledger` in the language of `words`. A frame in the page shows the wheel's own
    pages, which are at the origin `pages`."""

    def __init__(self, play: Play, ledger: Ledger, pages: str, words: Words) -> None:
        self._play, self._ledger, self._pages, self._words = play, ledger, pages, words
        self._readers = 0

    def application(self) -> web.Application:
        """Return the web application."""
        headers = {
            # The browser uses only our own files, and shows only the wheel's own pages in a frame.
            "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            f"img-src data:; frame-src {self._pages}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }

        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            """Refuse pages of other sites: they must not press buttons, or read this page under another host name."""
            if request.method == "POST" and request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
                raise web.HTTPForbidden(text="this request came from a page of another site")
            if request.url.host not in (HOST, "localhost"):
                raise web.HTTPForbidden(text=f"this bench answers only under the name {HOST}")
            response = await handler(request)
            if not response.prepared:
                response.headers.update(headers)
            return response

        app = web.Application(middlewares=[guarded])
        app.router.add_get("/", self._page)
        app.router.add_get("/bench", self._page)
        app.router.add_get("/bench/events", self._events)
        app.router.add_get(r"/bench/files/{name:bench\.(?:js|css)}", self._file)
        app.router.add_post("/bench/do/{name}", self._do)
        return app

    async def _page(self, request: web.Request) -> web.Response:
        if request.path == "/":
            raise web.HTTPFound("/bench")
        return web.Response(text=_page(self._pages, self._words), content_type="text/html")

    async def _file(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        return web.Response(text=_static(name), content_type=TYPES[name.rpartition(".")[2]])

    async def _do(self, request: web.Request) -> web.Response:
        try:
            words, done = self._play.press(request.match_info["name"]), True
        except NotPossibleError as why:
            words, done = str(why), False
        except KeyError:
            raise web.HTTPNotFound from None
        return web.json_response({"done": done, "words": words})

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Send all entries that this browser has not received yet, and then each new entry."""
        if self._readers >= READERS_MAX:
            raise web.HTTPServiceUnavailable(text="too many pages of this bench are open: close one")
        had = request.headers.get("Last-Event-ID", "0")
        number = int(had) if had.isdecimal() else 0
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        await response.prepare(request)
        self._readers += 1
        try:
            while True:
                entries = await self._ledger.after(number)
                number = entries[-1].number
                await response.write(
                    b"".join(b"id: %d\ndata: %s\n\n" % (each.number, msgspec.json.encode(each)) for each in entries)
                )
        except ConnectionError:
            return response
        finally:
            self._readers -= 1


@asynccontextmanager
async def listening(app: web.Application, port: int) -> AsyncIterator[None]:
    """Serve `app` on a loopback port until the block ends. Raises OSError."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_S)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, port).start()
        yield
    finally:
        await runner.cleanup()


def _page(pages: str, words: Words) -> str:
    say, texts = words.say, captions(words.say)
    names = {kind: say(name).capitalize() for kind, name in NAMES.items()}
    data = {"names": names, "coup": say("coup"), "no_answer": texts["no_answer"]}
    return Template(_static("bench.html")).substitute(
        {key: html.escape(text) for key, text in texts.items()},
        language=words.language,
        pages=html.escape(pages),
        buttons="\n".join(
            f"<fieldset><legend>{html.escape(group)}</legend>\n{''.join(map(_button, of_group))}</fieldset>"
            for group, of_group in groupby(buttons(say).values(), lambda button: button.group)
        ),
        data=json.dumps(data).replace("</", "<\\/"),  # a script element ends at "</", even inside a string
    )


def captions(say: Say) -> Mapping[str, str]:
    """Return the texts of the page except its buttons, by their keys in the page."""
    return {
        "title": say("The bench"),
        "skip": say("Skip to the buttons"),
        "heading": say("The bench: a simulated wheel and the real daemon"),
        "other_pages": say("Pages of this wheel"),
        "live_page": say("Live page"),
        "display": say("Players’ display"),
        "ended": say("The bench has ended. This page shows old data."),
        "live": say("The wheel, as its daemon sees it"),
        "frame": say("The live page of the wheel"),
        "acts": say("What happens at the wheel"),
        "by_hand": say("By hand"),
        "by_itself": say("Play by itself"),
        "messages": say("What the daemon says"),
        "truth": say("What is true"),
        "no_answer": say("Nothing was done: the bench does not answer."),
    }


def _button(button: Button) -> str:
    name, label, about = button.name, html.escape(button.label), html.escape(button.about)
    return (
        f'<div class="act"><button id="do-{name}" type="button" data-do="{name}" aria-describedby="about-{name}">'
        f'{label}</button><p id="about-{name}">{about}</p></div>\n'
    )


def _static(name: str) -> str:
    return resources.files("hw_sim.bench").joinpath("static", name).read_text("utf-8")
