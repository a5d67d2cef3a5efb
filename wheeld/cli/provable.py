"""Says what the sensors of a table can prove, for each row of docs/rulebook.md, before a coup is played."""

from __future__ import annotations

import msgspec

from wheeld.core.catalogue import Part, Text
from wheeld.core.observations import Direction
from wheeld.core.setting import TableSetting
from wheeld.core.tracking.beams import Beams, Chain
from wheeld.core.tracking.evidence import Pass

ENCODER, BEAMS, READERS = Text("the encoder"), Text("the beams"), Text("the readers and the encoder")


class Provable(msgspec.Struct, frozen=True):
    """One row of the rulebook (R1…, N1…, A…, or the number of a section), what it asks, and what proves it at this
    table. `by` is None if nothing proves it."""

    row: str
    what: Text
    by: Text | None


def provable(setting: TableSetting) -> tuple[Provable, ...]:
    """Return every row that a sensor could prove, in the rulebook's order. `setting` must have no problems."""
    pocket = READERS if setting.pocket == "sensors" else _head(setting)
    laps = Text("the ball runs at least {laps} full laps", {"laps": setting.min_laps})
    # N3 should be published before the ball can reach a pocket. Only beams can prove it so early.
    few_laps: Text | None = None
    if setting.ball == "sensors":
        few_laps = Text("the beams, when the ball leaves the track")
    elif (counted := _laps(setting)) is not None:
        few_laps = Text("{laps}; reported with the number, before anybody is paid", {"laps": counted})
    watched = setting.object_sensor and "sensors" in (setting.rotor, setting.ball, setting.pocket)
    launch = Text("{launch}, with what people said", {"launch": _launch(setting)})
    stop: dict[str, Part] = {"stop": _stop(setting)}
    on_obstacle = Text("{stop}, reported as N4", stop)
    if setting.ball == "sensors":
        on_obstacle = Text("{stop}; and the beams", stop)
    faults = Text("self-tests and time-outs")
    if setting.head is not None:
        head: dict[str, Part] = {"head": _head_name(setting)}
        faults = Text("self-tests and time-outs, the {head}'s warnings and its count of games", head)
    is_slowed = setting.auto_rien_ne_va_plus_rev_s is not None
    rotor = ENCODER if setting.rotor == "sensors" else _head(setting)
    return (
        Provable("R1", Text("the ball runs against the rotor"), _directions(setting)),
        Provable("R2", laps, _laps(setting)),
        Provable("R3", Text("the number is where the ball comes to rest"), pocket),
        Provable("R4", Text("the number is announced with its chances"), Text("it follows from the number")),
        Provable("N1", Text("the ball runs in the same direction as the rotor"), _directions(setting)),
        Provable("N2", Text("launched too early"), launch),
        Provable("N3", Text("too few laps"), few_laps),
        Provable("N4", Text("the rotor stops while the ball runs"), _stop(setting)),
        Provable("N5", Text("the rotor stops while the ball lies on an obstacle"), on_obstacle),
        Provable("N6", Text("a foreign object"), Text("an object sensor, if the wheel has one") if watched else None),
        Provable("N7", Text("the chef declares it void"), Text("the chef's word")),
        Provable("N8", Text("breakdown of what observes the wheel"), faults),
        Provable("A1", Text("the launch starts the coup"), _launch(setting)),
        Provable(
            "A1",
            Text("rien ne va plus"),
            Text("the beams, or the chef's word") if is_slowed else Text("the chef's word"),
        ),
        Provable("A7", Text("which way the rotor turns"), rotor),
        Provable(
            "3",
            Text("after a void the ball lies in the pocket of the last number"),
            None if setting.pocket == "head" else READERS,
        ),
    )


def _head(setting: TableSetting) -> Text:
    return Text("the {head}", {"head": _head_name(setting)})


def _head_name(setting: TableSetting) -> str:
    assert setting.product is not None, "check() asks for one"
    return setting.product.name


def _both(first: Text, last: Text) -> Text:
    return Text("{first} and {last}", {"first": first, "last": last})


def _directions(setting: TableSetting) -> Text:
    rotor = ENCODER if setting.rotor == "sensors" else _head(setting)
    if setting.ball == "sensors":
        return _both(BEAMS, rotor)
    if setting.product is not None and setting.product.says_opposite:
        return Text("the {head}'s own report", {"head": _head_name(setting)})
    return _head(setting) if setting.rotor == "head" else _both(_head(setting), rotor)


def _laps(setting: TableSetting) -> Text | None:
    if "R2" in setting.lacks:
        return None
    if setting.ball == "sensors":
        return BEAMS
    return Text("the {head}'s own count", {"head": _head_name(setting)})


def _launch(setting: TableSetting) -> Text:
    if setting.ball == "sensors":
        return BEAMS
    assert setting.product is not None, "check() asks for one"
    within: dict[str, Part] = {"head": setting.product.name, "seconds": f"{setting.product.run_within_us / 1e6:g}"}
    return Text("the {head}, up to {seconds} s after the launch", within)


def _stop(setting: TableSetting) -> Text:
    if setting.rotor == "sensors":
        return Text("the encoder, 0.6 to 1.5 s after its last edge")
    return Text("the {head}, within 2 s", {"head": _head_name(setting)})


def certain_laps(beams_deg: tuple[float, ...], laps: float, strays: int) -> float:
    """Return how many laps a run needs so that these beams prove `laps`, if no beam misses the ball.

    The worst run begins just behind a beam, and ends just before the pass that would complete the proof.
    """
    beams, most_deg = Beams(beams_deg), 0.0
    directions: tuple[Direction, Direction] = ("cw", "ccw")
    for direction in directions:
        for first in range(len(beams_deg)):
            order = sorted(range(len(beams_deg)), key=lambda beam: beams.ahead_deg(first, beam, direction) % 360)
            chain = Chain(direction, [])
            while len(chain.passes) < 2 or chain.proven_deg(strays) < laps * 360 - 1e-6:
                lap, place = divmod(len(chain.passes), len(order))
                turn_deg = lap * 360 + beams.ahead_deg(first, order[place], direction) % 360
                chain.passes.append(Pass(round(turn_deg * 1_000), order[place], turn_deg))
            most_deg = max(most_deg, beams.behind_deg(first, direction) + chain.passes[-1].turn_deg)
    return most_deg / 360
