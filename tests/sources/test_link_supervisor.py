"""The supervisor on virtual time: when it tries again, and what it logs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from wheeld.ports import LinkClosedError
from wheeld.sources.link.serial_link import PortUnavailableError
from wheeld.sources.link.supervisor import SOON_S, UNSTEADY_LOG_S, WAIT_S_MAX, WAIT_S_MIN, WAIT_S_SOON, LinkSupervisor


class EnoughError(Exception):
    """The script has run out."""


class VirtualClock:
    """Time that passes only in sleeps and by a script; ends the run after `sleeps_max`."""

    def __init__(self, sleeps_max: int) -> None:
        self.now_ns = 0
        self.slept_s: list[float] = []
        self._sleeps_max = sleeps_max

    def monotonic_ns(self) -> int:
        return self.now_ns

    def utc_us(self) -> int:
        raise AssertionError

    async def sleep(self, seconds: float) -> None:
        self.slept_s.append(seconds)
        self.now_ns += round(seconds * 1e9)
        if len(self.slept_s) == self._sleeps_max:
            raise EnoughError


class FakeLink:
    """Nothing but its end."""

    closed = False

    async def read(self) -> bytes:
        raise AssertionError

    async def write(self, data: bytes) -> None:
        raise AssertionError

    async def close(self) -> None:
        self.closed = True


class Rig:
    """A supervisor whose openings and services follow a script: an error's text, or how long the link is open."""

    def __init__(self, script: list[str | float], jitter: Callable[[], float] = lambda: 1.0) -> None:
        self._script = iter(script)
        self.clock = VirtualClock(len(script))
        self.links: list[FakeLink] = []
        self.supervisor = LinkSupervisor(self._open, self._serve, clock=self.clock, jitter=jitter)

    def _open(self) -> FakeLink:
        act = next(self._script)
        if isinstance(act, str):
            raise PortUnavailableError("/dev/x", act)
        self._open_s = act
        self.links.append(FakeLink())
        return self.links[-1]

    async def _serve(self, link: FakeLink) -> None:
        assert not link.closed
        self.clock.now_ns += round(self._open_s * 1e9)
        raise LinkClosedError("unplugged")

    async def run(self) -> list[dict[str, object]]:
        with capture_logs() as logs, pytest.raises(EnoughError):
            await self.supervisor.run()
        return [dict(entry) for entry in logs]


async def test_a_line_is_tried_every_half_second_at_first_and_less_often_later() -> None:
    rig = Rig(["missing"] * 27)
    await rig.run()
    soon = [WAIT_S_SOON] * 19
    assert rig.clock.slept_s == pytest.approx([0.1, 0.2, 0.4, *soon, 1.0, 2.0, WAIT_S_MAX, WAIT_S_MAX, WAIT_S_MAX])
    assert sum(rig.clock.slept_s[:22]) == pytest.approx(SOON_S, abs=WAIT_S_SOON)


async def test_jitter_takes_up_to_half_of_a_wait() -> None:
    rig = Rig(["missing"] * 3, jitter=iter([0.0, 0.5, 1.0]).__next__)
    await rig.run()
    assert rig.clock.slept_s == pytest.approx([0.05, 0.15, 0.4])


async def test_a_link_that_lived_is_reopened_at_once_and_one_that_did_not_is_not() -> None:
    rig = Rig(["missing"] * 4 + [60.0, 0.01, 0.01])
    await rig.run()
    assert rig.clock.slept_s[4:] == pytest.approx([WAIT_S_MIN, WAIT_S_MIN * 2, WAIT_S_MIN * 4])
    assert rig.supervisor.opened_count == 3


async def test_every_link_is_closed_after_use() -> None:
    rig = Rig([1.0, 1.0])
    await rig.run()
    assert [link.closed for link in rig.links] == [True, True]


async def test_only_changes_are_logged() -> None:
    rig = Rig(["missing", "missing", "busy", 5.0, "busy", "busy"])
    logs = await rig.run()
    assert [(entry["event"], entry.get("why", ""), entry["log_level"]) for entry in logs] == [
        ("link.unavailable", "/dev/x: missing", "warning"),
        ("link.unavailable", "/dev/x: busy", "warning"),
        ("link.open", "", "info"),
        ("link.lost", "unplugged", "warning"),
        ("link.unavailable", "/dev/x: busy", "warning"),
    ]


async def test_a_line_that_is_lost_as_soon_as_it_is_opened_is_few_log_lines() -> None:
    script: list[str | float] = [*[0.01] * 200, "busy", 60.0, 60.0]
    rig = Rig(script)
    logs = await rig.run()
    assert rig.clock.now_ns > 500e9
    assert len(logs) <= 2 * 500 / UNSTEADY_LOG_S + 6
    assert [entry["event"] for entry in logs][-4:] == ["link.unavailable", "link.lost", "link.open", "link.lost"]


async def test_a_defect_in_the_service_is_not_swallowed() -> None:
    link = FakeLink()

    async def serve(_: FakeLink) -> None:
        raise ZeroDivisionError

    supervisor = LinkSupervisor(lambda: link, serve, clock=VirtualClock(1), jitter=lambda: 0.0)
    with pytest.raises(ZeroDivisionError):
        await supervisor.run()
    assert link.closed


async def test_why_a_line_cannot_be_opened_is_known_until_it_is() -> None:
    rig = Rig(["it is not there"])
    await rig.run()
    assert rig.supervisor.unavailable == "/dev/x: it is not there"
    rig = Rig(["it is not there", 1.0])
    await rig.run()
    assert rig.supervisor.unavailable == ""
