"""docs/rulebook.md a second time: naive, from its text, to check the table of the law from outside.

A game is a few booleans; each fact of the law is one method, which returns what the rulebook lets happen then; a word
that lacks what it needs is another. Nothing here is taken from the table of the law: only the names of facts, causes
and needs are common. Sections and rows (C11, N2, A5,
§6) are the rulebook's. Where the sensors of a wheel cannot prove all of C10, a setting lets the chef confirm the
rest: between the number and his confirmation the coup still runs, and its ball rests. Where the rulebook is silent a
method gives several ways on: each is named in `FREE`, with its reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple, TypeAlias

from wheeld.core.facts import Cause, Fact

RESULT: Final = "result"
Verdict: TypeAlias = Cause | Literal["result"] | None

FREE: Final[dict[str, str]] = {
    "fault_closed": "§6 says 'any state' of a breakdown; at a closed table nobody plays, and nothing needs suspending",
    "restart_idle": "§6 names no restart; between coups none was hidden, and going on or stopping are both safe",
    "wrong_way_idle": "A7 calls it a fault and names no time; between coups there is nothing to adjudicate",
    "open_faulty": "N8 wants the table suspended; whether 'open' is refused or opens it suspended is left open",
    "repeated": "a command given again where it changes nothing: done or refused is left open",
    "chef_idle": "N7 'any time before the number is out', §6 'any running state': without a launch nothing need happen",
    "both_owed": "§6 'both are owed', in no order: 'tout va' first may be refused, or be done",
    "second_launch": "§6 has no launch within a coup; one was not observed fully (N8), so it is void, of some cause",
    "unseen_launch": "N8 never lets it be valid; whether a ball that nobody saw run is a coup at all is left open",
    "weak_while_null": "§6 'however few its passes' against §3, where hands carry the ball back: no run was seen",
    "idle_words": "A5, A4: at a closed or a suspended table 'la dernière' and the bouler are not mentioned",
}
"""Where the rulebook is silent and the table decides: all of them."""


class Said(NamedTuple):
    """A word of a person that lacks something, or is otherwise special; `how`: the name of that in the law."""

    fact: Fact
    how: str

    @property
    def name(self) -> str:
        """In messages."""
        return f"{self.fact.name} ({self.how})"


Happening: TypeAlias = Fact | Said


@dataclass(frozen=True, slots=True)
class Game:
    """Where a game stands, by the rulebook's own terms."""

    on: bool = False
    """Opened, not closed."""
    running: bool = False
    """A coup: launched, neither a number nor a void yet."""
    obstacle: bool = False
    awaiting: bool = False
    """The number is out, and the chef has not yet answered for what no sensor has proven of it, or of its run."""
    kept: bool = False
    """It goes on awaiting the chef while play is stopped: suspended, or closed (A6, N8)."""
    no_more_bets: bool = False
    operations_owed: bool = False
    tout_va_owed: bool = False
    suspended: bool = False
    announced: bool = False
    """La dernière was announced, its coup is still to come (A5)."""
    spared: bool = False
    """... while a coup ran: that coup is not the one."""
    played: bool = False
    """... and has been played."""

    @property
    def state(self) -> str:
        """Its name in §6."""
        names = (
            (self.suspended, "suspended"),
            (not self.on, "closed"),
            (self.awaiting, "awaiting_chef"),
            (self.obstacle, "ball_on_obstacle"),
            (self.running and not self.no_more_bets, "ball_running"),
            (self.tout_va_owed, "rien_va"),
            (self.operations_owed, "operations"),
            (self.no_more_bets, "rien_ne_va_plus"),
        )
        return next((name for holds, name in names if holds), "faites_vos_jeux")

    @property
    def la_derniere(self) -> tuple[str | None, ...]:
        """§6: which coup is la dernière may be shown; a void does not use it up (A5)."""
        if self.played:
            return ("played",)
        if not self.announced:
            return (None,)
        if self.spared or self.owing:
            return ("next",)
        # Between games the rulebook is silent whether the coup to come is "this" one already.
        return ("this",) if self.on else ("this", "next")

    @property
    def bets(self) -> str:
        """What §6 publishes of the bets."""
        if self.state in ("faites_vos_jeux", "ball_running"):
            return "open"
        return "locked" if self.state == "ball_on_obstacle" else "closed"

    # What happens, in short

    def stays(self, *, notice: bool = False) -> Way:
        """Nothing changes."""
        return Way(self, notice=notice)

    def refuses(self) -> Way:
        """A command is refused, and nothing changes."""
        return Way(self, refused=True)

    def become(self, **changes: bool) -> Way:
        """No verdict, another standing."""
        return Way(replace(self, **changes))

    def null(self, cause: Cause, *, begins: bool = False, **changes: bool) -> Way:
        """Rien va (§3): the coup is void, and "tout va" is owed before the next."""
        over = {"running": False, "obstacle": False, "awaiting": False, "no_more_bets": False, "tout_va_owed": True}
        over["spared"] = False
        return Way(replace(self, **{**over, **changes}), verdict=cause, begins=begins)

    def keeps(self, **stopped: bool) -> Ways:
        """A6, N8: play is stopped, and the number goes on awaiting the chef."""
        return (self.become(running=False, awaiting=False, kept=True, **stopped),)

    def goes_back_to_the_chef(self) -> Ways:
        """§6: play goes on, and the number that awaits the chef comes first; no sensor is asked."""
        back = {"kept": False, "on": True, "suspended": False, "no_more_bets": True}
        return (self.become(running=True, awaiting=True, **back),)

    def if_running(self, cause: Cause) -> Ways:
        """A cause that only a running coup can have."""
        return (self.null(cause) if self.running else self.stays(),)

    def until_the_drop(self, cause: Cause) -> Ways:
        """A cause that a ball at rest in its pocket cannot have any more (N4, N5, N6: "before")."""
        return (self.stays(),) if self.awaiting else self.if_running(cause)

    def breaks_down(self) -> Ways:
        """N8, A6: what runs is void as a breakdown, and the table waits for someone to resume it."""
        if self.running:
            return (self.null(Cause.BREAKDOWN, suspended=True),)
        if not self.on:
            return free("fault_closed", self.stays(), self.become(suspended=True))
        return (self.become(suspended=True),)

    @property
    def at_rest(self) -> bool:
        """Closed or suspended: a launch is no coup (§6)."""
        return not self.on or self.suspended

    @property
    def owing(self) -> bool:
        """Operations or "tout va" owed: a launch is N2 (§6)."""
        return self.operations_owed or self.tout_va_owed

    @property
    def before_launch(self) -> bool:
        """A game that waits for its launch."""
        return not (self.at_rest or self.owing or self.running)

    def launch(self, cause: Cause | None) -> Ways:
        """A ball is launched; in a game that waits for it, it makes a coup, void at once if there is a `cause`."""
        if self.at_rest:
            return (self.stays(notice=True),)
        if self.awaiting:
            return (self.stays(notice=True),)
        if self.running:
            return free("second_launch", *self.breaks_down(), *(self.null(c) for c in (cause,) if c is not None))
        if self.owing:
            return (self.null(Cause.EARLY_LAUNCH, begins=True),)
        if cause is not None:
            return (self.null(cause, begins=True),)
        return (Way(replace(self, running=True), begins=True),)

    # The facts: the ball

    def launched(self) -> Ways:
        """§6 A launch is a ball that runs."""
        return self.launch(None)

    def weak_launch(self) -> Ways:
        """§6 Launched, however few its passes; N3 too few laps."""
        if self.at_rest or self.tout_va_owed:
            return free("weak_while_null", self.stays(), *self.launch(Cause.TOO_FEW_LAPS))
        return self.launch(Cause.TOO_FEW_LAPS)

    def ball_taken(self) -> Ways:
        """§6: operations, or "tout va", are owed: a launch now is void, and that is announced before it."""
        return (self.stays(notice=self.owing and not self.at_rest),)

    def launch_awaited(self) -> Ways:
        """§6: a wheel that does not launch voids nothing; a notice, where bets are closed and the launch awaited."""
        return (self.stays(notice=self.before_launch and self.no_more_bets),)

    def launch_failed(self) -> Ways:
        """§6: the same, reported by the wheel itself."""
        return (self.stays(notice=self.before_launch),)

    def same_direction(self) -> Ways:
        """N1."""
        return self.until_the_drop(Cause.SAME_DIRECTION)

    def stray_pulse(self) -> Ways:
        """§6: one stray pulse launches nothing."""
        return (self.stays(),)

    def opposite_direction(self) -> Ways:
        """R1: as it ought to."""
        return (self.stays(),)

    def ball_slowed(self) -> Ways:
        """A1: "rien ne va plus" by itself."""
        return (self.become(no_more_bets=True) if self.running else self.stays(),)

    def void_foreseen(self) -> Ways:
        """R2: only what passes prove counts, a forecast is none."""
        return (self.stays(notice=self.running and not self.awaiting),)

    def leaving_foreseen(self) -> Ways:
        """The same."""
        return (self.stays(notice=self.running and not self.awaiting),)

    def left_track(self) -> Ways:
        """§6: bets close at the drop, as the ball leaves the track; the number is awaited."""
        return (self.become(no_more_bets=True) if self.running and not self.awaiting else self.stays(),)

    def left_track_unproven(self) -> Ways:
        """R2: nothing is proven against it; the number and the chef decide."""
        return self.left_track()

    def left_track_short(self) -> Ways:
        """N3: known when the ball leaves the track."""
        return self.until_the_drop(Cause.TOO_FEW_LAPS)

    def fall_overdue(self) -> Ways:
        """N5: not void at once; bets are locked."""
        return (self.become(obstacle=True) if self.running and not self.awaiting else self.stays(),)

    def number_seen(self) -> Ways:
        """§6: bets are closed since the drop; a ball seen in a pocket is published for the croupier."""
        if not self.running:
            return (self.stays(),)
        return (Way(replace(self, no_more_bets=True), notice=True),)

    def number(self) -> Ways:
        """R3: the coup is valid, also where its number was seen before and awaited the chef; after a void the number is
        only evidence (§2)."""
        return self.valid() if self.running else self.unseen(evidence=True)

    def number_not_proven(self) -> Ways:
        """R3b: neither void nor a result: it awaits the chef."""
        if not self.running or self.awaiting:
            return (self.stays(),)
        return (self.become(awaiting=True, no_more_bets=True, obstacle=False),)

    def rotor_stopped_in_fall(self) -> Ways:
        """R3b, N5: nobody but people know whether the ball lies in a pocket."""
        return self.number_not_proven()

    def valid(self) -> Ways:
        """The number counts; operations begin."""
        played, announced = self.announced and not self.spared, self.announced and self.spared
        return (Way(Game(on=True, operations_owed=True, announced=announced, played=played), verdict=RESULT),)

    def number_unconfirmed(self) -> Ways:
        """N8: not valid of itself; bets stay closed until the chef has confirmed it."""
        if not self.running:
            return self.unseen(evidence=True)
        if self.awaiting:
            return (self.stays(),)
        return (self.become(awaiting=True, no_more_bets=True, obstacle=False),)

    def confirm(self) -> Ways:
        """The chef confirms the coup that awaits him, or names the pocket of a ball that no sensor saw fall (R3b)."""
        return self.valid() if self.awaiting or self.obstacle else (self.refuses(),)

    def confirm_number_read(self) -> Ways:
        """R3b: he confirms a number that he was asked about, not one that he saw before."""
        return (self.refuses(),) if self.awaiting else self.confirm()

    def confirm_number_given(self) -> Ways:
        """R3b: nobody saw a number, and he gives none."""
        return (self.refuses(),)

    def number_unproven(self) -> Ways:
        """N8: never called valid; a breakdown, and the table is suspended. One that awaits the chef goes on awaiting
        him."""
        if self.awaiting:
            return (self.stays(),)
        return self.breaks_down() if self.running else self.unseen(evidence=True)

    def ball_carried(self) -> Ways:
        """No launch, no coup; within one, what moved the ball was not observed (N8). A number that awaits the chef goes
        on awaiting him (R3b)."""
        if self.awaiting:
            return (self.stays(notice=True),)
        if self.running:
            return free("unseen_launch", self.stays(), *self.breaks_down())
        return self.unseen()

    def ball_moved(self) -> Ways:
        """The same; and where no hand took the ball the encoder may have slipped (§7): nothing is played until a person
        has seen to it."""
        if self.awaiting or self.running or self.at_rest or self.tout_va_owed or self.no_more_bets:
            return self.ball_carried()
        return (self.become(suspended=True),)

    def unseen(self, *, evidence: bool = False) -> Ways:
        """A ball in a pocket, and no coup runs: kept as evidence (§2), or a coup that nobody saw begin (N8)."""
        noticed = self.stays(notice=evidence and self.tout_va_owed)
        if self.at_rest or not self.no_more_bets:
            return (noticed,)
        return free("unseen_launch", noticed, self.null(Cause.BREAKDOWN, begins=True, suspended=True))

    def launch_unseen(self) -> Ways:
        """§6, N8: launched, nobody saw when: never valid. While operations are owed it was too early in any case."""
        if self.at_rest or self.awaiting:
            return (self.stays(notice=True),)
        if self.tout_va_owed:
            return free("unseen_launch", self.stays(), self.null(Cause.EARLY_LAUNCH, begins=True))
        if self.operations_owed:
            return (self.null(Cause.EARLY_LAUNCH, begins=True),)
        return (self.null(Cause.BREAKDOWN, begins=not self.running, suspended=True),)

    def unobserved_coup(self) -> Ways:
        """N8: a coup that the wheel has counted and nobody has seen; with bets closed it was the one awaited. A number
        that is out goes on awaiting the chef."""
        if self.awaiting:
            return (self.stays(notice=True),)
        if self.running:
            return self.breaks_down()
        if self.at_rest or not self.no_more_bets:
            return (self.stays(notice=True),)
        return (self.null(Cause.BREAKDOWN, begins=True, suspended=True),)

    def number_overtaken(self) -> Ways:
        """N2, N8: it is not the number that awaits the chef, and not in its place."""
        return (self.stays(notice=self.awaiting),)

    def number_corrected(self) -> Ways:
        """N8: no number of that wheel is sure; a verdict once given stands (§2), and a notice is published. One that
        awaits the chef is his to name (R3b)."""
        if self.awaiting:
            return (self.stays(notice=True),)
        return self.breaks_down() if self.running else (self.stays(notice=True),)

    def wheel_stopped(self) -> Ways:
        """§6: a breakdown, until it is started and a person resumes play. A number that is out awaits the chef."""
        if self.awaiting or not self.on:
            return (self.stays(),)
        return self.breaks_down()

    def wheel_void(self) -> Ways:
        """N8: the mechanism declares itself at fault; of no coup, or of one whose number is out, it is only
        published."""
        if self.awaiting:
            return (self.stays(notice=True),)
        return self.breaks_down() if self.running else (self.stays(notice=not self.tout_va_owed),)

    def ball_in_place(self) -> Ways:
        """§3: as it ought to."""
        return (self.stays(),)

    # The rotor, the cylinder, the sensors, the clock

    def rotor_stopped_running(self) -> Ways:
        """N4: armed only from launch to drop."""
        return self.until_the_drop(Cause.ROTOR_STOPPED_RUNNING)

    def rotor_stopped_before_drop(self) -> Ways:
        """N5: void only when the rotor stops first."""
        return self.until_the_drop(Cause.ROTOR_STOPPED_BEFORE_DROP)

    def rotor_wrong_way(self) -> Ways:
        """A7: a fault."""
        if self.awaiting:
            return (self.stays(),)
        if self.running:
            return self.breaks_down()
        return free("wrong_way_idle", self.stays(), *self.breaks_down())

    def object_in(self) -> Ways:
        """N6: before the number is out."""
        return self.until_the_drop(Cause.FOREIGN_OBJECT)

    def object_out(self) -> Ways:
        """N6: the next coup need wait no more."""
        return (self.stays(),)

    def object_unknown(self) -> Ways:
        """§7: unknown is neither yes nor no."""
        return (self.stays(),)

    def sensor_fault(self) -> Ways:
        """N8: once the number is out, a later fault voids nothing."""
        return (self.stays(),) if self.awaiting else self.breaks_down()

    def sensor_spared(self) -> Ways:
        """N8: the others prove the coup that runs; what is not proven any more is void by another fact."""
        return (self.stays(),)

    def sensor_trouble(self) -> Ways:
        """N8: what is wrong is published, so that it can be mended."""
        return (self.stays(notice=True),)

    def door_opened(self) -> Ways:
        """§7: how the cabinet's door stands is published, and decides nothing."""
        return (self.stays(notice=True),)

    door_closed = door_opened

    def left_out_works(self) -> Ways:
        """§6: it is used again when a person says so; that it works is published."""
        return (self.stays(notice=True),)

    def stood_still(self) -> Ways:
        """§7: it is reported, and by itself it changes nothing."""
        return (self.stays(notice=True),)

    def restarted(self) -> Ways:
        """N8: what it slept through was not observed; a number that awaits the chef goes on awaiting him."""
        if self.awaiting:
            return (self.stays(),)
        if self.running:
            return self.breaks_down()
        return free("restart_idle", self.stays(), self.become(suspended=True))

    def late_bet(self) -> Ways:
        """A3: recorded while the ball runs; the chef decides, and nothing else changes."""
        return (self.stays(notice=True) if self.running and not self.awaiting else self.refuses(),)

    def ruling(self) -> Ways:
        """A9: published in any state; the verdict stays as it was."""
        return (self.stays(),)

    def ruling_has_verdict(self) -> Ways:
        """A9: on a coup without its verdict there is nothing to rule."""
        return (self.refuses(),)

    def bouler_due(self) -> Ways:
        """A4: a notice, no more."""
        return (self.stays(notice=self.on),)

    # Commands of people

    def open(self) -> Ways:
        """§6 closed to faites vos jeux, or where "tout va" is owed to that first; a "rien ne va plus" said by mistake
        before the launch is undone by it."""
        if not self.on and not self.suspended and self.kept:
            return self.goes_back_to_the_chef()
        if not self.on and not self.suspended:
            return (self.become(on=True),)
        awaits_launch = not (self.at_rest or self.running or self.owing)
        return (self.become(no_more_bets=False) if awaits_launch and self.no_more_bets else self.refuses(),)

    @property
    def is_kept_closed(self) -> bool:
        """§6: "open" leads back to a number that awaits the chef, and is refused for no fault."""
        return self.kept and not self.on and not self.suspended

    def open_wheel_plays(self) -> Ways:
        """§6: the wheel is started first."""
        return self.open() if self.is_kept_closed else (self.refuses(),)

    def open_level_told(self) -> Ways:
        """§7: nothing is decided on what is unknown."""
        return self.open() if self.is_kept_closed else (self.refuses(),)

    def open_sensors_work(self) -> Ways:
        """N8: no game is played unobserved."""
        if self.is_kept_closed:
            return self.open()
        if self.on or self.suspended:
            return (self.refuses(),)
        return free("open_faulty", self.refuses(), self.become(on=True, suspended=True))

    def open_at_rest(self) -> Ways:
        """§6: nobody may bet on a coup that was not observed fully; where it leads to "rien va", nobody bets."""
        opens_no_bets = self.is_kept_closed or (self.tout_va_owed and not self.on and not self.suspended)
        return self.open() if opens_no_bets else (self.refuses(),)

    def rien_ne_va_plus(self) -> Ways:
        """A1, §6: before the launch or during the run; a second one changes nothing."""
        if self.at_rest or self.owing:
            return (self.refuses(),)
        if self.no_more_bets or self.obstacle:
            return free("repeated", self.stays(), self.refuses())
        return (self.become(no_more_bets=True),)

    def rien_va(self) -> Ways:
        """N7: any time before the number is out."""
        if self.running:
            return (self.null(Cause.CHEF),)
        if self.at_rest or self.owing:
            return (self.refuses(),)
        return free("chef_idle", self.refuses(), self.null(Cause.CHEF, begins=True))

    def tout_va(self) -> Ways:
        """§3: the ball lies where it must, the game goes on (or ends, A5)."""
        if self.at_rest or not self.tout_va_owed:
            return (self.refuses(),)
        if self.operations_owed:
            return free("both_owed", self.refuses(), self.become(tout_va_owed=False))
        return (Way(Game()) if self.played else self.become(tout_va_owed=False),)

    def tout_va_in_place(self) -> Ways:
        """§6: refused when no reader has seen the ball in ten seconds."""
        return (self.refuses(),)

    def tout_va_not_elsewhere(self) -> Ways:
        """§3: refused."""
        return (self.refuses(),)

    def tout_va_cleared(self) -> Ways:
        """N6: the next coup waits until it is cleared."""
        return (self.refuses(),)

    def tout_va_at_rest(self) -> Ways:
        """§6: nobody may bet on a coup that was not observed fully; where bets do not open yet, nobody bets."""
        return self.tout_va() if self.operations_owed or self.played else (self.refuses(),)

    def tout_va_level_told(self) -> Ways:
        """§7: nothing is decided on what is unknown."""
        return (self.refuses(),)

    def operations_done(self) -> Ways:
        """§6: to faites vos jeux, or closed after la dernière; after an early launch "tout va" is owed still."""
        if self.at_rest or not self.operations_owed:
            return (self.refuses(),)
        if self.played and not self.tout_va_owed:
            return (Way(Game()),)
        return (self.become(operations_owed=False),)

    def operations_done_cleared(self) -> Ways:
        """N6: the next coup waits until it is cleared; "tout va" asks for that as well, where it is owed."""
        if self.owing and self.operations_owed and self.tout_va_owed and not self.at_rest:
            return free("both_owed", self.refuses(), self.become(operations_owed=False))
        return (self.refuses(),)

    def operations_done_at_rest(self) -> Ways:
        """§6: nobody may bet on a coup that was not observed fully; where "tout va" is owed too, no bets open yet, and
        after la dernière none open at all."""
        if self.played and not self.tout_va_owed:
            return self.operations_done()
        if self.operations_owed and self.tout_va_owed and not self.at_rest:
            return free("both_owed", self.refuses(), self.become(operations_owed=False))
        return (self.refuses(),)

    def operations_done_level_told(self) -> Ways:
        """§7: nothing is decided on what is unknown."""
        return self.operations_done_cleared()

    def last_coup(self) -> Ways:
        """A5, §6: the next valid coup will be the last, not the one that runs."""
        if self.announced or self.played:
            return free("repeated", self.refuses(), self.stays())
        announced = self.become(announced=True, spared=self.running or self.kept)
        return free("idle_words", self.refuses(), announced) if self.at_rest else (announced,)

    def last_coup_off(self) -> Ways:
        """§6: it can be taken back."""
        if not self.announced and not self.played:
            return free("repeated", self.refuses(), self.stays())
        return (self.become(announced=False, spared=False, played=False),)

    def close(self) -> Ways:
        """A6: at once; what runs is void as a breakdown. "Tout va" stays owed (C11, "in any case"). A notice where la
        dernière was not played (A5)."""
        if self.awaiting or self.kept:
            return (self.refuses(),) if not self.on and not self.suspended else (Way(Game(kept=True)),)
        if self.running:
            return (Way(Game(tout_va_owed=True), verdict=Cause.BREAKDOWN),)
        if not self.on and not self.suspended:
            return free("repeated", self.stays(), self.refuses())
        return (Way(Game(tout_va_owed=self.tout_va_owed), notice=not self.played),)

    def close_direction_says(self) -> Ways:
        """A6: only the direction ends what it suspended."""
        return self.close() if self.running or self.awaiting else (self.refuses(),)

    def suspend(self) -> Ways:
        """A6: at once."""
        if self.awaiting:
            return self.keeps(suspended=True)
        if self.suspended:
            return free("repeated", self.stays(), self.refuses())
        if not self.on:
            return free("fault_closed", self.refuses(), self.become(suspended=True))
        return self.breaks_down()

    def resume(self) -> Ways:
        """§6: rien va if a coup was running, else where it was; to a number that awaits the chef, whatever fails."""
        if self.suspended and self.kept and self.on:
            return self.goes_back_to_the_chef()
        return (self.become(suspended=False) if self.suspended else self.refuses(),)

    def resume_sensors_work(self) -> Ways:
        """N8: suspended while what observes it is broken; to a number that awaits the chef it leads in any case."""
        return self.resume() if self.kept else (self.refuses(),)

    def resume_direction_says(self) -> Ways:
        """A6: only the direction lifts its suspension."""
        return (self.refuses(),)

    resume_wheel_plays = resume_level_told = resume_at_rest = resume_sensors_work

    def bouler(self) -> Ways:
        """A4: recorded."""
        if self.at_rest:
            return free("idle_words", self.stays(), self.refuses())
        return (self.stays(),)

    def bouler_time_not_over(self) -> Ways:
        """A4: recorded, and the inspector is warned."""
        return (self.stays(notice=True),)

    def bouler_ahead(self) -> Ways:
        """A4: announced, and the inspector is warned."""
        return (self.stays(notice=True),)

    def acknowledge(self) -> Ways:
        """A4: published, so that it can be read who acknowledged."""
        return (self.stays(notice=True),)

    def acknowledge_announced(self) -> Ways:
        """A4: of nobody who is not announced."""
        return (self.refuses(),)

    def bouler_so_already(self) -> Ways:
        """He goes on."""
        return (self.stays(),)

    def ways(self, happening: Happening) -> Ways:
        """Every way on that the rulebook allows. What is lacking changes nothing of a word that does not need it."""
        if isinstance(happening, Fact):
            ways: Ways = getattr(self, happening.value)()
            return ways
        fact, how = happening
        special: Callable[[], Ways] | None = getattr(self, f"{fact.value}_{how}", None)
        return self.ways(fact) if special is None else special()


@dataclass(frozen=True, slots=True)
class Way:
    """One way on: the game after, and what must be published of it."""

    game: Game
    verdict: Verdict = None
    begins: bool = False
    """A coup begins."""
    refused: bool = False
    notice: bool = False
    """It must at least be published as a notice."""
    silence: str | None = None
    """Which of `FREE` lets it be one of several."""

    @property
    def seen(self) -> tuple[Verdict, bool, bool, str, str]:
        """What can be seen from outside."""
        return self.verdict, self.begins, self.refused, self.game.state, self.game.bets


Ways: TypeAlias = tuple[Way, ...]


def free(silence: str, *ways: Way) -> Ways:
    """The rulebook is silent here: any of these."""
    return tuple(replace(way, silence=silence) for way in ways)
