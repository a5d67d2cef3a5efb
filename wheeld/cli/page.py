"""`wheeld page`: serves the pages of one wheel, as a program of its own."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from itertools import combinations

from wheeld.broker.roles import BY_NAME
from wheeld.broker.tls import TlsFilesError, common_name
from wheeld.cli.failure import fail, file_trouble
from wheeld.cli.login import settings_of, wrong_files
from wheeld.config.paths import trouble
from wheeld.core.catalogue import Part, Text
from wheeld.exits import Exit
from wheeld.page.run import serve
from wheeld.page.setting import PageSetting, PanelRole, PanelSetting
from wheeld.service.logs import log_to_stderr
from wheeld.service.notify import ServiceNotifier

SECRETS = ("key_file", "password_file", "token_file")
"""The endings of options whose files must be closed to other users."""
PANELS: dict[PanelRole, str] = {"chef": "token_file", "bouler": "bouler_token_file"}
"""For each panel, the option that names the file with its token."""
OF_BOTH = ("panel_cert_file", "panel_key_file")
"""The options for the certificate that both panels show. Only the chef's panel also accepts the certificates of
browsers. If both panels accepted them, everyone who may use one panel could use the other one."""
TOKEN_CHARACTERS_MIN = 12
"""A panel allows five attempts a minute, so a token of this length cannot be guessed."""


def page(options: argparse.Namespace) -> Exit:
    """Serve the pages until SIGTERM or SIGINT."""
    if wrong := _same_port(options) or _without_panel(options) or _wrong_panels(options):
        return _refuse(wrong, Exit.USAGE, options)
    if unusable := _unusable(options):
        return _refuse(unusable, Exit.NO_INPUT, options)
    if wrong := _wrong_token(options):
        return _refuse(wrong, Exit.USAGE, options)
    log_to_stderr("info")
    try:
        notifier = ServiceNotifier()
        asyncio.run(serve(_setting(options), notifier.ready, notifier.status))
    except TlsFilesError as files:
        return _refuse(Text("{first}: {second}", {"first": files.key, "second": files.text}), Exit.NO_INPUT, options)
    except OSError as port:
        return _refuse(file_trouble(port), Exit.IO_FAILED, options)
    return Exit.OK


def _refuse(why: Text | str, code: Exit, options: argparse.Namespace) -> Exit:
    """Print why nothing is served. If options come from a file, as those of a unit do, also name the file, because a
    person must correct them there."""
    for file in (word[1:] for word in sys.argv if word.startswith("@")):
        why = Text("{first}; the options are in {file}", {"first": why, "file": file})
    return fail(why, code, options)


def _same_port(options: argparse.Namespace) -> Text | None:
    """Return an error if two options have the same address and port."""
    for first, second in combinations(("chef", "bouler", "listen", "display", "metrics"), 2):
        address = vars(options)[first]
        if address is not None and address.port and address == vars(options)[second]:
            options_named: dict[str, Part] = {"first": f"--{first}", "second": f"--{second}"}
            return Text(
                "{first} and {second} have the same address and port: give each a port of its own", options_named
            )
    return None


def _wrong_panels(options: argparse.Namespace) -> Text | None:
    """Return what is wrong with the options of the panels, for example that anybody could use a panel; or None."""
    has_tls, asks_certificate = options.panel_cert_file is not None, options.panel_client_ca_file is not None
    if options.chef is not None and options.token_file is None and not asks_certificate:
        return Text(
            "--chef needs --token-file or --panel-client-ca-file: without one of them, anybody could command the wheel"
        )
    if options.bouler is not None and options.bouler_token_file is None:
        return Text("--bouler needs --bouler-token-file: without it, anybody could command the wheel")
    for role in PANELS:
        if (address := vars(options)[role]) is not None and not address.is_here and not has_tls:
            return Text(
                "{option} {host} is open to the network, which would carry its token without encryption: "
                "give --panel-cert-file and --panel-key-file, or listen on 127.0.0.1",
                {"option": f"--{role}", "host": address.host},
            )
    if has_tls != (options.panel_key_file is not None):
        return Text("give --panel-cert-file and --panel-key-file together")
    if asks_certificate and not has_tls:
        return Text("--panel-client-ca-file needs --panel-cert-file and --panel-key-file")
    return None


def _without_panel(options: argparse.Namespace) -> Text | None:
    """Return an error if an option belongs to a panel that is not served."""
    for name, given in vars(options).items():
        panel = "bouler" if name.startswith("bouler_") else "chef"
        is_there = vars(options)[panel] is not None or (name in OF_BOTH and options.bouler is not None)
        if given is not None and name.startswith(("token_", "panel_", "chef_", "bouler_")) and not is_there:
            named = {"option": f"--{name.replace('_', '-')}", "panel": f"--{panel}"}
            return Text("{option} needs {panel}, the address of the panel", {**named})
    return None


def _unusable(options: argparse.Namespace) -> Text | str | None:
    """Return which file or directory cannot be used, and why; None if all can be used."""
    for name, path in vars(options).items():
        if name.endswith("_file") and path is not None and (why := trouble(path, secret=name.endswith(SECRETS))):
            return Text("{first}: {second}", {"first": f"--{name.replace('_', '-')}", "second": why})
    if options.state is not None and not (options.state.is_dir() and os.access(options.state, os.W_OK)):
        return Text(
            "--state: {directory} is not a directory in which this user may write: make it, or give the user "
            "the right to write",
            {"directory": str(options.state)},
        )
    for role in PANELS:
        files = {name: vars(options)[f"{role}_{name}"] for name in ("cert_file", "key_file", "password_file")}
        if wrong := wrong_files(argparse.Namespace(ca_file=options.ca_file, **files)):
            return wrong
    return wrong_files(options)


def _wrong_token(options: argparse.Namespace) -> Text | None:
    for file in filter(None, (vars(options)[name] for name in PANELS.values())):
        try:
            token = file.read_text("utf-8").strip()
        except UnicodeDecodeError:
            return Text(
                "the token in {file} has characters that nobody can type; make a new one: openssl rand -hex 16",
                {"file": str(file)},
            )
        if len(token) < TOKEN_CHARACTERS_MIN:
            return Text(
                "the token has fewer than {count} characters; make a new one: openssl rand -hex 16",
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
        panels=tuple(_panel(role, options, table) for role in PANELS if vars(options)[role] is not None),
    )


def _panel(role: PanelRole, options: argparse.Namespace, table: str) -> PanelSetting:
    """Return the panel of `role` with its own login. Its name at the broker comes from the options, from its
    certificate, or from the role, in this order."""
    given = vars(options)
    cert_file = given[f"{role}_cert_file"]
    named = None if cert_file is None else common_name(cert_file)
    user = given[f"{role}_username"] or named or BY_NAME[role].user(table)
    return PanelSetting(
        role=role,
        address=given[role],
        mqtt=settings_of(options, f"{role}_", user),
        user=user,
        token_file=given[PANELS[role]],
        cert_file=options.panel_cert_file,
        key_file=options.panel_key_file,
        client_ca_file=options.panel_client_ca_file if role == "chef" else None,
    )
