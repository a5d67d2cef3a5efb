"""`wheeld watch`: what a table says, a line a message, from anywhere that reaches its broker."""

from __future__ import annotations

import argparse
import asyncio
import sys

from wheeld.cli.words import describe
from wheeld.exits import Exit
from wheeld.feed import Feed, FeedError, FeedMessage, Login, Manner
from wheeld.journal.seal import raw_public_key


def watch(asked: argparse.Namespace) -> Exit:
    """Print the messages of one table until interrupted, or `count` of them; raises OSError, KeyFileError."""
    for path in (asked.password_file, asked.ca_file, asked.cert_file, asked.key_file, asked.public_key):
        if path is not None:
            path.open("rb").close()
    return asyncio.run(_watch(asked))


async def _watch(asked: argparse.Namespace) -> Exit:
    shown = 0
    async with _feed(asked) as feed:
        while asked.count is None or shown < asked.count:
            try:
                message = await anext(feed)
            except FeedError as error:
                _tell(f"refused ({error.fault}): {error}")
                continue
            sys.stdout.write(f"{_line(message)}\n")
            sys.stdout.flush()
            shown += 1
    return Exit.OK


def _feed(asked: argparse.Namespace) -> Feed:
    """Nothing is ever acknowledged here: that would close a debt which only the settlement system may close."""
    login = Login(
        port=asked.port,
        username=asked.username,
        password_file=asked.password_file,
        ca_file=asked.ca_file,
        cert_file=asked.cert_file,
        key_file=asked.key_file,
    )
    return Feed(
        asked.host,
        root=f"wheel/v1/{asked.table}",
        after_seq=None if asked.from_seq is None else asked.from_seq - 1,
        public_key=None if asked.public_key is None else raw_public_key(asked.public_key),
        login=login,
        manner=Manner(by="wheeld watch", ask=asked.from_seq is not None, tell=_tell),
    )


def _line(message: FeedMessage) -> str:
    return _printable(f"{message.body.get('at', '')} {message.seq:>7}  {describe(message.topic, message.payload)}")


def _tell(trouble: str) -> None:
    sys.stderr.write(f"wheeld: {_printable(trouble)}\n")
    sys.stderr.flush()


def _printable(text: str) -> str:
    """What others wrote must not steer the terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)
