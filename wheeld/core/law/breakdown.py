"""Breakdown of the mechanism or of the sensors that observe it (N8), and the door of the cabinet."""

from __future__ import annotations

from collections.abc import Iterator

from wheeld.core.catalogue import Text, translatable
from wheeld.core.facts import Fact, State, Trouble
from wheeld.core.law.needs import EvidenceGuard, Known
from wheeld.core.law.rows import ELSEWHERE, IDLE, RUNNING, Row, breakdown, ignore, notice, on
from wheeld.core.names import sensor_text
from wheeld.core.observations import Standstill
from wheeld.core.tracking.evidence import Evidence

S, F = State, Fact

NOTICED_US = 1_000_000
"""A standstill shorter than this has no notice: a busy computer has many of them, and nobody at the table sees them."""
STOOD = {"machine": translatable("the computer stood still"), "journal": translatable("the journal's disk stood still")}


def said_of(evidence: Evidence, row: Row) -> tuple[Text, ...]:
    """Return the texts of a notice about this evidence. For a sensor's trouble: what is wrong, and what mends it."""
    if evidence.fact is F.STOOD_STILL:
        return (Text(STOOD[str(evidence.figures["what"])]),)
    if evidence.fact is not F.SENSOR_TROUBLE:
        return (Text(evidence.fact.text if row.when is None else row.when.of(evidence.fact)),)
    sensor, what = (str(evidence.figures[name]) for name in ("sensor", "what"))
    trouble = Trouble[what.upper()]
    return Text("{sensor}: {what}", {"sensor": sensor_text(sensor), "what": Text(trouble.text)}), Text(trouble.mend)


def standstill(still: Standstill, since: str, until: str) -> Iterator[Evidence]:
    """Yield the facts of a standstill: one for a notice if it was long or the machine slept; and if the machine slept,
    a fault of the link (N8), because observations are missing. `since` and `until`: its beginning and end, as text."""
    lasted_us = still.to_us - still.t_us + still.slept_us
    if lasted_us >= NOTICED_US or still.slept_us:
        seconds = round(lasted_us / 1e6, 1)
        yield Evidence(F.STOOD_STILL, still.t_us, {"what": still.what, "seconds": seconds, "from": since, "to": until})
    if still.slept_us:
        yield Evidence(F.SENSOR_FAULT, still.t_us, {"sensor": "link"})


def _sensor_fault(evidence: Evidence, known: Known) -> Fact:
    """Choose the fact of a sensor's fault. If the running coup can be proven without the sensor, the coup goes on."""
    is_running = known.table_state.state in RUNNING
    spared = is_running and known.observer.can_spare(str(evidence.figures["sensor"]))
    return F.SENSOR_SPARED if spared else evidence.fact


GUARDS: dict[Fact, EvidenceGuard] = {F.SENSOR_FAULT: _sensor_fault}

ROWS = (
    breakdown(F.SENSOR_FAULT, RUNNING, "what observes the mechanism failed"),
    ignore(F.SENSOR_FAULT, S.AWAITING_CHEF, "N8", "the number awaits the chef; play is suspended after his word"),
    on(F.SENSOR_FAULT, IDLE, S.SUSPENDED, "N8", "nothing is decided without the sensors"),
    ignore(F.SENSOR_FAULT, ELSEWHERE, "", 'play is suspended already; "resume" waits for the sensor'),
    ignore(F.SENSOR_SPARED, ELSEWHERE, "N8", "the other sensors prove the coup; play is suspended after its verdict"),
    notice(F.SENSOR_TROUBLE, ELSEWHERE, "sensor_trouble", "N8", "the technician must know what is wrong"),
    notice(
        F.LEFT_OUT_WORKS,
        ELSEWHERE,
        "sensor_works_again",
        "A6",
        'the sensor stays left out until the next "resume" or "open": only a person can end this',
    ),
    notice(
        F.DOOR_OPENED,
        ELSEWHERE,
        "door_opened",
        "7",
        "the person who answers for the wheel must know; play goes on, and what the sensors prove counts",
    ),
    notice(F.DOOR_CLOSED, ELSEWHERE, "door_closed", "7", "the person who answers for the wheel must know"),
    breakdown(F.RESTARTED, RUNNING, "the restart hid a part of the coup"),
    ignore(F.RESTARTED, S.AWAITING_CHEF, "N8", "the number still awaits the chef"),
    ignore(F.RESTARTED, ELSEWHERE, "", "no coup was running: the table stays in its state"),
    notice(
        F.STOOD_STILL,
        ELSEWHERE,
        "standstill",
        "7",
        "what the sensors saw counts at its own time, and is published late; what people said meanwhile counts from "
        'the end of the standstill, "{void}" from its beginning, unless the sender gives the time',
    ),
)
