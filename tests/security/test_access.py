"""The access list that ships: every role by every topic at a real mosquitto, allowed and denied, seen by a subscriber.

What a role may do is drawn from the one table of roles, `wheeld/broker/roles.py`, and not from the list that is made
from it; docs/interfaces.md says it a second time.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import get_args

import aiomqtt
import pytest
from structlog.testing import capture_logs

from tests.broker.mqtt_bench import connecting, session_of, settings
from tests.security.authority import Authority
from tests.security.roles import PAGE, roles
from tests.security.shipped import EYE, SAMPLES, SITE, TABLES, ShippedBroker, system_root
from wheeld.broker.acl import access_list
from wheeld.broker.payloads import COMMANDS
from wheeld.broker.roles import ROLES, RoleName, TableAccess
from wheeld.core.observations import CommandName
from wheeld.ports import Publication, PublishRefusedError

PUBLISHED = ("result", "void", "ruling", "table", "notice", "board", "health", "availability", "reply")
PEOPLES = (*get_args(CommandName), "inspect", "program", "seal")
LEAVES = (*PUBLISHED, "ack", "cmd/open", "cmd", "other", "result/x")
TABLE_ACCESS = {table: TableAccess.of(SITE, table) for table in TABLES}
NOBODY = ("nobody", "wheel", "chef-campione-0", "bouler", "chef")
"""A certificate of the house with a name that no role has, and parts of names that some have."""
USERS = tuple(dict.fromkeys(user for table in TABLE_ACCESS.values() for user in table.users)) + NOBODY


def topics(table: str) -> dict[str, str]:
    """Topic by leaf; `response` is where MQTT 5 answers go."""
    root = f"wheel/v1/{SITE}/{table}/"
    return {leaf: root + leaf for leaf in LEAVES} | {"response": f"reply/{SITE}/{table}/panel/7"}


def command_topics(user: str) -> set[str]:
    """At each table: every command as `user`, and as each other user those that it may give."""
    found = set()
    for table in TABLE_ACCESS.values():
        given = {(user, name) for name in (*COMMANDS, "dance", "open/now")}
        given |= {(other, name) for other, role in table.users.items() for name in role.commands}
        found |= {f"{table.root}cmd/{who}/{name}" for who, name in given}
    return found


def every(user: str) -> list[str]:
    """The topics that are tried as `user`."""
    return sorted(
        {topic for table in TABLES for topic in topics(table).values()}
        | {f"wheel/v1/venezia/campione-03/{leaf}" for leaf in ("result", "cmd/chef-campione-03/open")}
        | {"reply/venezia/campione-03/x", "result", "wheel/v1", "desk/7", "wheel/v2/campione/campione-03/result"}
        | command_topics(user)
    )


def allowed(user: str, access: str) -> set[str]:
    """Those that `user` may "read" or "write", by the table of roles."""
    tables = [table for table in TABLE_ACCESS.values() if user in table.users]
    filters = [topic for table in tables for right, topic in table.rights(user) if right == access]
    return {topic for topic in every(user) if any(aiomqtt.Topic(topic).matches(each) for each in filters)}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShippedBroker]:
    with system_root() as root, ShippedBroker(root, Authority(tmp_path_factory.mktemp("house"))) as shipped:
        yield shipped


async def received_by(client: aiomqtt.Client, last: str) -> list[tuple[str, bytes]]:
    """Everything that came up to the message on topic `last`."""
    found: list[tuple[str, bytes]] = []
    async with asyncio.timeout(30):
        async for message in client.messages:
            if message.topic.value == last:
                return found
            found.append((message.topic.value, message.payload))
    raise AssertionError("unreachable")


async def everything(client: aiomqtt.Client, user: str, payload: bytes, *, retain: bool = False) -> None:
    """Publish on every topic that is tried as `user`; each is confirmed, allowed or not."""
    await asyncio.gather(*(client.publish(topic, payload, qos=1, retain=retain) for topic in every(user)))


def test_the_matrix_is_whole() -> None:
    assert {*PEOPLES, "resend"} == set(COMMANDS)
    assert {name for role in ROLES for name in role.commands} == set(COMMANDS), "somebody may give each, and no other"
    published = {leaf for role in ROLES for leaf in role.publishes}
    assert published == {*PUBLISHED, "response", "ack"}
    assert {role.name for role in ROLES} == set(get_args(RoleName))


def test_the_page_says_what_the_table_of_roles_says() -> None:
    table, access = TABLES[0], TABLE_ACCESS[TABLES[0]]
    said = {role.user(table): role.rights(table) for role in roles()}
    assert said == {user: set(access.rights(user)) for user in access.users}


def test_every_role_of_the_rulebook_is_in_the_table() -> None:
    (named,) = re.findall(r"Roles: (.+?)\.", (PAGE.parent / "rulebook.md").read_text().replace("\n  ", " "))
    names = {role.name.replace("-", " ") for role in ROLES}
    assert names == {*named.split(", "), "wheel", "auditor", "collector"}


def test_the_list_that_ships_is_made_from_the_table_of_roles() -> None:
    made = access_list([TABLE_ACCESS[TABLES[0]]])
    assert (SAMPLES / "wheeld.acl").read_text() == made, "make it anew: wheeld acl campione/campione-03"


def test_each_right_is_said_once_and_names_its_user() -> None:
    """No pattern, which every user would have, and no wildcard for a user or a command, but for who only reads."""
    listed, user = set[tuple[str, str, str]](), ""
    for kind, *words in (line.split() for line in _lines(access_list([*TABLE_ACCESS.values()]))):
        assert kind in ("user", "topic")
        if kind == "user":
            (user,) = words
            continue
        access, topic = words
        assert (user, access, topic) not in listed, "said twice"
        listed.add((user, access, topic))
        if access == "write" and "/cmd/" in topic:
            assert topic.split("/")[-2] == user
            assert topic.split("/")[-1] in COMMANDS
    expected = {
        (user, *right) for table in TABLE_ACCESS.values() for user in table.users for right in table.rights(user)
    }
    assert listed == expected


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_the_certificate_of_the_office_is_no_table_s() -> None:
    """Who stands at a table and who does not."""
    assert {role.name for role in ROLES if role.is_at_table} == {
        "wheel",
        "bouler",
        "chef",
        "table-system",
        "display",
        "page",
    }


@pytest.mark.parametrize("user", USERS)
async def test_who_may_publish_what(broker: ShippedBroker, user: str) -> None:
    async with broker.client(EYE) as eye, broker.client(user) as client:
        await eye.subscribe("#", qos=1)
        await everything(client, user, user.encode())
        await eye.publish("end", b"")
        received = await received_by(eye, "end")
    assert {topic for topic, payload in received if payload == user.encode()} == allowed(user, "write")


async def test_nobody_sends_a_command_as_another(broker: ShippedBroker) -> None:
    """Neither within the same role at another table nor from the office."""
    async with broker.client(EYE) as eye:
        await eye.subscribe("#", qos=1)
        for user in ("direction", "chef-campione-04", "bouler-campione-03", "wheel-campione-03", "display-campione-03"):
            async with broker.client(user) as client:
                for leaf in ("cmd/chef-campione-03/rien_va", "cmd/chef-campione-03/suspend", f"cmd/{user}/rien_va"):
                    await client.publish(f"wheel/v1/campione/campione-03/{leaf}", b"forged", qos=1)
        await eye.publish("end", b"")
        assert await received_by(eye, "end") == []


@pytest.mark.parametrize("user", USERS)
async def test_who_may_subscribe_to_what(broker: ShippedBroker, user: str) -> None:
    """What is published while it listens, and what was retained before it came."""
    async with broker.client(EYE) as eye:
        await everything(eye, user, b"old", retain=True)
        async with broker.client(user) as client:
            # Straight to the wire at QoS 0, so all of it comes before the confirmation of what is sent next.
            await client.subscribe("#", qos=0)
            await client.subscribe("$SYS/#", qos=0)
            await everything(eye, user, b"new")
            await client.publish("the/end", b"", qos=1)
            found = [(message.topic.value, message.payload) for message in drained(client)]
        await everything(eye, user, b"", retain=True)
    assert {topic for topic, payload in found if payload == b"old"} == allowed(user, "read")
    assert {topic for topic, payload in found if payload == b"new"} == allowed(user, "read")
    assert not [topic for topic, _ in found if topic.startswith("$")]


def drained(client: aiomqtt.Client) -> Iterator[aiomqtt.Message]:
    """What has arrived already."""
    while len(client.messages):
        yield client._queue.get_nowait()


def test_the_wheels_of_three_tables_at_one_broker_have_nothing_of_each_other() -> None:
    tables = [TableAccess.of(SITE, f"campione-0{number}") for number in (3, 4, 5)]
    text, rights = access_list(tables), dict[str, set[str]]()
    for block in text.split("user ")[1:]:
        user, *lines = _lines(block)
        rights[user] = {line.split()[-1] for line in lines}
    for table in tables:
        ours = (table.root, f"reply/{SITE}/{table.table}/")
        own = rights[f"wheel-{table.table}"]
        assert f"{table.root}cmd/+/+" in own
        assert [topic for topic in own if not topic.startswith(ours)] == []


# --- who one is --------------------------------------------------------------------------------------------------


async def test_a_name_that_is_claimed_counts_for_nothing(broker: ShippedBroker) -> None:
    claimed = {"username": "wheel-campione-03", "password": "x", "identifier": "wheeld-campione-campione-03"}
    async with broker.client(EYE) as eye, broker.client("display-campione-03", **claimed) as client:
        await eye.subscribe("#", qos=1)
        await client.publish(topics("campione-03")["result"], b"forged", qos=1)
        await eye.publish("end", b"")
        assert await received_by(eye, "end") == []


async def test_nobody_throws_the_wheel_off_by_its_client_id(broker: ShippedBroker) -> None:
    async with broker.client("wheel-campione-03", identifier="w") as wheel, broker.client("nobody", identifier="w"):
        await wheel.publish(topics("campione-03")["health"], b"still here", qos=1)


async def test_nobody_comes_in_without_a_certificate(broker: ShippedBroker) -> None:
    files = broker.house.issue("nobody")
    async with connecting(settings(broker.port, ca_file=files.ca_file)) as (connection, clock):
        await clock.waiting()
        assert connection.counters["connections"] == 0


# --- the daemon's own connection ---------------------------------------------------------------------------------


async def test_the_wheel_does_its_work_and_no_other(broker: ShippedBroker) -> None:
    files = broker.house.issue("wheel-campione-03")
    wanted = settings(broker.port, ca_file=files.ca_file, cert_file=files.cert_file, key_file=files.key_file)
    ours, others = topics("campione-03"), topics("campione-04")
    root = "wheel/v1/campione/campione-03/"
    async with broker.client("chef-campione-03") as chef, connecting(wanted, root=root) as (connection, _):
        session = await session_of(connection)
        for leaf in (*PUBLISHED, "response"):
            await connection.publish(Publication(topic=ours[leaf], payload=b"{}"), session=session)
        with pytest.raises(PublishRefusedError, match="Not authorized"):
            await connection.publish(Publication(topic=others["result"], payload=b"{}"), session=session)
        await chef.publish(root + "cmd/chef-campione-03/rien_va", b"{}", qos=1)
        assert (await asyncio.wait_for(connection.inbox.get(), 30)).leaf == "cmd/chef-campione-03/rien_va"


async def test_a_table_that_the_certificate_is_not_for_is_logged(broker: ShippedBroker) -> None:
    """Nobody would see that wheel online; its log has the reason."""
    files = broker.house.issue("wheel-campione-03")
    wanted = settings(broker.port, ca_file=files.ca_file, cert_file=files.cert_file, key_file=files.key_file)
    with capture_logs() as logs:
        async with connecting(wanted, root="wheel/v1/campione/campione-04/") as (connection, _):
            await session_of(connection)
    (entry,) = [log for log in logs if log["log_level"] == "error"]
    assert (entry["event"], entry["answer"]) == ("broker.refuses", "Not authorized")
