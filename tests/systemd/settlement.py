"""A small settlement core: it stores a message on disk, then acknowledges it; it starts after the last stored message.

Run in the machine: settlement.py ROOT PUBLIC_KEY STORE. It needs `wheeld.feed` and nothing else of the project.
"""

from __future__ import annotations

import asyncio
import base64
import sqlite3
import sys
import time
from pathlib import Path

from wheeld.feed import Feed, FeedError, FeedMessage, Login

# `seq` is not unique here: a message that came twice must be visible.
_TABLES = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS messages (
    arrived INTEGER PRIMARY KEY, seq INTEGER, hash TEXT, topic TEXT, payload BLOB, stored_utc_s REAL
);
CREATE TABLE IF NOT EXISTS refused (fault TEXT, why TEXT);
"""


class Store:
    """The database of the settlement core; each statement is one transaction."""

    def __init__(self, path: str) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.executescript(_TABLES)

    def position(self) -> tuple[int, str | None]:
        """`after_seq` and `after_hash` for this run."""
        row = self._database.execute("SELECT seq, hash FROM messages ORDER BY arrived DESC LIMIT 1").fetchone()
        return (0, None) if row is None else (row[0], row[1])

    def take(self, message: FeedMessage) -> None:
        """Store the message; returns when it is on disk."""
        row = (message.seq, message.hash, message.topic, message.payload, time.time())
        self._database.execute("INSERT INTO messages VALUES (NULL, ?, ?, ?, ?, ?)", row)

    def refuse(self, error: FeedError) -> None:
        """Store the error, for the test to read."""
        self._database.execute("INSERT INTO refused VALUES (?, ?)", (error.fault, str(error)))


async def settle(root: str, public_key: bytes, store: Store) -> None:
    """Settle until the process ends."""
    seq, digest = store.position()
    login = Login(client_id="settlement")
    async with Feed(
        "127.0.0.1", root=root, after_seq=seq, after_hash=digest, public_key=public_key, login=login
    ) as feed:
        while True:
            try:
                message = await anext(feed)
            except FeedError as error:
                store.refuse(error)
                continue
            store.take(message)
            await feed.ack(message)


if __name__ == "__main__":
    asyncio.run(settle(sys.argv[1], base64.b64decode(Path(sys.argv[2]).read_text()), Store(sys.argv[3])))
