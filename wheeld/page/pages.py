"""The live page, the players' display and their streams. Everybody may see them, and they change nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec
from aiohttp import web

from wheeld.core.catalogue import Language
from wheeld.monitor.lines import Axis
from wheeld.page.evidence import evidence
from wheeld.page.http import FILES, language_of, named, page, redirect
from wheeld.page.numbers import NumberHistory
from wheeld.page.snapshot import WheelInWords
from wheeld.page.viewers import Viewer, Viewers
from wheeld.page.wheel import WheelView
from wheeld.serving import add_files, guard


class Pages:
    """The pages without commands. `want` is called when a viewer of the live page comes or goes: with True if somebody
    looks at it now, or else with False. `frame_of` is the origin whose page may show these pages in a frame. `names`
    are names of the live page, in addition to the computer's own."""

    def __init__(
        self,
        wheel: WheelView,
        numbers: NumberHistory,
        *,
        now_s: Callable[[], float],
        want: Callable[[bool], None],
        frame_of: str | None = None,
        names: Collection[str] = (),
    ) -> None:
        self._frame_of, self._names = frame_of, names
        self._wheel, self._numbers, self._now_s = wheel, numbers, now_s
        self.live = Viewers(changed=lambda: want(len(self.live) > 0))
        self.boards = Viewers()
        self._about: bytes | None = None
        self._axis: Axis | None = None
        self._sees = False

    def application(self) -> web.Application:
        """Return the application of all these pages."""
        app = web.Application(middlewares=[guard(frame_of=self._frame_of), named(self._names)])
        app.router.add_get("/", self._live_page)
        app.router.add_get("/display", self._display_page)
        app.router.add_get("/events", self._live_events)
        app.router.add_get("/display/events", self._display_events)
        add_files(app, FILES)
        return app

    def display_application(self) -> web.Application:
        """Return the players' display and nothing else, for a port that players reach. The live page shows how fast
        ball and rotor turn while bets are taken. From that a program can calculate where the ball is likely to fall."""
        app = web.Application(middlewares=[guard()])
        app.router.add_get("/", redirect("/display"))
        app.router.add_get("/display", self._display_page)
        app.router.add_get("/display/events", self._display_events)
        add_files(app, FILES)
        return app

    def tell(self) -> None:
        """Send the viewers what is known of the wheel now."""
        for viewers, view in ((self.live, self._whole), (self.boards, self._board)):
            for language in viewers.languages:
                viewers.show("wheel", view(language), language)

    def take_line(self, kind: str, line: bytes) -> None:
        """Show a line of the monitor. `kind`: "about", "frame" or "axis"."""
        self._sees = True
        if kind == "axis":
            self._axis = msgspec.json.decode(line, type=Axis)
            for language in self.live.languages:
                self.live.show("evidence", self._evidence(self._axis, language), language)
            return
        if kind == "about":
            self._about = line
        self.live.show(kind, line)

    def lose_sensors(self) -> None:
        """Show that the monitor sends no lines now."""
        self._sees = False
        self.live.show("blind", b"{}")

    def _whole(self, language: Language) -> bytes:
        return msgspec.json.encode(WheelInWords(self._wheel, self._numbers, language).whole(self._now_s()))

    @staticmethod
    def _evidence(axis: Axis, language: Language) -> bytes:
        return msgspec.json.encode(evidence(axis, language))

    def _board(self, language: Language) -> bytes:
        return msgspec.json.encode(WheelInWords(self._wheel, self._numbers, language).board())

    def _first_live(self, viewer: Viewer) -> None:
        viewer.show("wheel", self._whole(viewer.language))
        if self._about is not None:
            viewer.show("about", self._about)
        if self._axis is not None:
            viewer.show("evidence", self._evidence(self._axis, viewer.language))
        if not self._sees:
            viewer.show("blind", b"{}")

    def _language(self, request: web.Request) -> Language:
        return language_of(request, self._default())

    def _house_language(self, request: web.Request) -> Language:
        """Return the language of the players' display: that of `?lang=`, or else the table's, never the browser's."""
        return language_of(request, self._default()) if "lang" in request.query else self._default()

    def _default(self) -> Language:
        return "en" if self._wheel.table is None else self._wheel.table.language

    async def _live_page(self, request: web.Request) -> web.Response:
        return page(request, "wheel", self._language(request))

    async def _display_page(self, request: web.Request) -> web.Response:
        return page(request, "display", self._house_language(request))

    async def _live_events(self, request: web.Request) -> web.StreamResponse:
        return await self.live.serve(request, self._language(request), self._first_live)

    async def _display_events(self, request: web.Request) -> web.StreamResponse:
        def first(viewer: Viewer) -> None:
            viewer.show("wheel", self._board(viewer.language))

        return await self.boards.serve(request, self._house_language(request), first)
