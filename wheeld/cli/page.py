"""`wheeld page`: the pages of one wheel, in a program of its own."""

from __future__ import annotations

import argparse
import asyncio
import os
from itertools import combinations

from wheeld.broker.roles import BY_NAME
from wheeld.broker.tls import TlsFilesError, common_name
from wheeld.cli.failure import fail
from wheeld.cli.login import settings_of
from wheeld.cli.troubles import wrong_files
from wheeld.config.paths import trouble
from wheeld.core.catalogue import Part, Text
from wheeld.exits import Exit
from wheeld.page.run import serve
from wheeld.page.setting import ChefSetting, PageSetting
from wheeld.service.logs import log_to_stderr

SECRETS = ("key_file", "password_file", "token_file")
"""Options whose files must be closed to others end in these."""
TOKEN_CHARACTERS_MIN = 12
"""Five attempts a minute: guessing so long a token takes for ever."""


def page(options: argparse.Namespace) -> Exit:
    """Serve until SIGTERM or SIGINT; raises OSError."""
    if wrong := _wrong(options):
        return fail(wrong, Exit.USAGE, options)
    if unusable := _unusable(options):
        return fail(unusable, Exit.NO_INPUT, options)
    if wrong := _wrong_token(options):
        return fail(wrong, Exit.USAGE, options)
    log_to_stderr("info")
    try:
        asyncio.run(serve(_setting(options)))
    except TlsFilesError as files:
        return fail(Text("{first}: {second}", {"first": files.key, "second": files.text}), Exit.NO_INPUT, options)
    return Exit.OK


def _wrong(options: argparse.Namespace) -> Text | None:
    """What cannot be served so; None when all can."""
    return _same_port(options) or _wrong_panel(options)


def _same_port(options: argparse.Namespace) -> Text | None:
    """Two that would be served at the same place."""
    for first, second in combinations(("chef", "listen", "display", "metrics"), 2):
        address = vars(options)[first]
        if address is not None and address.port and address == vars(options)[second]:
            options_named: dict[str, Part] = {"first": f"--{first}", "second": f"--{second}"}
            return Text("{first} and {second} are the same: each needs a port of its own", options_named)
    return None


def _wrong_panel(options: argparse.Namespace) -> Text | None:
    """Why the chef's panel would be open to others; None when it would not."""
    if options.chef is None:
        return _without_panel(options)
    has_tls, asks_certificate = options.panel_cert_file is not None, options.panel_client_ca_file is not None
    if options.token_file is None and not asks_certificate:
        return Text("--chef needs --token-file or --panel-client-ca-file: anybody could command the wheel")
    if not options.chef.is_here and not has_tls:
        return Text(
            "--chef {host} is open to the network, and its token would cross it in clear: give --panel-cert-file and "
            "--panel-key-file, or listen on 127.0.0.1",
            {"host": options.chef.host},
        )
    if has_tls != (options.panel_key_file is not None):
        return Text("--panel-cert-file and --panel-key-file go together")
    if asks_certificate and not has_tls:
        return Text("--panel-client-ca-file needs --panel-cert-file and --panel-key-file")
    return None


def _without_panel(options: argparse.Namespace) -> Text | None:
    """An option of the panel, where there is none."""
    for name, given in vars(options).items():
        if given is not None and name.startswith(("token_", "panel_", "chef_")):
            return Text("{option} needs --chef, the address of the panel", {"option": f"--{name.replace('_', '-')}"})
    return None


def _unusable(options: argparse.Namespace) -> Text | str | None:
    """Which file or directory cannot be used, and why; None when all can."""
    for name, path in vars(options).items():
        if name.endswith("_file") and path is not None and (why := trouble(path, secret=name.endswith(SECRETS))):
            return Text("{first}: {second}", {"first": f"--{name.replace('_', '-')}", "second": why})
    if options.state is not None and not (options.state.is_dir() and os.access(options.state, os.W_OK)):
        return Text(
            "--state: {directory} is no directory in which this user may write: make it, or give it to him",
            {"directory": str(options.state)},
        )
    chefs = {name: vars(options)[f"chef_{name}"] for name in ("cert_file", "key_file", "password_file")}
    chef = argparse.Namespace(ca_file=options.ca_file, **chefs)
    return wrong_files(options) or wrong_files(chef)


def _wrong_token(options: argparse.Namespace) -> Text | None:
    if options.token_file is None:
        return None
    try:
        token = options.token_file.read_text("utf-8").strip()
    except UnicodeDecodeError:
        return Text(
            "the token in {file} is no text that can be typed; openssl rand -hex 16 makes one",
            {"file": str(options.token_file)},
        )
    if len(token) < TOKEN_CHARACTERS_MIN:
        return Text(
            "the token is shorter than {count} characters; openssl rand -hex 16 makes one",
            {"count": TOKEN_CHARACTERS_MIN},
        )
    return None


def _setting(options: argparse.Namespace) -> PageSetting:
    site, _, table = options.table.partition("/")
    return PageSetting(
        site=site,
        table=table,
        mqtt=settings_of(options, "", options.username or BY_NAME["page"].user(table)),
        address=options.listen,
        socket=options.socket,
        state=options.state,
        frame_of=options.frame_of,
        names=tuple(options.name),
        display=options.display,
        metrics=options.metrics,
        chef=None if options.chef is None else _chef(options, table),
    )


def _chef(options: argparse.Namespace, table: str) -> ChefSetting:
    """The chef's login; its name at the broker is that of its certificate, where it has one."""
    cert_file = options.chef_cert_file
    named = None if cert_file is None else common_name(cert_file)
    user = options.chef_username or named or BY_NAME["chef"].user(table)
    return ChefSetting(
        address=options.chef,
        mqtt=settings_of(options, "chef_", user),
        user=user,
        token_file=options.token_file,
        cert_file=options.panel_cert_file,
        key_file=options.panel_key_file,
        client_ca_file=options.panel_client_ca_file,
    )
