"""The viewers of a page, over server-sent events. A slow viewer gets the newest data and misses older data."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aiohttp import web

from wheeld.core.catalogue import Language

VIEWERS_MAX = 200
"""The most viewers of one kind of page. Each costs a socket and some kB. A house never has so many at one wheel."""
BEAT_S = 2.0
"""Each viewer gets something at least this often. A page that gets nothing for three times as long says that it has
lost its server."""
WRITE_S_MAX = 10.0
"""A viewer that reads nothing for this time counts as gone."""


class Viewer:
    """One viewer. It keeps the data to send, only the newest of each kind."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self._pending: dict[str, bytes] = {}
        self._news = asyncio.Event()

    def show(self, kind: str, data: bytes) -> None:
        """Send data soon, in place of older data of its kind."""
        self._pending[kind] = data
        self._news.set()

    async def stream(self, response: web.StreamResponse) -> None:
        """Send the data until the viewer is gone. Raises the errors of the connection."""
        while True:
            try:
                async with asyncio.timeout(BEAT_S):
                    await self._news.wait()
            except TimeoutError:
                self._pending["beat"] = b"{}"
            self._news.clear()
            pending, self._pending = self._pending, {}
            text = b"".join(b"event: %s\ndata: %s\n\n" % (kind.encode(), data) for kind, data in pending.items())
            async with asyncio.timeout(WRITE_S_MAX):
                await response.write(text)


class Viewers:
    """All viewers of one kind of page. `changed` is called when a viewer comes or goes."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self._viewers: set[Viewer] = set()
        self._changed = changed

    def __len__(self) -> int:
        return len(self._viewers)

    @property
    def languages(self) -> set[Language]:
        """The languages of the viewers."""
        return {viewer.language for viewer in self._viewers}

    def show(self, kind: str, data: bytes, language: Language | None = None) -> None:
        """Send data to all viewers, or to the viewers who read this language."""
        for viewer in self._viewers:
            if language is None or viewer.language == language:
                viewer.show(kind, data)

    async def serve(
        self, request: web.Request, language: Language, first: Callable[[Viewer], None]
    ) -> web.StreamResponse:
        """Serve the stream of one viewer until he leaves. `first` gives him what is known now."""
        if len(self._viewers) >= VIEWERS_MAX:
            raise web.HTTPServiceUnavailable(text="too many people look at this page: try again later")
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        )
        viewer = Viewer(language)
        first(viewer)
        await response.prepare(request)
        self._viewers.add(viewer)
        self._changed()
        try:
            await viewer.stream(response)
        except (ConnectionError, TimeoutError):
            pass
        finally:
            self._viewers.discard(viewer)
            self._changed()
        return response
