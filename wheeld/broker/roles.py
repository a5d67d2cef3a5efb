"""The roles of the house: the name of each at the broker, what it reads and publishes, and which commands it gives.

This is the only place that defines them. The broker's access list is made from them (`acl`), the intake uses them to
refuse commands (`commands`), and tests are made from them. docs/interfaces.md shows them, and a test compares both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from wheeld.broker.refusals import RefusedError, quoted

RoleName: TypeAlias = Literal[
    "wheel",
    "bouler",
    "chef",
    "table-system",
    "display",
    "page",
    "inspector",
    "direction",
    "control-office",
    "settlement",
    "collector",
    "technician",
    "auditor",
]

RESPONSE = "response"
"""In a role, this word means the MQTT 5 response topics of a table. A command may name one of these topics."""

EVERYTHING = "wheel/v1/#"
"""All topics of all tables."""

RESPONSE_LEVELS = r"(/[A-Za-z0-9._-]{1,64}){1,4}\Z"
"""What may follow `reply/{site}/{table}` in a response topic. mosquitto ends the connection of a client that publishes
on a topic of more than 200 levels. It would end each new connection too, as long as the answer is owed."""

USER_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}\Z"
"""A user name is a level of a topic and a word of the access list, so no character in it may have a special meaning
there."""


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """One role. `reads` and `publishes` are topics below a table's root, or whole topics that begin with `wheel/`.

    `is_at_table`: its device belongs to one table, and its user name ends with the name of that table. The users of
    other roles serve every table. `commands`: the commands that it may give, each on `cmd/{user}/{name}`. `about`
    describes the role to people.
    """

    name: RoleName
    about: str
    is_at_table: bool = False
    reads: tuple[str, ...] = ()
    publishes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()

    def user(self, table: str) -> str:
        """Return the user name of this role at the broker, for this table."""
        return f"{self.name}-{table}" if self.is_at_table else self.name


_FEED = ("result", "void", "ruling", "table")
_PANEL = (*_FEED, "notice", "board", "availability", "reply", RESPONSE)

ROLES = (
    Role(
        name="wheel",
        about="The wheel's daemon. From its own messages at the broker it learns of an older journal, or of a clone.",
        is_at_table=True,
        reads=("ack", "table", "notice", "availability", "cmd/+/+"),
        publishes=(*_FEED, "notice", "board", "health", "availability", "reply", RESPONSE),
    ),
    Role(
        name="bouler",
        about="The bouler's panel.",
        is_at_table=True,
        reads=_PANEL,
        commands=("last_coup", "open", "rien_ne_va_plus", "tout_va"),
    ),
    Role(
        name="chef",
        about="The chef's panel.",
        is_at_table=True,
        reads=_PANEL,
        # Each command is named, so that a command of a later version stays forbidden until somebody adds it.
        commands=(
            "bouler",
            "close",
            "confirm",
            "last_coup",
            "last_coup_off",
            "late_bet",
            "open",
            "operations_done",
            "resume",
            "rien_ne_va_plus",
            "rien_va",
            "seal",
            "suspend",
            "tout_va",
        ),
    ),
    Role(
        name="table-system",
        about="The table system, which settles the bets at the table.",
        is_at_table=True,
        reads=(*_FEED, "notice", "availability", "reply", RESPONSE),
        commands=("operations_done",),
    ),
    Role(name="display", about="A display for the public.", is_at_table=True, reads=("board", "availability")),
    Role(
        name="page",
        about="The wheel's pages (wheeld page): everything that they show. The chef's panel has a login of its own.",
        is_at_table=True,
        reads=(*_FEED, "notice", "board", "health", "availability"),
    ),
    Role(
        name="inspector",
        about="The inspector is warned of a change of bouler, acknowledges it, and learns all that people see.",
        reads=_PANEL,
        commands=("acknowledge",),
    ),
    Role(
        name="direction",
        about="The direction suspends and ends play, and rules on a coup that is disputed.",
        reads=_PANEL,
        commands=("close", "last_coup", "last_coup_off", "resume", "ruling", "suspend"),
    ),
    Role(
        name="control-office",
        about="The control office learns who suspended play, and why; it may have the journal sealed at any moment.",
        reads=(*_FEED, "notice", "availability", "reply", RESPONSE),
        commands=("program", "seal"),
    ),
    Role(
        name="settlement",
        about="The settlement system: the messages that it pays by, and those that show whether it has all of them.",
        reads=(*_FEED, "notice", "availability", "reply"),
        publishes=("ack",),
        commands=("resend",),
    ),
    Role(
        name="collector",
        about="The collector keeps every record of the house. It pays nothing, so it acknowledges nothing.",
        reads=(*_FEED, "notice", "reply"),
        commands=("resend",),
    ),
    Role(
        name="technician",
        about="A technician looks, stores what an inspection found, and changes nothing of the game.",
        reads=("table", "notice", "health", "availability", "reply", RESPONSE),
        commands=("inspect",),
    ),
    Role(name="auditor", about="The auditor reads everything at every table.", reads=(EVERYTHING,)),
)
BY_NAME: Mapping[str, Role] = MappingProxyType({role.name: role for role in ROLES})
NOBODY_ELSE: Mapping[str, RoleName] = MappingProxyType({})


def users_at(table: str, more: Mapping[str, RoleName]) -> dict[str, Role]:
    """Return all users of one table: the users of all roles, and those to whom its configuration gives a role."""
    return {role.user(table): role for role in ROLES} | {user: BY_NAME[name] for user, name in more.items()}


def may_answer_on(topic: str, root: str) -> bool:
    """Return whether a copy of an answer may go to `topic`, for the table whose topics begin with `root`."""
    base = "reply/" + root.removeprefix("wheel/v1/").rstrip("/")
    return topic.startswith(base) and re.match(RESPONSE_LEVELS, topic[len(base) :]) is not None


class TableAccess(NamedTuple):
    """One table at the broker, and all its users there. Commands of the users in `must_expire` need `expires_at`."""

    site: str
    table: str
    users: Mapping[str, Role]
    must_expire: Collection[str] = ()

    @classmethod
    def of(
        cls, site: str, table: str, more: Mapping[str, RoleName] = NOBODY_ELSE, must_expire: Collection[str] = ()
    ) -> TableAccess:
        """Return a table with the users of all roles, and the users to whom its configuration gives a role (`more`)."""
        return cls(site, table, users_at(table, more), must_expire)

    @property
    def root(self) -> str:
        """The beginning of all topics of this table."""
        return f"wheel/v1/{self.site}/{self.table}/"

    def rights(self, user: str) -> Iterator[tuple[str, str]]:
        """Yield what `user`, which has a role here, may do: "read" or "write", and a topic filter."""
        role = self.users[user]
        for leaf in role.reads:
            yield "read", self._filter(leaf)
        for leaf in (*role.publishes, *(f"cmd/{user}/{name}" for name in role.commands)):
            yield "write", self._filter(leaf)

    def check_sender(self, user: str, command: str) -> None:
        """Raise RefusedError if `user` has no role here that may give `command`, although the broker accepted it."""
        role = self.users.get(user)
        if role is None:
            raise RefusedError(
                'the sender is called "{user}" at the broker, and this name has no role here: a technician has to '
                "give it a role, or to correct the name in the topic",
                user=quoted(user),
            )
        if command not in role.commands:
            entitled = sorted(name for name, role in self.users.items() if command in role.commands)
            raise RefusedError(
                '"{user}" has no right to give this command; those who have it: {entitled}',
                user=quoted(user),
                entitled=", ".join(entitled),
            )

    def _filter(self, leaf: str) -> str:
        if leaf == RESPONSE:
            return f"reply/{self.site}/{self.table}/#"
        return leaf if leaf.startswith("wheel/") else self.root + leaf
