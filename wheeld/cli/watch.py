"""`wheeld watch`: shows what a table publishes, one line for each message, on any computer that reaches its broker."""

from __future__ import annotations

import argparse
import asyncio
import logging
import shlex
import sys

from wheeld.broker.roles import BY_NAME, EVERYTHING, users_at
from wheeld.broker.settings import PLAIN_PORT, TLS_PORT
from wheeld.broker.tls import common_name
from wheeld.cli.failure import catalogue_of, fail
from wheeld.cli.login import SILENCE_S, Troubles, wrong_files
from wheeld.cli.parser import names_wheel
from wheeld.core.catalogue import Catalogue, Language, Part, Text, either, translatable
from wheeld.core.instants import from_text
from wheeld.exits import Exit
from wheeld.feed import Feed, FeedError, FeedMessage, Login, Manner
from wheeld.feed.message import SEQUENCED
from wheeld.journal.seal import raw_public_key
from wheeld.screen.describe import describe
from wheeld.screen.terminal import printable
from wheeld.service.host_clock import SystemClock

AGES = (
    (86_400, translatable("{count} days")),
    (3_600, translatable("{count} h")),
    (60, translatable("{count} min")),
    (1, translatable("{count} s")),
)
"""The units of an age, with their seconds. The largest unit that fits into the age at least twice is used."""


def watch(options: argparse.Namespace) -> Exit:
    """Print the messages of one table until interrupted, or until `count` messages are printed.

    Raises OSError, ConfigError, KeyFileError.
    """
    if names_wheel(options.table):
        # This computer has the wheel. Its configuration names the table, and the broker if no option names one. If no
        # option names a login, a certificate of this computer is used: the table system's, or with --from-seq the
        # collector's, which has the right to ask for earlier messages.
        from wheeld.config import instance  # noqa: PLC0415  other computers do not need these imports
        from wheeld.config.reading import load  # noqa: PLC0415
        from wheeld.setup.computer import Computer  # noqa: PLC0415
        from wheeld.setup.places import BrokerPlaces  # noqa: PLC0415

        config = load(*instance.wheel_of(options.table))
        table, broker = config.table, config.mqtt
        options.table, options.test = f"{table.site}/{table.table}", options.test or table.test
        options.host, options.port = options.host or broker.host, options.port or broker.port
        options.ca_file = options.ca_file or broker.ca_file
        role = BY_NAME["table-system" if options.from_seq is None else "collector"]
        house, user = BrokerPlaces(Computer(instance.ROOT)), role.user(table.table)
        if not (options.username or options.cert_file) and house.user_certificate(user).exists():
            options.cert_file, options.key_file = house.user_certificate(user), house.user_key(user)
    for path in (options.password_file, options.ca_file, options.cert_file, options.key_file, options.public_key):
        if path is not None:
            path.open("rb").close()
    if wrong := wrong_files(options):
        return fail(wrong, Exit.BAD_CONFIG, options)
    troubles = Troubles(catalogue_of(options))
    connection_log = logging.getLogger("mqtt")
    # A broker refuses a client without a certificate only after the connection, and only this log reports the refusal.
    connection_log.addHandler(troubles)
    connection_log.propagate = False
    try:
        return asyncio.run(_watch(options, troubles))
    finally:
        connection_log.removeHandler(troubles)
        connection_log.propagate = True


async def _watch(options: argparse.Namespace, troubles: Troubles) -> Exit:
    shown = 0
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(troubles.caught)
    is_secured = any((options.ca_file, options.cert_file, options.key_file))
    # Without a username among the options, the broker takes the name in the certificate.
    user: str | None = options.username or (options.cert_file and common_name(options.cert_file))
    if options.from_seq is not None and (deaf := _may_not_ask(user, options)):
        return fail(deaf, Exit.BAD_CONFIG, options)
    login = Login(
        port=options.port or (TLS_PORT if is_secured else PLAIN_PORT),
        username=user,
        password_file=options.password_file,
        ca_file=options.ca_file,
        cert_file=options.cert_file,
        key_file=options.key_file,
    )
    # This feed acknowledges nothing: only the settlement core may acknowledge a message.
    feed = Feed(
        options.host or "localhost",
        root=f"wheel/v1/{options.table}",
        after_seq=None if options.from_seq is None else options.from_seq - 1,
        public_key=None if options.public_key is None else raw_public_key(options.public_key),
        login=login,
        test=options.test,
        manner=Manner(by="wheeld watch", ask=options.from_seq is not None, tell=troubles.tell),
    )
    async with feed:
        silence = loop.call_later(SILENCE_S, troubles.notice_silence, options.table, _blind(user, options.table))
        while options.count is None or shown < options.count:
            try:
                message = await anext(feed)
                silence.cancel()
            except FeedError as error:
                silence.cancel()
                refused = catalogue_of(options).say("refused ({fault})", fault=error.fault)
                troubles.tell(catalogue_of(options).say("{first}: {second}", first=refused, second=error))
                continue
            sys.stdout.write(f"{line(message, options.language, SystemClock().utc_us())}\n")
            sys.stdout.flush()
            shown += 1
    return Exit.OK


def _blind(user: str | None, table: str) -> str | None:
    """Return our name at the broker, if its role may read no message of the feed."""
    role = users_at(table.partition("/")[2], {}).get(user or "")
    return None if role is None or not {*SEQUENCED, EVERYTHING}.isdisjoint(role.reads) else user


def _may_not_ask(user: str | None, options: argparse.Namespace) -> Text | None:
    """Return who may ask for earlier messages, and how, if the role of our name at the broker has no right to."""
    table = options.table.partition("/")[2]
    users = users_at(table, {})
    if user not in users or "resend" in users[user].commands:
        return None
    named: dict[str, Part] = {
        "user": user,
        "names": either(*(name for name, role in users.items() if "resend" in role.commands)),
        "command": shlex.join(["wheeld", "watch", table, "--from-seq", str(options.from_seq)]),
    }
    return Text(
        "{user} may not ask for earlier messages: log in as {names}, or leave --from-seq out; on the computer of the "
        "wheel and its broker, root's `{command}` logs in as the collector",
        named,
    )


def line(message: FeedMessage, language: Language, now_utc_us: int) -> str:
    """Return the message as one line for people. If the broker had kept it, the line also has its age."""
    at, text = message.body.get("at", ""), describe(message.topic, message.payload, language)
    kept = _kept(at, Catalogue(language), now_utc_us) if message.retained else ""
    return printable(f"{at} {message.seq:>7}  {text}{kept}")


def _kept(at: object, catalogue: Catalogue, now_utc_us: int) -> str:
    """Return a note that the broker kept the message, with its age by the clocks of the wheel and this computer.

    Empty for a new message: `table` is marked as retained even if it comes at once.
    """
    try:
        age_s = max(0, now_utc_us - from_text(str(at))) // 1_000_000
    except (ValueError, OverflowError):
        return f" [{catalogue.say('kept by the broker')}]"
    for seconds, text in AGES:
        if age_s >= 2 * seconds:
            age = catalogue.say(text, count=age_s // seconds)
            return f" [{catalogue.say('kept by the broker, {age} old', age=age)}]"
    return ""
