"""Which sensors `resume` and `open` leave out, and why they may not (docs/rulebook.md 6)."""

from __future__ import annotations

from wheeld.core.catalogue import Text, translatable
from wheeld.core.facts import Trouble
from wheeld.core.law.guards import Known
from wheeld.core.names import sensor_texts
from wheeld.core.tracking.sight import PLACE, objection

CLEAR_BY_WORD = translatable("no sensor sees whether the cylinder is clear: the chef's word serves")
"""N6: "tout va" and "operations done" rest on it while the object sensor is left out."""


PLACED = translatable("the ball lies in {number}, by the word given; readers saw it {off_pockets} pockets from there")
"""Section 7: on it every number rests from then on."""


def without_text(sensors: tuple[str, ...]) -> Text:
    """What a notice says of the sensors that are left out now."""
    if not sensors:
        return Text("every sensor is used again")
    return Text(
        "play goes on, and what only these sensors prove is not proven: {sensors}", {"sensors": sensor_texts(sensors)}
    )


def left_out_after(known: Known) -> tuple[str, ...]:
    """The sensors that the table goes on without after the command at hand: those that it names, and those that are
    left out already and still fail. One that works again is used again."""
    named = known.command.without if known.command is not None else ()
    observer = known.observer
    kept = (sensor for sensor in observer.left_out if observer.is_faulty(sensor))
    return tuple(dict.fromkeys((*kept, *named)))


def named_pocket(known: Known) -> int | None:
    """The pocket in which the ball lies by the command at hand, of `resume` or `open`."""
    number = None if known.command is None else known.command.number
    return None if number is None else known.pockets.index_of[number]


def _why_no_place(known: Known) -> Text | None:
    """Why nobody would know after the command at hand where the pockets stand; None if that is known. A person's word
    is taken where it is not, or where readers see the ball elsewhere than it belongs: else one wrong word would make
    every number wrong."""
    observer, pocket = known.observer, named_pocket(known)
    if pocket is None:
        return Text(Trouble.SLIPPED.mend) if PLACE in observer.faults else None
    if PLACE not in observer.faults and known.pockets.order[pocket] != known.table_state.ball_belongs_in:
        return Text("where the pockets stand is known: give no number")
    if observer.off_by(pocket, known.now_us) is None:
        return Text("no reader has seen the ball lie still in a pocket yet: does the rotor turn?")
    return None


def why_not(known: Known) -> tuple[Text, ...]:
    """Why no coup could be observed whole after the command at hand, sensor by sensor; empty if it could."""
    observer = known.observer
    sensors, after = observer.setting.sensors, left_out_after(known)
    if unknown := [sensor for sensor in after if sensor not in sensors]:
        return (Text("this table has no such sensor: {names}", {"names": ", ".join(unknown)}),)
    if working := [sensor for sensor in after if not observer.is_faulty(sensor)]:
        return (
            Text("only a sensor that fails is left out; these work: {sensors}", {"sensors": sensor_texts(working)}),
        )
    if why := objection(observer.setting, after):
        return (why,)
    if why := _why_no_place(known):
        return (why,)
    failing = [sensor for sensor in observer.faults if sensor not in (*after, PLACE)]
    objections = {sensor: objection(observer.setting, (*after, sensor)) for sensor in failing}
    reasons: list[Text] = []
    for why in objections.values():
        if why is not None and why not in reasons:
            reasons.append(why)
    optional = sensor_texts(sensor for sensor, why in objections.items() if why is None)
    if optional:
        return *reasons, Text("these fail, and play can go on without them: {sensors}", {"sensors": optional})
    return tuple(reasons)
