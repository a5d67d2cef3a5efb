"""The pages. They read the database. The only thing that they write there is the acknowledgement of an alarm."""

from __future__ import annotations

import asyncio
import base64
import logging
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

from aiohttp import web
from aiohttp.typedefs import Handler
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from wheeld.serving import add_files, guard, named
from wheeld_house.checkpoints import TooManyRecordsError
from wheeld_house.database import UNDATED
from wheeld_house.page.database import DatabaseError, Row
from wheeld_house.page.login import COOKIE, SESSION_S_MAX, AccountLogin, LogIn, User, is_from_our_page
from wheeld_house.page.records import PLACE, Found, HouseRecords, NotStoredError, Search
from wheeld_house.page.words import CAUSES, DOUBLE_ZERO

HERE = Path(__file__).parent
BODY_MAX = 8192
BODY_S_MAX = 10.0
TEXT_MAX = 200
REASON_MAX = 500
ASKED = ("number", "cause", "from", "to", "bouler", "table")
FLEET_S = 2.0
"""For this time after a reading of the database, all viewers get the same fleet."""
USER = web.RequestKey("user", User)


class HousePages:
    """All pages of a house. `names`: names by which a browser may reach them, in addition to the computer's own."""

    def __init__(
        self, records: HouseRecords, login: LogIn, *, names: tuple[str, ...] = (), is_tls: bool = False
    ) -> None:
        self._records, self._login, self._is_tls = records, login, is_tls
        self._names = names
        self._reading = asyncio.Lock()
        self._fleet: str | DatabaseError = ""
        self._fleet_s = float("-inf")
        self._templates = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def application(self) -> web.Application:
        """Return the application of all pages."""
        refusal = "{} is not a name of this page. Add it to `names` in the settings of the page.".format
        # With the referrer policy `no-referrer`, a browser would send "null" as the Origin of our own forms.
        first = [guard(referrer="same-origin"), named(self._names, lambda _, name: refusal(name))]
        app = web.Application(middlewares=[*first, self._errors, self._logged_in], client_max_size=BODY_MAX)
        app.router.add_get("/", self._fleet_page)
        app.router.add_get(r"/wheel/{site:[^/]+}/{table:[^/]+}", self._wheel_page)
        app.router.add_get(r"/coup/{site:[^/]+}/{table:[^/]+}/{coup:\d{1,15}}", self._coup_page)
        app.router.add_get(r"/receipt/{site:[^/]+}/{table:[^/]+}/{coup:\d{1,15}}", self._receipt_page)
        app.router.add_get("/search", self._search_page)
        app.router.add_get("/alarms", self._alarms_page)
        app.router.add_post(r"/alarms/{alarm:\d{1,15}}", self._acknowledge)
        add_files(app, HERE / "files")
        if isinstance(self._login, AccountLogin):
            app.router.add_get("/login", self._log_in)
            app.router.add_post("/login", self._log_in)
            app.router.add_post("/logout", self._log_out)
        return app

    # --- who may use the pages ---------------------------------------------------------------------------------------

    @web.middleware
    async def _logged_in(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.method == "POST" and not is_from_our_page(request):
            raise web.HTTPForbidden(text="This form was not sent by a page of this house.")
        user = self._login.user(request)
        if user is None:
            if request.path != "/login" and not request.path.startswith("/files/"):
                raise web.HTTPSeeOther("/login")
            user = User("", may_acknowledge=False)
        request[USER] = user
        return await handler(request)

    @web.middleware
    async def _errors(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Show what is wrong as a page. The database's own error texts go only to the log."""
        try:
            return await handler(request)
        except NotStoredError:
            text = "There is no such wheel or coup here, or the month of the coup is no longer in the database."
            return self._page(request, "error.html", 404, title="Not found", text=text)
        except DatabaseError as wrong:
            logging.getLogger("wheeld_house").warning("page: %s: %s", request.path[:TEXT_MAX], wrong)
            text = "The database gives no answer. Play goes on without it. Try again in a few seconds."
            return self._page(request, "error.html", 503, title="No answer", text=text)

    # --- the pages ---------------------------------------------------------------------------------------------------

    async def _fleet_page(self, request: web.Request) -> web.Response:
        async with self._reading:
            if time.monotonic() - self._fleet_s >= FLEET_S:
                try:
                    fleet = await self._records.fleet()
                    self._fleet = self._templates.get_template("fleet.html").render(fleet=fleet)
                except DatabaseError as wrong:
                    # All requests that wait here get this error. Otherwise they would ask the database one after the
                    # other.
                    self._fleet = wrong
                self._fleet_s = time.monotonic()
            fleet_now = self._fleet
        if isinstance(fleet_now, DatabaseError):
            raise fleet_now
        return self._page(request, "live.html", title="Wheels", content=fleet_now, is_live=True)

    async def _wheel_page(self, request: web.Request) -> web.Response:
        wheel = await self._wheel(request)
        coups = await self._records.last_coups(wheel["id"])
        changes = await self._records.changes(wheel["id"])
        alarms = await self._records.alarms(is_open=True, wheel=wheel["id"])
        content = self._templates.get_template("wheel.html").render(
            wheel=wheel, coups=coups, changes=changes, alarms=alarms
        )
        return self._page(request, "live.html", title=_title(wheel), content=content, is_live=True)

    async def _coup_page(self, request: web.Request) -> web.Response:
        wheel = await self._wheel(request)
        coup = int(request.match_info["coup"])
        messages, changes = await self._records.coup(wheel["id"], coup)
        title = f"Coup {coup} of {_title(wheel)}"
        return self._page(request, "coup.html", title=title, wheel=wheel, coup=coup, messages=messages, changes=changes)

    async def _receipt_page(self, request: web.Request) -> web.Response:
        wheel = await self._wheel(request)
        coup = int(request.match_info["coup"])
        try:
            receipt = await self._records.receipt(wheel["site"], wheel["table_name"], coup)
        except LookupError as wrong:
            text = str(wrong)
            if isinstance(wrong, TooManyRecordsError):
                text += ", too many for this page: make it with the command `wheeld-house receipt`"
            return self._page(request, "error.html", 404, title="No receipt", text=text)
        title = f"Receipt of coup {coup} of {_title(wheel)}"
        file = base64.b64encode(receipt.text.encode()).decode()
        return self._page(request, "receipt.html", title=title, wheel=wheel, coup=coup, receipt=receipt, file=file)

    async def _search_page(self, request: web.Request) -> web.Response:
        asked = {name: request.query.get(name, "").strip() for name in ASKED}
        wrong = [f"{name}: at most {TEXT_MAX} characters." for name, text in asked.items() if len(text) > TEXT_MAX]
        if any("\0" in text for text in asked.values()):
            wrong.append("A character cannot be searched for.")
        number: int | None = None
        if (text := asked["number"]) and not wrong:
            number = DOUBLE_ZERO if text == "00" else _whole(text)
            if number is None or number > DOUBLE_ZERO:
                wrong.append("number: a number from 0 to 36, or 00.")
        cause, bouler, table = asked["cause"], asked["bouler"], asked["table"]
        if cause and cause not in CAUSES:
            wrong.append("cause: one of the list.")
        from_at, to_at = (_date(name, asked[name], wrong) for name in ("from", "to"))
        place = _place(request.query.get("place", ""))
        if request.query.get("place") and place is None:
            wrong.append("The link to the next lines cannot be read.")
        question = Search(number, cause, from_at, to_at, bouler, table, place)
        found = Found([]) if wrong else await self._records.search(question)
        kept = {name: text for name, text in asked.items() if text}
        return self._page(
            request,
            "search.html",
            400 if wrong else 200,
            title="Search",
            asked={name: text[:TEXT_MAX] for name, text in asked.items()},
            wrong=wrong,
            found=found,
            causes=CAUSES,
            first=f"/search?{urlencode(kept)}" if place is not None else "",
            more="" if found.more is None else f"/search?{urlencode(kept | {'place': found.more})}",
        )

    async def _alarms_page(self, request: web.Request) -> web.Response:
        is_open = request.query.get("which") != "acknowledged"
        before = request.query.get("before", "")
        found = await self._records.alarms(is_open=is_open, before=_whole(before))
        which = "" if is_open else "which=acknowledged&"
        return self._page(
            request,
            "alarms.html",
            title="Alarms",
            is_open=is_open,
            found=found,
            done=_whole(request.query.get("done", "")),
            more="" if found.more is None else f"/alarms?{which}before={found.more}",
        )

    async def _acknowledge(self, request: web.Request) -> web.Response:
        user = request[USER]
        if not user.may_acknowledge:
            raise web.HTTPForbidden(text="You have no right to acknowledge alarms here.")
        reason = (await _form(request)).get("reason", "").strip()
        if not reason or len(reason) > REASON_MAX or "\0" in reason:
            text = f"Write the reason, in at most {REASON_MAX} characters."
            return self._page(request, "error.html", 400, title="No reason", text=text)
        alarm = int(request.match_info["alarm"])
        if not await self._records.acknowledge(alarm, user.name, reason):
            text = "There is no such open alarm. Somebody else may have acknowledged it."
            return self._page(request, "error.html", 409, title="Not open", text=text)
        raise web.HTTPSeeOther(f"/alarms?done={alarm}")

    async def _log_in(self, request: web.Request) -> web.Response:
        if request.method != "POST":
            return self._page(request, "login.html", title="Log in", is_wrong=False)
        assert isinstance(self._login, AccountLogin)
        form = await _form(request)
        session = await self._login.session(form.get("user", "")[:TEXT_MAX], form.get("password", ""))
        if session is None:
            return self._page(request, "login.html", 401, title="Log in", is_wrong=True)
        answer = web.HTTPSeeOther("/")
        answer.set_cookie(
            COOKIE, session, max_age=SESSION_S_MAX, httponly=True, samesite="Strict", secure=self._is_tls, path="/"
        )
        raise answer

    async def _log_out(self, request: web.Request) -> web.Response:
        assert isinstance(self._login, AccountLogin)
        self._login.end(request)
        answer = web.HTTPSeeOther("/login")
        answer.del_cookie(COOKIE, path="/")
        raise answer

    async def _wheel(self, request: web.Request) -> Row:
        site, table = request.match_info["site"], request.match_info["table"]
        if max(len(site), len(table)) > TEXT_MAX or "\0" in site + table:
            raise NotStoredError
        return await self._records.wheel(site, table)

    def _page(self, request: web.Request, name: str, status: int = 200, **values: object) -> web.Response:
        """Return a whole page. If the script of a live page asks for the page, return only the part that changes."""
        user = request.get(USER, User("", may_acknowledge=False))
        if values.get("is_live") and "part" in request.query:
            return web.Response(text=str(values["content"]), content_type="text/html")
        text = self._templates.get_template(name).render(
            {"is_live": False, "user": user, "has_account": isinstance(self._login, AccountLogin), "path": request.path}
            | values
        )
        return web.Response(text=text, status=status, content_type="text/html")


async def _form(request: web.Request) -> dict[str, str]:
    """Return the fields of a form. Its size is limited, and so is the time in which it must come."""
    if request.content_type != "application/x-www-form-urlencoded":
        raise web.HTTPUnsupportedMediaType
    try:
        async with asyncio.timeout(BODY_S_MAX):
            fields = await request.post()
    except TimeoutError:
        raise web.HTTPRequestTimeout from None
    return {name: value for name, value in fields.items() if isinstance(value, str)}


def _place(text: str) -> tuple[str, int, int] | None:
    """Return the date, the wheel and the `seq` in a text, or None if PostgreSQL could not read one of them."""
    place = PLACE.match(text)
    if place is None:
        return None
    try:
        if place[1] != UNDATED:
            datetime.fromisoformat(place[1])
    except ValueError:
        return None
    return place[1], int(place[2]), int(place[3])


def _date(name: str, text: str, wrong: list[str]) -> datetime | None:
    if not text:
        return None
    try:
        date = datetime.fromisoformat(text[:40])
        return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, OverflowError):
        wrong.append(f"{name}: a date and a time, as 2026-11-28T20:00.")
        return None


def _whole(text: str) -> int | None:
    """Return the whole number in a text, or None if it is not a number or has more than 15 digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else None


def _title(wheel: Row) -> str:
    return f"{wheel['table_name']} ({wheel['site']})"
