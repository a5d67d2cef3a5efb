"""A wheel that a person plays by hand, step by step. An action has effect at once, and the physics continues by itself.

Two things are automatic. A rotor that nobody holds is pushed between coups, and a ball that leaves the track falls into
a pocket. The person does everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Literal, NamedTuple, TypeAlias

from hw_sim.events import BallPass, SensorState, SimEvent
from hw_sim.live_table import LiveTable
from hw_sim.people import PLACE, ROTOR_KEPT_REV_S
from hw_sim.subscriber import Subscriber
from hw_sim.table import SimTable
from hw_sim.wheel import opposite
from hw_sim.words import translatable
from hw_sim.world import Stay, us

IN_HAND_S = 0.8
"""The time in which a hand takes the ball out of its pocket and launches it."""
CARRY_S = 1.0
"""The time in which a hand takes the ball and lays it in a pocket."""
WEAK_LAPS = (1.2, 2.4)
"""The fewest and the most laps of a weak launch. With four beams, even the fewest laps give four passes, which show a
launch. Even the most laps are too few for a valid coup."""
NOISE_GAP_S = 0.03
"""The time between the two pulses of a disturbance. No ball passes a beam twice in such a short time."""
BRAKE_REV_S2 = 0.25
"""How hard a hand brakes a rotor: the middle of the range in the scenarios."""
PROOF_S = 15.0
"""The longest time from the ball's rest until its number is proven: two turns of the slowest rotor. People push a
slower rotor."""
BOULERS = ("Anna", "Bruno")
CHIP, HELD, LINK = "chip", "held", "link"
"""Faults of the wheel: a chip in the cylinder, a hand that holds the rotor, an unplugged cable. See also `POWER`."""
POWER = "power"
"""The power of the whole cabinet, as the `sensor` of a `SensorState`. No board reports it."""

Speaker: TypeAlias = Literal["chef", "table", "direction"]
SAYS: Mapping[Speaker, str] = {
    "chef": translatable("The chef says “{words}”."),
    "table": translatable("The table says “{words}”."),
    "direction": translatable("The direction says “{words}”."),
}
"""What the page says of a command. These are whole sentences, because articles differ between languages."""


class BallPlace(Enum):
    """Where the ball is, as a part of a sentence."""

    POCKET = translatable("lies in a pocket")
    HAND = translatable("is in the bouler's hand")
    TRACK = translatable("runs on the track")
    FALLING = translatable("falls")


class RestSeen(NamedTuple):
    """The number in which people saw the ball come to rest, and the count of verdicts at that time."""

    number: int
    verdicts: int


class NotPossibleError(Exception):
    """The action is not possible at the wheel now. The text says why."""


class Hand:
    """The actions of a person at the wheel of `live`. Each action returns a text of what it did, or raises
    NotPossibleError.

    `subscriber` has the table's messages and the language. `note` is called with a text about each thing that happens
    without a button.
    """

    def __init__(self, live: LiveTable, subscriber: Subscriber, *, note: Callable[[str], None]) -> None:
        self._live, self._subscriber, self._note = live, subscriber, note
        self.say = subscriber.words.say
        self.begin()

    def begin(self) -> None:
        """Begin with a wheel that is in order: the ball lies in a pocket, and nobody holds the rotor."""
        self._ball = BallPlace.POCKET
        self._amiss: set[str] = set()
        self._second: Stay | None = None
        self._let_go_s = self._rest_s = 0.0
        self._seen: RestSeen | None = None

    def step(self, seconds: float) -> list[SimEvent]:
        """Let `seconds` pass. Returns the events of that time."""

        def go_on(table: SimTable) -> None:
            end_s = table.now_s + seconds
            if self._ball is BallPlace.TRACK and table.run.end_s <= end_s:
                now_s = table.now_s
                table.fall()
                self._rest_s, table.now_s = table.now_s, now_s
                self._ball = BallPlace.FALLING
                self._note(self.say("The ball leaves the track after {laps} laps.", laps=self._laps))
            elif self._ball is BallPlace.FALLING and self._rest_s <= end_s:
                self._ball = BallPlace.POCKET
                number = table.lies_in
                assert number is not None, "it fell into a pocket, and nobody took it"
                if self._number_seen is None:
                    self._seen = RestSeen(number, len(self._subscriber.verdicts))
                self._note(self.say("The ball rests in {number}.", number=number))
            is_let_go = HELD not in self._amiss and not self._is_running and table.now_s >= self._let_go_s
            if is_let_go and abs(table.world.rotor.speed_at(table.now_s)) < ROTOR_KEPT_REV_S:
                self._push(table)
            table.now_s = end_s

        return self._live.play(go_on)

    def tidy(self) -> bool:
        """Undo everything that would disturb the people of the demo. Returns whether these people can play now: a
        running ball must first come to rest, and its number must be proven."""
        if POWER in self._amiss:
            self._rest_s = self._table.now_s  # `PROOF_S` counts from now, because the daemon starts only now
        for is_amiss, undo in (
            (CHIP in self._amiss, self.take_chip_out),
            (self._second is not None, self.take_second_ball),
            (LINK in self._amiss, self.plug),
            (POWER in self._amiss, self.power_on),
            (HELD in self._amiss, self.spin_rotor),
        ):
            if is_amiss:
                self._note(undo())
        return not self._is_running and self._table.now_s > self._rest_s + PROOF_S

    @property
    def _table(self) -> SimTable:
        return self._live.table

    @property
    def _laps(self) -> str:
        return f"{self._table.run.laps:.2f}"

    @property
    def _where(self) -> str:
        return self.say(self._ball.value)

    @property
    def _is_running(self) -> bool:
        return self._ball in (BallPlace.TRACK, BallPlace.FALLING)

    # --- what happens without a button -------------------------------------------------------------------------------

    def _push(self, table: SimTable) -> None:
        now_s = table.now_s
        table.spin_rotor()
        self._let_go_s, table.now_s = table.now_s, now_s

    # --- the ball ----------------------------------------------------------------------------------------------------

    def launch(self) -> str:
        """Launch the ball against the rotor, hard enough for a valid coup."""
        return self._launch(None, self.say("against the rotor"))

    def launch_with_rotor(self) -> str:
        """Launch the ball in the rotor's own direction."""
        if not self._speed():
            raise NotPossibleError(
                self.say("The rotor stands still, so it has no direction in which to launch the ball.")
            )
        return self._launch(None, self.say("in the rotor's own direction"), with_rotor=True)

    def launch_weakly(self) -> str:
        """Launch the ball against the rotor, for fewer than three laps."""
        return self._launch(self._table.rng.uniform(*WEAK_LAPS), self.say("against the rotor, weakly"))

    def _launch(self, laps: float | None, how: str, *, with_rotor: bool = False) -> str:
        if self._is_running:
            raise NotPossibleError(self.say("The ball {where} already: there is only one ball.", where=self._where))
        table = self._table
        now_s = table.now_s
        table.lift_ball()
        table.now_s += IN_HAND_S
        run = table.launch(laps, with_rotor=with_rotor)
        table.now_s = now_s
        self._ball = BallPlace.TRACK
        if self._subscriber.table and "launch" in self._subscriber.table["waiting_codes"]:
            self._seen = None
        way = self.say("clockwise") if run.turning > 0 else self.say("counter-clockwise")
        launched = self.say(
            "The ball is launched {way}, {how}. If nobody touches it, it runs {laps} laps.",
            way=way,
            how=how,
            laps=self._laps,
        )
        return launched if self._speed() else f"{launched} {self.say('The rotor stands still.')}"

    def take_ball(self) -> str:
        """Take the ball, wherever it is."""
        was, where = self._ball, self._where
        if was is BallPlace.HAND:
            raise NotPossibleError(self.say("The bouler has the ball in his hand already."))
        if was is BallPlace.TRACK:
            self._table.block_ball()
        self._table.lift_ball()
        self._ball, self._rest_s = BallPlace.HAND, 0.0
        if was is BallPlace.TRACK:
            return self.say("A hand takes the ball, which {where}, after {laps} laps.", where=where, laps=self._laps)
        return self.say("A hand takes the ball, which {where}.", where=where)

    def put_ball_back(self) -> str:
        """Lay the ball in the pocket of the last number."""
        if self._is_running:
            raise NotPossibleError(self.say("The ball {where}: wait until it rests, or take it.", where=self._where))
        table, shown = self._table, self._subscriber.table
        wanted = None if shown is None else shown["last_number"]
        if self._ball is BallPlace.POCKET and table.ball_is_in(wanted):
            raise NotPossibleError(self.say("The ball lies in {number} already.", number=table.lies_in))
        number = table.rng.choice(table.layout.pockets) if wanted is None else wanted
        now_s = table.now_s
        table.lift_ball()
        table.now_s += CARRY_S
        table.put_ball_in(number)
        table.now_s = now_s
        self._ball = BallPlace.POCKET
        laid = self.say("A hand lays the ball in {number}.", number=number)
        if self._speed():
            return laid
        return f"{laid} {self.say('The rotor stands still, so no reader can see the ball there.')}"

    def throw_ball(self) -> str:
        """Throw a second ball in the cylinder."""
        if self._second is not None:
            raise NotPossibleError(self.say("A second ball lies in {number} already.", number=self._second.number))
        table = self._table
        number = table.rng.choice([each for each in table.layout.pockets if each != table.lies_in])
        self._second = table.throw_ball_in(number)
        return self.say("A second ball is thrown in, and lies in {number}.", number=number)

    def take_second_ball(self) -> str:
        """Take the second ball out."""
        if self._second is None:
            raise NotPossibleError(self.say("There is only one ball."))
        self._second.to_s, self._second = self._table.now_s, None
        return self.say("A hand takes the second ball out.")

    # --- the rotor ---------------------------------------------------------------------------------------------------

    def stop_rotor(self) -> str:
        """Stop the rotor and hold it."""
        self._change(HELD, amiss=True, already=self.say("A hand holds the rotor already."))
        table = self._table
        if self._speed():
            self._let_go_s = table.world.rotor.order(table.now_s, 0.0, BRAKE_REV_S2)
        return self.say("A hand stops the rotor.")

    def spin_rotor(self) -> str:
        """Push the rotor."""
        rpm = f"{abs(self._speed()) * 60:.0f}"
        self._change(HELD, amiss=False, already=self.say("The rotor already turns, at {rpm} rpm.", rpm=rpm))
        self._push(self._table)
        return self.say("The bouler pushes the rotor.")

    def reverse_rotor(self) -> str:
        """Turn the rotor the other way."""
        self._amiss.discard(HELD)
        self._table.direction = opposite(self._table.direction)
        self._push(self._table)
        return self.say("The bouler turns the rotor the other way.")

    def _speed(self) -> float:
        return self._table.world.rotor.speed_at(self._table.now_s)

    # --- faults: foreign objects, the cable, the power, noise --------------------------------------------------------

    def _change(self, what: str, *, amiss: bool, already: str) -> None:
        """Begin or end the fault `what`. Raises NotPossibleError with the text `already` if nothing would change."""
        if (what in self._amiss) is amiss:
            raise NotPossibleError(already)
        self._amiss ^= {what}

    def drop_chip(self) -> str:
        """Let a chip fall in the cylinder."""
        self._change(CHIP, amiss=True, already=self.say("A chip lies in the cylinder already."))
        self._table.foreign_object(present=True)
        return self.say("A chip falls in the cylinder.")

    def take_chip_out(self) -> str:
        """Take the chip out."""
        self._change(CHIP, amiss=False, already=self.say("There is no chip in the cylinder."))
        self._table.foreign_object(present=False)
        return self.say("A hand takes the chip out.")

    def unplug(self) -> str:
        """Unplug the cable between board and computer."""
        self._set(LINK, ok=False, already=self.say("The cable is unplugged already."))
        return self.say("The cable of the sensor board is pulled out.")

    def plug(self) -> str:
        """Plug the cable in again."""
        self._set(LINK, ok=True, already=self.say("The cable is plugged in already."))
        return self.say("The cable of the sensor board is plugged in.")

    def power_off(self) -> str:
        """Switch off the power of the cabinet, with the board and the computer."""
        self._set(POWER, ok=False, already=self.say("The power is off already."))
        return self.say("The power of the cabinet goes off.")

    def power_on(self) -> str:
        """Switch on the power of the cabinet."""
        self._set(POWER, ok=True, already=self.say("The power is on."))
        return self.say("The power of the cabinet comes on.")

    def _set(self, what: str, *, ok: bool, already: str) -> None:
        self._change(what, amiss=not ok, already=already)
        self._table.world.direct_events.append(SensorState(us(self._table.now_s), what, ok))

    def make_noise(self) -> str:
        """Let a beam pulse twice without a ball."""
        table = self._table
        beam = table.rng.randrange(len(table.layout.beams_deg))
        pulses = [BallPass(us(table.now_s + after_s), beam) for after_s in (0.0, NOISE_GAP_S)]
        table.world.direct_events += pulses
        return self.say("Beam {beam} pulses twice, and no ball is there.", beam=beam + 1)

    # --- what people do ----------------------------------------------------------------------------------------------

    def command(self, name: str, by: Speaker, label: str) -> str:
        """Give the table a command from a panel, with the button `label`. If the rotor angle is not known, "open" and
        "resume" also name the pocket in which the ball lies."""
        shown = self._subscriber.table
        is_lost = name in ("open", "resume") and shown is not None and PLACE in shown["failing"]
        number = self._table.lies_in if is_lost else None
        self._table.command(name, by=by, reason=self.say("at the bench"), number=number)
        return self.say(SAYS[by], words=label.lower())

    def change_bouler(self) -> str:
        """Let another bouler spin, by the chef's command."""
        shown = self._subscriber.table
        who = next(name for name in BOULERS if shown is None or name != shown["bouler"])
        self._table.command("bouler", who=who, reason=self.say("at the bench"))
        return self.say("The chef lets {who} spin from now on.", who=who)

    def confirm(self) -> str:
        """Confirm the number in which people saw the ball rest. If they saw none, confirm the table's number."""
        number = self._number_seen
        self._table.confirm(number, reason=self.say("at the bench"))
        if number is None:
            return self.say("The chef confirms the number, without saying which.")
        return self.say("The chef confirms {number}.", number=number)

    @property
    def _number_seen(self) -> int | None:
        """The number in which people saw the ball rest, until the coup has its verdict. This number stays if a hand
        takes the ball, and also at a launch for which the table does not wait."""
        seen = self._seen
        return None if seen is None or seen.verdicts != len(self._subscriber.verdicts) else seen.number
