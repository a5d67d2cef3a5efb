"""The evidence of each cause of a void, as the page draws it: who sees it finds the row that decided."""

from __future__ import annotations

import pytest

from tests.page.voids import PLAYED, void_of
from wheeld.core.catalogue import Catalogue, Language
from wheeld.core.facts import Cause
from wheeld.page.evidence import ARROWS, DECIDES, EvidenceRow, evidence
from wheeld.page.health import sensor_name
from wheeld.page.words import WORDS
from wheeld.screen.locale import LANGUAGES

DECIDED = {
    "same_direction": ["ball", "rotor"],
    "early_launch": ["ball", "before"],
    "too_few_laps": ["laps"],
    "rotor_stops_running": ["rotor"],
    "obstacle_rotor_stops": ["rotor", "obstacle"],
    "foreign_object": ["object"],
    "chef_void": ["word"],
    "breakdown_sensor": ["fails"],
    "suspend_running": ["word"],
    "disc_slips_running": ["fails"],
}
"""The rows in which it is seen."""
FAILED = {
    "breakdown_sensor": ": reader 1 fails",
    "suspend_running": ": suspension of play",
    "disc_slips_running": ": the place of the pockets fails",
}
"""What a breakdown was."""


def rows_of(scenario: str, language: Language = "en") -> dict[str, EvidenceRow]:
    """By kind; of words the last."""
    return {row.kind: row for row in evidence(void_of(scenario).axis, language).rows}


def test_every_cause_is_tried() -> None:
    assert set(PLAYED.values()) == set(Cause)
    assert {cause.rule for cause in Cause} == set(DECIDES)


@pytest.mark.parametrize("scenario", PLAYED)
def test_the_row_that_decided_is_marked_and_so_is_the_moment(scenario: str) -> None:
    void = void_of(scenario).told
    drawn = evidence(void_of(scenario).axis, "en")
    assert void["cause"] == PLAYED[scenario].value
    assert (drawn.coup, drawn.words) == (void["coup"], void["words"])
    assert drawn.why == PLAYED[scenario].text + FAILED.get(scenario, "")
    assert [row.kind for row in drawn.rows if row.decides] == DECIDED[scenario]
    assert 0 < drawn.moment < 1
    assert 0 in [second for _, second in drawn.ticks], "of the launch"
    for row in drawn.rows:
        for places in (
            row.marks,
            [x for x, _ in row.line],
            [x for x, _ in row.laps],
            [x for bar in row.bars for x in bar],
        ):
            assert places == sorted(places), row
            assert all(0 <= place <= 1 for place in places), row


@pytest.mark.parametrize("language", LANGUAGES)
def test_directions_and_speeds_stand_in_words_and_arrows(language: Language) -> None:
    say = Catalogue(language).say
    void = void_of("same_direction").told
    ball, rotor = (rows_of("same_direction", language)[kind] for kind in ("ball", "rotor"))
    direction = void["evidence"]["ball_direction"]
    way = f"{ARROWS[direction]} {say(WORDS[direction])}, "
    assert ball.told.startswith(way)
    assert rotor.told.startswith(way), "the reader sees that they are the same"
    assert (ball.name, rotor.name) == (say(WORDS["ball"]), say(WORDS["rotor"]))
    against = rows_of("foreign_object", language)
    assert against["ball"].told[0] != against["rotor"].told[0]


def test_a_rotor_that_stopped_is_said_to_stand() -> None:
    rotor = rows_of("rotor_stops_running")["rotor"]
    assert rotor.told.endswith(" → 0 turns a minute")
    assert [height for _, height in rotor.line[-2:]] == [0, 0]
    assert "→ 0" not in rows_of("foreign_object")["rotor"].told


def test_laps_are_counted_as_the_passes_complete_them_and_as_the_message_has_them() -> None:
    laps = rows_of("obstacle_rotor_stops")["laps"]
    assert [lap for _, lap in laps.laps] == list(range(1, len(laps.laps) + 1))
    assert laps.told == f"{len(laps.laps)} counted", "too few decided nothing there"
    assert rows_of("too_few_laps")["laps"].told == "0 counted, 3 needed"
    # The last pass of this run completes a lap, and no later one proves it.
    few = void_of("too_few_laps", 6)
    (row,) = (row for row in evidence(few.axis, "en").rows if row.kind == "laps")
    assert few.axis.ball[-1][1] > 2
    assert (row.told, [lap for _, lap in row.laps]) == ("1.75 counted, 3 needed", [1])


def test_a_ball_that_hung_on_an_obstacle_is_a_bar_until_the_rotor_stops() -> None:
    rows, moment = rows_of("obstacle_rotor_stops"), evidence(void_of("obstacle_rotor_stops").axis, "en").moment
    assert rows["obstacle"].bars == [(rows["ball"].marks[-1], moment)]
    assert "obstacle" not in rows_of("rotor_stops_running")


def test_an_object_and_an_unfinished_coup_are_bars() -> None:
    ((begun, ended),) = rows_of("foreign_object")["object"].bars
    assert begun == evidence(void_of("foreign_object").axis, "en").moment
    assert ended == 1
    assert rows_of("early_launch")["before"].bars == [(0, 1)]
    assert "object" not in rows_of("same_direction")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sensor_is_named_as_everywhere(language: Language) -> None:
    void = void_of("breakdown_sensor").told
    failed = rows_of("breakdown_sensor", language)["fails"]
    assert failed.name == sensor_name(void["evidence"]["sensor"], Catalogue(language))
    assert failed.told == Catalogue(language).say(WORDS["fails"])
    assert failed.bars == [(evidence(void_of("breakdown_sensor").axis, language).moment, 1)]
    assert rows_of("suspend_running", language)["word"].told == Catalogue(language).say("suspension of play")
