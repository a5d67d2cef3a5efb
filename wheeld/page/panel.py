"""A panel of the chef or of the bouler. It shows what he can do now, and sends his commands to the wheel. Each panel
has a port of its own."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Annotated
from weakref import WeakSet

import msgspec
from aiohttp import web
from msgspec import Meta

from wheeld.broker.payloads import COMMANDS, UNREADABLE, Name, Number, Sentence
from wheeld.broker.roles import BY_NAME
from wheeld.core.catalogue import Catalogue, Language
from wheeld.core.messages.payloads import ReplyPayload
from wheeld.page.broker import NotConfirmedError, NotSentError, PageLogin
from wheeld.page.http import FILES, language_of, named, page, redirect
from wheeld.page.numbers import NumberHistory
from wheeld.page.setting import PanelRole
from wheeld.page.snapshot import WheelInWords
from wheeld.page.viewers import Viewer, Viewers
from wheeld.page.wheel import WheelView
from wheeld.page.words import WORDS
from wheeld.screen.language import translation
from wheeld.serving import add_files, guard

ANSWER_S_MAX = 15.0
"""A wheel answers in less than a second, or in ten seconds if it waits until readers see the ball. After this time the
panel reports that there was no answer."""
BODY_BYTES_MAX = 4_096
BODY_S_MAX = 5.0
"""How long the body of a request may take to arrive. It has a few hundred bytes."""
ATTEMPTS, ATTEMPTS_S = 5, 60.0
"""If so many wrong tokens come in this time, from all browsers together, no token is accepted for a while."""
SEEN_S_MAX = 10.0
"""A panel gets the state of the table each second, and reports after six seconds that it gets none. A command is not
sent if the person saw an older state than this: the connection delayed the command, and the table may have changed."""
PRESSES_MAX = 100
"""How many answers to commands are kept. A browser sends a command again if its connection broke, and then gets the
same answer."""
SESSIONS_MAX = 20
"""How many browsers may use the panel. If one more gives the token, the oldest must give it again."""


class Asked(msgspec.Struct, forbid_unknown_fields=True):
    """A command as the browser sends it: who acts, why, and what else the command needs. `press` is a new random value
    for each press. `coup` is the coup that the person meant. `seen_s` is the time of the state that the person saw."""

    press: Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
    seen_s: float
    coup: Annotated[int, Meta(ge=0)]
    by: Name
    reason: Sentence
    number: Number | None = None
    case: str | None = None
    who: Name | None = None
    accepted: bool | None = None
    announced: bool | None = None
    without: tuple[Name, ...] | None = None


class PendingReplies:
    """The commands that wait for a reply. A reply is ours only if its id, user and name are those of our command."""

    def __init__(self, user: str) -> None:
        self._user = user
        self._waiting: dict[tuple[str, str], asyncio.Future[ReplyPayload]] = {}

    def expect(self, id_: str, name: str) -> asyncio.Future[ReplyPayload]:
        """Return a future that is done when the reply comes."""
        future: asyncio.Future[ReplyPayload] = asyncio.get_running_loop().create_future()
        self._waiting[id_, name] = future
        future.add_done_callback(lambda _: self._waiting.pop((id_, name), None))
        return future

    def take(self, payload: bytes) -> None:
        """Take a reply of the wheel, which may be for another user."""
        try:
            reply = msgspec.json.decode(payload, type=ReplyPayload)
        except UNREADABLE:
            return
        waiting = self._waiting.get((reply.id or "", reply.name))
        if waiting is not None and reply.user == self._user and not waiting.done():
            waiting.set_result(reply)


class Token:
    """The secret that opens the panel, and the browsers that have given it. Only its digest is kept."""

    def __init__(self, token: str, now_s: Callable[[], float]) -> None:
        self._digest, self._now_s = hashlib.sha256(token.encode()).digest(), now_s
        self._wrong: deque[float] = deque(maxlen=ATTEMPTS)
        self._sessions: deque[str] = deque(maxlen=SESSIONS_MAX)

    @property
    def is_locked(self) -> bool:
        """Whether too many wrong tokens came lately."""
        return len(self._wrong) == ATTEMPTS and self._now_s() - self._wrong[0] < ATTEMPTS_S

    def session(self, given: str) -> str | None:
        """Return a new session for the right token, or None if the token is wrong or the panel is locked. Attempts at a
        locked panel are not counted, so the lock ends even if the attempts continue."""
        if self.is_locked:
            return None
        if not hmac.compare_digest(hashlib.sha256(_bytes(given)).digest(), self._digest):
            self._wrong.append(self._now_s())
            return None
        self._sessions.append(secrets.token_urlsafe(32))
        return self._sessions[-1]

    def knows(self, session: str) -> bool:
        """Return whether this browser has given the token."""
        return any(hmac.compare_digest(_bytes(session), known.encode()) for known in self._sessions)


class Panel:
    """The panel of `role`, with the commands of that role. `token` is None if a browser's certificate is enough.
    `login` is the role's own login at the broker, and `user` its name there. `is_reached`: whether that login is
    connected. `now_s` returns monotonic seconds."""

    def __init__(  # noqa: PLR0913  one argument for each object that the panel uses
        self,
        wheel: WheelView,
        numbers: NumberHistory,
        login: PageLogin,
        answers: PendingReplies,
        *,
        role: PanelRole,
        user: str,
        token: Token | None,
        now_s: Callable[[], float],
        names: Collection[str] = (),
    ) -> None:
        self._wheel, self._numbers, self._login, self._answers = wheel, numbers, login, answers
        self._role, self._user, self._token, self._now_s = role, user, token, now_s
        self._pressed: dict[str, tuple[str, Asked, asyncio.Future[dict[str, object]]]] = {}
        self._names = names
        self.is_reached = False
        self.viewers = Viewers()
        self.known: WeakSet[asyncio.Transport] = WeakSet()
        """The connections of the browsers that may use the panel."""

    def application(self) -> web.Application:
        """Return the application of the panel."""
        app = web.Application(
            middlewares=[guard(), named(self._names), self._known_only], client_max_size=BODY_BYTES_MAX
        )
        app.router.add_get("/", redirect(f"/{self._role}"))
        app.router.add_get(f"/{self._role}", self._page)
        app.router.add_post(f"/{self._role}/token", self._enter)
        app.router.add_get(f"/{self._role}/events", self._events)
        app.router.add_post(f"/{self._role}/commands/{{name}}", self._command)
        add_files(app, FILES)
        return app

    def tell(self) -> None:
        """Send the viewers what is known of the wheel now."""
        for language in self.viewers.languages:
            self.viewers.show("wheel", self._panel(language), language)

    def _panel(self, language: Language) -> bytes:
        shown = WheelInWords(self._wheel, self._numbers, language).panel(self._role)
        # When a button is pressed, the browser sends the number of the coup back. So the command counts for the coup
        # that the person saw, and not for another coup that has begun meanwhile.
        shown |= {"coup": self._wheel.coup, "seen_s": self._now_s(), "mute": not self.is_reached}
        return msgspec.json.encode(shown if self.is_reached else shown | {"offers": []})

    @web.middleware
    async def _known_only(self, request: web.Request, handler: Callable[..., object]) -> web.StreamResponse:
        """To a browser without the token, serve only the page that asks for the token, and its files. Accept a POST
        only from our own page."""
        is_open = request.path in ("/", f"/{self._role}", f"/{self._role}/token") or request.path.startswith("/files/")
        if self._is_known(request):
            if request.transport is not None:
                self.known.add(request.transport)
        elif not is_open:
            raise web.HTTPForbidden(text="this browser has not given the panel's token")
        if request.method == "POST" and request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            raise web.HTTPForbidden(text="this request came from a page of another site")
        response: web.StreamResponse = await handler(request)  # type: ignore[misc]
        return response

    def _is_known(self, request: web.Request) -> bool:
        return self._token is None or self._token.knows(request.cookies.get(_cookie(request), ""))

    def _language(self, request: web.Request) -> Language:
        return language_of(request, "en" if self._wheel.table is None else self._wheel.table.language)

    async def _page(self, request: web.Request) -> web.Response:
        name, title = ("panel", f"panel_{self._role}") if self._is_known(request) else ("token", "token")
        return page(request, name, self._language(request), title=title, role=self._role)

    async def _enter(self, request: web.Request) -> web.Response:
        """Take the token from the page's form."""
        if self._token is None:
            raise web.HTTPFound(f"/{self._role}")
        try:
            async with _in_time():
                given = str((await request.post()).get("token", ""))
        except (ValueError, LookupError, web.RequestPayloadError):  # the form is not text, or has no end
            raise web.HTTPBadRequest(text="this is not a form of the panel: load the page again") from None
        session, language = self._token.session(given), self._language(request)
        if session is None:
            why = "wait_token" if self._token.is_locked else "wrong_token"
            raise web.HTTPFound(f"/{self._role}?lang={language}&why={why}")
        answer = web.HTTPFound(f"/{self._role}?lang={language}")
        answer.set_cookie(_cookie(request), session, httponly=True, samesite="Strict", secure=request.secure, path="/")
        raise answer

    async def _events(self, request: web.Request) -> web.StreamResponse:
        def first(viewer: Viewer) -> None:
            viewer.show("wheel", self._panel(viewer.language))

        return await self.viewers.serve(request, self._language(request), first)

    async def _command(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name not in BY_NAME[self._role].commands or request.content_type != "application/json":
            raise web.HTTPNotFound
        try:
            async with _in_time():
                body = await request.read()
            asked = msgspec.json.decode(body, type=Asked)
            # Make the command for the wheel, and check it as the wheel does (raises msgspec's ValidationError).
            given = {key: value for key, value in msgspec.structs.asdict(asked).items() if value is not None}
            del given["press"], given["seen_s"]
            now = datetime.now(UTC).isoformat()
            command = msgspec.convert({**given, "id": asked.press, "at": now}, COMMANDS[name], strict=False)
            payload = msgspec.json.encode(command)
        except UNREADABLE as wrong:
            raise web.HTTPBadRequest(text=str(wrong)) from None
        # Send the command of a press to the wheel once. If the browser sends the press again, it gets the same answer.
        language, known = self._language(request), self._pressed.get(asked.press)
        if known is None:
            if not 0 <= self._now_s() - asked.seen_s <= SEEN_S_MAX:
                return web.json_response(_unsent("too_old", language, count=round(SEEN_S_MAX)))
            answer: asyncio.Future[dict[str, object]]
            answer = asyncio.ensure_future(self._ask(asked.press, name, payload, language))
            self._pressed[asked.press] = name, asked, answer
            if len(self._pressed) > PRESSES_MAX:
                del self._pressed[next(iter(self._pressed))]
        elif known[:2] == (name, asked):
            answer = known[2]
        else:
            raise web.HTTPConflict(text=Catalogue(language).say(WORDS["other_command"]))
        return web.json_response(await asyncio.shield(answer))

    async def _ask(self, id_: str, name: str, payload: bytes, language: Language) -> dict[str, object]:
        """Send the command, and return the wheel's answer in words. `done` is None if there was no answer."""
        answer = self._answers.expect(id_, name)
        # A person repeats a command that got no answer. Then the first command must not reach the wheel any more. "Rien
        # va" does not expire: it counts from the time when it was said (N7), however late it comes.
        expiry_s = None if name == "rien_va" else round(ANSWER_S_MAX)
        try:
            async with asyncio.timeout(ANSWER_S_MAX):
                # Without a confirmation, do not report "not sent": the person would repeat the command, and it might be
                # done twice.
                with suppress(NotConfirmedError):
                    await self._login.publish(f"cmd/{self._user}/{name}", payload, expiry_s=expiry_s)
                reply = await answer
        except NotSentError:
            return _unsent("broker_away", language)
        except TimeoutError:
            return {"done": None}
        finally:
            answer.cancel()
        why, table = reply.why, self._wheel.table
        if table is not None and table.language != language:
            why = translation(table.language, language).of(why)
        return {"done": reply.done, "why": why}


@asynccontextmanager
async def _in_time() -> AsyncIterator[None]:
    """Limit the time to read a body. Raises HTTPRequestTimeout after `BODY_S_MAX`."""
    try:
        async with asyncio.timeout(BODY_S_MAX):
            yield
    except TimeoutError:
        raise web.HTTPRequestTimeout from None


def _cookie(request: web.Request) -> str:
    """Return the name of the cookie. It contains the panel's port, because a browser sends a cookie to all ports of a
    computer: with one name, the cookie of one panel would replace that of another panel."""
    _, port, *_ = request.get_extra_info("sockname")
    return f"wheeld-panel-{port}"


def _unsent(why: str, language: Language, **parts: object) -> dict[str, object]:
    """Return the answer which says that nothing was sent, and why."""
    return {"done": None, "unsent": Catalogue(language).say(WORDS[why], **parts)}


def _bytes(given: str) -> bytes:
    """Encode a text from outside, which may contain invalid characters."""
    return given.encode(errors="replace")
