"""Another maker's head, which is one package and one row of `HEADS`: its games become results and voids."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from tests import girella
from tests.config.test_config import problems
from tests.config.test_head import ALONE
from tests.core import head_evening
from tests.girella.wheel import Game, Wheel
from tests.sources.head_table import HeadTable, Played
from wheeld.cli.check import facts
from wheeld.config.reading import parse
from wheeld.core.heads import HEADS
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.daemon.sources import Source
from wheeld.replay import replay
from wheeld.sources.head.reader import reader_of

CONFIGURED = ALONE.replace("mercury-360", girella.PRODUCT)


@pytest.fixture(autouse=True)
def _row(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setitem(HEADS, girella.PRODUCT, girella.ROW)
        yield


def played(*games: Game) -> Played:
    setting = parse(CONFIGURED).head
    assert setting is not None
    head = reader_of(girella.PRODUCT).new_head(setting, SINGLE_ZERO, lambda ns: ns // 1_000)
    table = msgspec.structs.replace(head_evening.MERCURY, head=girella.PRODUCT)
    return HeadTable(Wheel([*games, Game(3)]), head, table).play()


def test_each_of_its_coups_is_a_result() -> None:
    outcome = played(Game(24, laps=4), Game(0, laps=3), Game(17, laps=9))
    assert (outcome.results, outcome.of("void")) == ([24, 0, 17, 3], [])
    assert [result["laps"] for result in outcome.of("result")] == [4, 3, 9, 6]


@pytest.mark.parametrize(
    ("game", "cause"),
    [
        (Game(ball="ccw"), "same_direction"),
        (Game(laps=2), "too_few_laps"),
        (Game(rpm=0.0), "rotor_stopped_running"),
        (Game(fails=True), "breakdown"),
        (Game(damaged=True), "breakdown"),
        (Game(silent=True), "breakdown"),
        (Game(None), "breakdown"),
    ],
    ids=["same direction", "few laps", "rotor stands", "sensor fails", "line damaged", "silent", "no number"],
)
def test_each_game_that_proves_no_coup_is_void_for_its_cause(game: Game, cause: str) -> None:
    outcome = played(Game(24), game)
    assert outcome.causes == {cause}
    assert len(outcome.of("void")) == 1
    assert outcome.results == [24, 3]


def test_its_evidence_replays_to_the_same_bytes() -> None:
    outcome = played(Game(24), Game(laps=2))
    verdicts = [message for message in outcome.messages if message["schema"] in ("result/1", "void/1")]
    assert len(verdicts) == 3
    for log, verdict in zip(outcome.evidence, verdicts, strict=True):
        assert verdict in [msgspec.json.decode(line)["payload"] for line in replay(log.splitlines())]


def test_a_daemon_builds_it_from_its_configuration() -> None:
    source = Source(parse(CONFIGURED), start_ns=0)
    assert source.sensors == {"link": True, "head": False, "head/sensors": True}
    assert source.counters["head"] == {"lines": 0, "damaged": 0, "dropped_reports": 0}
    assert "wheel head: Girella 1, socket://10.0.0.7:4001 at 9600 baud; silence for 2 s is a fault" in [
        *facts(parse(CONFIGURED), "en")
    ]


def test_what_its_maker_refuses_is_said_with_the_key() -> None:
    (problem,) = problems(CONFIGURED.replace("[head]\n", "[head]\npoll = true\n"))
    assert "head.poll: needs a line" in problem


def test_without_its_row_nobody_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(HEADS, girella.PRODUCT)
    (problem,) = problems(CONFIGURED)
    assert 'head.product: is "girella-1"; expected "mercury-360" or "slingshot-2"' in problem
