"""The access list that ships: every role by every topic at a real mosquitto, allowed and denied, seen by a subscriber.

What a role may do is read from the table of roles in docs/interfaces.md, not from the list.
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
from tests.security.shipped import EYE, SAMPLES, ShippedBroker
from wheeld.broker.payloads import COMMANDS
from wheeld.core.observations import CommandName
from wheeld.ports import Publication, PublishRefusedError

TABLES = ("campione-03", "campione-04")
PUBLISHED = ("result", "void", "table", "notice", "board", "health", "availability", "reply")
PEOPLES = (*(f"cmd/{name}" for name in get_args(CommandName)), "cmd/seal", "cmd/inspect")
LEAVES = (*PUBLISHED, "ack", *PEOPLES, "cmd/resend", "cmd/dance", "cmd/open/now", "cmd", "other", "result/x")


def topics(table: str) -> dict[str, str]:
    """Topic by leaf; `response` is where MQTT 5 answers go."""
    root = f"wheel/v1/campione/{table}/"
    return {leaf: root + leaf for leaf in LEAVES} | {"response": f"reply/campione/{table}/panel/7"}


EVERY = sorted(
    {topic for table in TABLES for topic in topics(table).values()}
    | {"wheel/v1/venezia/campione-03/result", "wheel/v1/venezia/campione-03/cmd/open", "reply/venezia/campione-03/x"}
    | {"result", "wheel/v1", "desk/7", "wheel/v2/campione/campione-03/result"}
)


USERS = {role.user: role for role in roles()}
NOBODY = ("nobody", "wheel", "chef-campione-0", "bouler", "chef")
"""A certificate of the house with a name that no role has, and parts of names that some have."""


def allowed(access: str) -> dict[str, set[str]]:
    """The topics that each user may read, or write, by docs/interfaces.md; a role at the table once for each table."""
    found: dict[str, set[str]] = {name: set() for name in NOBODY}
    for table in TABLES:
        for role in USERS.values():
            filters = [topic for right, topic in role.rights(table) if right == access]
            may = {topic for topic in EVERY if any(aiomqtt.Topic(topic).matches(each) for each in filters)}
            found.setdefault(role.user.format(table=table), set()).update(may)
    return found


MAY_READ, MAY_WRITE = allowed("read"), allowed("write")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShippedBroker]:
    directory = tmp_path_factory.mktemp("shipped")
    shipped = ShippedBroker(directory, Authority(directory))
    with shipped:
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


async def everything(client: aiomqtt.Client, payload: bytes, *, retain: bool = False) -> None:
    """Publish on every topic; each is confirmed, allowed or not."""
    await asyncio.gather(*(client.publish(topic, payload, qos=1, retain=retain) for topic in EVERY))


def test_the_matrix_is_whole() -> None:
    assert set(PEOPLES) | {"cmd/resend"} == {f"cmd/{name}" for name in COMMANDS}
    published = {leaf for role in USERS.values() for leaf in role.publishes}
    assert published == {*PUBLISHED, "response", "ack", *PEOPLES, "cmd/resend"}, "somebody may send each, and no other"


def test_every_role_of_the_rulebook_is_in_the_table() -> None:
    (named,) = re.findall(r"Roles: (.+?)\.", (PAGE.parent / "rulebook.md").read_text().replace("\n  ", " "))
    users = {user.removesuffix("-{table}").replace("-", " ") for user in USERS}
    assert users == {*named.split(", "), "wheel", "auditor"}


def test_the_list_says_what_the_table_of_roles_says() -> None:
    text, listed, user = (SAMPLES / "wheeld.acl").read_text(), set[tuple[str, str, str]](), ""
    for kind, *words in (line.split() for line in text.splitlines() if line and not line.startswith("#")):
        if kind == "user":
            (user,) = words
        else:
            access, topic = words
            assert (user, access, topic) not in listed, "said twice"
            listed.add((user, access, topic))
    table = TABLES[0]
    assert listed == {
        (role.user.format(table=table), *right) for role in USERS.values() for right in role.rights(table)
    }


def test_the_certificate_of_the_office_is_no_table_s() -> None:
    """Who stands at a table and who does not: `sed` in the head of the list changes the former's names only."""
    of_tables = {user.removesuffix("-{table}") for user in USERS if "{table}" in user}
    assert of_tables == {"wheel", "bouler", "chef", "table-system", "display"}


@pytest.mark.parametrize("role", MAY_WRITE)
async def test_who_may_publish_what(broker: ShippedBroker, role: str) -> None:
    async with broker.client(EYE) as eye, broker.client(role) as client:
        await eye.subscribe("#", qos=1)
        await everything(client, role.encode())
        await eye.publish("end", b"")
        received = await received_by(eye, "end")
    assert {topic for topic, payload in received if payload == role.encode()} == MAY_WRITE[role]


@pytest.mark.parametrize("role", MAY_READ)
async def test_who_may_subscribe_to_what(broker: ShippedBroker, role: str) -> None:
    """What is published while it listens, and what was retained before it came."""
    async with broker.client(EYE) as eye:
        await everything(eye, b"old", retain=True)
        async with broker.client(role) as client:
            # Straight to the wire at QoS 0, so all of it comes before the confirmation of what is sent next.
            await client.subscribe("#", qos=0)
            await client.subscribe("$SYS/#", qos=0)
            await everything(eye, b"new")
            await client.publish("the/end", b"", qos=1)
            found = [(message.topic.value, message.payload) for message in drained(client)]
        await everything(eye, b"", retain=True)
    assert {topic for topic, payload in found if payload == b"old"} == MAY_READ[role]
    assert {topic for topic, payload in found if payload == b"new"} == MAY_READ[role]
    assert not [topic for topic, _ in found if topic.startswith("$")]


def drained(client: aiomqtt.Client) -> Iterator[aiomqtt.Message]:
    """What has arrived already."""
    while len(client.messages):
        yield client._queue.get_nowait()


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
        await chef.publish(ours["cmd/rien_va"], b"{}", qos=1)
        assert (await asyncio.wait_for(connection.inbox.get(), 30)).leaf == "cmd/rien_va"


async def test_a_table_that_the_certificate_is_not_for_is_logged(broker: ShippedBroker) -> None:
    """Nobody would see that wheel online; its log has the reason."""
    files = broker.house.issue("wheel-campione-03")
    wanted = settings(broker.port, ca_file=files.ca_file, cert_file=files.cert_file, key_file=files.key_file)
    with capture_logs() as logs:
        async with connecting(wanted, root="wheel/v1/campione/campione-04/") as (connection, _):
            await session_of(connection)
    (entry,) = [log for log in logs if log["log_level"] == "error"]
    assert (entry["event"], entry["answer"]) == ("availability.refused", "Not authorized")
