"""A panel, of the chef or of the bouler: what he can do now, and his commands on their way to the wheel. Each is served
on a port of its own."""

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
from wheeld.page.http import add_files, guard, language_of, page
from wheeld.page.names import named
from wheeld.page.numbers import NumberHistory
from wheeld.page.setting import PanelRole
from wheeld.page.snapshot import WheelInWords
from wheeld.page.viewers import Viewer, Viewers
from wheeld.page.wheel import WheelView
from wheeld.page.words import WORDS
from wheeld.screen.language import translation

ANSWER_S_MAX = 15.0
"""A wheel answers in less than a second, and in ten while it waits for readers to see the ball. After this the panel
says that there was no answer."""
BODY_BYTES_MAX = 4_096
BODY_S_MAX = 5.0
"""A body of a few hundred bytes that has not come by then does not come."""
ATTEMPTS, ATTEMPTS_S = 5, 60.0
"""So many wrong tokens in so many seconds, from everybody together; then nobody is asked for a while."""
UNREADABLE_FORM = (ValueError, LookupError, web.RequestPayloadError)
"""What reading a form may raise: bytes that are no text, a character set that nobody knows, a part without an end."""
SEEN_S_MAX = 10.0
"""A panel gets the state of the table each second, and says after six that it gets none. A press on an older one is
not done: its connection kept it back, and the table may be elsewhere since."""
PRESSES_MAX = 100
"""Their answers are kept, for a browser sends a press again whose connection broke. They are those of minutes."""
COOKIE = "wheeld-panel"
SESSIONS_MAX = 20
"""Browsers that have given the token; the oldest has to give it again."""


class Asked(msgspec.Struct, forbid_unknown_fields=True):
    """A command as the panel sends it: who acts, why, and what the command needs besides. `press`: drawn anew for each
    press. `coup`, `seen_s`: the coup that he meant, and of when the state was that he saw, as `Panel` gave both."""

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
    """Who waits for which reply. One is ours only if its id, its user and its name are all those of our command."""

    def __init__(self, user: str) -> None:
        self._user = user
        self._waiting: dict[tuple[str, str], asyncio.Future[ReplyPayload]] = {}

    def expect(self, id_: str, name: str) -> asyncio.Future[ReplyPayload]:
        """Done when it comes."""
        future: asyncio.Future[ReplyPayload] = asyncio.get_running_loop().create_future()
        self._waiting[id_, name] = future
        future.add_done_callback(lambda _: self._waiting.pop((id_, name), None))
        return future

    def take(self, payload: bytes) -> None:
        """A reply of the wheel, to whomever."""
        try:
            reply = msgspec.json.decode(payload, type=ReplyPayload)
        except UNREADABLE:
            return
        waiting = self._waiting.get((reply.id or "", reply.name))
        if waiting is not None and reply.user == self._user and not waiting.done():
            waiting.set_result(reply)


class Token:
    """The secret that opens the panel, and the browsers that have given it. `digest` is kept, not the secret."""

    def __init__(self, token: str, now_s: Callable[[], float]) -> None:
        self._digest, self._now_s = hashlib.sha256(token.encode()).digest(), now_s
        self._wrong: deque[float] = deque(maxlen=ATTEMPTS)
        self._sessions: deque[str] = deque(maxlen=SESSIONS_MAX)

    @property
    def is_locked(self) -> bool:
        """Whether too many wrong ones came lately."""
        return len(self._wrong) == ATTEMPTS and self._now_s() - self._wrong[0] < ATTEMPTS_S

    def session(self, given: str) -> str | None:
        """A new session for the right token; None for a wrong one, and while nobody is asked: what is given then does
        not count, so that the minute ends also for who cannot wait."""
        if self.is_locked:
            return None
        if not hmac.compare_digest(hashlib.sha256(_bytes(given)).digest(), self._digest):
            self._wrong.append(self._now_s())
            return None
        self._sessions.append(secrets.token_urlsafe(32))
        return self._sessions[-1]

    def knows(self, session: str) -> bool:
        """Whether this browser has given it."""
        return any(hmac.compare_digest(_bytes(session), known.encode()) for known in self._sessions)


class Panel:
    """The panel of `role`, with the words of that role. `token`: None where the browser's certificate was asked for
    already. `login` is the role's own at the broker, called `user` there; `is_reached`: whether that is connected.
    `now_s`: monotonic seconds."""

    def __init__(  # noqa: PLR0913  one for each of those that it speaks to
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
        """The connections of those who may use it."""

    def application(self) -> web.Application:
        """What is served."""
        app = web.Application(
            middlewares=[guard(), named(self._names), self._known_only], client_max_size=BODY_BYTES_MAX
        )
        app.router.add_get("/", self._to_panel)
        app.router.add_get(f"/{self._role}", self._page)
        app.router.add_post(f"/{self._role}/token", self._enter)
        app.router.add_get(f"/{self._role}/events", self._events)
        app.router.add_post(f"/{self._role}/commands/{{name}}", self._command)
        add_files(app)
        return app

    def tell(self) -> None:
        """Something is known anew of the wheel."""
        for language in self.viewers.languages:
            self.viewers.show("wheel", self._panel(language), language)

    def _panel(self, language: Language) -> bytes:
        shown = WheelInWords(self._wheel, self._numbers, language).panel(self._role)
        # What he presses is of this coup: another may have come meanwhile.
        shown |= {"coup": self._wheel.coup, "seen_s": self._now_s(), "mute": not self.is_reached}
        return msgspec.json.encode(shown if self.is_reached else shown | {"offers": []})

    @web.middleware
    async def _known_only(self, request: web.Request, handler: Callable[..., object]) -> web.StreamResponse:
        """Nothing but the page that asks for the token, and its files, is for who has not given it. What changes
        something must come from our own page."""
        is_open = request.path in ("/", f"/{self._role}", f"/{self._role}/token") or request.path.startswith("/files/")
        if self._is_known(request):
            if request.transport is not None:
                self.known.add(request.transport)
        elif not is_open:
            raise web.HTTPForbidden(text="the panel's token has not been given")
        if request.method == "POST" and request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            raise web.HTTPForbidden(text="this came from another site")
        response: web.StreamResponse = await handler(request)  # type: ignore[misc]
        return response

    def _is_known(self, request: web.Request) -> bool:
        return self._token is None or self._token.knows(request.cookies.get(_cookie(request), ""))

    def _language(self, request: web.Request) -> Language:
        return language_of(request, "en" if self._wheel.table is None else self._wheel.table.language)

    async def _to_panel(self, _: web.Request) -> web.Response:
        raise web.HTTPFound(f"/{self._role}")

    async def _page(self, request: web.Request) -> web.Response:
        name, title = ("panel", f"panel_{self._role}") if self._is_known(request) else ("token", "token")
        return page(request, name, self._language(request), title=title, role=self._role)

    async def _enter(self, request: web.Request) -> web.Response:
        """Take the token, from the page's own form."""
        if self._token is None:
            raise web.HTTPFound(f"/{self._role}")
        try:
            async with _in_time():
                given = str((await request.post()).get("token", ""))
        except UNREADABLE_FORM:
            raise web.HTTPBadRequest(text="this is no form of the panel") from None
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
            payload = self._payload(name, asked)
        except UNREADABLE as wrong:
            raise web.HTTPBadRequest(text=str(wrong)) from None
        return web.json_response(await self._answer(name, asked, payload, self._language(request)))

    def _payload(self, name: str, asked: Asked) -> bytes:
        """The command for the wheel, checked as the wheel checks it. Raises msgspec's ValidationError."""
        given = {key: value for key, value in msgspec.structs.asdict(asked).items() if value is not None}
        del given["press"], given["seen_s"]
        now = datetime.now(UTC).isoformat()
        command = msgspec.convert({**given, "id": asked.press, "at": now}, COMMANDS[name], strict=False)
        return msgspec.json.encode(command)

    async def _answer(self, name: str, asked: Asked, payload: bytes, language: Language) -> dict[str, object]:
        """Of this press: sent once, however often it comes. Raises HTTPConflict when it came with another command."""
        known = self._pressed.get(asked.press)
        if known is None:
            if not 0 <= self._now_s() - asked.seen_s <= SEEN_S_MAX:
                return _unsent("too_old", language, count=round(SEEN_S_MAX))
            answer: asyncio.Future[dict[str, object]]
            answer = asyncio.ensure_future(self._ask(asked.press, name, payload, language))
            self._pressed[asked.press] = name, asked, answer
            if len(self._pressed) > PRESSES_MAX:
                del self._pressed[next(iter(self._pressed))]
        elif known[:2] == (name, asked):
            answer = known[2]
        else:
            raise web.HTTPConflict(text=Catalogue(language).say(WORDS["other_command"]))
        return await asyncio.shield(answer)

    async def _ask(self, id_: str, name: str, payload: bytes, language: Language) -> dict[str, object]:
        """The wheel's answer, in words; `done` is None where there was none."""
        answer = self._answers.expect(id_, name)
        # What he was told is unanswered he says again, and the first must not come then. "Rien va" is dated when it was
        # said (N7), however late it comes.
        expiry_s = None if name == "rien_va" else round(ANSWER_S_MAX)
        try:
            async with asyncio.timeout(ANSWER_S_MAX):
                # Who is told "not sent" says it again, and then it may be done twice.
                with suppress(NotConfirmedError):
                    await self._login.publish(f"cmd/{self._user}/{name}", payload, expiry_s=expiry_s)
                reply = await answer
        except NotSentError:
            return _unsent("broker_away", language)
        except TimeoutError:
            return {"done": None}
        finally:
            answer.cancel()
        return {"done": reply.done, "why": self._told(reply.why, language)}

    def _told(self, text: str, language: Language) -> str:
        table = self._wheel.table
        if table is None or table.language == language:
            return text
        return translation(table.language, language).of(text)


@asynccontextmanager
async def _in_time() -> AsyncIterator[None]:
    """For a body; raises HTTPRequestTimeout when it takes longer than any does."""
    try:
        async with asyncio.timeout(BODY_S_MAX):
            yield
    except TimeoutError:
        raise web.HTTPRequestTimeout from None


def _cookie(request: web.Request) -> str:
    """A browser gives a cookie to every port of a computer, and each wheel of one has its panel on a port of its own:
    with one name for all, who enters one panel would leave the other."""
    _, port, *_ = request.get_extra_info("sockname")
    return f"{COOKIE}-{port}"


def _unsent(why: str, language: Language, **parts: object) -> dict[str, object]:
    """Nothing was sent, and why, in words."""
    return {"done": None, "unsent": Catalogue(language).say(WORDS[why], **parts)}


def _bytes(given: str) -> bytes:
    """Of a text from outside, which may hold what is no character."""
    return given.encode(errors="replace")
