"""The commands that the chef or the bouler can give now, and what each command will do. Both come from the law, so a
button does what it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from wheeld.broker.roles import BY_NAME
from wheeld.core.catalogue import Catalogue, translatable
from wheeld.core.facts import Fact
from wheeld.core.houses import PROFILES, TOUT_VA
from wheeld.core.law.needs import AHEAD, SENSORS_WORK
from wheeld.core.law.rows import Row
from wheeld.core.law.table import row_of, rule, state_of
from wheeld.core.messages.payloads import TableMessage, Void
from wheeld.core.names import COMMAND_NAMES
from wheeld.core.observations import PLACE, CommandName, kind_of
from wheeld.core.pockets import label_of
from wheeld.page.setting import PanelRole

Needs: TypeAlias = Literal["number", "case", "who", "accepted"]
"""What a person adds to a command: the number that he confirms, or in whose pocket the ball lies; the case of C11; the
bouler who launches; or whether the late bet is accepted."""

NEEDS: dict[CommandName, Needs] = {"confirm": "number", "rien_va": "case", "bouler": "who", "late_bet": "accepted"}
ORDER: tuple[CommandName, ...] = (
    "open",
    "rien_ne_va_plus",
    "late_bet",
    "confirm",
    "operations_done",
    "tout_va",
    "resume",
    "last_coup",
    "last_coup_off",
    "bouler",
    "rien_va",
    "suspend",
    "close",
)
"""The order of the buttons. Commands that continue the game are first. Commands that end a coup or play are last."""
GRAVE: frozenset[CommandName] = frozenset({"rien_va", "suspend", "close"})
"""Commands that end a coup or play. The panel asks again before it sends them."""

ANSWERS: dict[CommandName, str] = {
    "rien_va": translatable("Say {void}: {then}"),
    "suspend": translatable("Suspend: {then}"),
    "close": translatable("Close: {then}"),
}
"""The answers that confirm a command in `GRAVE`."""
_COUP_IS_VOID = translatable("the coup is void")
_PLAY_STOPS = translatable("play stops")
_ANNOUNCE = translatable("announce the next bouler")
_CONFIRM = translatable("Confirm {number}")
_ANOTHER = translatable("Another number")
_CONFIRM_OTHER = translatable("Confirm {number}, not {seen}")

_VOIDS = translatable("the present coup becomes void: {why}")
_LEAVES_OUT = translatable("goes on without {sensors}: the chef answers for what they would have proven")


class Offer(NamedTuple):
    """One button of the panel, with its command.

    `does`: what the command will do, in words. `answer`: if the button asks a question, the text of the button that
    answers it; "{number}" stands for the number that the person gives. `without`: the failing sensors that the command
    leaves out. `number`: the number that it confirms, as printed. `who`: the bouler who is announced to spin next.
    `announced`: whether the command announces a bouler who spins next.
    """

    name: CommandName
    label: str
    does: str
    answer: str
    needs: Needs | None
    is_grave: bool
    without: tuple[str, ...] = ()
    number: str | None = None
    who: str | None = None
    announced: bool = False


def words_of(table: TableMessage, void: Void | None) -> dict[str, str]:
    """Return the house's words for a void and for its end: those of the last void coup, or, without one, those of the
    house's regulation."""
    profile = PROFILES.get((table.house, table.game))
    default = "rien va" if profile is None else profile.void_words
    return words_after(default if void is None else void.words)


def words_after(said: str) -> dict[str, str]:
    """Return the words that a catalogue needs: `said`, with which a void was declared, and the words that end the
    void."""
    return {"void": said, "tout_va": next((after for before, after in TOUT_VA.items() if before == said), "tout va")}


def offers(table: TableMessage, catalogue: Catalogue, sensors: str, role: PanelRole) -> Iterator[Offer]:
    """Yield the commands of `role` that the law accepts in this state, in order. A command is not offered while the
    table waits for something that the command needs. But if it waits only for failing sensors that may be left out, a
    role that may resume play gets the command. `catalogue` has the house's words. `sensors` names the failing sensors
    that may be left out."""
    state, profile = state_of(table.state, table.waiting_codes), PROFILES.get((table.house, table.game))
    commands = BY_NAME[role].commands
    for name in ORDER:
        row = row_of(name, state, table.waiting_codes, table.last_coup)
        if row is None or name not in commands:
            continue
        if name == "late_bet" and profile is not None and not profile.late_bets:
            continue
        lacks = {need for need in row.needs if need.text and need.code in table.waiting_codes}
        left_out = tuple(sensor for sensor in table.failing if sensor != PLACE) if SENSORS_WORK in lacks else ()
        if table.failing and "resume" in commands and all(_may_be_left_out(sensor) for sensor in left_out):
            lacks.discard(SENSORS_WORK)
        # A command that can wait for its need is offered. If two needs have the same code, it is enough if one of them
        # can wait.
        if {need.code for need in lacks} - {need.code for need in lacks if need.wait_us}:
            continue
        label, does = catalogue.say(COMMAND_NAMES[name]), _does(row, catalogue)
        then = catalogue.say(_PLAY_STOPS if row.void is None else _COUP_IS_VOID)
        answer = catalogue.say(ANSWERS[name], then=then) if name in GRAVE else label
        plain = Offer(name, label, does, answer, NEEDS.get(name), name in GRAVE)
        if name == "confirm":
            yield from _confirmations(plain, catalogue, table.number_awaiting_chef)
            continue
        if name == "bouler":
            label, ahead = catalogue.say(_ANNOUNCE), rule(state, Fact.BOULER, (AHEAD,))
            yield plain._replace(who=None if table.next_bouler is UNSET else table.next_bouler)
            yield plain._replace(label=label, answer=label, does=_does(ahead, catalogue), announced=True)
            continue
        if SENSORS_WORK in row.needs and PLACE in table.failing:
            plain = plain._replace(needs="number")
        if left_out:
            told = catalogue.joined((does, catalogue.say(_LEAVES_OUT, sensors=sensors)))
            plain = plain._replace(does=told, without=(*left_out, *table.without))
        yield plain


def _confirmations(plain: Offer, catalogue: Catalogue, number: int | UnsetType) -> Iterator[Offer]:
    """Yield the buttons that confirm a number: the number that sensors saw, with one press, or another number, which
    the chef must write."""
    if number is UNSET:
        yield plain._replace(
            label=catalogue.say(_CONFIRM, number="…"), answer=catalogue.say(_CONFIRM, number="{number}")
        )
        return
    seen = label_of(number)
    yield plain._replace(label=catalogue.say(_CONFIRM, number=seen), needs=None, number=seen)
    other = catalogue.say(_CONFIRM_OTHER, number="{number}", seen=seen)
    yield plain._replace(label=catalogue.say(_ANOTHER), answer=other)


def _may_be_left_out(sensor: str) -> bool:
    """Return whether play may go on without the sensor. False for a sensor that only a later version knows."""
    try:
        return kind_of(sensor).may_be_left_out
    except KeyError:
        return False


def _does(row: Row, catalogue: Catalogue) -> str:
    why = catalogue.say(row.text)
    return why if row.void is None else catalogue.say(_VOIDS, why=why)
