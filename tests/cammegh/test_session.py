"""The session: start-up, polls, silence, commands with read-back, and bytes of any kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.commands import ANSWER_NS
from firmware_protocol.cammegh.session import (
    LEVEL_LINES,
    LEVEL_NS,
    POLL_NS_MIN,
    SILENCE_NS,
    WAKE_NS,
    CammeghSession,
    Setup,
)
from firmware_protocol.cammegh.status import Product
from hw_sim.cammegh.coups import Model
from hw_sim.cammegh.head import HeadSetup
from tests.cammegh.bench import DISPLAY, MERCURY, SLINGSHOT, Desk, extended, head, listen, of, status

POLLED = Setup(Product.SLINGSHOT_2, poll_ns=POLL_NS_MIN)
ADVANCED = Setup(Product.MERCURY_360, extended=False)


def started(setup: Setup = SLINGSHOT) -> Desk:
    """A desk whose start-up questions are answered."""
    desk = Desk(setup)
    desk.tick()
    desk.hear("*S V2.50")
    desk.tick()
    desk.hear("*O 6 1 60 1158", status(6))
    desk.sent()
    return desk


# Start-up


def test_a_slingshot_is_asked_who_it_is_and_nothing_that_moves_it() -> None:
    desk = Desk(SLINGSHOT)
    assert desk.tick() == []
    assert desk.sent() == b"*S\r"
    assert desk.hear("*S V2.50") == [e.CommandAnswered(desk.now_ns, "*S", "V2.50")]
    desk.tick()
    assert desk.sent() == b"*O\r"
    assert desk.hear("*O 2 1 161 1158") == [e.CommandAnswered(desk.now_ns, "*O", "2 1 161 1158")]
    assert (desk.session.version, desk.session.mode) == ("V2.50", 1158)
    assert desk.hear("*O 2 1 161 1158") == []
    assert desk.sent() == b""


@pytest.mark.parametrize(
    ("setup", "mode", "settings"),
    [
        (SLINGSHOT, 1158 + 16, ["bare number"]),
        (SLINGSHOT, 1158 - 128, ["automatic status"]),
        (POLLED, 1158 - 128, []),
        (Setup(Product.SLINGSHOT_2, bare_number=False), 1158 - 128, ["bare number", "automatic status"]),
    ],
)
def test_a_mode_that_contradicts_the_configuration_is_reported(setup: Setup, mode: int, settings: list[str]) -> None:
    events = Desk(setup).hear(f"*O 6 1 60 {mode}")
    assert [one.setting for one in of(e.Misconfigured, events)] == settings


def test_answers_of_another_shape_are_counted() -> None:
    desk = Desk(SLINGSHOT)
    desk.tick()
    assert desk.hear("*O 6 1 60 mode", "*O 6", "*S nonsense", "*q OK") == []
    assert desk.session.counters["unasked"] == 4
    assert desk.session.mode is None


def test_a_mercury_is_put_into_extended_mode_and_its_lines_prove_it() -> None:
    desk = Desk(MERCURY)
    assert desk.sent() == b"*m2 2 2\r"
    desk.hear(status(2), status(2))
    assert of(e.CommandConfirmed, desk.hear(extended(2))) == [e.CommandConfirmed(desk.now_ns, "*m2 2 2", "extended")]
    assert desk.hear(extended(2)) == []
    assert (desk.sent(), desk.session.level) == (b"", "extended")


def test_a_mercury_that_ignores_it_is_reported_and_asked_again() -> None:
    desk = Desk(MERCURY)
    desk.sent()
    events = desk.hear(*[status(2)] * LEVEL_LINES)
    assert of(e.CommandIgnored, events) == [e.CommandIgnored(desk.now_ns, "*m2 2 2", "advanced")]
    desk.hear(status(2), status(2))
    assert desk.sent() == b""
    desk.hear(status(2), apart_ns=LEVEL_NS)
    assert desk.sent() == b"*m2 2 2\r"


def test_a_mercury_that_falls_back_to_another_mode_is_asked_again() -> None:
    desk = Desk(MERCURY)
    desk.hear(extended(2))
    desk.sent()
    desk.now_ns += LEVEL_NS
    assert desk.hear("*S") == []
    assert (desk.sent(), desk.session.level) == (b"*m2 2 2\r", "basic")
    assert desk.session.counters["basic"] == 1


def test_basic_lines_conclude_nothing() -> None:
    desk = Desk(MERCURY)
    assert of(e.Number, desk.hear("*S", "*N", "*W21", "*S")) == []


@pytest.mark.parametrize("setup", [ADVANCED, DISPLAY, Setup(Product.MERCURY_360, writable=False, bare_number=False)])
def test_what_is_not_to_be_asked_is_not(setup: Setup) -> None:
    desk = Desk(setup)
    desk.hear(*[status(2)] * 9, "*Y;1;123;30")
    desk.tick(SILENCE_NS)
    desk.tick(WAKE_NS)
    assert desk.sent() == b""


# Polls and silence


def test_polls_come_as_often_as_set() -> None:
    desk = started(POLLED)
    desk.tick()
    assert desk.sent() == b"*X\r"
    desk.tick(POLL_NS_MIN - 1)
    assert desk.sent() == b""
    assert desk.session.next_tick_ns == desk.now_ns + 1
    desk.tick(1)
    assert desk.sent() == b"*X\r"


def test_silence_is_reported_once_and_so_is_its_end() -> None:
    desk = started()
    assert desk.tick(SILENCE_NS - 1) == []
    assert desk.session.next_tick_ns == desk.now_ns + 1
    assert desk.tick(1) == [e.Silent(desk.now_ns, desk.now_ns - SILENCE_NS)]
    assert desk.tick(1) == []
    assert of(e.LinesAgain, desk.hear(status(6))) == [e.LinesAgain(desk.now_ns, SILENCE_NS + 1 + 500_000_000)]


def test_silence_that_nobody_asked_about_is_reported_with_its_end() -> None:
    desk = started()
    events = desk.hear(status(6), apart_ns=60_000_000_000)
    assert [type(one) for one in events] == [e.Silent, e.LinesAgain]


def test_a_host_that_was_held_up_has_heard_everything() -> None:
    desk = started()
    lines = "".join(f"{status(state)}\r\n" for state in (2, 2, 2, 3, 3, 3, 4, 4))
    desk.now_ns += 4_200_000_000
    events = desk.session.receive(lines.encode(), desk.now_ns)
    assert not of(e.Silent, events)
    assert of(e.BallSeen, events)
    assert of(e.Number, desk.hear("27", status(5, number=27)))[0].whole


def test_a_silent_slingshot_is_asked_to_speak_and_reads_back_that_it_will() -> None:
    desk = started()
    desk.tick(SILENCE_NS)
    assert desk.sent() == b"*q 1\r*O\r"
    assert desk.hear("*O 6 1 60 1158") == [e.CommandConfirmed(desk.now_ns, "*q 1", "1")]
    desk.tick(WAKE_NS)
    assert desk.sent() == b"*q 1\r*O\r"
    assert desk.hear("*O 6 0 60 1158") == [e.CommandIgnored(desk.now_ns, "*q 1", "0")]


def test_a_silent_slingshot_that_is_being_asked_is_not_asked_more() -> None:
    desk = Desk(SLINGSHOT)
    desk.tick()
    assert desk.sent() == b"*S\r"
    desk.now_ns += SILENCE_NS - ANSWER_NS + 1
    desk.session.opened(desk.now_ns)
    desk.tick()
    assert desk.sent() == b"*S\r"
    assert of(e.Silent, desk.tick(ANSWER_NS - 1))
    assert desk.sent() == b""


def test_a_silent_polled_slingshot_is_only_polled() -> None:
    desk = started(POLLED)
    desk.tick(SILENCE_NS)
    assert desk.sent() == b"*X\r"


def test_a_silent_mercury_is_asked_for_its_extended_mode() -> None:
    desk = Desk(MERCURY)
    desk.hear(extended(2))
    desk.sent()
    desk.tick(SILENCE_NS)
    assert desk.sent() == b"*m2 2 2\r"


def test_a_port_opened_anew_begins_anew() -> None:
    desk = started()
    desk.hear(status(2), status(3))
    desk.session.receive(b"*X;4;0", desk.now_ns)
    desk.session.opened(desk.now_ns)
    desk.tick()
    assert desk.sent() == b"*S\r"
    events = desk.hear(status(4), "27", status(5, number=27))
    assert [one.whole for one in of(e.Number, events)] == [False]


@pytest.mark.parametrize("reopened_ns", [[], [1], [SILENCE_NS // 2], [SILENCE_NS // 3, SILENCE_NS - 1]])
def test_silence_counts_from_the_last_line_whatever_is_reopened(reopened_ns: list[int]) -> None:
    desk = started()
    heard_ns = desk.now_ns
    for after_ns in reopened_ns:
        desk.session.opened(heard_ns + after_ns)
        assert desk.session.tick(heard_ns + after_ns) == []
    assert of(e.Silent, desk.session.tick(heard_ns + SILENCE_NS - 1)) == []
    assert of(e.Silent, desk.session.tick(heard_ns + SILENCE_NS)) == [e.Silent(heard_ns + SILENCE_NS, heard_ns)]


def test_a_port_opened_anew_after_a_silence_is_heard_with_its_first_line() -> None:
    desk = started()
    assert of(e.Silent, desk.tick(SILENCE_NS))
    for _ in range(3):
        desk.now_ns += 1_000_000_000
        desk.session.opened(desk.now_ns)
        assert of(e.Silent, desk.tick(SILENCE_NS)) == []
    assert of(e.LinesAgain, desk.hear(status(6))) == [e.LinesAgain(desk.now_ns, 4 * SILENCE_NS + 3_500_000_000)]
    assert of(e.LinesAgain, desk.hear(status(6))) == []


def test_a_port_that_never_opens_is_silent() -> None:
    session = CammeghSession(SLINGSHOT)
    began_ns = 3_600_000_000_000
    assert session.next_tick_ns <= began_ns
    assert session.tick(began_ns) == []
    assert session.next_tick_ns == began_ns + SILENCE_NS
    assert session.tick(began_ns + SILENCE_NS) == [e.Silent(began_ns + SILENCE_NS, began_ns)]
    session.opened(began_ns + 2 * SILENCE_NS)
    events = session.receive(f"{status(2)}\r\n".encode(), began_ns + 3 * SILENCE_NS)
    assert [type(one) for one in events] == [e.LinesAgain, e.Connected, e.RotorSpeed]


def test_a_line_before_anything_was_opened_ends_no_silence() -> None:
    events = CammeghSession(SLINGSHOT).receive(f"{status(2)}\r\n".encode(), 3_600_000_000_000)
    assert [type(one) for one in events] == [e.Connected, e.RotorSpeed]


# Commands


@pytest.mark.parametrize("reply", ["NO", "BUSY"])
def test_refusals(reply: str) -> None:
    desk = Desk(SLINGSHOT)
    desk.tick()
    assert desk.hear(f"*S {reply}") == [e.CommandRefused(desk.now_ns, "*S", reply)]
    desk.tick()
    assert desk.sent() == b"*S\r*O\r"


def test_an_answer_that_does_not_come() -> None:
    desk = Desk(SLINGSHOT)
    desk.tick()
    assert desk.sent() == b"*S\r"
    assert desk.session.next_tick_ns == desk.now_ns + ANSWER_NS
    assert desk.tick(ANSWER_NS) == [e.CommandUnanswered(desk.now_ns, "*S")]
    assert desk.sent() == b"*O\r"
    assert desk.hear("*S V2.50") == []
    assert desk.session.counters["unasked"] == 1


def test_self_test_codes_have_names() -> None:
    events = Desk(SLINGSHOT).hear("*F 0", "*F 12", "*F 77", "*F BUSY")
    assert [(one.code, one.meaning) for one in of(e.SelfTestCode, events)] == [
        (0, "good"), (12, "sensor 2 stuck on"), (77, "unknown"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [{"poll_ns": POLL_NS_MIN - 1}, {"poll_ns": 2_000_000_000}, {"pockets": 36},
     {"writable": False}, {"writable": False, "bare_number": False, "poll_ns": POLL_NS_MIN}],
)  # fmt: skip
def test_a_setup_that_cannot_be(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  each has its own words
        Setup(Product.SLINGSHOT_2, **wrong)  # type: ignore[arg-type]


# Against the simulated head


def test_start_up_commands_get_through_to_a_head() -> None:
    wheel = head(Model.SLINGSHOT_2, 3, 2, setup=HeadSetup(mode=1158 - 128))
    session = CammeghSession(SLINGSHOT)
    session.opened(0)
    events = listen(wheel, session)
    assert wheel.received_commands[:2] == ["*S", "*O"]
    assert [one.command for one in of(e.CommandConfirmed, events)] == ["*q 1"]
    assert of(e.Number, events)


STATUSES = [
    status(state, spin, number, flag).encode()
    for state in range(1, 8)
    for spin in (11, 12)
    for number in (34, 27)
    for flag in "0128"
]
PIECES = st.tuples(
    st.sampled_from([*STATUSES, b"27", b"34", b"*T OK", b"*O 6 1 60 1158"]) | st.binary(max_size=30),
    st.sampled_from([b"\r\n", b"\r", b""]),
    st.integers(0, 3 * 10**9),
)


@given(st.lists(PIECES), st.sampled_from([SLINGSHOT, MERCURY, POLLED, DISPLAY]))
def test_whatever_comes_no_number_is_reported_that_was_not_on_two_lines(
    stream: list[tuple[bytes, bytes, int]], setup: Setup
) -> None:
    session = CammeghSession(setup)
    session.opened(0)
    now_ns, heard, events = 0, b"", list[e.Event]()
    for line, end, after_ns in stream:
        now_ns += after_ns
        heard += line + end
        events += session.receive(line + end, now_ns) + session.tick(now_ns)
        session.data_to_send()
    assert [one.host_ns for one in events] == sorted(one.host_ns for one in events)
    for one in of(e.Number, events):
        assert heard.count(f"{one.number:2d}".encode()) >= 2
        assert f"*X;5;{one.spin:03d};{one.number:2d};".encode() in heard
