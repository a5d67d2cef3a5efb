"""What docs/rulebook.md makes of happenings in the order of their evidence, whatever proves them, and when.

A third statement of the rulebook, of the order alone: `rulebook_model` is of facts that are proven one after the other.
Where the rulebook leaves open what comes of an order, or names a time within which a void must be published, several
outcomes are allowed; of every other order, one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from tests.core.happenings import Dated, Place, Played

Verdicts: TypeAlias = tuple[tuple[str, Any], ...]
Outcome: TypeAlias = tuple[Verdicts, str]
"""The verdicts in order, and the state that is published at the end."""
STOP_KNOWN_US = 2_000_000
"""Section 6: a stopped rotor makes the coup void at most so long after its last tick; until then another void may."""
HELD_TURNS = 1.49
"""Section 6: a sighting may take one and a half turns to prove to be the number. What it held is decided then."""
LAUNCH_KNOWN_US = 1_800_000
"""A launch has no time limit: three passes with one missed, past two beams, take less than this. Until then the chef's
word is published at once, though another cause came before it."""
REST_SOONEST_US = 2_500_000
"""No ball rests sooner after its last pass. When the rotor stops later than this, the ball may lie in a pocket that no
reader has met: only people know then whether the coup is void (N5) or has its number (R3b)."""
UNKNOWN = "any"
"""A state that the rulebook leaves open."""
STATES = {"early": "rien_ne_va_plus", "owed": "rien_va", "awaiting": "awaiting_chef"}


@dataclass(frozen=True)
class Now:
    """A table in the middle of what happens.

    `state` is as published, but for "early" ("rien ne va plus" before the launch), "running" (from the launch to the
    number), "owed" (`rien_va` that owes the operations too) and "awaiting". `back`: where a suspension leads.
    `stop_us`: until then the stop of the rotor makes the running coup void. `over_object_us`: a launch over an object
    made it void; until then the chef may be first to say so. `is_locked`: the ball is off the track for longer than a
    fall takes (N5). `may_rest`: it may lie in a pocket, unseen. `is_seen`: a reader met it in one. `in_place`: it lies
    in the pocket of the last number. `is_kept`: at a closed table, a number still awaits the chef.
    """

    state: str
    verdicts: Verdicts = ()
    back: str = ""
    has_object: bool = False
    stands: bool = False
    stop_us: int | None = None
    over_object_us: int | None = None
    left_track_us: int | None = None
    is_locked: bool = False
    may_rest: bool = False
    is_seen: bool = False
    in_place: bool = True
    is_launched: bool = False
    owes_tout_va: bool = False
    is_faulty: bool = False
    is_kept: bool = False

    def void(self, cause: str, state: str = "rien_va", **more: Any) -> Now:
        """The coup is void by that cause."""
        return replace(self, state=state, verdicts=(*self.verdicts, ("void", cause)), stop_us=None, **more)

    def result(self, number: int) -> Now:
        """The coup has its number, and the ball lies at rest."""
        verdicts = (*self.verdicts, ("result", number))
        return replace(self, state="operations", verdicts=verdicts, stop_us=None, is_launched=False)


def outcomes(place: Place, played: Played) -> set[Outcome]:
    """All that the rulebook allows to come of that evidence."""
    if played.proven_us is None:
        return _outcomes(place, played, is_out=False)
    allowed = _outcomes(place, played, is_out=True)
    if played.proof_turns > HELD_TURNS:
        allowed |= _outcomes(place, played, is_out=False)
    return allowed


def _outcomes(place: Place, played: Played, *, is_out: bool) -> set[Outcome]:
    off_track = Now("running", in_place=False, is_launched=True, left_track_us=played.left_track_us)
    begins = {
        "falling": off_track,
        "on_obstacle": replace(off_track, is_locked=True),
        "suspended": Now(place, back="faites_vos_jeux"),
    }
    law = _Law(played, is_out=is_out)
    found: set[Outcome] = set()
    for evidence in _orders(played.evidence):
        reached = {begins.get(place, Now(place))}
        for dated in evidence:
            reached = {after for now in reached for after in law.after(now, dated)}
        found |= {(now.verdicts, STATES.get(now.state, now.state)) for each in reached for now in law.at_the_end(each)}
    return found


def _orders(evidence: tuple[Dated, ...]) -> list[tuple[Dated, ...]]:
    """The order of the evidence; and, as section 6 wants a sensor's fault at once, before what waits for the proof of a
    launch."""
    names = [dated.name for dated in evidence]
    if not {"launch", "fault"} <= set(names):
        return [evidence]
    launch, fault = names.index("launch"), names.index("fault")
    if not launch < fault or evidence[fault].t_us > evidence[launch].t_us + LAUNCH_KNOWN_US:
        return [evidence]
    waited = [dated for dated in evidence[launch + 1 :] if dated.name != "fault"]
    return [evidence, (*evidence[: launch + 1], evidence[fault], *waited)]


class _Law:
    """The rulebook, for one history. `is_out`: the number is out at the first sighting, for the others prove it."""

    def __init__(self, played: Played, *, is_out: bool) -> None:
        self._played, self._is_out = played, is_out

    def after(self, now: Now, dated: Dated) -> list[Now]:
        """Where the table may be after it. While a stop is not published yet, there are two ways to go on."""
        before = [now]
        if now.stop_us is not None:
            before = [*self._stop_published(now), *([now] if dated.t_us <= now.stop_us else [])]
        handle = getattr(self, f"_{dated.name}")
        found: list[Now] = []
        for each in before:
            after: Iterable[Now] | Now = handle(each, dated.t_us)
            found += [after] if isinstance(after, Now) else after
        return found

    def at_the_end(self, now: Now) -> list[Now]:
        """What is left to be decided when nothing more happens."""
        last = [now] if now.stop_us is None else self._stop_published(now)
        if self._played.proven_us is not None and not self._is_out:  # proven at last, while it awaited the chef
            last = [each.result(self._played.number) if self._is_undecided(each) else each for each in last]
        nowhere = "awaiting" if now.is_seen else UNKNOWN
        return [replace(each, state=nowhere) if each.state == "running" else each for each in last]

    def _is_undecided(self, now: Now) -> bool:
        return now.is_seen and now.state in ("running", "awaiting")

    def _stop_published(self, now: Now) -> list[Now]:
        """N4, or N5 once the ball has left the track; a ball that was or could be in a pocket awaits the chef."""
        if now.is_seen or now.may_rest:
            return [replace(now, state="awaiting", stop_us=None)]
        causes = ["rotor_stopped_running"] if now.left_track_us is None else ["rotor_stopped_before_drop"]
        if now.left_track_us is not None and now.left_track_us != self._played.left_track_us:
            causes = ["rotor_stopped_running", "rotor_stopped_before_drop"]  # that pass is known as the last only later
        return [now.void(cause) for cause in causes]

    # --- the ball -----------------------------------------------------------------------------------------------------

    def _launch(self, now: Now, t_us: int) -> Now:
        now = replace(now, in_place=False, is_launched=True)
        match now.state:
            case "faites_vos_jeux" | "early" if now.has_object:
                return replace(now.void("foreign_object"), over_object_us=t_us + LAUNCH_KNOWN_US)
            case "faites_vos_jeux" | "early":
                return replace(now, state="running", stop_us=t_us + STOP_KNOWN_US if now.stands else None)
            case "operations":
                return now.void("early_launch", "owed")
            case "rien_va" | "owed":
                return now.void("early_launch", now.state)
        return now  # closed or suspended: a notice

    def _left_track(self, now: Now, t_us: int) -> Now:
        return replace(now, left_track_us=t_us)

    def _seen(self, now: Now, t_us: int) -> Iterable[Now]:
        """The number is out here, if the sightings from here on prove it (R3)."""
        if now.state == "running" and self._is_out:
            return [now.result(self._played.number)]
        if now.state == "early":  # bets are closed, and the ball of no coup fell
            return [now, now.void("breakdown", "suspended", back="rien_va")]
        return [replace(now, is_seen=True)]

    def _bounce(self, now: Now, t_us: int) -> Now:
        return replace(now, is_seen=True)

    def _lift(self, now: Now, t_us: int) -> Now:
        """No sensor tells a ball that is lifted from one that bounced on."""
        return now

    # --- the wheel ----------------------------------------------------------------------------------------------------

    def _stop(self, now: Now, t_us: int) -> Now:
        now = replace(now, stands=True)
        if now.state != "running":
            return now
        may_rest = now.left_track_us is not None and t_us > now.left_track_us + REST_SOONEST_US
        return replace(now, stop_us=t_us + STOP_KNOWN_US, may_rest=may_rest and not now.is_locked)

    def _object_in(self, now: Now, t_us: int) -> Iterable[Now]:
        return self._voided(replace(now, has_object=True), "foreign_object")

    def _object_out(self, now: Now, t_us: int) -> Now:
        return replace(now, has_object=False)

    def _fault(self, now: Now, t_us: int) -> Iterable[Now]:
        now = replace(now, is_faulty=True)
        if now.state == "awaiting":
            return [now]
        if now.state == "running":
            return self._voided(now, "breakdown", "suspended", back="rien_va")
        return map(self._suspended, self._perhaps_first(now, t_us, "breakdown"))

    def _perhaps_first(self, now: Now, t_us: int, cause: str) -> list[Now]:
        """A cause that is published at once, while the launch over an object still waits for its proof."""
        if now.over_object_us is None or t_us > now.over_object_us:
            return [now]
        return [now, replace(now, verdicts=(*now.verdicts[:-1], ("void", cause)))]

    def _voided(self, now: Now, cause: str, state: str = "rien_va", **more: Any) -> Iterable[Now]:
        """What makes a running coup void. A ball that was seen in a pocket may have rested there: the chef decides."""
        if now.state != "running":
            return [now]
        after = now.void(cause, state, **more)
        return [after, now] if now.is_seen else [after]

    # --- people -------------------------------------------------------------------------------------------------------

    def _open(self, now: Now, t_us: int) -> Iterable[Now]:
        match now.state:
            case "early":
                return [replace(now, state="faites_vos_jeux")]
            case "closed" if now.is_kept:
                return [replace(now, state="awaiting", is_kept=False)]
            case "closed" if not now.is_faulty:
                opened = replace(now, state="rien_va" if now.owes_tout_va else "faites_vos_jeux")
                return self._when_at_rest(now, opened)
        return [now]

    def _when_at_rest(self, now: Now, opened: Now) -> Iterable[Now]:
        """Section 6: nobody may bet on a coup that was not observed fully. Once a reader has met the fallen ball, its
        rest may be proven or not; back in "rien va" only a ball on the track is waited for."""
        if not now.is_launched:
            return [opened]
        is_for_bets = opened.state in ("faites_vos_jeux", "early")
        return [now] if is_for_bets and not now.is_seen else [opened, now]

    def _rien_ne_va_plus(self, now: Now, t_us: int) -> Now:
        return replace(now, state="early") if now.state == "faites_vos_jeux" else now

    def _rien_va(self, now: Now, t_us: int) -> Iterable[Now]:
        if now.state in ("early", "awaiting"):
            return [self._after_chef(now.void("chef"))]
        if now.over_object_us is not None:
            return self._perhaps_first(now, t_us, "chef")
        if now.state != "running":
            return [now]
        return map(self._after_chef, self._voided(now, "chef"))

    def _after_chef(self, now: Now) -> Now:
        """What awaited the chef has his word. A sensor that failed meanwhile suspends play (N8)."""
        return replace(now, state="suspended", back=now.state) if now.is_faulty and now.state != "running" else now

    def _confirm(self, now: Now, t_us: int) -> Iterable[Now]:
        """R3b: of a number that was seen, or is being seen. A chef who confirms before the machine asks may wait."""
        if not self._is_undecided(now):
            return [now]
        return [now, self._after_chef(now.result(self._played.seen))]

    def _tout_va(self, now: Now, t_us: int) -> Now:
        if now.has_object or not now.in_place:
            return now
        after = {"rien_va": "faites_vos_jeux", "owed": "operations"}
        return replace(now, state=after.get(now.state, now.state))

    def _operations_done(self, now: Now, t_us: int) -> Now:
        if now.state == "operations" and not now.has_object:
            return replace(now, state="faites_vos_jeux")
        return replace(now, state="rien_va") if now.state == "owed" else now

    def _last_coup(self, now: Now, t_us: int) -> Now:
        return now

    def _suspend(self, now: Now, t_us: int) -> Iterable[Now]:
        if now.state == "running":
            void = now.void("breakdown", "suspended", back="rien_va")
            return [void, *self._kept(now, "suspended", back="awaiting")]
        return [self._suspended(now)]

    def _kept(self, now: Now, state: str, **more: Any) -> Iterable[Now]:
        """A6, R3b: play is stopped at once, and a number that was seen goes on awaiting the chef."""
        return [replace(now, state=state, stop_us=None, **more)] if now.is_seen else []

    def _suspended(self, now: Now) -> Now:
        return now if now.state == "suspended" else replace(now, state="suspended", back=now.state)

    def _resume(self, now: Now, t_us: int) -> Iterable[Now]:
        if now.state == "suspended" and (now.back == "awaiting" or now.is_kept):
            return [replace(now, state=now.back)]
        if now.state != "suspended" or now.is_faulty:
            return [now]
        return self._when_at_rest(now, replace(now, state=now.back))

    def _close(self, now: Now, t_us: int) -> Iterable[Now]:
        match now.state:
            case "running":
                void = now.void("breakdown", "closed", owes_tout_va=True)
                return [void, *self._kept(now, "closed", is_kept=True)]
            case "awaiting":
                return [replace(now, state="closed", is_kept=True)]
            case "suspended" if now.back == "awaiting":
                return [replace(now, state="closed", is_kept=True)]
            case "rien_va" | "owed":
                return [replace(now, state="closed", owes_tout_va=True)]
            case "suspended" if now.back in ("rien_va", "owed"):
                return [replace(now, state="closed", owes_tout_va=True)]
        return [replace(now, state="closed")]
