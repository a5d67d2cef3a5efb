"""`wheeld rule`: sends the direction's ruling on a coup (A9) to the wheel, through its broker."""

from __future__ import annotations

import argparse
import asyncio
import sys
import uuid
from datetime import UTC, datetime, timedelta

import mqtt5
import msgspec

from wheeld.broker.hints import hint_of
from wheeld.broker.login import opened
from wheeld.broker.payloads import UNREADABLE, RulingPayload
from wheeld.broker.roles import BY_NAME
from wheeld.broker.settings import MqttSettings
from wheeld.broker.tls import common_name
from wheeld.cli.failure import fail
from wheeld.cli.login import settings_of, wrong_files
from wheeld.core.catalogue import Text
from wheeld.core.messages.payloads import ReplyPayload
from wheeld.core.pockets import LABELS, number_of
from wheeld.exits import Exit
from wheeld.mqtt.session import MqttError, PublicationRefusedError, Unread
from wheeld.screen.describe import describe

ANSWER_S_MAX = 15.0
"""How long to wait for the answer. A wheel answers in less than a second."""
EXPIRES_S = 60
"""The command expires after this time. A house may refuse commands from outside the cabinet that do not expire."""
RULED = ("stands", "void", "other")


def ruled_as(text: str) -> dict[str, str | int]:
    """Return the value of `--as` as members of the command. Raises ArgumentTypeError."""
    if text in RULED:
        return {"ruled_as": text}
    try:
        number = number_of(text)
    except ValueError:
        wrong = f"{text!r} is not one of {', '.join(RULED)}, and not the number of a pocket"
        raise argparse.ArgumentTypeError(wrong) from None
    return {"ruled_as": "number", "number": LABELS.get(number, number)}


def rule(options: argparse.Namespace) -> Exit:
    """Give the ruling and print the wheel's answer. Raises OSError."""
    if wrong := wrong_files(options):
        return fail(wrong, Exit.BAD_CONFIG, options)
    _, _, table = options.table.partition("/")
    named = None if options.cert_file is None else common_name(options.cert_file)
    user = options.username or named or BY_NAME["direction"].user(table)
    now = datetime.now(UTC)
    said = {"id": uuid.uuid4().hex, "by": options.by, "reason": options.reason, "about": options.coup, **options.ruled}
    said |= {"at": now, "expires_at": now + timedelta(seconds=EXPIRES_S)}
    command = msgspec.convert(said, RulingPayload)
    try:
        payload, is_done = asyncio.run(_answer(options.table, settings_of(options, "", user), user, command))
    except TimeoutError:
        why = Text(
            "no answer came, so the ruling may be published or not: look at wheeld watch or at the journal "
            "before you give it again"
        )
        return fail(why, Exit.UNANSWERED, options)
    except PublicationRefusedError:
        why = Text(
            "the broker's access list does not let {user} rule on this table: give that name the role "
            "direction, make the list again with wheeld acl, and give the list to the broker",
            {"user": user},
        )
        return fail(why, Exit.REFUSED, options)
    except (MqttError, OSError) as error:
        hint = hint_of(str(error))
        told = Text("{first}; {second}", {"first": str(error), "second": Text(hint)}) if hint else str(error)
        return fail(told, Exit.UNANSWERED, options)
    sys.stdout.write(f"{describe('reply', payload, options.language)}\n")
    return Exit.OK if is_done else Exit.REFUSED


async def _answer(table: str, settings: MqttSettings, user: str, command: RulingPayload) -> tuple[bytes, bool]:
    """Return the wheel's reply, and whether the ruling is done. Raises MqttError, OSError, TlsFilesError; TimeoutError
    if no reply comes."""
    root = f"wheel/v1/{table}"
    answer: asyncio.Future[tuple[bytes, bool]] = asyncio.get_running_loop().create_future()

    def take(message: mqtt5.PublishPacket | Unread) -> None:
        if not isinstance(message, mqtt5.PublishPacket) or answer.done():
            return
        try:
            reply = msgspec.json.decode(message.payload, type=ReplyPayload)
        except UNREADABLE:
            return
        if (reply.id, reply.name, reply.user) == (command.id, "ruling", user):
            answer.set_result((message.payload, reply.done))

    async with asyncio.timeout(ANSWER_S_MAX), opened(settings, take=take) as client:
        if await client.subscribe(f"{root}/reply"):
            raise PublicationRefusedError("the broker's access list refuses reply")
        await client.publish(f"{root}/cmd/{user}/ruling", msgspec.json.encode(command))
        await asyncio.wait((answer, client.gone), return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise await asyncio.shield(client.gone)
        return answer.result()
