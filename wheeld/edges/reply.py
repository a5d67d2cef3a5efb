"""The payload of the `reply` topic: what became of one command."""

from __future__ import annotations

import msgspec


class ReplyPayload(msgspec.Struct, frozen=True, kw_only=True):
    """`id` as the command gave it, None when it could not be read; `why` says why not, or adds what was done."""

    id: str | None
    name: str
    done: bool
    why: str = ""


def encode_reply(payload: ReplyPayload) -> bytes:
    """The exact JSON bytes to publish."""
    return msgspec.json.encode(payload)
