"""From a head's session to observations: what comes after a silence, and what is kept while there is no link."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from firmware_protocol.cammegh.session import Setup
from firmware_protocol.cammegh.status import Product
from tests.cammegh.bench import MERCURY, SLINGSHOT, status
from tests.sources.test_board_feed import HandClock
from wheeld.core.observations import HeadGame, HeadJump, HeadNumber, Observation, SensorState
from wheeld.sources.head.cammegh import CammeghHead
from wheeld.sources.head.feed import HeadFeed

POLLED = Setup(Product.SLINGSHOT_2, poll_ns=500_000_000)


class HeadClock(HandClock):
    """For a feed with another tick than a board's."""

    async def sleep(self, seconds: float) -> None:
        await self._stepped.wait()


def observed_after_silence(state: int) -> list[Observation]:
    """The first observations of a head that fell silent in state 4."""
    head = CammeghHead(MERCURY, lambda ns: ns // 1_000)
    for second, each in enumerate((2, 3, 4)):
        list(head.receive(f"{status(each)}\r\n".encode(), second * 500_000_000))
    assert SensorState(4_000_000, "head", ok=False) in head.tick(4_000_000_000)
    lines = f"{status(state)}\r\n" * 2
    return [*head.receive(lines.encode(), 5_000_000_000)]


def test_a_head_that_is_received_again_is_in_the_state_of_its_line() -> None:
    for state, phase in ((4, "closing"), (2, "ready"), (3, "running")):
        games = [seen.phase for seen in observed_after_silence(state) if isinstance(seen, HeadGame)]
        assert games == [phase], state


@pytest.mark.parametrize(
    ("lines", "report"),
    [
        (("27", status(5, number=28)), HeadNumber(2_000_000, None, 11)),
        (("27", status(5, number=27), status(2, 12, 27), *[status(2, 12, 26)] * 2), HeadJump(3_500_000, 12, 12)),
    ],
    ids=["in its run", "after it"],
)
def test_a_head_that_gives_two_numbers_is_not_sure_of_its_number(lines: list[str], report: Observation) -> None:
    head = CammeghHead(SLINGSHOT, lambda ns: ns // 1_000)
    seen: list[Observation] = []
    for half_s, line in enumerate((status(2), status(3), status(4), *lines)):
        seen += head.receive(f"{line}\r\n".encode(), half_s * 500_000_000)
    assert [one for one in seen if isinstance(one, HeadNumber | HeadJump)][-1] == report


async def test_polls_do_not_pile_up_while_there_is_no_line() -> None:
    clock, session = HeadClock(), CammeghHead(POLLED, lambda ns: ns // 1_000)
    feed = HeadFeed(session, clock, lambda _: None)
    task: asyncio.Task[None] = asyncio.create_task(feed.tick())
    for _ in range(200):
        await clock.step(50)
    assert session.counters["status"] == 0
    assert session.data_to_send() == b""
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
