"""The settings of the fleet page: a TOML file with its database, its address, and who may look at it."""

from __future__ import annotations

import ssl
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from wheeld_house.page.password import is_password_hash
from wheeld_house.settings import SettingsError, read_toml

LISTEN = "127.0.0.1:8500"


class Account(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The one local account. `password`: what `wheeld-house password` printed."""

    user: Annotated[str, Meta(min_length=1, max_length=64)]
    password: str


class PageSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings. `database` is a connection string of libpq, of a user who is a member of `wheeld_page`.

    `names`: names by which browsers may reach the page, in addition to the computer's own. `user_header`: the header in
    which a proxy gives the user's name. This header counts only if it comes from an address in `trusted_proxies`.
    `acknowledgers`: users that the proxy names and that may acknowledge alarms. `silent_after_s`: after this time
    without a message, an open table counts as silent.
    """

    database: Annotated[str, Meta(min_length=1)]
    listen: str = LISTEN
    names: tuple[str, ...] = ()
    user_header: Annotated[str, Meta(pattern=r"^[A-Za-z0-9-]{1,64}\Z")] | None = None
    trusted_proxies: tuple[str, ...] = ()
    acknowledgers: tuple[str, ...] = ()
    account: Account | None = None
    cert_file: str | None = None
    key_file: str | None = None
    silent_after_s: Annotated[float, Meta(ge=10, le=86_400)] = 900.0

    @property
    def address(self) -> tuple[str, int]:
        """Host and port. Raises SettingsError."""
        host, colon, port = self.listen.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not colon or not port.isascii() or not port.isdigit() or not 0 <= int(port) <= 65535:
            raise SettingsError(f"{self.listen} is not an address: write it like 127.0.0.1:8500")
        try:
            return str(ip_address("127.0.0.1" if host == "localhost" else host)), int(port)
        except ValueError:
            raise SettingsError(f"{self.listen} is not an address: write it like 127.0.0.1:8500") from None

    @property
    def proxies(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """The addresses from which the header counts. Raises SettingsError."""
        try:
            return tuple(ip_network(each) for each in self.trusted_proxies)
        except ValueError as wrong:
            raise SettingsError(f"trusted_proxies: {wrong}") from None

    def tls(self) -> ssl.SSLContext | None:
        """Return the TLS context with the page's own certificate, or None if the page has no certificate. Raises
        SettingsError."""
        if self.cert_file is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.cert_file, self.key_file)
        except OSError as wrong:
            raise SettingsError(f"{self.cert_file} and its key cannot be used: {wrong}") from None
        return context

    def check(self) -> None:
        """Raise SettingsError if settings contradict each other, or would show the page to people who have not logged
        in."""
        is_here = ip_address(self.address[0]).is_loopback
        if self.account is not None and not is_password_hash(self.account.password):
            raise SettingsError("account.password is not a hash that wheeld-house password printed")
        if self.user_header is not None and not self.proxies:
            raise SettingsError("user_header needs trusted_proxies: from any other address the header is ignored")
        if self.user_header is None and (self.trusted_proxies or self.acknowledgers):
            raise SettingsError("trusted_proxies and acknowledgers need user_header")
        if self.user_header is not None and self.account is not None:
            raise SettingsError("give user_header or account, not both")
        if is_here:
            return
        if self.user_header is None and self.account is None:
            raise SettingsError(
                f"other computers can reach {self.listen}: give user_header or account, or listen on 127.0.0.1"
            )
        if self.account is not None and self.cert_file is None:
            raise SettingsError(f"other computers can reach {self.listen}: a password needs cert_file and key_file")


def read_page_settings(path: Path | None, *, database: str | None, listen: str | None) -> PageSettings:
    """Read the settings of the page. `database` and `listen` replace those in the file. Raises SettingsError."""
    if path is None and database is None:
        raise SettingsError("name the file with the settings of the page, or give --database")
    try:
        given = {} if path is None else read_toml(path, dict[str, object])
        more = {key: value for key, value in (("database", database), ("listen", listen)) if value is not None}
        settings = msgspec.convert(given | more, PageSettings)
    except msgspec.ValidationError as wrong:
        raise SettingsError(f"{'options' if path is None else path}: {wrong}") from None
    settings.check()
    return settings
