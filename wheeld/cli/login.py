"""The login at the broker, from the options of a command, and what people read about a connection that fails."""

from __future__ import annotations

import argparse
import logging
from typing import Any

from wheeld.broker.hints import hint_of
from wheeld.broker.settings import PLAIN_PORT, TLS_PORT, MqttSettings
from wheeld.broker.tls import TlsFiles, TlsFilesError
from wheeld.cli.failure import catalogue_of, warn
from wheeld.core.catalogue import Catalogue, Text


def settings_of(options: argparse.Namespace, who: str, username: str | None) -> MqttSettings:
    """Return the settings from the options that begin with `who`. With a certificate and without a password, `username`
    is not used."""
    given = vars(options)
    password_file, cert_file, key_file = (given[f"{who}{name}"] for name in ("password_file", "cert_file", "key_file"))
    has_tls = options.ca_file is not None or cert_file is not None
    return MqttSettings(
        host=options.host,
        port=options.port or (TLS_PORT if has_tls else PLAIN_PORT),
        username=username if password_file is not None or cert_file is None else None,
        password_file=password_file,
        ca_file=options.ca_file,
        cert_file=cert_file,
        key_file=key_file,
    )


SILENCE_S = 5.0
"""A broker sends the retained messages of a table at once, so a longer silence shows that something is wrong."""

CONNECTED = ": connected"
"""The end of the feed's message that it is connected again."""


def wrong_files(options: argparse.Namespace) -> Text | str | None:
    """Return why no broker could ever accept these files. None if a broker could accept them."""
    if options.key_file is not None and options.cert_file is None:
        return Text("--key-file needs --cert-file, the certificate that belongs to the key")
    try:
        if any((options.ca_file, options.cert_file)):
            TlsFiles(options.ca_file, options.cert_file, options.key_file).context()
        if options.password_file is not None:
            options.password_file.read_text("utf-8")
    except TlsFilesError as wrong:
        return f"{wrong.key} {catalogue_of(options).say_text(wrong.text)}"
    except UnicodeDecodeError:
        return Text(
            "{file}: it is not a text in UTF-8, so it cannot be a password", {"file": str(options.password_file)}
        )
    return None


class Troubles(logging.Handler):
    """Prints what is wrong with the connection and what to do, each text once until the next connection."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(logging.WARNING)
        self._catalogue = catalogue
        self._told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Print a line from the log of the connection."""
        self.tell(record.getMessage())

    def tell(self, trouble: str) -> None:
        """Print what is wrong, unless it was printed already since the last connection."""
        if trouble.endswith(CONNECTED):
            self._told.clear()
        hint = hint_of(trouble)
        # The broker refuses again at each attempt. The text then has other numbers, but the hint is the same.
        told = hint or trouble
        if told in self._told:
            return
        self._told.add(told)
        say = self._catalogue.say
        warn(trouble if hint is None else say("{first}; {second}", first=trouble, second=say(hint)))

    def caught(self, _: object, context: dict[str, Any]) -> None:
        """Print an error of a callback after the client's socket was closed. Otherwise the loop prints a traceback."""
        self.tell(str(context.get("exception") or context["message"]))

    def notice_silence(self, table: str, blind: str | None) -> None:
        """Print what may be wrong if nothing has come for `SILENCE_S`, unless something wrong was printed already.
        `table` is SITE/TABLE. `blind`: our name at the broker, if its role may read none of these messages."""
        if self._told:
            return
        if blind is None:
            text = Text(
                "nothing has come yet: check {table}, whether its wheel runs, and `wheeld acl {table}`",
                {"table": table},
            )
        else:
            text = Text(
                "nothing has come yet, and {user} may read none of these messages: log in with another name, for "
                "example that of the table system; `wheeld acl {table}` prints the rights of each",
                {"user": blind, "table": table},
            )
        self.tell(self._catalogue.say_text(text))
