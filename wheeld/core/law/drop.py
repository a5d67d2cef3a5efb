"""The fall into a pocket: the number, an obstacle, the rotor, an object, and the ball at rest (R3, N4, N5, N6, N8)."""

from __future__ import annotations

from wheeld.core.facts import Cause, Fact, State
from wheeld.core.law.needs import EvidenceGuard, Known
from wheeld.core.law.rows import (
    AFTER_VOID,
    ELSEWHERE,
    ON_TRACK,
    RUNNING,
    STAY,
    Act,
    Row,
    breakdown,
    ignore,
    notice,
    on,
    void,
)
from wheeld.core.tracking.evidence import Evidence

S, F = State, Fact

NUMBERS = (F.NUMBER, F.NUMBER_UNPROVEN, F.NUMBER_UNCONFIRMED)


def _number(evidence: Evidence, known: Known) -> Fact:
    """Choose the fact of a number. After a void, while play is suspended, or at a closed table, a ball in the pocket
    where it belongs was only put back. While a number awaits the chef (R3b), a ball in another pocket was moved by a
    hand, or launched again. While it is unknown whether an object is in the cylinder, no number is proven (N6)."""
    state = known.table_state.state
    is_at_home = _is_at_home(evidence, known)
    if state in (*AFTER_VOID, S.SUSPENDED, S.CLOSED) and is_at_home:
        return F.BALL_IN_PLACE
    if state in RUNNING and known.table_state.object_level == "unknown":
        return F.NUMBER_UNPROVEN
    if state is not S.AWAITING_CHEF:
        return evidence.fact
    if known.table_state.current.overtaken:
        return F.NUMBER_OVERTAKEN
    return evidence.fact if is_at_home else F.BALL_MOVED


def _ball_moved(evidence: Evidence, known: Known) -> Fact:
    """Choose the fact of a ball that lies in another pocket than before. The ball is in place if it lies where it
    belongs, or if it is seen for the first time. Otherwise a hand may have carried it, or nobody saw how it moved."""
    if known.table_state.state is S.AWAITING_CHEF and known.table_state.current.overtaken:
        return F.NUMBER_OVERTAKEN
    is_first_seen = known.table_state.ball_belongs_in is None and "from_pocket_index" not in evidence.figures
    if is_first_seen or _is_at_home(evidence, known):
        return F.BALL_IN_PLACE
    is_carried, came_from = known.observer.ball.carried, "from_pocket_index" in evidence.figures
    no_game = known.table_state.state in (S.CLOSED, S.SUSPENDED)  # a ball that ran without a game may lie anywhere
    return F.BALL_CARRIED if is_carried or (no_game and not came_from) else evidence.fact


def _is_at_home(evidence: Evidence, known: Known) -> bool:
    """Return whether the ball is where it belongs: in the pocket of the number that awaits the chef, or of the last
    number."""
    return evidence.figures.get("number") in (known.table_state.ball_belongs_in, None)


def awaits_first(row: Row, evidence: Evidence, known: Known) -> bool:
    """Return whether, before this breakdown counts, the coup's number must await the chef (R3b). This is so if the run
    is proven, and readers had seen the ball in a pocket. A fact about the number is not such a breakdown."""
    seen, latest = known.table_state.current.seen, known.observer.pocket.sightings
    is_breakdown = row.void is Cause.BREAKDOWN and evidence.fact not in NUMBERS
    if seen is None or not is_breakdown or known.table_state.state not in RUNNING:
        return False
    return max(seen.t_us, latest[0].t_us if latest else seen.t_us) <= evidence.evidence_us


GUARDS: dict[Fact, EvidenceGuard] = {**dict.fromkeys(NUMBERS, _number), F.BALL_MOVED: _ball_moved}

ROWS = (
    on(
        F.FALL_OVERDUE,
        ON_TRACK,
        S.BALL_ON_OBSTACLE,
        "N5",
        "the ball rests on an obstacle; no bet is added or withdrawn until it falls or the rotor stops",
        Act.CLOSE_BETS,
    ),
    ignore(F.FALL_OVERDUE, ELSEWHERE, "", "there are no bets to lock"),
    on(
        F.NUMBER_SEEN,
        S.BALL_RUNNING,
        S.RIEN_NE_VA_PLUS,
        "R3 6",
        "bets close at the drop; this pocket is the number only when the ball rests there",
        Act.CLOSE_BETS,
        Act.NOTICE,
        kind="number_seen",
    ),
    notice(
        F.NUMBER_SEEN,
        (S.RIEN_NE_VA_PLUS, S.BALL_ON_OBSTACLE),
        "number_seen",
        "R3",
        "this pocket is the number only when the ball rests there",
        Act.CLOSE_BETS,
    ),
    notice(F.NUMBER_SEEN, S.AWAITING_CHEF, "number_seen", "R3b", "the chef's word decides"),
    ignore(F.NUMBER_SEEN, ELSEWHERE, "", "no coup is running"),
    on(F.NUMBER, RUNNING, S.OPERATIONS, "R3", "the ball came to rest in a pocket", Act.CLOSE_BETS, Act.RESULT),
    on(
        F.NUMBER,
        S.AWAITING_CHEF,
        S.OPERATIONS,
        "R3",
        "readers saw the ball in the same pocket again: the number is proven",
        Act.RESULT,
    ),
    on(
        (F.NUMBER_NOT_PROVEN, F.ROTOR_STOPPED_IN_FALL),
        RUNNING,
        S.AWAITING_CHEF,
        "R3b",
        "the coup is neither void nor a result; the chef confirms the number, gives another, or says rien va",
        Act.CLOSE_BETS,
        Act.AWAIT,
    ),
    ignore(F.NUMBER_NOT_PROVEN, ELSEWHERE, "", "no coup is running, or its number awaits the chef"),
    ignore(F.ROTOR_STOPPED_IN_FALL, ELSEWHERE, "N5", "a stop of the rotor counts only until the drop"),
    breakdown(F.NUMBER_UNPROVEN, RUNNING, "a coup that was not observed fully is never valid"),
    on(
        F.NUMBER_UNCONFIRMED,
        RUNNING,
        S.AWAITING_CHEF,
        "R3 R1 R2",
        "these sensors can prove no more; if the table is set so, the chef confirms the rest, or each number",
        Act.CLOSE_BETS,
        Act.AWAIT,
    ),
    on(
        F.NUMBER_UNCONFIRMED,
        S.AWAITING_CHEF,
        STAY,
        "R3 R2",
        "readers saw the ball in the same pocket again; the chef still answers for the rest",
        Act.AWAIT,
    ),
    ignore(F.NUMBER_UNPROVEN, S.AWAITING_CHEF, "R3b", "this number awaits the chef already"),
    notice(
        F.NUMBER_OVERTAKEN,
        S.AWAITING_CHEF,
        "number_seen",
        "N2 N8",
        "that launch counts for nothing; the number before still awaits the chef",
    ),
    ignore(F.NUMBER_OVERTAKEN, ELSEWHERE, "", "no number awaits the chef"),
    notice(
        NUMBERS,
        AFTER_VOID,
        "number_after_void",
        "2",
        "a void coup never becomes a result; the number is kept as evidence",
        Act.ASTRAY,
    ),
    notice(
        NUMBERS, S.SUSPENDED, "number_after_void", "A6", "play is suspended; the number is kept as evidence", Act.ASTRAY
    ),
    notice(
        NUMBERS,
        (S.CLOSED, S.FAITES_VOS_JEUX, S.OPERATIONS),
        "unobserved_coup",
        "",
        "no coup was running when this ball was launched",
        Act.ASTRAY,
    ),
    breakdown(
        NUMBERS, S.BETS_CLOSED_EARLY, "bets are closed and the ball fell, but its launch was not seen", Act.BEGIN
    ),
    void(F.ROTOR_STOPPED_RUNNING, RUNNING, Cause.ROTOR_STOPPED_RUNNING, "the rotor stopped while the ball ran"),
    ignore(
        (F.ROTOR_STOPPED_RUNNING, F.ROTOR_STOPPED_BEFORE_DROP),
        S.AWAITING_CHEF,
        "N4 N5",
        "a stop of the rotor counts only until the drop; the ball rests in its pocket",
    ),
    ignore(F.ROTOR_STOPPED_RUNNING, ELSEWHERE, "N4", "a stop of the rotor counts only from launch to drop"),
    void(
        F.ROTOR_STOPPED_BEFORE_DROP,
        RUNNING,
        Cause.ROTOR_STOPPED_BEFORE_DROP,
        "the rotor stopped before the ball fell into a pocket",
    ),
    ignore(
        F.ROTOR_STOPPED_BEFORE_DROP,
        ELSEWHERE,
        "A7",
        "between coups the bouler stops and reverses the rotor as he likes",
    ),
    breakdown(F.ROTOR_WRONG_WAY, RUNNING, "a fair wheel has one direction; the other is a fault", rules="A7"),
    ignore(F.ROTOR_WRONG_WAY, ELSEWHERE, "", "no ball runs"),
    void(F.OBJECT_IN, RUNNING, Cause.FOREIGN_OBJECT, "the object fell in before the number was out"),
    notice(
        F.OBJECT_IN, ELSEWHERE, "foreign_object", "N6", "no void now; the next coup waits until the object is cleared"
    ),
    ignore(F.OBJECT_OUT, ELSEWHERE, "N6", "commands that waited for a clear cylinder may go on"),
    ignore(F.OBJECT_UNKNOWN, ELSEWHERE, "7", "what depends on it is not decided before the object sensor has reported"),
    on(
        F.BALL_MOVED,
        (S.FAITES_VOS_JEUX, S.OPERATIONS),
        S.SUSPENDED,
        "7 N8",
        "a hand moved the ball, no beam saw the coup, or the encoder has slipped",
        Act.NOTICE,
        Act.LOSE_PLACE,
        kind="unobserved_coup",
    ),
    notice(
        F.BALL_CARRIED,
        (S.FAITES_VOS_JEUX, S.OPERATIONS),
        "unobserved_coup",
        "",
        "a hand moved the ball, or no beam saw the coup; if nobody watched the wheel in that time, the chef "
        "confirms each number until the ball is seen in the right pocket",
    ),
    breakdown(
        (F.BALL_MOVED, F.BALL_CARRIED),
        (S.BETS_CLOSED_EARLY, *RUNNING),
        "bets are closed and the ball lies elsewhere, but no beam saw it run",
        Act.BEGIN,
    ),
    notice(
        (F.BALL_MOVED, F.BALL_CARRIED),
        S.AWAITING_CHEF,
        "number_seen",
        "R3b",
        "a hand may have moved the ball, or it fell only now; the chef says which number counts",
        Act.DOUBT,
    ),
    notice(
        (F.BALL_MOVED, F.BALL_CARRIED),
        AFTER_VOID,
        "ball_misplaced",
        "3",
        "the ball belongs in the pocket of the last number",
    ),
    on(
        F.BALL_MOVED,
        (S.CLOSED, S.SUSPENDED),
        STAY,
        "7",
        "no reader noticed this: a hand moved it while the rotor stood or nobody watched, or the encoder has slipped",
        Act.LOSE_PLACE,
    ),
    ignore(F.BALL_CARRIED, ELSEWHERE, "", "no game is on; people may move the ball"),
    on(F.BALL_IN_PLACE, ELSEWHERE, STAY, "3", "the ball is where it belongs between coups", Act.AT_HOME),
)
