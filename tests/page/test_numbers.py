"""The last 200 numbers, put together from boards of twenty."""

from __future__ import annotations

import random
from pathlib import Path

import structlog

from wheeld.page.numbers import NUMBERS_MAX, NumberHistory

ORDER = tuple(range(37))


def test_boards_that_overlap_are_joined() -> None:
    rng = random.Random(5)
    played: list[int] = []
    numbers = NumberHistory()
    for _ in range(400):
        played.insert(0, rng.randrange(37))
        if rng.random() < 0.3:  # others are missed
            numbers.take(played[:20])
    numbers.take(played[:20])
    assert numbers.newest_first == played[:NUMBERS_MAX]


def test_the_same_board_again_adds_nothing() -> None:
    numbers = NumberHistory()
    for _ in range(3):
        numbers.take([7, 7, 7])
    assert numbers.newest_first == [7, 7, 7]


def test_a_board_that_follows_a_gap_is_added_whole() -> None:
    numbers = NumberHistory()
    numbers.take([1, 2, 3])
    numbers.take([9, 8])
    assert numbers.newest_first == [9, 8, 1, 2, 3]


def test_they_are_kept_over_a_restart(tmp_path: Path) -> None:
    NumberHistory(tmp_path / "n.json").take([5, 6])
    again = NumberHistory(tmp_path / "n.json")
    again.take([4, 5, 6])
    assert again.newest_first == [4, 5, 6]


def test_a_file_that_is_none_of_ours_counts_as_nothing(tmp_path: Path) -> None:
    for number, content in enumerate((b"", b"{", b'{"a":1}', b'["x"]', b"\xff\xfe", b"[" * 5_000)):
        path = tmp_path / f"{number}.json"
        path.write_bytes(content)
        assert NumberHistory(path).newest_first == []


def test_a_disk_that_takes_nothing_is_told_once_and_the_numbers_are_shown(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as said:
        numbers = NumberHistory(tmp_path / "gone" / "n.json")
        numbers.take([5])
        numbers.take([6, 5])
        assert [each["event"] for each in said] == ["numbers.not_stored"]
        (tmp_path / "gone").mkdir()
        numbers.take([7, 6, 5])
    assert numbers.newest_first == [7, 6, 5] == NumberHistory(tmp_path / "gone" / "n.json").newest_first


def test_hot_and_cold() -> None:
    numbers = NumberHistory()
    numbers.take([7, 3, 7, 3, 7, 5])
    assert [(seen.number, seen.times) for seen in numbers.hot()] == [(7, 3), (3, 2), (5, 1)]
    assert [(seen.number, seen.times) for seen in numbers.cold(ORDER)] == [(0, 0), (1, 0), (2, 0), (4, 0)]


def test_of_numbers_that_came_equally_often_the_one_longest_ago_is_coldest() -> None:
    numbers = NumberHistory()
    numbers.take([2, 0, 1])
    assert [seen.number for seen in numbers.cold((0, 1, 2))] == [1, 0, 2]
