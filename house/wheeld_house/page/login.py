"""Who looks at the page: somebody on this computer, a user that a trusted proxy names, or the local account."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from aiohttp import web

from wheeld_house.page.password import is_password
from wheeld_house.page.settings import Account, PageSettings

COOKIE = "wheeld_house"
SESSION_S_MAX = 12 * 3600
SESSIONS_MAX = 100
WRONG_S = 1.0
"""The delay of the answer to a wrong password. Log-ins are checked one after the other, so nobody can try many
passwords in a short time."""
WAITING_MAX = 5
"""How many log-ins may wait for their turn. Further log-ins are refused at once."""
USER_MAX = 200


class User(NamedTuple):
    """A person who looks at the page. The name is empty for somebody on this computer who has not logged in."""

    name: str
    may_acknowledge: bool


class LogIn(Protocol):
    """A way to know who looks at the page."""

    def user(self, request: web.Request) -> User | None:
        """Return who looks at the page. None if the person must log in first. Raises HTTPForbidden for those who may
        not look."""


def login_of(settings: PageSettings) -> LogIn:
    """Return the `LogIn` that the settings choose."""
    if settings.user_header is not None:
        return ProxyLogin(settings.user_header, settings.proxies, frozenset(settings.acknowledgers))
    if settings.account is not None:
        return AccountLogin(settings.account)
    return HereLogin()


class HereLogin:
    """Everybody on this computer may look. Nobody may acknowledge an alarm, because nobody would know who it was."""

    def user(self, _: web.Request) -> User | None:
        """Return a user without a name."""
        return User("", may_acknowledge=False)


class ProxyLogin:
    """The house's own proxy has logged the person in, and gives the name in a header."""

    def __init__(
        self, header: str, proxies: tuple[IPv4Network | IPv6Network, ...], acknowledgers: frozenset[str]
    ) -> None:
        self._header, self._proxies, self._acknowledgers = header, proxies, acknowledgers

    def user(self, request: web.Request) -> User | None:
        """Return the user that the proxy names."""
        address: IPv4Address | IPv6Address | None = None
        with suppress(ValueError):
            address = ip_address(request.remote or "")
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        if address is None or not any(address in network for network in self._proxies):
            raise web.HTTPForbidden(text="Open this page through the proxy of the house.")
        names = request.headers.getall(self._header, [])
        name = names[0].strip() if len(names) == 1 else ""
        if not 1 <= len(name) <= USER_MAX or not name.isprintable():
            raise web.HTTPForbidden(
                text="The proxy of the house did not give your name. Tell the person who looks after the proxy."
            )
        return User(name, name in self._acknowledgers)


class AccountLogin:
    """The one account of the settings. Its sessions are in memory, so after a restart the person must log in again."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._until_s: dict[str, float] = {}
        self._turn = asyncio.Lock()
        self._waiting = 0

    def user(self, request: web.Request) -> User | None:
        """Return the account's user. None without a session."""
        until_s = self._until_s.get(request.cookies.get(COOKIE, ""))
        if until_s is None or until_s < time.monotonic():
            return None
        return User(self._account.user, may_acknowledge=True)

    async def session(self, user: str, password: str) -> str | None:
        """Return a new session. None for a wrong name or password. Raises HTTPTooManyRequests."""
        if self._waiting >= WAITING_MAX:
            raise web.HTTPTooManyRequests(text="Too many people log in. Try again in a few seconds.")
        self._waiting += 1
        try:
            async with self._turn:
                is_right = await asyncio.to_thread(is_password, password, self._account.password)
                is_user = hmac.compare_digest(user.encode(), self._account.user.encode())
                if not (is_right and is_user):
                    await asyncio.sleep(WRONG_S)
                    return None
        finally:
            self._waiting -= 1
        while len(self._until_s) >= SESSIONS_MAX:
            del self._until_s[next(iter(self._until_s))]
        session = secrets.token_urlsafe(32)
        self._until_s[session] = time.monotonic() + SESSION_S_MAX
        return session

    def end(self, request: web.Request) -> None:
        """End the session of this browser."""
        self._until_s.pop(request.cookies.get(COOKIE, ""), None)


def is_from_our_page(request: web.Request) -> bool:
    """Whether a page of ours sent this form. The page of another site cannot choose the headers that are read here."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    # Over plain HTTP to another computer, a browser sends no Sec-Fetch-Site, but it sends an Origin with each form.
    try:
        return urlsplit(request.headers.get("Origin", "")).netloc == request.host != ""
    except ValueError:
        return False
