"""A server is lost with its machine, and its standby takes its place."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.house.faults import said
from tests.house.house import House, house
from tests.house.postgres import Cluster


def both(whole: House, first: Cluster, second: Cluster) -> str:
    """The connection string of a cluster: whoever may be written."""
    hosts = f"host=127.0.0.1,127.0.0.1 port={first.port},{second.port}"
    return f"{hosts} dbname={whole.database} user=postgres target_session_attrs=read-write"


async def test_a_standby_that_is_waited_for_takes_over(tmp_path: Path) -> None:
    with Cluster() as primary:
        async with house(primary, tmp_path) as whole:
            with Cluster(primary) as standby:
                primary.wait_for_standby()
                whole.dsn = both(whole, primary, standby)
                whole.collector(tmp_path)
                await said(whole, 20)
                await whole.settled()
                speaking = asyncio.create_task(said(whole, 100, 2))
                await asyncio.sleep(0.2)
                await asyncio.to_thread(primary.crash)
                await asyncio.sleep(1.0)
                await asyncio.to_thread(standby.promote)
                await speaking
                whole.cluster = standby
                await whole.settled()
                assert whole.alarms() == []


async def test_what_the_new_server_lacks_is_asked_for(tmp_path: Path) -> None:
    """Nobody waited for the standby, so records that stood are gone. The numbers that come next show it."""
    with Cluster() as primary:
        async with house(primary, tmp_path) as whole:
            with Cluster(primary) as standby:
                whole.dsn = both(whole, primary, standby)
                whole.collector(tmp_path)
                await said(whole, 20)
                await whole.settled()
                await asyncio.to_thread(standby.crash)
                await said(whole, 50, 2)
                await whole.settled()
                await asyncio.to_thread(primary.crash)
                await asyncio.to_thread(standby.start)
                await asyncio.to_thread(standby.promote)
                whole.cluster = standby
                await said(whole, 5, 3)
                await whole.settled()
                assert whole.alarms() == []
