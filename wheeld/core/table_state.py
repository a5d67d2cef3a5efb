"""What the table remembers: its present and past states, who spins, the present coup, and the feed's last hash."""

from __future__ import annotations

from typing import Literal

import msgspec

from wheeld.core.facts import Cause, LastCoup, ObjectLevel, Person, State
from wheeld.core.messages.chain import GENESIS
from wheeld.core.tracking.evidence import Figures, Margin, Seen
from wheeld.core.tracking.head import HeadGameKept

CUSTOM_US = 30 * 60 * 1_000_000
"""A4: by custom a bouler spins for half an hour."""


class Bouler(msgspec.Struct):
    """Who spins, and for how long (A4). His time runs while the table is open, and continues after a restart. All times
    are in microseconds. A time `…_utc_us` counts from 1970.

    `who`: None until somebody is named. `since_utc_us`: since when his time has run without a stop, None while the
    table is closed. `served_us`: his time before that. `due_reported`: it has been published that his time is over.
    `next_who`: the person who is announced to spin after him. `acknowledged_by`: who has acknowledged this change.
    """

    who: str | None = None
    served_us: int = 0
    since_utc_us: int | None = None
    due_reported: bool = False
    next_who: str | None = None
    acknowledged_by: str | None = None

    @property
    def is_early(self) -> bool:
        """Whether a change of bouler now would come before the present bouler's time is over."""
        return self.who is not None and not self.due_reported

    @property
    def due_utc_us(self) -> int | None:
        """When the bouler's time is over. None while this time does not run, and after its end was published."""
        if self.who is None or self.since_utc_us is None or self.due_reported:
            return None
        return self.since_utc_us + CUSTOM_US - self.served_us

    def served_at_us(self, utc_us: int) -> int:
        """Return how long the bouler has served. If the clock is set back, this does not become less."""
        running_us = 0 if self.since_utc_us is None else max(0, utc_us - self.since_utc_us)
        return self.served_us + running_us

    def announce(self, who: str | None, acknowledged_by: str | None = None) -> None:
        """Note who spins next, or that nobody is announced."""
        self.next_who, self.acknowledged_by = who, acknowledged_by

    def begin(self, who: str, utc_us: int) -> None:
        """Begin the time of another bouler, who has not served yet."""
        self.who, self.served_us, self.due_reported = who, 0, False
        self.announce(None)
        if self.since_utc_us is not None:
            self.since_utc_us = utc_us

    def start(self, utc_us: int) -> None:
        """Let the bouler's time run, because the table opens."""
        self.since_utc_us = utc_us

    def stop(self, utc_us: int) -> None:
        """Stop the bouler's time, because the table closes. Nobody is announced any more."""
        self.served_us, self.since_utc_us = self.served_at_us(utc_us), None
        self.announce(None)


STOOD_KEPT = 16
"""How many states are kept. A launch is proven within about a lap, or within 30 s if a reader must see where the ball
lies. In that time, people cannot change the table's state more often than this."""


class Stood(msgspec.Struct, frozen=True):
    """One past state: from sensing time `since_us` on, the table was in `state`, and its latest coup was `coup`."""

    since_us: int
    state: State
    coup: int


NUMBERS_KEPT = 20
"""`board` shows the last twenty numbers (docs/interfaces.md)."""

LAUNCH_AWAITED_US = 60 * 1_000_000
"""A launch that has been awaited for a minute is reported (docs/rulebook.md 6)."""


class Called(msgspec.Struct, frozen=True):
    """A number that came out, with what its result contains. `laps` and `rotor_rpm` are None if nothing reports them.

    `number`: None if the chef must name it. `t_us`: when the ball was first seen in the pocket. `asked_us`: since when
    the chef has been asked about the number. `unproven`: the rules (R1, R2, R3) that he must answer for.
    """

    number: int | None
    t_us: int
    asked_us: int
    laps: float | None
    rotor_rpm: float | None
    sightings: list[Seen]
    margin: Margin | None
    unproven: tuple[str, ...]


class Coup(msgspec.Struct):
    """What the result of the present coup will contain about its run. Times are of the sensing clock. `noted`: one
    sensing time and its UTC. Both are needed after a restart, when the table has another sensing clock.

    `seen`: the pocket in which readers last saw the fallen ball; it is not proven. `law/__init__.py` describes
    `called`, `overtaken` and `launch_due_us`.
    """

    launched_us: int | None = None
    bets_closed_us: int | None = None
    left_track_us: int | None = None
    directions: Figures = {}
    seen: Called | None = None
    called: Called | None = None
    overtaken: bool = False
    launch_due_us: int | None = None
    noted: tuple[int, int] | None = None

    def move_to_clock(self, started_utc_us: int) -> None:
        """Change all times to a new sensing clock, which began at `started_utc_us`: they become negative. The wait for
        a launch begins again. All words that come from now on count as said after the chef was asked."""
        if self.called is not None:
            self.called = msgspec.structs.replace(self.called, asked_us=0)
        if self.launch_due_us is not None:
            self.launch_due_us = LAUNCH_AWAITED_US
        if self.noted is None:
            return
        t_us, utc_us = self.noted
        later_us = utc_us - started_utc_us - t_us
        self.noted = (t_us + later_us, utc_us)
        for name in ("launched_us", "bets_closed_us", "left_track_us"):
            if (at_us := getattr(self, name)) is not None:
                setattr(self, name, at_us + later_us)
        self.called, self.seen = _later(self.called, later_us), _later(self.seen, later_us)
        if self.seen is not None:  # the sighting was before the restart, even if the host's clock was set meanwhile
            self.seen = msgspec.structs.replace(self.seen, t_us=min(self.seen.t_us, 0))


def _later(called: Called | None, later_us: int) -> Called | None:
    if called is None:
        return None
    sightings = [msgspec.structs.replace(seen, t_us=seen.t_us + later_us) for seen in called.sightings]
    return msgspec.structs.replace(called, t_us=called.t_us + later_us, sightings=sightings)


class PublishedVoid(msgspec.Struct, frozen=True):
    """A void coup: its number, its cause, and the UTC time at which the void was published."""

    coup: int
    cause: Cause
    at: str


class TableState(msgspec.Struct):
    """Everything durable of one table. It is stored with every step that changes it, and read back at a restart.

    `law/__init__.py` describes the fields that the law reads. `history`: the latest states, the newest last. A late
    fact is applied to the state of its own time. `since_at`: since when the table has been in its present state, in
    UTC. `moved_by`: the person whose word led to this state, and why; None if no word did. `coup`: the number of the
    latest coup. A coup gets its number when bets open, or at a launch without open bets (see `begin_coup`). No number
    is used twice. `slipped`: nobody knows where the pockets are, or the encoder has slipped and a person named the
    place. `head_game`: the latest state of a head's games. `told_us`: the latest date of a message, in UTC. `view`:
    what the last `table` message contained, to find out whether anything has changed.
    """

    state: State = State.CLOSED
    resume_to: State = State.CLOSED
    since_at: str = ""
    moved_by: Person | None = None
    history: list[Stood] = msgspec.field(default_factory=lambda: [Stood(0, State.CLOSED, 0)])
    head_game: HeadGameKept | None = None
    coup: int = 0
    decided: bool = True
    seq: int = 0
    prev: str = GENESIS
    last_number: int | None = None
    numbers: list[int] = msgspec.field(default_factory=list)
    last_void: PublishedVoid | None = None
    la_derniere: int | Literal["played"] | None = None
    tout_va_owed: bool = False
    object_level: ObjectLevel = "clear"
    slipped: bool = False
    left_out: list[str] = msgspec.field(default_factory=list)
    spinning: Bouler = msgspec.field(default_factory=Bouler)
    current: Coup = msgspec.field(default_factory=Coup)
    told_us: int = 0
    view: tuple[str | int | bool | None, ...] | None = None

    def stood_between(self, first_us: int, last_us: int) -> list[Stood]:
        """Return the states that the table had from `first_us` to `last_us`, in order, as far as they are known."""
        before = [stood for stood in self.history if stood.since_us <= first_us] or self.history[:1]
        return [before[-1], *(stood for stood in self.history if first_us < stood.since_us <= last_us)]

    def move(self, since_us: int, state: State) -> None:
        """Change to `state` because of evidence with the time `since_us`."""
        self.state, since_us = state, max(since_us, self.history[-1].since_us)
        self.history = [*self.history[-STOOD_KEPT + 1 :], Stood(since_us, state, self.coup)]

    def begin_coup(self) -> None:
        """Number the next coup, unless the present one still awaits its launch."""
        if self.decided:
            self.coup += 1
            self.decided = False
            self.current = Coup()

    def come_out(self, number: int) -> None:
        """Note a number that came out, as the newest for `board`, and whether its coup was la dernière."""
        self.last_number = number
        self.numbers = [number, *self.numbers][:NUMBERS_KEPT]
        if self.last_coup == "this":
            self.la_derniere = "played"

    def announce_last(self) -> None:
        """Announce la dernière: the next valid coup that is launched. A coup that runs already is never la dernière."""
        is_begun = self.decided or self.current.launched_us is not None
        self.la_derniere = self.coup + 1 if is_begun else self.coup

    def forget_last(self) -> None:
        """Remember that la dernière is over, or was taken back."""
        self.la_derniere = None

    @property
    def last_coup(self) -> LastCoup | None:
        """Which coup is la dernière, None if it is not announced. If that coup is void, the next one is la dernière."""
        first = self.la_derniere
        if first is None or first == "played":
            return first
        return "next" if self.decided or self.coup < first else "this"

    @property
    def awaits_chef(self) -> bool:
        """Whether a number awaits the chef, even while play is suspended or the table is closed (R3b, N8)."""
        return not self.decided and self.current.called is not None

    @property
    def ball_belongs_in(self) -> int | None:
        """The number in whose pocket the ball must lie between coups: the number that awaits the chef, otherwise the
        last number. None before the first number, or if the chef must name it."""
        called = self.current.called
        return called.number if called is not None and self.awaits_chef else self.last_number

    @property
    def follows_void(self) -> bool:
        """Whether the previous coup was void: then "rien ne va plus" comes before the launch (C11)."""
        return self.last_void is not None and self.last_void.coup == self.coup - 1
