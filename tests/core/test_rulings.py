"""What people say that changes nothing of play: the direction's ruling on a coup (A9), and what the chef said of a late
bet (A3)."""

from __future__ import annotations

from copy import deepcopy

import msgspec
import pytest

from tests.core.evening import Asked, Evening
from tests.core.table_in_state import STATES, table_in
from wheeld.core.messages.chain import verify_link
from wheeld.core.observations import RuledAs
from wheeld.screen.describe import describe

RULED: list[tuple[RuledAs, int | None]] = [("stands", None), ("void", None), ("number", 4), ("other", None)]


@pytest.mark.parametrize(("ruled_as", "number"), RULED)
def test_a_ruling_stands_in_the_chain_behind_the_verdict_it_is_about(ruled_as: RuledAs, number: int | None) -> None:
    evening = Evening().open()
    evening.coup(17)
    said: Asked = {"by": "Bianchi", "user": "direction", "role": "direction", "reason": "seen by the camera"}
    said |= {"about": 1, "ruled_as": ruled_as, "number": number}
    before, board = evening.last("table").payload, evening.last("board").payload
    assert evening.say("ruling", **said).done
    (ruling,) = evening.of("ruling")
    label = None if number is None else str(number)
    told = {key: ruling[key] for key in ("about", "ruled_as", "number", "label", "by", "user", "reason", "seq")}
    assert told == {
        "about": 1, "ruled_as": ruled_as, "number": number, "label": label, "by": "Bianchi", "user": "direction",
        "reason": "seen by the camera", "seq": before["seq"] + 1,
    }  # fmt: skip
    assert verify_link(evening.last("ruling").bytes, before["hash"]) == ruling["hash"]
    assert (evening.last("table").payload, evening.last("board").payload) == (before, board)
    assert evening.verdicts() == [("result", 17)]
    evening.say("operations_done")
    assert evening.last("table").payload["prev"] == ruling["hash"]


def test_a_coup_without_its_verdict_is_not_ruled_on() -> None:
    evening = Evening().open()
    for about, done in ((0, False), (1, False), (2, False)):
        assert evening.say("ruling", about=about, ruled_as="void").done is done
    evening.coup(17)
    assert not evening.say("ruling", about=2, ruled_as="void").done
    assert evening.say("ruling", about=1, ruled_as="void").done
    evening.say("operations_done")
    evening.void_by_chef()
    assert evening.say("ruling", about=2, ruled_as="stands").done
    assert evening.say("ruling", about=1, ruled_as="stands").done, "an earlier coup, once more"
    assert [(ruling["about"], ruling["ruled_as"]) for ruling in evening.of("ruling")] == [
        (1, "void"),
        (2, "stands"),
        (1, "stands"),
    ]


def test_a_ruling_names_what_it_rules_and_no_number_that_is_none() -> None:
    evening = Evening().open()
    evening.coup(17)
    wrongs: list[Asked] = [
        {"about": 1},
        {"ruled_as": "void"},
        {"about": 1, "ruled_as": "number"},
        {"about": 1, "ruled_as": "void", "number": 4},
        {"about": 1, "ruled_as": "number", "number": 38},
    ]
    for wrong in wrongs:
        assert not evening.say("ruling", **wrong).done, wrong
    assert evening.of("ruling") == []


@pytest.mark.parametrize("state", STATES)
def test_in_no_state_does_a_ruling_move_the_table(state: str) -> None:
    evening = table_in(state)
    other = deepcopy(evening)
    coup = evening.table.coup
    evening.say("ruling", about=coup - 1, ruled_as="void")
    other.wait((evening.now_us - other.now_us) / 1e6)
    views = [[one.table.state, msgspec.json.encode(one.readers.ball), one.verdicts()] for one in (evening, other)]
    assert views[0] == views[1]


@pytest.mark.parametrize("accepted", [True, False])
def test_a_late_bet_is_recorded_with_the_run_at_that_moment(accepted: bool) -> None:
    evening = Evening().open()
    passes = evening.launch()
    evening.until(passes[13].t_us)
    said_us = evening.now_us
    assert evening.say("late_bet", accepted=accepted, by="Rossi", reason="100 on 17, repeated aloud").done
    (bet,) = (each for each in evening.of("notice") if each["notice"] == "late_bet")
    said = describe("notice", evening.last("notice").bytes, "en")
    assert said.endswith(f"late bet {'accepted' if accepted else 'refused'}: 100 on 17, repeated aloud (Rossi)")
    assert bet["by"] == "Rossi"
    assert bet["figures"]["accepted"] == ("yes" if accepted else "no")
    assert bet["figures"]["said_us"] == said_us
    assert bet["figures"]["last_pass_us"] == passes[13].t_us
    assert 2 < bet["figures"]["laps_proven"] < 3.5
    evening.until(passes[-1].t_us)
    evening.fall(17)
    assert evening.verdicts() == [("result", 17)]
    refused = evening.say("late_bet", accepted=True)
    assert not refused.done
    assert "late only while a ball runs" in refused.why
    assert evening.say("operations_done").done
    assert not evening.say("late_bet").done, "it does not say which"
