"""The feed at its receiver: every sequenced message of one table, in order and once, for systems that pay according to
them.

    async with Feed("broker", root="wheel/v1/campione/campione-03", after_seq=41, after_hash=h) as feed:
        await feed.ack(41)  # if you have stored it: the last run may have ended before its ack
        async for message in feed:
            store(message)  # also its seq and hash: they are `after_seq` and `after_hash` of the next run
            await feed.ack(message)

This directory needs Python 3.11, the package mqtt5 (and `cryptography`, if signatures are checked), `wheeld/mqtt`, and
nothing else of wheeld. Copy the two, as `wheeld/feed` and `wheeld/mqtt`, to where they are used.

What it proves: `seq` and chain show losses, repeats, accidents and careless edits. Someone who can publish in the
wheel's place can also compute hashes. The broker's access list and the signature (`public_key`) protect against that.
Without a signature a false message that fits is found only when the true one comes.
"""

from wheeld.feed.connection import Feed, Login
from wheeld.feed.message import GENESIS, SEQUENCED, FeedError, FeedMessage
from wheeld.feed.order import Manner

__all__ = ["GENESIS", "SEQUENCED", "Feed", "FeedError", "FeedMessage", "Login", "Manner"]
