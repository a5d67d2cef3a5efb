"""Observation logs read strictly: an error names its line, and the same log gives the same bytes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.core.evening import Evening
from tests.faults.fuzz_mutate import kept
from wheeld.core.observations import LINE_BYTES_MAX, BallPass, TimePassed
from wheeld.replay import LogError, LogReplay, replay

HEADER = (
    b'{"kind":"wheel","format":1,"table":"campione-03","house":"campione","game":"roulette","wheel":"french",'
    b'"rotor_ticks":148,"beams_deg":[0,90,180,270],"readers_deg":[30,150,270],'
    b'"min_laps":3,"started":"2026-11-20T18:00:00Z","last_number":17}\n'
)
OPEN = b'{"t":1000,"kind":"command","name":"open","by":"chef"}\n'


def lines_of(evening: Evening) -> list[bytes]:
    """The evening as another team's log would have it: without this program's own heartbeats."""
    return [msgspec.json.encode(seen) for seen in evening.seen if not isinstance(seen, TimePassed)]


def output(*lines: bytes, lenient: bool = False) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in replay([HEADER, *lines], lenient=lenient)]


def problem(*lines: bytes) -> LogError:
    with pytest.raises(LogError) as caught:
        list(replay(lines))
    return caught.value


@pytest.fixture(scope="module")
def evening() -> Evening:
    evening = Evening().open()
    evening.coup(22)
    evening.say("operations_done")
    evening.void_by_chef()
    evening.say("tout_va")
    evening.coup(0)
    return evening


def test_a_log_gives_the_verdicts_of_its_evening(evening: Evening) -> None:
    out = output(*lines_of(evening))
    verdicts = [line for line in out if line["topic"] in ("result", "void")]
    assert [(line["topic"], line["payload"].get("number")) for line in verdicts] == [
        ("result", 22), ("void", None), ("result", 0),
    ]  # fmt: skip
    assert [line["t"] for line in out] == sorted(line["t"] for line in out)
    assert [line["payload"]["t_us"] for line in verdicts] == [line["t"] for line in verdicts]


def test_the_same_log_gives_the_same_bytes(evening: Evening) -> None:
    log = [HEADER, *lines_of(evening)]
    assert list(replay(log)) == list(replay(log))


def test_the_end_of_the_header_line_does_not_change_its_identity() -> None:
    assert list(replay([HEADER, OPEN])) == list(replay([HEADER.strip() + b"\r\n", OPEN]))


def test_the_reply_to_a_command_with_an_id_is_published_too() -> None:
    refused = b'{"t":2000,"kind":"command","name":"open","by":"tablet","user":"chef-3","id":"7"}'
    (reply,) = [line["payload"] for line in output(OPEN, refused) if line["topic"] == "reply"]
    assert reply == {
        "schema": "reply/1", "id": "7", "name": "open", "by": "tablet", "user": "chef-3", "done": False,
        "why": "la table est ouverte",
    }  # fmt: skip


def test_a_button_gets_no_reply_and_a_refused_one_is_a_notice() -> None:
    """Nothing can be sent to a button: done, the table's new state shows it; refused, a notice does."""
    out = output(OPEN, OPEN.replace(b"1000", b"2000"))
    assert [line for line in out if line["topic"] == "reply"] == []
    (notice,) = [line["payload"] for line in out if line["topic"] == "notice"]
    assert (notice["notice"], notice["by"], notice["t_us"]) == ("refused", "chef", 2000)
    assert notice["text"] == "« faites vos jeux » : refus ; la table est ouverte"


def test_lines_may_come_with_members_in_any_order_and_with_spaces() -> None:
    mixed = b'  { "by" : "chef", "name" : "open" , "kind":"command","t" : 1000 } '
    assert output(mixed) == output(OPEN)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"", "truncated"),
        (b"nonsense", "malformed"),
        (b"\xff\xfe", "malformed"),
        (b"null", "object"),
        (b'{"kind":"ball","beam":2}', "`t`"),
        (b'{"t":5,"beam":2}', "`kind`"),
        (b'{"t":5,"kind":7}', "kind"),
        (b'{"t":5,"kind":null,"beam":2}', "kind"),
        (b'["ball"]', "object"),
        (b'{"t":5,"kind":"ball"}', "beam"),
        (b'{"t":5.5,"kind":"ball","beam":2}', "int"),
        (b'{"t":"5","kind":"ball","beam":2}', "int"),
        (b'{"t":5,"kind":"ball","beam":4}', "sensor 'beam/4': the header has beam/0, beam/1, beam/2, beam/3, reader/0"),
        (b'{"t":5,"kind":"ball","beam":-1}', "sensor 'beam/-1'"),
        (b'{"t":5,"kind":"pocket","reader":3}', "sensor 'reader/3'"),
        (b'{"t":5,"kind":"rotor","tick":148,"direction":"cw"}', "tick 148: the header allows 0…147"),
        (b'{"t":5,"kind":"rotor","tick":14,"direction":"up"}', "up"),
        (b'{"t":5,"kind":"object","present":"yes"}', "bool"),
        (b'{"t":5,"kind":"sensor","sensor":"beam/4","ok":false}', "beam/4"),
        (b'{"t":5,"kind":"sensor","sensor":"reader/3","ok":true}', "reader/3"),
        (b'{"t":5,"kind":"sensor","sensor":"beam/-1","ok":false}', "beam/-1"),
        (b'{"t":5,"kind":"sensor","sensor":"beam","ok":false}', "'beam'"),
        (b'{"t":5,"kind":"sensor","sensor":"beam/one","ok":false}', "beam/one"),
        (b'{"t":5,"kind":"sensor","sensor":"rotor/0","ok":false}', "rotor/0"),
        (b'{"t":5,"kind":"sensor","sensor":"camera","ok":false}', "camera"),
        (b'{"t":5,"kind":"sensor","sensor":"","ok":false}', "sensor ''"),
        (b'{"t":5,"kind":"command","name":"dance","by":"chef"}', "dance"),
        (b'{"t":5,"kind":"command","name":"open"}', "by"),
        (b'{"t":5,"kind":"command","name":"rien_va","by":"chef","case":"chef"}', "case"),
        (b'{"t":5,"kind":"command","name":"close","by":"chef","case":"too_few_laps"}', "only rien_va names a case"),
        (b'{"t":-1,"kind":"ball","beam":1}', "older than the line before"),
        (b'{"t":999999999999999999,"kind":"ball","beam":1}', "ten years"),
        (b'{"t":99999999999999999999999,"kind":"command","name":"open","by":"chef"}', "ten years"),
        (b'{"t":5,"kind":"clock","utc_us":99999999999999999999,"error_us":1}', "1970 to 2999"),
        (b'{"t":5,"kind":"clock","utc_us":-1,"error_us":1}', "1970 to 2999"),
    ],
)
def test_a_malformed_line_is_an_error_with_its_number(line: bytes, expected: str) -> None:
    error = problem(HEADER, OPEN.replace(b"1000", b"1"), line)
    assert error.line == 3
    assert expected in error.problem
    assert str(error).startswith("line 3: ")


def test_a_line_too_long_is_no_observation() -> None:
    long = b'{"t":5,"kind":"ball","beam":1' + b" " * LINE_BYTES_MAX + b"}"
    assert f"longer than {LINE_BYTES_MAX}" in problem(HEADER, long).problem


def test_time_going_back_is_an_error_but_for_a_command() -> None:
    """A command is stamped by the host's estimate, and acts on the present."""
    later = b'{"t":2000,"kind":"ball","beam":1}'
    assert problem(HEADER, later, b'{"t":1999,"kind":"ball","beam":2}').line == 3
    out = output(later, OPEN)
    assert [line["t"] for line in out if line["payload"].get("state") == "faites_vos_jeux"] == [2000, 2000]


def test_lenient_skips_and_counts_what_is_malformed(evening: Evening) -> None:
    lines = lines_of(evening)
    bad = [b"nonsense", b'{"t":5,"kind":"ball","beam":9}', b'{"t":0,"kind":"ball","beam":1}']
    spoiled = [*lines[:50], bad[0], *lines[50:100], bad[1], *lines[100:], bad[2]]
    reading = LogReplay(lenient=True)
    assert list(reading.run([HEADER, *spoiled])) == list(replay([HEADER, *lines]))
    assert reading.counters["malformed"] == 3


def test_unknown_kinds_and_keys_are_skipped_and_counted() -> None:
    reading = LogReplay()
    lines = [
        b'{"t":5,"kind":"temperature","celsius":21}',
        b'{"t":1,"kind":"camera"}',
        b'{"t":1000,"kind":"command","name":"open","by":"chef","shoe":43,"hat":"no"}',
    ]
    assert list(reading.run([HEADER, *lines])) == list(replay([HEADER, OPEN]))
    assert reading.counters["unknown"] == 2
    assert reading.counters["unknown_keys"] == 2


def test_nothing_unknown_or_malformed_is_counted_in_a_good_log(evening: Evening) -> None:
    reading = LogReplay()
    list(reading.run([HEADER, *lines_of(evening)]))
    assert +reading.counters == {}


def test_nothing_after_the_end_is_read() -> None:
    assert output(OPEN, b'{"t":2000,"kind":"end"}', b"nonsense") == output(OPEN, b'{"t":2000,"kind":"end"}')


def test_time_runs_to_the_end_so_absences_are_published() -> None:
    """A rotor that stops under a running ball has no line: the end's time proves it."""
    evening = Evening().open()
    evening.launch()
    evening.wait(2)
    evening.turn(0)
    evening._planned.clear()
    lines = lines_of(evening)
    assert not [line for line in output(*lines) if line["topic"] == "void"]
    end = b'{"t":%d,"kind":"end"}' % (evening.now_us + 3_000_000)
    (void,) = [line for line in output(*lines, end) if line["topic"] == "void"]
    assert void["t"] <= evening.now_us + 2_000_000


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ((b'"kind":"wheel"', b'"kind":"ball"'), "ball"),
        ((b'"format":1', b'"format":2'), "2"),
        ((b'"rotor_ticks":148', b'"rotor_ticks":12'), "rotor_ticks: 12"),
        ((b'"min_laps":3,', b""), "min_laps"),
        ((b'"min_laps":3,', b'"min_laps":2,'), "min_laps: 2 is not within 3"),
        ((b'"min_laps":3,', b'"min_laps":3,"void_words":"rien",'), "void_words"),
        ((b'"game":"roulette"', b'"game":"poker"'), "campione/poker"),
        ((b"18:00:00Z", b"18:00:00"), "no offset"),
        ((b"2026-11-20T18:00:00Z", b"tonight"), "tonight"),
        ((b"2026-", b"9999-"), "1970 to 2999"),
        ((b'"last_number":17', b'"last_number":37'), "last_number: 37"),
        ((b'"last_number":17', b'"snapshot":{}'), "now_us"),
        ((b'"last_number":17', b'"snapshot":3'), "snapshot"),
        ((b"}\n", b""), "truncated"),
    ],
)
def test_a_bad_header_is_an_error_on_line_one(change: tuple[bytes, bytes], expected: str) -> None:
    error = problem(HEADER.replace(*change), OPEN)
    assert error.line == 1
    assert expected in error.problem
    assert "header" in error.problem


def test_an_empty_log_has_no_header() -> None:
    assert problem().line == 1


def test_a_headers_unknown_keys_are_skipped() -> None:
    assert len(output(OPEN)) == len(list(replay([HEADER.replace(b'"format":1', b'"format":1,"venue":"x"'), OPEN])))


def test_the_first_coup_of_a_table_may_have_no_last_number(evening: Evening) -> None:
    fresh = HEADER.replace(b'"last_number":17', b'"last_number":null')
    out = [msgspec.json.decode(line) for line in replay([fresh, OPEN])]
    assert [line["payload"]["last_number"] for line in out if line["topic"] == "table"] == [None, None]


def test_with_facts_what_the_law_applied_stands_between_the_messages(evening: Evening) -> None:
    lines = [HEADER, *lines_of(evening)]
    plain, full = list(replay(lines)), list(LogReplay(facts=True).run(lines))
    facts = [line for line in map(msgspec.json.decode, full) if line["topic"] == "fact"]
    assert [line for line in full if b'"topic":"fact"' not in line] == plain
    names = [fact["payload"]["fact"] for fact in facts]
    assert names.index("launched") < names.index("opposite_direction") < names.index("number")
    launched = facts[names.index("launched")]
    assert launched["payload"]["text"] == "a ball runs"
    assert launched["payload"]["state"] == "ball_running"
    assert launched["payload"]["evidence_us"] <= launched["t"]
    assert all(fact["t"] >= 0 for fact in facts)


def test_a_line_of_a_later_version_that_is_wrong_besides_is_malformed() -> None:
    wrong = problem(HEADER, b'{"t":1,"kind":"ball","beam":"two","colour":"white"}')
    assert wrong.line == 2


def test_a_stray_pulse_is_named_with_its_beam() -> None:
    evening = Evening().open()
    passes = evening.launch(laps=8)
    stray = BallPass(passes[9].t_us + 40_000, (passes[9].beam + 2) % 4)
    evening.plan(stray)
    evening.until(passes[-1].t_us)
    facts_and_messages = map(msgspec.json.decode, LogReplay(facts=True).run([HEADER, *lines_of(evening)]))
    named = [
        (line["t"], line["payload"]["figures"])
        for line in facts_and_messages
        if line["payload"].get("fact") == "stray_pulse"
    ]
    assert named == [(stray.t_us, {"beam": stray.beam})]


@pytest.mark.parametrize("first", [True, False])
def test_a_line_of_nothing_but_brackets_is_malformed(*, first: bool) -> None:
    deep = b'{"t":1,"kind":"ball","beam":' + b"[" * 20_000
    wrong = problem(deep) if first else problem(HEADER, deep)
    assert wrong.line == (1 if first else 2)


HEAD_HEADER = (
    b'{"kind":"wheel","format":1,"table":"campione-05","house":"campione","game":"roulette","wheel":"french",'
    b'"rotor_ticks":0,"beams_deg":[],"readers_deg":[],"head":"mercury-360","rotor":"head","ball":"head",'
    b'"pocket":"head","min_laps":3,"started":"2026-11-20T18:00:00Z","last_number":17}\n'
)
HEAD_GAME = (
    b'{"t":500000,"kind":"head_game","phase":"ready","spin":11}',
    b'{"t":600000,"kind":"command","name":"open","by":"chef"}',
    b'{"t":1000000,"kind":"head_game","phase":"running","spin":11}',
    b'{"t":1000000,"kind":"head_ball","runs":true}',
    b'{"t":1000000,"kind":"head_rotor","rpm":15.4,"direction":"ccw"}',
    b'{"t":1500000,"kind":"head_ball","runs":true,"direction":"cw","laps":3}',
    b'{"t":1500000,"kind":"head_rotor","rpm":null,"direction":"ccw"}',
    b'{"t":2000000,"kind":"head_warning"}',
    b'{"t":9000000,"kind":"sensor","sensor":"head/sensors","ok":true}',
    b'{"t":9000000,"kind":"head_number","number":26,"spin":11}',
    b'{"t":9500000,"kind":"head_jump","from_spin":11,"to_spin":12}',
)


def test_a_heads_evening_written_by_hand_is_adjudicated() -> None:
    out = [msgspec.json.decode(line) for line in replay([HEAD_HEADER, *HEAD_GAME])]
    (result,) = [line["payload"] for line in out if line["topic"] == "result"]
    assert (result["number"], result["laps"], result["rotor_rpm"]) == (26, 3.0, None)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"t":1,"kind":"head_game","phase":"ready","spin":1000}', "spin 1000 is not within"),
        (b'{"t":1,"kind":"head_game","phase":"asleep","spin":1}', "asleep"),
        (b'{"t":1,"kind":"head_ball","runs":true,"laps":256}', "laps 256"),
        (b'{"t":1,"kind":"head_rotor","rpm":100.1,"direction":"cw"}', "rpm 100.1 is not within"),
        (b'{"t":1,"kind":"head_rotor","rpm":-1,"direction":"cw"}', "rpm -1.0 is not within"),
        (b'{"t":1,"kind":"head_number","number":37,"spin":1}', "number 37"),
        (b'{"t":1,"kind":"head_number","number":3,"spin":-1}', "spin -1"),
        (b'{"t":1,"kind":"head_jump","from_spin":1000,"to_spin":1}', "from_spin 1000"),
        (b'{"t":1,"kind":"head_jump","from_spin":1,"to_spin":1000}', "to_spin 1000"),
        (b'{"t":1,"kind":"rotor","tick":0,"direction":"cw"}', "tick 0"),
        (b'{"t":1,"kind":"ball","beam":0}', "sensor 'beam/0'"),
        (b'{"t":1,"kind":"sensor","sensor":"beam/0","ok":false}', "head/sensors"),
    ],
)
def test_what_no_head_of_this_header_can_report_is_malformed(line: bytes, expected: str) -> None:
    error = problem(HEAD_HEADER, line)
    assert error.line == 2
    assert expected in error.problem


@pytest.mark.parametrize("line", [*HEAD_GAME[2:6], *HEAD_GAME[7:]])
def test_without_a_head_nobody_reports_for_one(line: bytes) -> None:
    assert "head" in problem(HEADER, line).problem


def test_a_setting_that_cannot_be_used_is_no_header() -> None:
    assert "unproven: is missing" in problem(HEAD_HEADER.replace(b"mercury-360", b"slingshot-2")).problem


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        ("found-snapshot-prev", 1, "the snapshot's prev 'x' is not the hash of seq"),
        ("found-snapshot-seq", 1, "snapshot's seq -1 is not within"),
        ("found-snapshot-number", 1, "not a header of a table"),
        ("found-snapshot-clock", 1, "not a header of a table"),
        ("found-snapshot-beam", 1, "not a header of a table"),
        ("found-snapshot-habit", 1, "its snapshot is not a state of a table"),
        ("found-rate-beyond-the-calendar", 2, "rate_ppb 1000000000000000000 is not within"),
        ("found-error-beyond-json", 2, "error_us 1000000000000000000000000000000 is not within"),
    ],
)
def test_what_was_found_once_is_refused_by_name(name: str, line: int, expected: str) -> None:
    fault = problem(*kept("logs")[f"{name}.jsonl"].splitlines(keepends=True))
    assert (fault.line, expected in fault.problem) == (line, True), fault
