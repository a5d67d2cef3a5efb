"""The people at the table. They do what the published state waits for: promptly, late, twice or wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hw_sim.events import SimEvent
from hw_sim.panel import command_leaf
from hw_sim.table import SimTable
from hw_sim.whole.computer import STARTED_UTC_US
from hw_sim.whole.plan import Manner
from hw_sim.whole.timeline import Timeline
from hw_sim.whole.witness import Witness, Word

if TYPE_CHECKING:
    from hw_sim.whole.house import House

TABLE = "wheel-1"
"""The table's name. The logins of the table's people end with it."""
READY_S, SLIP_S = 75.0, 45.0
"""If people do what the table asks for, it must be ready for the next coup within READY_S after the faults. The longest
case: readers see the ball in a wrong pocket, and people say "tout va", "suspend", and "resume" with the number. If the
disc has slipped, people may first have to put the ball back, which may take SLIP_S more."""
LOOK_S = 1.0
"""The time between two looks at the published state."""
PLACE_SEEN_S = 12.0
"""The time in which a reader has seen a lying ball twice, at 12 turns a minute."""
FIRST_POCKET = 17
"""The pocket in which the ball is laid before the first number."""
SETTLES_S = 3.0
"""How long people wait for a new state after an action. A command may wait 2.4 s before the daemon decides it."""
LATE_S = 12.0
PATIENCE_S = 20.0
"""How long the chef waits for a number before he says "rien va"."""
GIVES_UP_S = 400.0
"""After this time people stop trying to make the table ready."""
WRONG = ("open", "operations_done", "tout_va", "resume", "rien_ne_va_plus", "confirm")
WORDS = ("open", "operations_done", "tout_va", "resume")
"""The codes of `waiting_codes` that are commands."""
STEPS = ("start_wheel", "clear_object", "put_back", "turn_rotor", "confirm", *WORDS)
"""All codes that ask people to act."""
WAITS = ("repair", "ball_at_rest", "object_level")
"""Codes for which people only wait: what a code names ends by itself, or a technician ends it."""
MAY_COUNT = ("faites_vos_jeux", "bets_closed_early", "ball_running", "rien_ne_va_plus", "ball_on_obstacle")
"""States in which the present coup may still get a result."""
LOOK, RESTART = "look", "restart_board"
RESTARTS = ("clock_ran_back", "no_answer", "no_events")
"""Troubles for which a notice asks people to switch the board off and on."""
TECHNICIAN_S = 4.0
"""The time that a technician needs to switch a board off or on, or to start a wheel."""


class SimPanel:
    """The chef's panel, an MQTT client: what it shows, and the commands given at it."""

    def __init__(
        self, timeline: Timeline, witness: Witness, publish: Callable[[str, bytes], bool], *, says_when: bool
    ) -> None:
        """If `says_when`, each command contains the time at which it was given."""
        self._says_when = says_when
        self._timeline = timeline
        self._witness = witness
        self._publish = publish
        self.table: dict[str, Any] | None = None
        self.seq = 0
        self.trouble = ""
        """The trouble of the line to the sensors, as the latest notice says."""
        self._asked: dict[str, Word] = {}

    def hear(self, leaf: str, payload: bytes) -> None:
        """Take a message of the table. An older state does not replace a newer one."""
        if leaf == "table":
            table = json.loads(payload)
            if table["seq"] >= self.seq:
                self.table, self.seq = table, table["seq"]
        elif leaf == "notice":
            notice = json.loads(payload)
            if notice["notice"] == "sensor_trouble" and notice["figures"]["sensor"] == "link":
                self.trouble = notice["figures"]["what"]
        elif leaf == "reply":
            reply = json.loads(payload)
            if (word := self._asked.get(reply["id"])) is not None and word.reply is None:
                word.reply = reply

    def voided(self, since_us: int) -> bool:
        """Whether the chef has said "rien va" since `since_us`."""
        return any(word.name == "rien_va" and word.t_us >= since_us for word in self._asked.values())

    def give(self, name: str, *, by: str = "chef", reason: str = "", **more: Any) -> Word:
        """Give a command. The values of `more` that are not None become members of the command."""
        now_us = self._timeline.now_us
        asked = {"id": f"{name}-{now_us}", "by": by, "reason": reason or "as usual"}
        asked |= {key: value for key, value in more.items() if value is not None}
        if self._says_when:
            asked["at"] = datetime.fromtimestamp((STARTED_UTC_US + now_us) / 1e6, UTC).isoformat()
        if name == "confirm" and self.table is not None:
            asked["coup"] = self.table["coup"]
        taken = self._publish(command_leaf(by, name, TABLE), json.dumps(asked).encode())
        self._asked[asked["id"]] = word = Word(now_us, name, asked["id"], taken, number=more.get("number"))
        self._witness.words.append(word)
        return word


class HousePeople:
    """The chef, the bouler, and the people who repair things."""

    def __init__(self, house: House) -> None:
        self._house = house

    def stopped_the_ball(self) -> None:
        """Say "rien va" after a hand stopped a running ball, unless the panel shows that the coup gets no result
        anyway. No sensor can distinguish that hand from a fall, so the chef must say it (C11)."""
        table = self._house.panel.table
        if table is not None and table["state"] in MAY_COUNT:
            self._house.panel.give("rien_va", reason="a hand stopped the ball")

    def say_what_is_awaited(self) -> None:
        """Give the command for which the table waits, even while the ball runs."""
        table = self._house.panel.table
        awaited = () if table is None else table["waiting_codes"]
        word = next((code for code in WORDS if code in awaited), None)
        if word is not None:
            self._house.panel.give(word, reason="to lose no time")

    def make_ready(self, manner: Manner) -> Iterator[SimEvent]:
        """Do all that the table waits for, until the next ball may be launched. Record an error if the table is not
        ready in time after the last fault."""
        house, live = self._house, self._house.live
        began_us = house.now_us
        played = (*(one.kind for one in house.plan.faults), *(one.scenario for one in house.plan.coups))
        ready_s = READY_S + (SLIP_S if any("slips" in what for what in played) else 0.0)
        if manner == "wrong":
            yield from live.command(live.table.rng.choice(WRONG), reason="by mistake")
        while (step := self._next_step(began_us)) is not None:
            if manner == "late":
                yield from live.wait(LATE_S)
                step = self._next_step(began_us) or step
            if step == LOOK:
                yield from live.wait(LOOK_S)
            else:
                yield from self._do(step, twice=manner == "twice")
                yield from live.wait(SETTLES_S)
            is_late = (house.now_us - max(began_us, house.faults.over_us)) / 1e6 > ready_s
            if house.faults.are_over_now and manner != "late" and is_late and not house.witness.is_so("not ready"):
                house.witness.begins("not ready", house.now_us)
                table = house.panel.table or {}
                said = f"{table.get('state')}, {table.get('waiting_codes')}, {table.get('failing')}"
                house.witness.troubles.append(f"stuck: not ready {ready_s:g} s after the faults: {said}")
            if (house.now_us - began_us) / 1e6 > GIVES_UP_S:
                break
        house.witness.ends("not ready", house.now_us)

    def _next_step(self, began_us: int) -> str | None:
        """Return the action for the published state, or None if the next ball may be launched."""
        house = self._house
        table, live = house.panel.table, house.live.table
        if table is None or not house.broker.is_up:
            return LOOK
        for code in table["waiting_codes"]:
            if code == "launch":
                return None if live.ball_is_in(table["last_number"]) else "put_back"
            if (step := self._step_of(code, table, began_us)) is not None:
                return step
        return LOOK

    def _step_of(self, code: str, table: dict[str, Any], began_us: int) -> str | None:
        """Return what people do if the table waits for `code`. None if they can do nothing about it."""
        house, number = self._house, table["last_number"]
        is_back = number is None or house.live.table.ball_is_in(number)
        match code:
            case "clear_object" if not house.witness.is_so("object"):
                # The table waits until an object is taken out, but no object is there. Only the command `resume` may
                # help.
                return "resume" if "resume" in table["waiting_codes"] else LOOK
            case "repair" if house.panel.trouble in RESTARTS:
                return RESTART
            case "repair" if table["failing"] == ["rotor/place"]:
                return "name_place"
            case "put_back" | "tout_va" if is_back is (code == "put_back"):  # people look where the ball is
                return "doubt_place" if is_back else "put_back"
            case _ if code in WAITS:
                return LOOK
            case "number" | "fall_or_stop":
                return "rien_va" if (house.now_us - began_us) / 1e6 > PATIENCE_S else LOOK
            case _ if code in STEPS:
                return code
        return None

    def _do(self, what: str, *, twice: bool) -> Iterator[SimEvent]:
        house, live = self._house, self._house.live
        match what:
            case "clear_object":
                yield from live.wait(1.5)
                house.put_object(present=False)
            case "put_back":
                assert house.panel.table is not None
                live.table.last_number = house.panel.table["last_number"]
                yield from live.play(SimTable.put_ball_back)
            case "turn_rotor":
                yield from live.play(SimTable.spin_rotor)
            case "name_place":
                yield from self._name_place()
            case "doubt_place":
                yield from self._doubt_place()
            case "restart_board":
                yield from live.wait(TECHNICIAN_S)
                house.lines["board"].power(on=False)
                yield from live.wait(TECHNICIAN_S)
                house.lines["board"].power(on=True)
            case "start_wheel":
                yield from live.wait(TECHNICIAN_S)
                house.head.is_stopped = False
            case "confirm":
                # The chef saw whether the coup was good, and its number.
                last = next(reversed(house.witness.coups), None)
                is_good = last is not None and last.round == house.round and house.witness.is_good(last)
                counts = last is not None and is_good and not house.panel.voided(last.launch_us)
                word, reason = ("confirm", "all saw it") if counts else ("rien_va", "the coup was not good")
                house.panel.give(word, reason=reason, number=last.number if last is not None and counts else None)
                yield from live.wait(LOOK_S)
            case _:
                for _ in range(1 + twice):
                    yield from live.command(what, by=self._who, reason="it is asked for")

    @property
    def _who(self) -> str:
        """The person whose command the table waits for: the direction if it suspended play, otherwise the chef."""
        table = self._house.panel.table
        return "direction" if table is not None and "direction" in table["waiting_codes"] else "chef"

    def _name_place(self) -> Iterator[SimEvent]:
        """Lay the ball in a pocket and name its number after the readers saw it, so that the rotor's angle is known."""
        house, live = self._house, self._house.live
        assert house.panel.table is not None
        last_number = house.panel.table["last_number"]
        live.table.last_number = FIRST_POCKET if last_number is None else last_number
        yield from live.play(SimTable.put_ball_back)
        yield from live.wait(PLACE_SEEN_S)
        word = "resume" if "resume" in house.panel.table["waiting_codes"] else "open"
        house.panel.give(word, by=self._who, reason="the ball lies there", number=live.table.last_number)
        yield from live.wait(LOOK_S)

    def _doubt_place(self) -> Iterator[SimEvent]:
        """Say "tout va", because the table sees the ball in a wrong pocket. If the table refuses this, do what its
        answer says."""
        house, live = self._house, self._house.live
        word = house.panel.give("tout_va", reason="the ball lies there")
        yield from live.wait(PLACE_SEEN_S)
        if word.reply is not None and not word.reply["done"]:
            house.panel.give("suspend", by="direction", reason=word.reply["why"])
            yield from live.wait(SETTLES_S)
            yield from self._name_place()
