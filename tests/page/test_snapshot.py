"""What a page is given of a wheel."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from tests.core.evening import Evening
from tests.page import messages
from tests.page.evenings import ONLINE, watched
from wheeld.core.catalogue import Language
from wheeld.core.houses import PROFILES
from wheeld.core.observations import CommandName
from wheeld.page.numbers import NumberHistory
from wheeld.page.snapshot import WheelInWords
from wheeld.page.wheel import WheelView

LANGUAGES: tuple[Language, ...] = ("fr", "it", "en")


@pytest.fixture
def evening() -> Evening:
    return Evening().open()


def test_a_wheel_of_which_nothing_is_known_is_shown_as_such() -> None:
    shown = WheelInWords(WheelView(), NumberHistory(), "en").whole(0)
    assert (shown["online"], shown["state"]) == (False, None)
    assert [(tile["name"], tile["level"]) for tile in shown["tiles"]] == [
        ("Broker", "wrong"),
        ("The wheel's health", "look"),
    ]
    assert msgspec.json.encode(shown)


def test_a_table_of_which_the_broker_has_nothing_is_told_from_one_that_is_away() -> None:
    wheel = WheelView()
    assert not WheelInWords(wheel, NumberHistory(), "en").board()["never"]  # the broker may know it
    wheel.is_reached = True
    assert WheelInWords(wheel, NumberHistory(), "en").board()["never"]
    wheel.take("availability", ONLINE.replace(b"online", b"offline"), retained=True, now_s=0)
    assert not WheelInWords(wheel, NumberHistory(), "en").board()["never"]


def test_a_result_is_shown_with_its_colour_and_history(evening: Evening) -> None:
    evening.coup(23)
    shown = WheelInWords(*watched(evening), "en").whole(0)
    assert shown["number"] == {"number": "23", "colour": "rouge"}
    assert shown["numbers"][0] == {"number": "23", "colour": "rouge"}
    assert shown["announcement"].startswith("Vingt-trois")
    assert shown["result"]["laps"] > 3
    newest = max(evening.of("table"), key=lambda message: int(message["seq"]))
    (journal,) = [tile for tile in shown["tiles"] if tile["name"] == "Journal"]
    assert journal["value"] == f"message {newest['seq']}, {newest['hash'][:12]}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_void_is_shown_with_its_article_in_the_reader_s_language(language: Language, evening: Evening) -> None:
    evening.launch(evening.way, laps=5)
    evening.wait(4)
    shown = WheelInWords(*watched(evening), language).whole(0)
    assert shown["void"]["words"] == shown["ritual"] == "rien va"
    assert "Art. 11" in shown["void"]["why"]
    assert {"fr": "bille", "it": "pallina", "en": "ball"}[language] in shown["void"]["why"]
    assert shown["cause"].startswith("Art. 11: ")


def test_the_last_ruling_is_shown_with_its_coup_who_when_and_why(evening: Evening) -> None:
    evening.coup(23)
    assert WheelInWords(*watched(evening), "en").whole(0)["ruling"] is None
    evening.say("operations_done")
    evening.coup(17)
    evening.say("ruling", about=1, ruled_as="number", number=4, by="Bianchi", reason="seen by the camera")
    shown = WheelInWords(*watched(evening), "en").whole(0)["ruling"]
    (ruling,) = evening.of("ruling")
    when = ruling["at"][:16].replace("T", " ")
    assert shown == f"coup 1: the number is 4 — seen by the camera (Bianchi, {when} UTC)"


def test_late_bets_are_shown_with_their_coup_who_and_how_far_the_ball_had_run(evening: Evening) -> None:
    passes = evening.launch()
    evening.until(passes[13].t_us)
    assert WheelInWords(*watched(evening), "en").whole(0)["late_bets"] == []
    evening.say("late_bet", accepted=True, by="Rossi", reason="100 on 17")
    evening.say("late_bet", accepted=False, by="Bianchi", reason="50 on 4")
    shown = WheelInWords(*watched(evening), "it").whole(0)["late_bets"]
    assert shown[0] == "colpo 1: puntata tardiva accettata — 100 on 17 (Rossi, 2,1 s dopo il lancio, 2,75 giri)"
    assert "rifiutata — 50 on 4 (Bianchi, " in shown[1]
    evening.until(passes[-1].t_us)
    evening.fall(17)
    evening.say("operations_done")
    wheel, numbers = watched(evening)
    evening.launch()
    evening.wait(2)
    evening.say("late_bet", accepted=False, by="Rossi", reason="10 on 0")
    for _ in range(2):  # the broker may bring it twice
        assert wheel.take("notice", evening.last("notice").bytes, retained=False, now_s=0)
    (late,) = WheelInWords(wheel, numbers, "en").whole(0)["late_bets"]
    assert late.startswith("coup 2: late bet refused — 10 on 0 (Rossi, ")


def test_a_late_bet_at_a_head_that_counts_no_laps_is_shown_without_them() -> None:
    wheel = WheelView()
    bet = {**messages.NOTICE, "notice": "late_bet"}
    assert messages.take(wheel, bet, figures={"accepted": "no", "said_us": 5, "spin": 1})
    assert not messages.take(wheel, bet, figures={"accepted": "perhaps", "said_us": 5})
    shown = WheelInWords(wheel, NumberHistory(), "en").whole(0)["late_bets"]
    assert shown == ["coup 1: late bet refused — Rossi says so (Rossi)"]


@pytest.mark.parametrize(("ends", "then"), [("suspend", "play suspended"), ("close", "table closed")])
def test_a_void_is_told_before_what_becomes_of_play(ends: CommandName, then: str, evening: Evening) -> None:
    evening.launch(laps=5)
    evening.wait(1.5)
    evening.say(ends)
    shown = WheelInWords(*watched(evening), "en").board()
    assert shown["ritual"] == f"rien va · {then}"
    assert shown["cause"]
    assert WheelInWords(*watched(Evening().open()), "en").board()["cause"] == ""


def test_a_suspension_of_a_later_game_is_no_void(evening: Evening) -> None:
    evening.void_by_chef()
    evening.say("suspend")
    assert WheelInWords(*watched(evening), "en").board()["ritual"] == "rien va · play suspended"
    evening.say("resume")
    assert evening.say("tout_va").done
    evening.say("suspend")
    shown = WheelInWords(*watched(evening), "en").board()
    assert (shown["ritual"], shown["cause"]) == ("play suspended", "")


def test_a_void_that_was_before_this_program_is_known_from_the_board(evening: Evening) -> None:
    evening.launch(evening.way, laps=5)
    evening.wait(4)
    wheel = WheelView()
    wheel.take("board", evening.last("board").bytes, retained=True, now_s=0)
    shown = WheelInWords(wheel, NumberHistory(), "en").whole(0)
    assert shown["void"]["why"].startswith("N1, Art. 11: ")
    assert shown["cause"] == ""  # nothing says that it is void now
    wheel.take("table", evening.last("table").bytes, retained=True, now_s=0)
    assert (
        WheelInWords(wheel, NumberHistory(), "en").board()["cause"]
        == WheelInWords(*watched(evening), "en").board()["cause"]
        != ""
    )


def test_a_wheel_that_is_offline_offers_nothing(evening: Evening) -> None:
    wheel, numbers = watched(evening)
    assert WheelInWords(wheel, numbers, "en").panel("chef")["offers"]
    wheel.take("availability", ONLINE.replace(b"online", b"offline"), retained=False, now_s=0)
    assert WheelInWords(wheel, numbers, "en").panel("chef")["offers"] == []


def test_the_display_has_nothing_for_technicians(evening: Evening) -> None:
    evening.coup(23)
    shown = WheelInWords(*watched(evening), "en").board()
    assert not {"bouler", "health", "head", "void", "offers"} & shown.keys()


AMERICAN = {"house": "south-dakota", "game": "american"}


@pytest.mark.parametrize(("game", "pockets"), [({}, 37), (AMERICAN, 38)])
def test_how_often_numbers_came_is_shown_from_as_many_as_there_are_pockets(game: dict[str, str], pockets: int) -> None:
    wheel, numbers = watched(Evening().open())
    assert wheel.table is not None
    wheel.table = replace(wheel.table, **game)
    for count, is_shown in ((pockets - 1, False), (pockets, True)):
        numbers.newest_first = [7] * count
        shown = WheelInWords(wheel, numbers, "en").board()
        assert [bool(shown[each]) for each in ("hot", "cold", "shares", "zeros")] == [is_shown] * 4, count


@pytest.mark.parametrize(
    ("game", "zeros"), [({}, [("0", 3)]), (AMERICAN, [("0", 3), ("00", 37)])], ids=["french", "american"]
)
def test_shares_are_of_the_numbers_that_are_of_one_side_and_zeros_stand_apart(
    game: dict[str, str], zeros: list[tuple[str, int]]
) -> None:
    wheel, numbers = watched(Evening().open())
    assert wheel.table is not None
    wheel.table = replace(wheel.table, **game)
    # 18 is red, even and low; 19 red, odd and high; 20 black, even and high.
    numbers.newest_first = [0] * 3 + [18] * 20 + [19] * 16 + [20] * 4 + [37] * 37
    shown = WheelInWords(wheel, numbers, "en").board()
    sides = [(each["side"], each["percent"]) for pair in shown["shares"] for each in pair]
    assert sides == [("rouge", 90), ("noir", 10), ("pair", 60), ("impair", 40), ("manque", 50), ("passe", 50)]
    assert [(each["number"], each["times"]) for each in shown["zeros"]] == zeros
    assert wheel.table is not None
    numbers.newest_first = [0] * PROFILES[wheel.table.house, wheel.table.game].pockets.count
    assert WheelInWords(wheel, numbers, "en").board()["shares"] == []


def test_players_read_the_name_and_the_limits_that_the_configuration_has() -> None:
    wheel, numbers = watched(Evening().open())
    shown = WheelInWords(wheel, numbers, "en").board()
    assert (shown["name"], shown["limits"]) == ("campione-03", ())
    for state in (b"online", b"offline"):
        told = ONLINE.replace(b"online", state)[:-1] + b',"display":{"name":"Table 3","limits":["Plein 5"]}}'
        assert wheel.take("availability", told, retained=True, now_s=0)
        shown = WheelInWords(wheel, numbers, "en").board()
        assert (shown["name"], shown["limits"]) == ("Table 3", ("Plein 5",))
    assert WheelInWords(WheelView(), NumberHistory(), "en").board()["name"] == ""
