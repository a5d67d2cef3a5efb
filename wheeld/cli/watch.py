"""`wheeld watch`: what a table publishes, a line a message, from anywhere that reaches its broker."""

from __future__ import annotations

import argparse
import asyncio
import sys

from wheeld.cli.describe import describe
from wheeld.exits import Exit
from wheeld.feed import Feed, FeedError, FeedMessage, Login, Manner
from wheeld.journal.seal import raw_public_key


def watch(options: argparse.Namespace) -> Exit:
    """Print the messages of one table until interrupted, or `count` of them; raises OSError, KeyFileError."""
    for path in (options.password_file, options.ca_file, options.cert_file, options.key_file, options.public_key):
        if path is not None:
            path.open("rb").close()
    return asyncio.run(_watch(options))


async def _watch(options: argparse.Namespace) -> Exit:
    shown = 0
    async with _feed(options) as feed:
        while options.count is None or shown < options.count:
            try:
                message = await anext(feed)
            except FeedError as error:
                _warn(f"refused ({error.fault}): {error}")
                continue
            sys.stdout.write(f"{_line(message)}\n")
            sys.stdout.flush()
            shown += 1
    return Exit.OK


def _feed(options: argparse.Namespace) -> Feed:
    """A feed that acknowledges nothing: only the settlement system may confirm a message."""
    login = Login(
        port=options.port,
        username=options.username,
        password_file=options.password_file,
        ca_file=options.ca_file,
        cert_file=options.cert_file,
        key_file=options.key_file,
    )
    return Feed(
        options.host,
        root=f"wheel/v1/{options.table}",
        after_seq=None if options.from_seq is None else options.from_seq - 1,
        public_key=None if options.public_key is None else raw_public_key(options.public_key),
        login=login,
        test=options.test,
        manner=Manner(by="wheeld watch", ask=options.from_seq is not None, tell=_warn),
    )


def _line(message: FeedMessage) -> str:
    return _printable(f"{message.body.get('at', '')} {message.seq:>7}  {describe(message.topic, message.payload)}")


def _warn(trouble: str) -> None:
    sys.stderr.write(f"wheeld: {_printable(trouble)}\n")
    sys.stderr.flush()


def _printable(text: str) -> str:
    """Text of others without control characters, which would steer the terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)
