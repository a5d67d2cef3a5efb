"""The lists `stakes`, `late`, `settles`, `acks` and `order` of docs/feed-vectors.json.

Every answer is written by hand from docs/feed.md. No program of ours takes stakes: test_histories.py has a judge
for them, from the page too.
"""

from __future__ import annotations

from typing import Any, Final

_OPEN: Final[dict[str, Any]] = {"topic": "table", "bets": "open", "coup_id": "A"}
_BEGUN: Final[tuple[list[Any], ...]] = (
    [0, "subscribed"], [0.5, "asked"], [0.6, "stored", 1, _OPEN], [0.7, "reply", 1],
)  # fmt: skip
"""From 0.7 s on a stake on the coup A is taken."""
Row = dict[str, Any]


def _of(topic: str, coup_id: object = "A", **more: Any) -> dict[str, Any]:
    return {"topic": topic, "coup_id": coup_id, **more}


def _table(coup_id: object = "A", bets: object = "open", **more: Any) -> dict[str, Any]:
    return _of("table", coup_id, bets=bets, **more)


def stakes() -> list[Row]:
    """What happens to a consumer that has stored nothing, and whether it takes a stake on a coup at a second."""
    rows = list[Row]()

    def add(what: str, events: list[list[Any]], *finds: tuple[float, str] | tuple[float, str, str]) -> None:
        asked = sorted([second, *(coup or ["A"]), answer] for second, answer, *coup in finds)
        rows.append({"what": what, "events": events, "stakes": asked})

    def then(what: str, events: list[list[Any]], *finds: tuple[float, str] | tuple[float, str, str]) -> None:
        add(what, [*_BEGUN, *events], *finds)

    add("the first question of a connection, and a stake on another coup", [*_BEGUN], (0.4, "rule 1"),
        (0.65, "rule 2"), (0.8, "take"), (0.8, "rule 1", "B"))  # fmt: skip
    for verdict in ("result", "void"):
        then(f"a {verdict} of this coup, and what a table says of the coup after that",
            [[5, "stored", 2, _of(verdict)], [7, "stored", 3, _table("B")], [9, "stored", 4, _of("void", "B")],
             [11, "stored", 5, _table()]],
            (4, "take"), (6, "rule 1"), (8, "rule 1"), (8, "take", "B"), (10, "rule 1", "B"),
            (12, "rule 1"))  # fmt: skip
    then("a verdict of another coup, and a ruling while this coup is at hand",
        [[5, "stored", 2, _of("void", "B")], [7, "stored", 3, _of("ruling")]], (6, "take"), (8, "take"))  # fmt: skip
    then("bets are closed, and open again",
        [[5, "stored", 2, _table(bets="closed")], [7, "stored", 3, _table()]], (6, "rule 1"), (8, "take"))  # fmt: skip
    no_bets = [
        _table(bets="locked"), _table(bets="Open"), _table(bets=None), _of("table"),
        _table(None), _table(7), _table(""), _table("A "), {"topic": "table", "bets": "open"},
    ]  # fmt: skip
    tables = [table for none in no_bets for table in (none, _OPEN)]
    then("tables without open bets of this coup, each with one behind it that opens them again",
        [[seq, "stored", seq, table] for seq, table in enumerate(tables, 2)], (12.5, "rule 1", "7"),
        *((seq + 0.5, "take" if table is _OPEN else "rule 1") for seq, table in enumerate(tables, 2)))  # fmt: skip
    lost = {"first_seq": 2, "last_seq": 3}
    for topic in ("result", "void", "ruling"):
        then(f"a {topic} with a gap: the stakes wait for the next table",
            [[5, "stored", 4, _of(topic, "B", gap=lost)], [7, "stored", 5, _table()]],
            (6, "rule 1"), (8, "take"))  # fmt: skip
    then("a result of this coup with a gap, and a table that opens the coup again",
        [[5, "stored", 4, _of("result", gap=lost)], [7, "stored", 5, _table()]],
        (6, "rule 1"), (8, "rule 1"))  # fmt: skip
    then("a gap of which this consumer has all", [[5, "stored", 2, _of("ruling", gap={"first_seq": 1, "last_seq": 1})]],
        (6, "rule 1"))  # fmt: skip
    then("the table itself has a gap, and what is lost is no fault", [[5, "stored", 4, _table("B", gap=lost)]],
        (6, "take", "B"))  # fmt: skip
    then("a repeat, and a message that is dropped for a gap, change nothing",
        [[5, "stored", 2, _table("B")], [6, "repeat", 1, _OPEN], [7, "gap", 9, _table("C")], [7, "asked"],
         [7.5, "reply", 2]],
        (6.5, "rule 1"), (6.5, "take", "B"), (8, "take", "B"), (8, "rule 1", "C"))  # fmt: skip

    then("the connection ends: a reply in the next one is needed",
        [[5, "disconnected"], [8, "subscribed"], [8.5, "asked"], [9, "reply", 1]],
        (6, "rule 2"), (8.2, "rule 2"), (8.7, "rule 2"), (9.5, "take"))  # fmt: skip
    then("a new connection at once", [[5, "subscribed"], [5.5, "asked"], [6, "reply", 1]],
        (5.2, "rule 2"), (5.7, "rule 2"), (6.5, "take"))  # fmt: skip
    then("the program starts again: what is stored counts", [[5, "started"], [6, "subscribed"], [6.5, "asked"],
        [7, "reply", 1]], (5.5, "rule 2"), (6.2, "rule 2"), (7.5, "take"))  # fmt: skip
    then("the program starts again after the verdict, and a table opens the coup again",
        [[2, "stored", 2, _of("void")], [5, "started"], [6, "subscribed"], [6.5, "asked"],
         [7, "reply", 2], [8, "stored", 3, _table()]], (7.5, "rule 1"), (8.5, "rule 1"))  # fmt: skip
    then("the program starts again after a message with a gap",
        [[2, "stored", 4, _of("ruling", gap=lost)], [5, "started"], [6, "subscribed"], [6.5, "asked"], [7, "reply", 4]],
        (7.5, "rule 1"))  # fmt: skip

    add("more: until what was missing is stored",
        [*_BEGUN[:3], [0.7, "reply", 3], [0.9, "stored", 2, _of("ruling")], [1.2, "stored", 3, _of("ruling")]],
        (0.8, "rule 2"), (1, "rule 2"), (1.3, "take"))  # fmt: skip
    add("more, and what was missing comes while the next question is open",
        [*_BEGUN[:3], [0.7, "reply", 2], [1.5, "asked"], [1.8, "stored", 2, _of("ruling")], [2, "reply", 2]],
        (1.6, "rule 2"), (1.9, "take"), (2.1, "take"))  # fmt: skip
    then("more after ten quiet minutes", [[600.6, "asked"], [601, "reply", 2], [601.4, "stored", 2, _of("ruling")]],
        (600.8, "take"), (601.2, "rule 2"), (601.5, "take"))  # fmt: skip
    then("a question of a quiet consumer is open, two replies are missing, and the third comes",
        [[600.6, "asked"], [610.6, "asked"], [615, "dropped"], [630.6, "asked"], [640, "reply", 1]],
        (605, "take"), (614, "rule 2"), (616, "rule 2"), (635, "rule 2"), (641, "take"))  # fmt: skip
    then("a reply is missing, whatever was stored meanwhile",
        [[600.6, "asked"], [610.6, "asked"], [611, "stored", 2, _OPEN], [613, "reply", 2]],
        (612, "rule 2"), (614, "take"))  # fmt: skip
    add("no reply comes", [*_BEGUN[:3], [10.6, "asked"], [19, "reply", 1]],
        (5, "rule 2"), (15, "rule 2"), (20, "take"))  # fmt: skip
    then("a reply that is not yours, when no question is open", [[300, "dropped"]], (301, "take"))
    add("a reply that is not yours, while a question is open", [*_BEGUN[:3], [0.7, "dropped"], [3, "reply", 1]],
        (2, "rule 2"), (4, "take"))  # fmt: skip
    for what in ("refused", "test"):
        then(f"{what}: until a reply says all", [[600.6, "asked"], [601, what], [610.6, "asked"], [611, "reply", 1]],
            (602, "rule 2"), (610.8, "rule 2"), (612, "take"))  # fmt: skip
    then("rolled_back: until a reply says all, whatever was stored meanwhile",
        [[600.6, "asked"], [601, "reply", 0], [603, "stored", 2, _of("ruling")], [1203, "asked"], [1204, "reply", 2]],
        (602, "rule 2"), (604, "rule 2"), (1203.5, "rule 2"), (1205, "take"))  # fmt: skip

    then("a reply to the question of the connection before",
        [[600.6, "asked"], [601, "subscribed"], [601.2, "reply", 1], [601.5, "asked"], [602, "reply", 1]],
        (601.3, "rule 2"), (602.5, "take"))  # fmt: skip

    then("a fault: to ask does not end it", [[5, "fault"], [10.6, "asked"], [12, "reply", 1]],
        (4, "take"), (5, "rule 3"), (11, "rule 3"), (13, "take"))  # fmt: skip
    then("a fault, whatever its number", [[5, "fault", 2], [6, "stored", 2, _of("ruling")], [16, "asked"],
        [17, "reply", 2]], (7, "rule 3"), (18, "take"))  # fmt: skip
    then("a fault, and a reply says more", [[5, "fault"], [10.6, "asked"], [11, "reply", 2],
        [11.4, "stored", 2, _of("ruling")]], (11.2, "rule 2"), (11.5, "take"))  # fmt: skip
    add("a fault after a reply that said more", [*_BEGUN[:3], [0.7, "reply", 2], [0.8, "fault"],
        [0.9, "stored", 2, _of("ruling")], [10.9, "asked"], [11, "reply", 2]], (2, "rule 3"), (12, "take"))  # fmt: skip
    add("a fault before the reply", [*_BEGUN[:3], [0.7, "fault"], [1, "reply", 1]], (2, "take"))
    then("conflict", [[5, "conflict", 1]], (6, "take"))

    then("a gap that fills itself", [[5, "gap", 3], [5, "asked"], [5.2, "stored", 2, _of("ruling")],
        [5.4, "stored", 3, _of("ruling")]], (4, "take"), (5.1, "rule 3"), (5.3, "rule 3"), (5.5, "take"))  # fmt: skip
    then("a gap of which the reply knows nothing: to ask does not end it",
        [[5, "gap", 9], [5, "asked"], [6, "reply", 1]], (5.5, "rule 3"), (6.5, "take"))  # fmt: skip
    then("a gap ends with a reply that says more, and what that names is stored",
        [[5, "gap", 9], [5, "asked"], [5.3, "reply", 2], [5.6, "stored", 2, _of("ruling")]],
        (5.1, "rule 3"), (5.4, "rule 2"), (5.7, "take"))  # fmt: skip
    add("a gap while a question is open: its reply does not end it",
        [*_BEGUN[:3], [0.7, "gap", 9], [1, "reply", 1], [1.5, "asked"], [2, "reply", 1]],
        (1.2, "rule 3"), (1.7, "rule 3"), (2.1, "take"))  # fmt: skip
    then("two gaps, and the lower one fills itself",
        [[5, "gap", 9], [5, "asked"], [5.1, "gap", 3], [5.2, "stored", 2, _of("ruling")],
         [5.3, "stored", 3, _of("ruling")], [5.6, "reply", 3]], (5.4, "rule 3"), (5.7, "take"))  # fmt: skip
    then("two gaps at once, and the lower one fills itself",
        [[300, "gap", 9], [300, "gap", 3], [300, "asked"], [300.2, "stored", 2, _of("ruling")],
         [300.3, "stored", 3, _of("ruling")], [300.6, "reply", 3]],
        (300.4, "rule 3"), (300.7, "take"))  # fmt: skip
    then("a gap, and the first question after it gets no reply",
        [[5, "gap", 9], [5, "asked"], [15, "asked"], [19, "reply", 1]],
        (6, "rule 3"), (18, "rule 2"), (20, "take"))  # fmt: skip
    then("a gap before the first question of a connection",
        [[5, "subscribed"], [5.1, "gap", 9], [5.5, "asked"], [6, "reply", 1]],
        (5.8, "rule 2"), (7, "take"))  # fmt: skip
    return rows


def late() -> list[Row]:
    """`bets_closed_at` of a result, the time of a stake, and what becomes of it."""
    closed = "2027-01-15T20:00:05.000000Z"
    stakes_at = [
        ("pay", "2027-01-15T20:00:04.999999Z"), ("pay", "2026-12-31T23:00:00.000000Z"), ("late", closed),
        ("late", "2027-01-15T20:00:05.000001Z"), ("late", "2027-01-16T00:00:00.000000Z"),
    ]  # fmt: skip
    no_times: tuple[object, ...] = (
        None, "", 1_800_043_205, "2027-01-15T20:00:05Z", "2027-01-15T20:00:05.000000+00:00",
        "2027-01-15 20:00:05.000000Z", "2027-02-30T20:00:05.000000Z", "2027-01-15T24:00:00.000000Z",
        "2027-01-15T23:59:60.000000Z", "2027-01-15T23:60:00.000000Z", "2027-02-29T20:00:05.000000Z",
        "2100-02-29T20:00:05.000000Z", "2027-13-15T20:00:05.000000Z", "2027-00-15T20:00:05.000000Z",
        "2027-01-00T20:00:05.000000Z", "2027-01-15T20:00:0x.000000Z", closed + "\n", " " + closed,
    )  # fmt: skip
    return [
        *({"finds": finds, "bets_closed_at": closed, "stake_at": at} for finds, at in stakes_at),
        {"finds": "pay", "bets_closed_at": "2027-01-15T20:00:05.500000Z", "stake_at": closed},
        *(
            {"finds": finds, "bets_closed_at": "2027-01-15T20:00:05.000500Z", "stake_at": f"2027-01-15T20:00:05.{us}Z"}
            for finds, us in (("pay", "000499"), ("late", "000500"), ("late", "000501"), ("late", "001000"))
        ),
        {"finds": "pay", "bets_closed_at": "2028-02-29T20:00:05.000000Z", "stake_at": closed},
        {"finds": "late", "bets_closed_at": "2000-02-29T20:00:05.000000Z", "stake_at": closed},
        {"finds": "person", "stake_at": closed},
        *({"finds": "person", "bets_closed_at": wrong, "stake_at": closed} for wrong in no_times),
    ]


def settles() -> list[Row]:
    """What happens to a consumer and to its stakes, from a table that opens the coup A on, and the money of each."""
    rows = list[Row]()
    at = [f"2027-01-15T20:00:0{second}.000000Z" for second in range(10)]
    gap = {"first_seq": 2, "last_seq": 3}
    opens_b, a_after_gap = _table("B"), ["stored", 4, _table(gap=gap)]
    gives_a_back = _of("void", bets_closed_at=at[5])

    def stake(name: str, number: int | None, written_at: str, coup_id: str = "A") -> list[list[Any]]:
        return [["checks", name, coup_id], ["writes", name, number, written_at]]

    def result(number: int, coup_id: str = "A", **more: Any) -> dict[str, Any]:
        return _of("result", coup_id, number=number, bets_closed_at=at[5], **more)

    def add(what: str, events: list[list[Any]], *finds: tuple[int, str, str]) -> None:
        """The events come a second apart."""
        timed = [[second, *event] for second, event in enumerate(events, 1)]
        rows.append({"what": what, "events": [*_BEGUN, *timed], "settles": [list(found) for found in finds]})

    in_time = stake("a", 5, at[1])
    add("a stake that wins, one that loses, and a late one",
        [*in_time, *stake("b", 6, at[1]), *stake("c", 5, at[5]), ["stored", 2, result(5)]],
        (7, "a", "pay"), (7, "b", "pay nothing"), (7, "c", "late"))  # fmt: skip
    add("the result of another coup, and then that of this one",
        [*in_time, ["stored", 2, result(5, "Z")], ["stored", 3, result(5)]], (4, "a", "pay"))  # fmt: skip
    add("a void gives back a late stake, too", [*in_time, *stake("b", 6, at[9]), ["stored", 2, gives_a_back]],
        (5, "a", "give back"), (5, "b", "give back"))  # fmt: skip
    add("no bets_closed_at: a person decides about the stakes of this coup, and not about the one in prison",
        [["prison", "p", 5, at[1]], *in_time, *stake("b", 6, at[1]), *stake("b", None, at[2]),
         ["stored", 2, _of("result", number=5)]],
        (8, "a", "person"), (8, "b", "person"), (8, "p", "pay"))  # fmt: skip
    add("taken back in time, and late",
        [*in_time, *stake("b", 5, at[1]), *stake("a", None, at[2]), *stake("b", None, at[5]), ["stored", 2, result(5)]],
        (9, "a", "give back"), (9, "b", "pay"))  # fmt: skip
    add("changed in time, and late",
        [*in_time, *stake("b", 5, at[1]), *stake("a", 6, at[2]), *stake("b", 6, at[5]), ["stored", 2, result(6)]],
        (9, "a", "pay"), (9, "b", "pay nothing"))  # fmt: skip
    add("not taken back, for there is no connection",
        [*in_time, ["disconnected"], *stake("a", None, at[2]), ["stored", 2, result(5)]],
        (5, "a", "refused"), (6, "a", "pay"))  # fmt: skip

    add("a stake in prison is not late, and is settled once",
        [["prison", "p", 5, at[9]], ["stored", 2, result(5)], ["stored", 3, opens_b], ["stored", 4, result(5, "B")]],
        (2, "p", "pay"))  # fmt: skip
    add("a void leaves it in prison",
        [["prison", "p", 5, at[1]], ["stored", 2, gives_a_back], ["stored", 3, opens_b], ["stored", 4, result(5, "B")]],
        (4, "p", "pay"))  # fmt: skip
    add("in prison none is changed or taken back",
        [["prison", "p", 5, at[1]], ["prison", "q", 5, at[1]], *stake("p", 6, at[2]), *stake("q", None, at[2]),
         ["stored", 2, result(5)]],
        (4, "p", "refused"), (6, "q", "refused"), (7, "p", "pay"), (7, "q", "pay"))  # fmt: skip
    add("a person decides, and the next result settles it no more",
        [*in_time, ["stored", 2, _of("result", number=5)], *stake("a", None, at[2]), ["stored", 3, result(5)]],
        (3, "a", "person"), (5, "a", "refused"))  # fmt: skip
    add("changed in time and then taken back late; changed and taken back in time",
        [*in_time, *stake("b", 5, at[1]), *stake("a", 6, at[2]), *stake("a", None, at[5]), *stake("b", 6, at[4]),
         *stake("b", None, at[4]), ["stored", 2, result(6)]],
        (13, "a", "pay"), (13, "b", "give back"))  # fmt: skip

    add("a gap in a table of this coup: a person settles the stakes from before it, in prison too",
        [["prison", "p", 5, at[1]], *in_time, a_after_gap, *stake("b", 5, at[2]), *stake("a", None, at[2]),
         ["stored", 5, result(5)]],
        (4, "a", "person"), (4, "p", "person"), (8, "a", "refused"), (9, "b", "pay"))  # fmt: skip
    for what, stored in (
        ("its result", ["stored", 2, result(5)]), ("its void", ["stored", 2, gives_a_back]), ("a gap", a_after_gap),
    ):  # fmt: skip
        add(f"{what} is stored between the check and the write of a stake", [in_time[0], stored, in_time[1]],
            (3, "a", "refused"))  # fmt: skip
    add("the result of another coup is stored between them",
        [in_time[0], ["stored", 2, result(5, "Z")], in_time[1], ["stored", 3, result(5)]], (4, "a", "pay"))  # fmt: skip
    return rows


def acks() -> list[Row]:
    """What happens to a consumer, and the second and number of each ack."""
    rows = list[Row]()

    def add(what: str, sent: list[list[int]], *events: list[Any]) -> None:
        first = [] if events[0][1] in ("started", "begins") else [[0, "started", 0], [1, "subscribed"]]
        rows.append({"what": what, "events": [*first, *events], "acks": sent})

    add("nothing is stored", [], [2, "reply", 0], [3, "gap", 2], [4, "fault"], [5, "subscribed"])
    add("each message that is stored", [[2, 1], [4, 3]], [2, "stored", 1], [4, "stored", 2], [4, "stored", 3])
    add("what came and is not stored yet", [[4, 1], [7, 2]], [2, "came", 1], [4, "stored", 1], [5, "came", 2],
        [7, "stored", 2])  # fmt: skip
    add("two messages that came, and the disk has the first", [[4, 1], [6, 2]], [2, "came", 1], [2, "came", 2],
        [4, "stored", 1], [6, "stored", 2])  # fmt: skip
    add("a repeat: the ack names the last one that is stored", [[2, 3], [4, 3], [6, 3]], [2, "stored", 1],
        [2, "stored", 2], [2, "stored", 3], [4, "repeat", 1], [6, "repeat", 3])  # fmt: skip
    add("a repeat, and the next message", [[2, 1], [4, 2]], [2, "stored", 1], [4, "repeat", 1], [4, "stored", 2])
    add("conflict", [[2, 2]], [2, "stored", 1], [2, "stored", 2], [4, "conflict", 1], [5, "conflict", 2])
    add("a gap, a fault and a reply", [[2, 1]], [2, "stored", 1], [4, "gap", 9], [5, "fault"], [6, "reply", 9])
    add("a message with a gap: those before are lost, and count as stored", [[2, 2], [4, 8], [6, 8], [7, 8]],
        [2, "stored", 1], [2, "stored", 2], [4, "stored", 8], [6, "repeat", 2], [7, "repeat", 5])  # fmt: skip
    add("a new connection", [[2, 1], [4, 1], [7, 1]], [2, "stored", 1], [4, "subscribed"], [5, "disconnected"],
        [7, "subscribed"])  # fmt: skip
    add("a new connection while the disk is slow", [[2, 1], [5, 1], [7, 2]], [2, "stored", 1], [3, "came", 2],
        [5, "subscribed"], [7, "stored", 2])  # fmt: skip
    add("stored after the connection has ended", [[2, 1], [8, 2]], [2, "stored", 1], [4, "came", 2],
        [5, "disconnected"], [6, "stored", 2], [8, "subscribed"])  # fmt: skip
    add("rolled_back takes no ack back", [[1, 5], [4, 5]], [0, "started", 5], [1, "subscribed"], [2, "reply", 3],
        [4, "subscribed"])  # fmt: skip
    add("a new start", [[1, 5], [3, 6], [6, 6]], [0, "started", 5], [1, "subscribed"], [3, "stored", 6],
        [5, "started", 6], [6, "subscribed"])  # fmt: skip
    add("the program ended before the ack", [[1, 5], [5, 6]], [0, "started", 5], [1, "subscribed"], [3, "came", 6],
        [4, "started", 6], [5, "subscribed"])  # fmt: skip
    add("the program ended before the message was stored", [[1, 5], [5, 5], [7, 6]], [0, "started", 5],
        [1, "subscribed"], [3, "came", 6], [4, "started", 5], [5, "subscribed"], [7, "stored", 6])  # fmt: skip
    add("it begins later: the number that the house gave is not stored", [[6, 6], [8, 6]], [0, "begins", 5],
        [1, "subscribed"], [3, "repeat", 5], [4, "repeat", 2], [6, "stored", 6], [8, "repeat", 5])  # fmt: skip
    add("it begins later, and starts again before it stores", [[7, 6]], [0, "begins", 5], [1, "subscribed"],
        [3, "begins", 5], [4, "subscribed"], [5, "repeat", 5], [7, "stored", 6])  # fmt: skip
    add("a message is stored after a conflict", [[2, 1], [5, 2]], [2, "stored", 1], [4, "conflict", 1],
        [5, "stored", 2])  # fmt: skip
    return rows


def order(given: dict[str, tuple[str, str]]) -> list[Row]:
    """What comes, and each step of a consumer in its order. `given`: topic and payload of each message by its name."""
    rows = list[Row]()

    def add(what: str, stored: int, names: str, steps: list[str], **ends: Any) -> None:
        comes = [
            {"connects": True} if name == "connects" else dict(zip(("topic", "payload"), given[name], strict=True))
            for name in names.split()
        ]
        rows.append({"what": what, "stored": stored, "comes": comes, "steps": steps, **ends})

    pays, gives_back = "store 2 and pay 32", "store 4 and give back"
    add("a table", 0, "1", ["store 1", "ack 1"])
    add("a result", 1, "2", [pays, "ack 2"])
    add("a void", 3, "4", [gives_back, "ack 4"])
    add("a ruling is shown first", 4, "5", ["report ruling", "store 5", "ack 5"])
    add("what is lost is reported first", 2, "lost", ["report lost 3 7", "store 8", "ack 8"])
    add("a void, and 3 and 4 are lost: a person settles stakes from before a gap", 2, "void",
        ["report lost 3 4", "store 5", "ack 5"])  # fmt: skip
    add("a result, and 3 and 4 are lost: it is not paid", 2, "result", ["report lost 3 4", "store 5", "ack 5"])
    add("a ruling, and 3 and 4 are lost", 2, "ruling", ["report lost 3 4", "report ruling", "store 5", "ack 5"])
    add("what is lost, and then a result: a person settles the stakes from before the gap", 2, "lost ninth",
        ["report lost 3 7", "store 8", "ack 8", "store 9", "ack 9"])  # fmt: skip
    add("a message of a number that was lost", 2, "lost 4", ["report lost 3 7", "store 8", "ack 8", "ack 8"])
    for topic in ("result", "void", "ruling"):
        shows = ["report ruling"] if topic == "ruling" else []
        add(f"a gap in a {topic} of which this consumer has all", 4, topic, [*shows, "store 5", "ack 5"])
    add("such a gap in a table, and then the result of its coup", 2, "had fourth",
        ["store 3", "ack 3", "store 4", "ack 4"])  # fmt: skip
    add("a ruling on a coup that was paid", 1, "2 3 4 5", [pays, "ack 2", "store 3", "ack 3", gives_back, "ack 4",
        "report ruling", "store 5", "ack 5"])  # fmt: skip
    add("another number stands in a member that you do not know", 1, "later", [pays, "ack 2"])
    add("the label says another number", 1, "label", ["store 2 and pay 37", "ack 2"])
    add("a gap, and then what is missing", 1, "4 2 3 4", [pays, "ack 2", "store 3", "ack 3", gives_back, "ack 4"])
    add("repeats: nothing is paid, given back or shown again", 5, "2 4 5", ["ack 5", "ack 5", "ack 5"])
    add("a new connection, and all comes again", 1, "2 3 4 connects 2 4", [pays, "ack 2", "store 3", "ack 3",
        gives_back, "ack 4", "ack 4", "ack 4", "ack 4"])  # fmt: skip
    add("conflict", 2, "other", ["report conflict"])
    add("another prev", 1, "chain", ["report chain"])
    add("another prev, again and again", 1, "chain " * 5, ["report chain"] * 5)
    add("the house gave 1, and the next has another prev", 1, "chain", ["report chain"], begins=True)
    add("the house gave 3, and an older message comes", 3, "2 4", [gives_back, "ack 4"], begins=True)
    add("a fault, and the true message after it", 1, "forged 2", ["report signature", pays, "ack 2"])
    add("a bench table's", 1, "test", ["report test"])
    add("it ends before it has stored the result", 1, "2", [], ends_after=0, again=["ack 1", pays, "ack 2"])
    add("it ends before the ack: the result is not paid again", 1, "2", [pays], ends_after=1, again=["ack 2", "ack 2"])
    add("it ends before the ack of a void", 3, "4", [gives_back], ends_after=1, again=["ack 4", "ack 4"])
    add("it ends before it has stored its first message", 0, "1", [], ends_after=0, again=["store 1", "ack 1"])
    add("it ends between the report of what is lost and the store", 2, "lost", ["report lost 3 7"], ends_after=1,
        again=["ack 2", "report lost 3 7", "store 8", "ack 8"])  # fmt: skip
    add("it ends when what is lost is reported and stored", 2, "lost", ["report lost 3 7", "store 8"], ends_after=2,
        again=["ack 8", "ack 8"])  # fmt: skip
    add("it ends between the ruling and the store", 4, "5", ["report ruling"], ends_after=1,
        again=["ack 4", "report ruling", "store 5", "ack 5"])  # fmt: skip
    return rows
