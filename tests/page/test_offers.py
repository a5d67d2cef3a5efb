"""The chef's buttons, compared with what the wheel does when one is pressed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from tests.core.evening import FALL_S, FRENCH, Evening
from tests.core.test_number_awaited import NUMBER, OTHER, READERS, TABLES, laps_by_readers
from tests.page.evenings import watched
from wheeld.broker.roles import BY_NAME
from wheeld.core.catalogue import Catalogue, Language
from wheeld.core.facts import State
from wheeld.core.law.table import state_of
from wheeld.core.observations import CommandName
from wheeld.page.offers import Offer, offers, words_of
from wheeld.page.setting import PanelRole
from wheeld.page.snapshot import WheelInWords

FAIR: dict[str, Any] = {"wheel": "fair", "rotor_direction": "ccw"}


def running(evening: Evening) -> None:
    evening.launch(laps=5)
    evening.wait(1.5)


def closed_early(evening: Evening) -> None:
    evening.say("rien_ne_va_plus")


def announced(evening: Evening) -> None:
    running(evening)
    evening.say("rien_ne_va_plus")


def paid(evening: Evening) -> None:
    evening.coup(23)


def void(evening: Evening) -> None:
    evening.void_by_chef()


def suspended(evening: Evening) -> None:
    evening.say("suspend")


def last(evening: Evening) -> None:
    evening.say("last_coup")


def shut(evening: Evening) -> None:
    evening.say("close")


def nothing(evening: Evening) -> None:
    pass


def awaiting(evening: Evening) -> None:
    """A number that awaits the chef, since the rotor stopped too soon for a second sighting."""
    evening.run()
    evening.wait(FALL_S)
    evening.lying = 23
    evening.wait(1.5)
    evening.turn(0)
    evening.wait(8)


def launched_early(evening: Evening) -> None:
    evening.coup(23)
    running(evening)
    evening._planned.clear()
    evening.put_back()


def cut(evening: Evening) -> None:
    evening.sensor("link", ok=False)
    evening.wait(1)


def cut_and_a_beam(evening: Evening) -> None:
    evening.sensor("beam/1", ok=False)
    cut(evening)


def object_inside(evening: Evening) -> None:
    void(evening)
    evening.drop()


PLACES: tuple[Callable[[Evening], None], ...] = (
    nothing, closed_early, running, announced, paid, awaiting, void, suspended, last, shut, launched_early,
    cut, cut_and_a_beam, object_inside,
)  # fmt: skip


def offered(evening: Evening, language: Language = "en", role: PanelRole = "chef") -> list[Offer]:
    wheel, _ = watched(evening)
    assert wheel.table is not None
    return [*offers(wheel.table, Catalogue(language, words_of(wheel.table, wheel.void)), "", role)]


@pytest.mark.parametrize("reach", PLACES)
@pytest.mark.parametrize("name", sorted(set(BY_NAME["chef"].commands) - {"seal"}))
def test_what_is_offered_is_done_and_nothing_else_would_do_anything(
    reach: Callable[[Evening], None], name: CommandName
) -> None:
    """In every state that a chef meets: an offered command is done, one that is not offered is refused, or changes
    nothing."""
    evening = Evening().open()
    reach(evening)
    offer = next((each for each in offered(evening) if each.name == name), None)
    before = len(evening.published)
    reply = evening.say(
        name,
        who="Verdi" if name == "bouler" else None,
        coup=evening.table.coup,
        reason="a test",
        without=() if offer is None else offer.without,
        accepted=True,
    )
    if offer is not None:
        assert reply.done, reply.why
    else:
        said = [message for message in evening.published[before:] if message.topic in ("result", "void", "notice")]
        assert not reply.done or not said, reply.why


@pytest.mark.parametrize("reach", PLACES)
def test_the_bouler_is_offered_what_the_chef_is_as_far_as_he_may_say_it(reach: Callable[[Evening], None]) -> None:
    """C11, C12, C14, V: the same button with the same words, but none that leaves a sensor out."""
    evening = Evening().open()
    reach(evening)
    his = [offer for offer in offered(evening) if offer.name in BY_NAME["bouler"].commands and not offer.without]
    assert offered(evening, role="bouler") == his


def test_play_that_goes_on_without_a_sensor_is_not_the_bouler_s_word() -> None:
    evening = Evening()
    evening.wait(2)
    evening.sensor("beam/1", ok=False)
    evening.say("close")
    assert [offer.without for offer in offered(evening) if offer.name == "open"] == [("beam/1",)]
    assert offered(evening, role="bouler") == []


def test_the_next_bouler_is_announced_by_a_button_of_its_own_and_named_in_the_other() -> None:
    evening = Evening().open()
    now, ahead = (offer for offer in offered(evening) if offer.name == "bouler")
    assert (now.needs, now.who, now.announced) == ("who", None, False)
    assert (ahead.label, ahead.announced) == ("announce the next bouler", True)
    reply = evening.say("bouler", who="Verdi", announced=ahead.announced)
    assert ahead.does in reply.why
    evening.say("acknowledge", who="Verdi", by="Neri")
    assert [offer.who for offer in offered(evening) if offer.name == "bouler"] == ["Verdi", None]
    assert WheelInWords(*watched(evening), "en").panel("bouler")["bouler"] == "–; next: Verdi (acknowledged by Neri)"


@pytest.mark.parametrize(
    ("house", "game", "decides"),
    [("campione", "roulette", True), ("campione", "fair", False), ("venezia", "fair", True)],
)
def test_a_late_bet_is_accepted_or_refused_only_while_a_ball_runs(house: str, game: str, decides: bool) -> None:
    """Nowhere at Campione's Fair table: the chef has no discretion there (docs/rulebook.md 5)."""
    for reach, runs in ((nothing, False), (running, True), (announced, True), (paid, False), (void, False)):
        evening = Evening(replace(FRENCH, house=house, game=game, **(FAIR if game == "fair" else {}))).open()
        reach(evening)
        needs = [offer.needs for offer in offered(evening) if offer.name == "late_bet"]
        assert needs == (["accepted"] if runs and decides else []), reach.__name__


def test_every_state_of_the_law_is_told_from_the_message() -> None:
    seen = set[State]()
    for reach in PLACES:
        evening = Evening().open()
        reach(evening)
        wheel, _ = watched(evening)
        assert wheel.table is not None
        assert state_of(wheel.table.state, wheel.table.waiting_codes) is evening.table._state.state
        seen.add(state_of(wheel.table.state, wheel.table.waiting_codes))
    assert len(seen) >= 9


def test_what_ends_a_coup_says_so_and_is_asked_again() -> None:
    evening = Evening().open()
    running(evening)
    by_name = {offer.name: offer for offer in offered(evening)}
    for name in ("rien_va", "suspend", "close"):
        assert by_name[name].is_grave
        assert "void" in by_name[name].does
    assert not by_name["rien_ne_va_plus"].is_grave


@pytest.mark.parametrize("language", ["fr", "it", "en"])
def test_every_button_has_words_without_holes(language: Language) -> None:
    for reach in PLACES:
        evening = Evening().open()
        reach(evening)
        for offer in offered(evening, language):
            assert offer.label
            assert offer.does
            assert "{" not in offer.label + offer.does


def test_the_game_goes_on_without_a_sensor_that_fails_when_that_is_offered() -> None:
    evening = Evening().open()
    evening.sensor("beam/1", ok=False)
    evening.wait(1)
    offer = next(each for each in offered(evening) if each.name == "resume")
    assert offer.without == ("beam/1",)
    assert "without" in offer.does
    assert evening.say("resume", without=offer.without).done


def test_the_house_s_own_words_are_on_the_buttons() -> None:
    evening = Evening().open()
    void(evening)
    wheel, _ = watched(evening)
    assert wheel.table is not None
    assert wheel.void is not None
    assert words_of(wheel.table, wheel.void) == {"void": "rien va", "tout_va": "tout va"}
    assert "tout va" in [offer.label for offer in offered(evening)]


def confirmations(evening: Evening) -> tuple[str | None, list[tuple[str, str | None]]]:
    """The number on the panel's tile, and what each button to confirm says and has."""
    awaited = WheelInWords(*watched(evening), "en").panel("chef")["awaited"]
    offers = [(each.label, each.number) for each in offered(evening) if each.name == "confirm"]
    return (None if awaited is None else awaited["number"]), offers


@pytest.mark.parametrize("table", TABLES)
def test_the_number_that_awaits_the_chef_is_named_until_he_has_answered(table: Callable[[], Evening]) -> None:
    evening, named = table(), str(NUMBER)
    assert confirmations(evening) == (named, [(f"Confirm {named}", named), ("Another number", None)])
    evening.say("suspend")
    assert confirmations(evening) == (named, [])
    evening.say("resume")
    assert evening.say("confirm", coup=1, reason="seen by all").done
    assert confirmations(evening) == (None, [])


def test_zero_awaits_the_chef_as_any_other_number_does() -> None:
    evening = Evening(READERS).open()
    evening.run(laps=3.2, rev_s=0.9)
    evening.fall(0)
    assert confirmations(evening) == ("0", [("Confirm 0", "0"), ("Another number", None)])


def test_of_a_ball_that_was_seen_in_two_pockets_the_chef_says_the_number() -> None:
    evening = laps_by_readers()
    evening.lying = OTHER
    evening.turn(20)
    evening.wait(8)
    assert confirmations(evening) == (None, [("Confirm …", None)])
