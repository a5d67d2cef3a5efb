"""What pages show of a wheel, as JSON in one language. The data of the moving wheel comes from `SensorReader`."""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeAlias, get_args

from msgspec import UNSET

from wheeld.broker.payloads import Display
from wheeld.core.catalogue import Catalogue, Language
from wheeld.core.facts import Cause
from wheeld.core.houses import PROFILES
from wheeld.core.messages.payloads import Common, TableMessage
from wheeld.core.observations import PLACE
from wheeld.core.pockets import Colour, Half, Parity, PocketLayout, label_of
from wheeld.page.health import sensor_name, tiles
from wheeld.page.numbers import NumberCount, NumberHistory
from wheeld.page.offers import offers, words_of
from wheeld.page.setting import PanelRole
from wheeld.page.wheel import WheelView
from wheeld.page.words import RITUAL, WORDS
from wheeld.screen.describe import BETS, LATE_BETS, RULED, STATES, minute
from wheeld.screen.language import translation

Shown: TypeAlias = dict[str, Any]
NUMBERS_SHOWN = 20
SIMPLE_CHANCES = {"colour": get_args(Colour), "parity": get_args(Parity), "half": get_args(Half)}
"""The two values of each simple chance, by the name of the field in the facts of a number. A zero has no value."""


class WheelInWords:
    """Says in one language what is known of `wheel`. `numbers`: the last numbers, for the display."""

    def __init__(self, wheel: WheelView, numbers: NumberHistory, language: Language) -> None:
        self._wheel, self._numbers, self._language = wheel, numbers, language
        words = {} if wheel.table is None else words_of(wheel.table, wheel.void)
        self._catalogue = Catalogue(language, words)

    def whole(self, now_s: float) -> Shown:
        """Return what the live page shows."""
        wheel, result, say = self._wheel, self._wheel.result, self._catalogue.say
        ruled = None
        if (ruling := wheel.ruling) is not None:  # this is the latest ruling since the pages began to run
            coup, stands = say("coup {coup}", coup=ruling.about), say(RULED[ruling.ruled_as], number=ruling.label)
            ruled = f"{coup}: {stands} — {ruling.reason} ({ruling.by}, {minute(ruling.at)})"
        # in words: the coup, the decision of the chef, the reason, the person, and how far the ball had run
        late_bets = []
        for bet in wheel.late_bets:
            run, said = bet.figures, [bet.by]
            if run.first_pass_us:
                seconds = round((run.said_us - run.first_pass_us) / 1e6, 1)
                said.append(say(WORDS["after_launch"], count=self._catalogue.decimal(seconds)))
            if run.laps_proven is not None:
                said.append(say("{laps} laps", laps=self._catalogue.decimal(run.laps_proven)))
            coup, decision = say("coup {coup}", coup=bet.coup), say(LATE_BETS[run.accepted])
            late_bets.append(f"{coup}: {decision} — {bet.reason} ({', '.join(said)})")
        return {
            **self.board(),
            "waiting": "" if wheel.table is None else self._told(wheel.table, wheel.table.waiting_for),
            "bouler": None if wheel.table is None else self._bouler(wheel.table),
            "result": result
            and {
                "coup": result.coup,
                "announcement": result.announcement,
                "laps": result.laps,
                "rpm": result.rotor_rpm,
                "at": result.at,
            },
            "void": self._void(),
            "ruling": ruled,
            "late_bets": late_bets,
            "tiles": [tile._asdict() for tile in tiles(wheel, self._catalogue, now_s)],
            "failing": [] if wheel.table is None else wheel.table.failing,
        }

    def board(self) -> Shown:
        """Return what the players' display shows."""
        wheel, say = self._wheel, self._catalogue.say
        table, numbers = wheel.table, self._numbers
        order = () if self._pockets is None else self._pockets.order
        facts, came = {} if self._pockets is None else self._pockets.facts, Counter(numbers.newest_first)
        zeros = [number for number, each in facts.items() if each.colour is None]
        is_enough = len(numbers.newest_first) >= len(order)  # fewer numbers say nothing about frequency
        shares = []  # the two values of each simple chance, in per cent of the numbers that had one of the two
        for chance, (one, other) in SIMPLE_CHANCES.items() if is_enough else ():
            had = Counter(getattr(facts[number], chance) for number in numbers.newest_first if number in facts)
            if of := had[one] + had[other]:
                percent = round(100 * had[one] / of)
                shares.append([{"side": one, "percent": percent}, {"side": other, "percent": 100 - percent}])
        # If the coup is void, "rien va" is said first, then the state of the table.
        ritual = [RITUAL["rien_va"]] if wheel.is_void else []
        if table is not None and (text := RITUAL[table.state]) and text not in ritual:
            ritual.append(text)
        # The message of a void is not retained: if this program has just started, only the message `board` says why the
        # present coup is void.
        why, last = "", wheel.void if wheel.void is not None or wheel.board is None else wheel.board.last_void
        if wheel.is_void and last is not None:
            cause = last.cause.value if isinstance(last.cause, Cause) else last.cause
            why = (f"{last.article}: " if last.article else "") + self._cause_text(cause)
        # These are the configuration's texts for players. They are empty until a message brings them.
        told = UNSET if wheel.availability is None else wheel.availability.display
        display = Display() if told is UNSET else told
        return {
            "online": wheel.is_online,
            "table": "" if table is None else table.table,
            "name": display.name or ("" if table is None else table.table),
            "limits": display.limits,
            "never": wheel.is_reached and wheel.availability is None,
            "test": wheel.is_test,
            "state": None if table is None else table.state,
            "state_words": "" if table is None else say(STATES[table.state]),
            "ritual": "" if table is None else " · ".join(map(say, ritual)),
            "bets": None if table is None else table.bets,
            "bets_words": "" if table is None else say(BETS[table.bets]),
            "coup": None if table is None else table.coup,
            "last_coup": None if table is None else table.last_coup,
            "number": None if table is None else self._number(table.last_number),
            "announcement": "" if wheel.result is None else wheel.result.announcement,
            "numbers": [self._number(number) for number in numbers.newest_first[:NUMBERS_SHOWN]],
            "hot": [self._seen(seen) for seen in (numbers.hot() if is_enough else ())],
            "cold": [self._seen(seen) for seen in numbers.cold(order if is_enough else ())],
            "shares": shares,
            "zeros": [self._seen(NumberCount(number, came[number])) for number in (zeros if is_enough else ())],
            "counted": len(numbers.newest_first),
            "cause": why,
        }

    def panel(self, role: PanelRole) -> Shown:
        """Return what the panel of the chef or of the bouler shows: the table, and what he can do."""
        wheel, table = self._wheel, self._wheel.table
        awaited = UNSET if table is None else table.number_awaiting_chef
        # The message `table` reports failures sooner than `health`, and more of them.
        lights = {} if wheel.health is None else wheel.health.sensors
        lights = lights | dict.fromkeys(() if table is None else table.failing, False)
        offered: list[Shown] = []
        if table is not None and wheel.is_online:
            failing = [self._sensor(each) for each in table.failing if each != PLACE]
            sensors = self._catalogue.listed(failing) if failing else ""
            offered = [offer._asdict() for offer in offers(table, self._catalogue, sensors, role)]
        return {
            **self.board(),
            "waiting": "" if table is None else self._told(table, table.waiting_for),
            "awaited": self._number(None if awaited is UNSET else awaited),
            "void": self._void(),
            "sensors": [{"name": self._sensor(name), "ok": works} for name, works in lights.items()],
            "bouler": None if table is None else self._bouler(table),
            "offers": offered,
        }

    def _bouler(self, table: TableMessage) -> str | None:
        """Return in words who spins, who is announced to spin next, and who has acknowledged the announcement."""
        if table.next_bouler is UNSET:
            return table.bouler
        announced = self._catalogue.say(WORDS["next_bouler"], who=table.next_bouler)
        if table.acknowledged_by is not UNSET:
            announced += f" ({self._catalogue.say(WORDS['acknowledged'], by=table.acknowledged_by)})"
        return f"{table.bouler or '–'}; {announced}"

    @property
    def _pockets(self) -> PocketLayout | None:
        """The pockets of the table's wheel. None until a message has named the house and the game."""
        table = self._wheel.table
        profile = None if table is None else PROFILES.get((table.house, table.game))
        return None if profile is None else profile.pockets

    def _number(self, number: int | None) -> Shown | None:
        """Return the number as printed, and its colour: "vert" for a zero, "" if the wheel is not known."""
        if number is None:
            return None
        facts = None if self._pockets is None else self._pockets.facts.get(number)
        return {"number": label_of(number), "colour": "" if facts is None else facts.colour or "vert"}

    def _seen(self, seen: NumberCount) -> Shown:
        return {**(self._number(seen.number) or {}), "times": seen.times}

    def _told(self, message: Common, text: str) -> str:
        """Translate a text of a message, which is in the language of its table."""
        if message.language == self._language:
            return text
        return translation(message.language, self._language).of(text)

    def _sensor(self, name: str) -> str:
        return sensor_name(name, self._catalogue)

    def _void(self) -> Shown | None:
        """Return the latest void coup, from its message `void`, or from the message `board` if `void` was missed."""
        void, board = self._wheel.void, self._wheel.board
        if void is not None:
            return {"coup": void.coup, "words": void.words, "why": self._told(void, void.why), "at": void.evidence_at}
        if board is None or board.last_void is None:
            return None
        last = board.last_void
        why = self._cause_text(last.cause)
        cited = ", ".join(part for part in (last.rule, last.article) if part)
        return {"coup": last.coup, "words": last.words, "why": f"{cited}: {why}" if cited else why, "at": last.at}

    def _cause_text(self, cause: str) -> str:
        """Return the cause in words. A cause of a later version keeps its technical name."""
        causes = {each.value: each.text for each in Cause}
        return self._catalogue.say(causes[cause]) if cause in causes else cause
