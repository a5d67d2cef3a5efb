"""The access list of a mosquitto broker, made from the roles. Every right is named, and everything else is forbidden.

mosquitto can put the sender's name in a topic by itself (`pattern write …/cmd/%u/…`), but a pattern is valid for every
user. So the list has no patterns. Each user has a block, with its own name in the topic of each command. So a user can
send commands only under its own name, and only the commands of its role.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wheeld.broker.roles import TableAccess

HEAD = """\
# Who may publish and subscribe to what, for mosquitto 2.0. Made by `wheeld acl`, for {tables}.
# Do not edit it: make it anew, with every table of this broker, and then: systemctl restart mosquitto
#
# A user name is the common name of a certificate (wheeld.conf). Each user may publish commands below cmd/ and its own
# name only, so that a wheel knows who sent one. Whatever is not allowed here is forbidden.
#
# The broker acknowledges a forbidden publication, too (MQTT 5 gives the reason, 3.1.1 does not). Who sends a command
# must wait for the reply.
"""


def access_list(tables: Sequence[TableAccess]) -> str:
    """Return the text of the file for these tables. A user in several blocks has the rights of all of them."""
    names = [f"{each.site}/{each.table}" for each in tables]
    listed = set[tuple[str, str, str]]()
    lines = [HEAD.format(tables=", ".join(names))]
    for name, table in zip(names, tables, strict=True):
        lines.append(f"# --- {name}\n")
        for user, role in table.users.items():
            # A right that holds at every table is listed at the first table only.
            rights = [right for right in table.rights(user) if (user, *right) not in listed]
            listed |= {(user, *right) for right in rights}
            if rights:
                lines += [
                    f"# {role.about}",
                    f"user {user}",
                    *(f"topic {access} {topic}" for access, topic in rights),
                    "",
                ]
    return "\n".join(lines)


def same_names(tables: Sequence[TableAccess]) -> Iterator[str]:
    """Yield each name that several tables have. Users of these tables would also have equal names, and could act at all
    of them."""
    names = [each.table for each in tables]
    yield from dict.fromkeys(name for name in names if names.count(name) > 1)
