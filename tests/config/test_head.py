"""`[head]`, and who observes what: what is accepted, and the problems of what is not."""

from __future__ import annotations

import pytest

from tests.config.test_config import GOOD, problems, with_line
from wheeld.cli.check import facts, to_look_at
from wheeld.config.reading import parse

SENSORS = '[sensors]\nport = "/dev/ttyACM0"\n\n'
HEAD = '[head]\nproduct = "mercury-360"\nport = "socket://10.0.0.7:4001"\n\n'
WHEEL = GOOD[GOOD.index("[wheel]") : GOOD.index("[sensors]")]
ALONE = GOOD.replace(WHEEL, "[wheel]\n\n").replace(SENSORS, HEAD)
SLINGSHOT = ALONE.replace("mercury-360", "slingshot-2")
BEAMS = "[wheel]\nbeams_deg = [0, 90, 180, 270]\n\n"
COMBINED = GOOD.replace(WHEEL, BEAMS).replace(SENSORS, SENSORS + HEAD.replace("mercury-360", "slingshot-2"))


def sources(text: str) -> tuple[str, str, str]:
    setting = parse(text).table
    return setting.rotor, setting.ball, setting.pocket


def test_a_head_alone_reports_everything() -> None:
    assert sources(ALONE) == ("head", "head", "head")
    assert sources(ALONE.replace("[wheel]\n\n", "")) == ("head", "head", "head")
    head = parse(ALONE).head
    assert head is not None
    assert (head.baud, head.poll, head.bare_number, head.silence_s_max) == (9600, False, True, 2.0)
    assert parse(ALONE).table.head == "mercury-360"
    assert parse(ALONE).sensors is None


def test_sensors_report_what_they_are_there_for_and_the_head_the_rest() -> None:
    assert sources(COMBINED) == ("head", "sensors", "head")
    assert sources(with_line("wheel", "rotor_ticks = 148", COMBINED)) == ("sensors", "sensors", "head")
    assert sources(GOOD) == ("sensors", "sensors", "sensors")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SLINGSHOT, "f.toml:1: table.unproven: is missing, and these sensors do not prove R2 (Art. 10)"),
        (with_line("table", 'unproven = "maybe"', SLINGSHOT), 'table.unproven: is "maybe"; expected "void" or "chef"'),
        (with_line("table", 'unproven = "void"', ALONE), 'table.unproven: is "void", but these sensors prove all of'),
        (with_line("wheel", 'ball = "head"', GOOD), 'wheel.ball: is "head", and no head is configured'),
        (
            with_line("wheel", 'ball = "head"', with_line("table", 'unproven = "void"', COMBINED)),
            'wheel.beams_deg: with ball = "head" nothing uses these sensors',
        ),
        (with_line("wheel", 'pocket = "sensors"', ALONE.replace(HEAD, HEAD + SENSORS)), "wheel.pocket: is"),
        (with_line("wheel", "readers_deg = [7]", ALONE.replace(HEAD, HEAD + SENSORS)), "wheel.pocket: is"),
        (with_line("wheel", 'rotor = "sensors"', COMBINED), "wheel.rotor_ticks: is missing: how many ticks"),
        (with_line("wheel", 'rotor = "board"', COMBINED), 'wheel.rotor: is "board"; expected "sensors" or "head"'),
        (with_line("table", "auto_rien_ne_va_plus_rev_s = 0.8", ALONE), "auto_rien_ne_va_plus_rev_s: needs beams"),
        (COMBINED.replace(SENSORS, ""), "sensors.port: is missing; give it, because sensors report ball"),
        (GOOD.replace(SENSORS, ""), "sensors.port: is missing; give it, because sensors report rotor, ball, pocket"),
        (with_line("head", "baud = 100", ALONE), "head.baud: is 100; expected the line's bits a second"),
        (
            with_line("head", "writable = false", with_line("head", "bare_number = false", ALONE)),
            "head.writable: is false, but a Mercury 360 needs a command that sets its extended mode",
        ),
        (
            with_line("head", "poll = true", with_line("head", "silence_s_max = 1.0", ALONE)),
            "head.silence_s_max: 1 s is not longer than two polls",
        ),
        (ALONE.replace("socket://10.0.0.7:4001", "foo://x:1"), "head.port: begins with foo://, which is not known"),
        (ALONE.replace("10.0.0.7:4001", "10.0.0.7"), "head.port: has no host, or no port"),
        (ALONE.replace("10.0.0.7:4001", "10.0.0.7:99999"), "head.port: is not an address"),
        (COMBINED.replace("socket://10.0.0.7:4001", "/dev/ttyACM0"), "head.port: is also the port of the board"),
        (with_line("head", "silence_s_max = 0.5", ALONE), "head.silence_s_max: is 0.5; expected seconds, 1 to 60"),
        (with_line("head", 'product = "saturn"', ALONE), 'is "saturn"; expected "mercury-360" or "slingshot-2"'),
    ],
)
def test_each_contradiction_is_reported_with_its_key(text: str, expected: str) -> None:
    reported = problems(text)
    assert len(reported) == 1
    assert expected in reported[0]


def test_its_meaning_is_printed() -> None:
    config = parse(with_line("table", 'unproven = "chef"', SLINGSHOT))
    lines = list(facts(config, "en"))
    assert "the head reports the rotor, the ball and the pocket" in lines
    assert "a coup needs 3 proven laps" in lines
    assert "the head reports the number" in lines
    assert "wheel head: SlingShot 2, socket://10.0.0.7:4001 at 9600 baud; silence for 2 s is a fault" in lines
    assert list(to_look_at(config)) == []
    assert "the head sends its status lines by itself" in lines
    assert "the head sends the number also on a line of its own" in lines
    assert "R2, Art. 10: the ball runs at least 3 full laps: nothing at this table proves this" in lines
    assert "a coup for which only R2 is not proven waits for the chef to confirm it, or to declare it void" in lines
    asked = list(facts(parse(with_line("head", "poll = true", with_line("head", "bare_number = false", ALONE))), "en"))
    assert "the head is asked for each status line" in asked
    assert "the head sends the number in its status lines only" in asked
    void = list(facts(parse(with_line("table", 'unproven = "void"', SLINGSHOT)), "en"))
    assert "a coup for which only R2 is not proven is void, with the cause breakdown" in void
    beside = list(facts(parse(COMBINED), "en"))
    assert "the head reports the rotor and the pocket" in beside
    assert "beams: 4 at 0°, 90°, 180° and 270°" in beside
    (waits,) = (line for line in beside if line.startswith("if the sensors suggest"))
    assert "the coup waits for the chef" in waits


def test_with_beams_the_chef_may_answer_for_laps_that_are_only_suggested() -> None:
    by_chef = list(facts(parse(with_line("table", 'unproven = "chef"', GOOD)), "en"))
    waits = "waits for the chef to confirm it, or to declare it void"
    assert f"if the sensors suggest enough laps and do not prove them, the coup {waits}" in by_chef
    void = list(facts(parse(with_line("table", 'unproven = "void"', COMBINED)), "en"))
    assert "if the sensors suggest enough laps and do not prove them, the coup is void, because of too few laps" in void
