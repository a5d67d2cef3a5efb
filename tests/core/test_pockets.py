"""The pockets of both wheels: the 37 against the regulations themselves, both against the layout of the cloth."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from tests.core.regulations import text
from wheeld.core.pockets import DOUBLE_ZERO, SINGLE_ZERO, label_of, number_of

# The cloth (V, VF): rows of three from 1 to 36.
CLOTH = [(row * 3 + 1, row * 3 + 2, row * 3 + 3) for row in range(12)]
REDS = [1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36]


def neighbour_rows() -> list[list[int]]:
    """VF's table: three groups of five a row; the second follows the rotor, the third the numbers."""
    after = text("venezia-fair-roulette.txt").split("TABELLA DEI VICINI")[-1]
    rows = [[int(cell) for cell in re.findall(r"\d+", line)] for line in after.splitlines() if line.startswith("|")]
    return [row for row in rows if row]


def listed(text_of: str, before: str, after: str) -> list[int]:
    """The numbers that stand between two given words."""
    start = text_of.index(before) + len(before)
    return [int(cell) for cell in re.findall(r"\d+", text_of[start : text_of.index(after, start)])]


def straights(text_of: str, heading: str, following: str) -> set[int]:
    """Every number of a sector's paragraph that stands in a combination such as 4/7 or 0/2/3."""
    start = text_of.index(heading)
    paragraph = text_of[start + len(heading) : text_of.index(following, start)]
    groups = re.findall(r"\d+(?:/\d+)+", paragraph)
    return {int(number) for group in groups for number in group.split("/")}


def test_every_number_has_one_pocket() -> None:
    assert SINGLE_ZERO.count == 37
    assert sorted(SINGLE_ZERO.order) == list(range(37))
    assert [SINGLE_ZERO.index_of[number] for number in SINGLE_ZERO.order] == list(range(37))


def test_the_rotor_starts_as_the_observation_log_defines() -> None:
    assert SINGLE_ZERO.order[:7] == (0, 32, 15, 19, 4, 21, 2)


def test_rotor_order_is_that_of_the_fair_roulette_neighbour_table() -> None:
    rows = [row[5:10] for row in neighbour_rows()]
    assert len(rows) >= 36
    for offset, row in enumerate(rows):
        assert tuple(row) == tuple(SINGLE_ZERO.order[(offset + step) % 37] for step in (-2, -1, 0, 1, 2))


def test_neighbours_of_each_number_are_those_of_the_fair_roulette_table() -> None:
    rows = {row[12]: row[10:15] for row in neighbour_rows()}
    assert set(rows) >= set(range(36))
    for number, (before2, before1, itself, after1, after2) in rows.items():
        assert itself == number
        assert SINGLE_ZERO.facts[number].neighbours == (before2, before1, after1, after2)


def test_neighbours_go_round_past_zero() -> None:
    assert SINGLE_ZERO.facts[0].neighbours == (3, 26, 32, 15)
    assert SINGLE_ZERO.facts[26].neighbours == (35, 3, 0, 32)
    assert SINGLE_ZERO.facts[32].neighbours == (26, 0, 15, 19)


def test_red_and_black_are_those_that_venezia_lists() -> None:
    regulation = text("venezia-roulette-francese.txt")
    red, black = listed(regulation, "ROSSI", "NERI"), listed(regulation, "NERI", "Si puntano")
    assert len(red) == len(black) == 18
    assert [n for n in range(37) if SINGLE_ZERO.facts[n].colour == "rouge"] == red
    assert [n for n in range(37) if SINGLE_ZERO.facts[n].colour == "noir"] == black


def test_red_and_black_alternate_round_the_rotor() -> None:
    colours = [SINGLE_ZERO.facts[number].colour for number in SINGLE_ZERO.order[1:]]
    assert set(colours[::2]) == {"rouge"}
    assert set(colours[1::2]) == {"noir"}


@pytest.mark.parametrize("number", range(1, 37))
def test_simple_chances_dozen_and_column_follow_the_cloth(number: int) -> None:
    facts = SINGLE_ZERO.facts[number]
    assert facts.number == number
    assert facts.pocket_index == SINGLE_ZERO.order.index(number)
    assert facts.colour == ("rouge" if number in REDS else "noir")
    assert facts.parity == ("pair" if number in range(2, 37, 2) else "impair")
    assert facts.half == ("manque" if number in range(1, 19) else "passe")
    row = next(index for index, cells in enumerate(CLOTH) if number in cells)
    assert facts.dozen == row // 4 + 1
    assert facts.column == CLOTH[row].index(number) + 1
    assert facts.finals_plein == (int(str(number)[-1]),)


def test_zero_wins_no_chance_dozen_or_column() -> None:
    zero = SINGLE_ZERO.facts[0]
    assert (zero.colour, zero.parity, zero.half, zero.dozen, zero.column) == (None,) * 5
    assert (zero.number, zero.pocket_index, zero.finals_plein) == (0, 0, (0,))
    assert zero.finals_cheval == ((0, 1), (0, 3))


def test_each_announced_sector_holds_the_numbers_of_the_regulation() -> None:
    regulation = text("venezia-roulette-francese.txt")
    serie = straights(regulation, "La Serie 5/8 (", "I Vicini dello Zero (")
    # "carré 25/29" names the first and the last of four numbers.
    voisins = straights(regulation, "I Vicini dello Zero (", "Gli Orfanelli (") | {25, 26, 28, 29}
    orphelins = straights(regulation, "da quelli dei Vicini dello Zero:", "Gli Orfanelli si accettano")
    nassa = straights(regulation, "Si gioca con cinque pezzi", "Una variante") | {19, 26}
    for name, numbers in {
        "serie_5_8": serie,
        "voisins_du_zero": voisins,
        "orphelins": orphelins,
        "nassa": nassa,
        "zero_spiel": nassa - {19},
    }.items():
        assert {n for n in range(37) if name in SINGLE_ZERO.facts[n].sectors} == numbers


def finals_of(text_of: str, heading: str) -> dict[tuple[int, ...], int]:
    """One table of finals: how many pieces each is played with."""
    _, _, after = text_of.partition(heading)
    rows = re.findall(r"^(?:\| )?([\d/ -]+) \| (\d) gettoni", after.split("FINALI")[0], re.MULTILINE)
    names = [(name, int(pieces)) for names, pieces in rows for name in re.findall(r"[\d/]+", names)]
    return {tuple(map(int, name.split("/"))): pieces for name, pieces in names}


def winning(*final: int) -> set[int]:
    """The numbers that win in a final, by the facts."""
    return {
        n
        for n, facts in SINGLE_ZERO.facts.items()
        if (final if len(final) > 1 else final[0]) in [*facts.finals_plein, *facts.finals_cheval]
    }


def pieces(numbers: set[int], step: int) -> int:
    """With how many pieces these numbers are covered: one for two that stand `step` apart and touch on the cloth."""
    left, count = sorted(numbers), 0
    while left:
        number = left.pop(0)
        row = next((cells for cells in CLOTH if number in cells), ())
        if number + step in left and (step == 3 or number == 0 or number + step in row):
            left.remove(number + step)
        count += 1
    return count


@pytest.mark.parametrize("name", ["venezia-roulette-francese.txt", "venezia-fair-roulette.txt"])
def test_the_finals_are_those_that_venezia_lists_with_as_many_pieces(name: str) -> None:
    regulation = text(name)
    plein = finals_of(regulation, "FINALI IN PIENO")
    across, down = (finals_of(regulation, f"FINALI A CAVALLO {way}") for way in ("ORIZZONTALI", "VERTICALI"))
    assert {final: len(winning(*final)) for final in plein} == plein
    assert {final: pieces(winning(*final), 1) for final in across} == across
    assert {final: pieces(winning(*final), 3) for final in down} == down
    assert {pair for facts in SINGLE_ZERO.facts.values() for pair in facts.finals_cheval} == {*across, *down}
    assert (len(plein), len(across), len(down)) == (10, 7, 10)


def test_the_finals_that_campione_gives_as_examples() -> None:
    """C17: how many pieces each has."""
    examples = text("campione-roulette.txt").split("Esempio :")[1].split("###")[0]
    found = {
        tuple(map(int, name.split("/"))): int(count)
        for name, count in re.findall(r"finale ([\d/]+) \((\d) pezzi\)", examples)
    }
    assert found == {
        (1,): len(winning(1)),
        (3, 6): pieces(winning(3, 6), 3),
        (4, 7): pieces(winning(4, 7), 3),
        (1, 2): pieces(winning(1, 2), 1),
    }


def test_the_finals_that_venezia_writes_out() -> None:
    """34 ends as 4/7 does, and the number below it is not on the cloth: no piece of that final lies on it."""
    regulation = text("venezia-roulette-francese.txt")
    written = {(3, 6): "finale 3/6 quattro pezzi:", (8, 9): "è la finale 8/9:", (1,): 'ad esempio la "1":'}
    for final, before in written.items():
        numbers = re.split(r"[.(]", regulation.split(before)[1])[0]
        assert winning(*final) == {int(number) for number in re.findall(r"\d+", numbers)}, final
    assert 34 not in winning(4, 7)


def test_the_three_great_sectors_part_the_rotor() -> None:
    great = {"serie_5_8", "voisins_du_zero", "orphelins"}
    for number in range(37):
        assert len(great & set(SINGLE_ZERO.facts[number].sectors)) == 1, number


def test_the_american_rotor_has_each_number_opposite_the_next_one() -> None:
    """Zero opposite double zero, and each odd number opposite the even one that follows it: so the rotor was made."""
    order = DOUBLE_ZERO.order
    assert (DOUBLE_ZERO.count, sorted(order)) == (38, list(range(38)))
    opposite = {order[index]: order[(index + 19) % 38] for index in range(38)}
    assert label_of(opposite[0]) == "00"
    assert all(opposite[odd] == odd + 1 for odd in range(1, 36, 2))
    colours = [DOUBLE_ZERO.facts[number].colour for number in order if number not in (0, number_of("00"))]
    assert all(one != other for side in (colours[:18], colours[18:]) for one, other in pairwise(side))


@pytest.mark.parametrize("number", range(1, 37))
def test_a_number_of_the_american_wheel_is_what_the_cloth_says_and_no_more(number: int) -> None:
    american, french = DOUBLE_ZERO.facts[number], SINGLE_ZERO.facts[number]
    for name in ("label", "colour", "parity", "half", "dozen", "column"):
        assert getattr(american, name) == getattr(french, name), name
    assert (american.sectors, american.finals_plein, american.finals_cheval) == ((), (), ())


@pytest.mark.parametrize("label", ["0", "00"])
def test_a_zero_of_the_american_wheel_has_no_simple_chance(label: str) -> None:
    facts = DOUBLE_ZERO.facts[number_of(label)]
    assert (facts.label, facts.pocket_index) == (label, 0 if label == "0" else 19)
    assert (facts.colour, facts.parity, facts.half, facts.dozen, facts.column) == (None,) * 5
    assert (facts.sectors, facts.finals_plein) == ((), ())


def test_what_is_printed_in_a_pocket_and_its_number_belong_together() -> None:
    assert [label_of(number) for number in (0, 7, 36, DOUBLE_ZERO.order[19])] == ["0", "7", "36", "00"]
    assert all(number_of(label_of(number)) == number for number in DOUBLE_ZERO.order)
    assert (SINGLE_ZERO.printed, DOUBLE_ZERO.printed) == ("0…36", "0…36, 00")
    for wrong in ("37", "07", "000", " 7", "-1", "x", ""):
        with pytest.raises(ValueError, match="printed in no pocket"):
            number_of(wrong)
    assert number_of(37) == DOUBLE_ZERO.order[19], "in JSON a number stands for itself"
