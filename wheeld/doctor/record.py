"""Stores the findings of the doctor in the wheel's journal, as an event record.

The daemon does not run while the doctor runs. So the doctor writes with the journal's own writer, which verifies, binds
and signs as it does for the daemon. Only the daemon begins a new journal. If a technician began it with his own rights,
the daemon might not be allowed to open it.
"""

from __future__ import annotations

import fcntl
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from wheeld.broker.payloads import NAME_MAX
from wheeld.config.sections import Config
from wheeld.core.setting import BEAMS_MAX, READERS_MAX
from wheeld.doctor.findings import Finding
from wheeld.doctor.geometry import Geometry, Learned, ball_rev_s
from wheeld.doctor.signals import Signals
from wheeld.journal.opening import Owner, open_to_write
from wheeld.journal.seal import FileSigner
from wheeld.ports import EventRecord
from wheeld.service.host_clock import SystemClock

FINDINGS_MAX, WHAT_MAX = 200, 200
"""The most findings that are stored, and the most characters of each. The findings of a configured wheel always fit. A
board that reports nonsense must not fill the journal, because event records are never removed."""
WORST_FIRST = ("wrong", "look", "ok")


def found_record(
    found: Sequence[Finding], learned: Geometry, signals: Signals, *, by: str, configuration: str, rewritten: bool
) -> EventRecord:
    """Return the record of the doctor's work: the person, the duration, the findings and the learned geometry.
    `configuration`: the digest of the configuration's file at the end; the next power-up stores it, too. `rewritten`:
    whether learned angles were written into the file."""
    listed = sorted(found, key=lambda each: WORST_FIRST.index(each.level))
    details: dict[str, object] = {
        "seconds": round(signals.seconds, 1),
        "configuration": configuration,
        "rewritten": rewritten,
        "rotor_ticks": signals.ticks,
        "rotor_rpm": None if signals.rotor_rpm is None else [round(rpm, 1) for rpm in signals.rotor_rpm],
        "ball_rev_s": ball_rev_s(learned.spins),
        "spins": len(learned.spins),
        "number": learned.number,
        "beams": [_angle(each) for each in learned.beams[:BEAMS_MAX]],
        "readers": [_angle(each) for each in learned.readers[:READERS_MAX]],
        "findings": [
            {"level": each.level, "code": each.code, "what": each.what[:WHAT_MAX]} for each in listed[:FINDINGS_MAX]
        ],
        "findings_left_out": max(0, len(listed) - FINDINGS_MAX),
    }
    return EventRecord(event="doctor", by=by[:NAME_MAX], details=details)


def _angle(learned: Learned) -> dict[str, object]:
    return {
        "index": learned.index,
        "deg": learned.angle_deg,
        "spread_deg": learned.spread_deg,
        "count": learned.count,
    }


def is_open(journal: Path) -> bool:
    """Return whether a daemon has the journal open. If so, the daemon also uses the wheel's sensors. Raises OSError."""
    try:
        with journal.with_name(f"{journal.name}.lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        pass
    except BlockingIOError:
        return True
    return False


def store(config: Config, happened: EventRecord) -> None:
    """Append the record to the existing journal of the wheel of `config`.

    Raises KeyFileError, OSError, and JournalError: also if a daemon has the journal open, or if it belongs to another
    table.
    """
    key_file, utc_us = config.journal.signing_key_file, SystemClock().utc_us()
    signer = None if key_file is None else FileSigner(key_file)
    owner = Owner(config.table.site, config.table.table, test=config.table.test)
    with closing(open_to_write(config.journal.path, owner=owner, signer=signer, at_utc_us=utc_us)) as journal:
        journal.note(happened, utc_us)
