"""Messages of one wheel, for tests of its pages. Every person in them is called Rossi."""

from __future__ import annotations

import json
from typing import Any

from wheeld.page.wheel import WheelView

BOOT = "b1"
COMMON = {
    "language": "en", "site": "campione", "table": "campione-03", "house": "campione", "game": "roulette",
    "boot_id": BOOT, "coup": 1, "coup_id": "c", "at": "2026-01-01T20:00:00.000000Z", "t_us": 1,
}  # fmt: skip
WHOSE = {"by": "Rossi", "user": "chef-rossi", "reason": "Rossi says so"}
FEED = {"seq": 1, "without": [], "prev": "0" * 64, "hash": "1" * 64}
AVAILABILITY = {"schema": "availability/1", "state": "online", "version": "0.1.0", "boot_id": BOOT}
HEALTH = {
    "schema": "health/1", "at": "2026-01-01T20:00:00.000000Z", "boot_id": BOOT, "uptime_s": 3600.0,
    "state": "faites_vos_jeux", "program": "a" * 64, "sensors": {"beam/0": True, "rotor": False},
    "troubles": {"rotor": ["chatters"], "link": ["line_damaged", "clock_drifts"]},
    "self_test": {"passed": True, "at": "2026-01-01T19:00:00.000000Z", "silent": [], "failing": []},
    "clock": {"error_us": 850, "drift_ppm": -2.5, "synchronised": True}, "outbox_depth": 3,
    "counters": {"host": {"standstills": 1, "slow_stores": 0}, "mqtt": {"connections": 2}},
    "temperatures_c": {"cpu-thermal": 51.5},
}  # fmt: skip
TABLE = {
    **COMMON, **FEED, **WHOSE, "schema": "table/1", "state": "faites_vos_jeux", "bets": "open",
    "since": "2026-01-01T20:00:00.000000Z", "last_number": 4, "last_label": "4", "last_coup": None, "bouler": "Rossi",
    "waiting_for": "the launch", "waiting_codes": ["launch"], "failing": [], "without": ["reader/1"],
}  # fmt: skip
RESULT = {
    **COMMON, **FEED, "schema": "result/1", "number": 4, "label": "4", "pocket_index": 1, "announcement": "Quatre",
    "colour": None,
    "parity": None, "half": None, "dozen": None, "column": None, "sectors": [], "finals_plein": [], "finals_cheval": [],
    "neighbours": [1, 2, 3, 4], "laps": None, "laps_needed": 3, "ball_direction": None, "rotor_direction": None,
    "rotor_rpm": None, "launched_at": "", "bets_closed_at": "", "left_track_at": None, "number_at": "", "late_s": None,
    "sightings": [], "unproven": ["R2"], "confirmed_by": "Rossi", "confirmed_user": "chef-rossi",
    "confirmed_reason": "Rossi saw it", "margin": None, "margin_of": None,
}  # fmt: skip
VOID = {
    **COMMON, **FEED, **WHOSE, "schema": "void/1", "cause": "chef", "rule": "N7", "case": None, "article": None,
    "words": "rien va", "why": "", "laps_needed": 3, "evidence_at": "", "evidence": {}, "margin": None,
    "margin_of": None,
}  # fmt: skip
RULING = {
    **COMMON, **FEED, **WHOSE, "schema": "ruling/1", "about": 1, "ruled_as": "stands", "number": None, "label": None,
}  # fmt: skip
NOTICE = {
    **COMMON,
    **WHOSE,
    "schema": "notice/1",
    "notice": "bouler",
    "text": "Rossi spins",
    "figures": {"by": "Rossi"},
}


def take(
    wheel: WheelView, message: dict[str, Any], *, retained: bool = False, now_s: float = 0.0, **members: Any
) -> bool:
    """Let the wheel take a message with other members; the topic is that of its schema."""
    body = {**message, **members}
    leaf = str(body["schema"]).partition("/")[0]
    return wheel.take(leaf, json.dumps(body).encode(), retained=retained, now_s=now_s)


def seen(now_s: float = 0.0) -> WheelView:
    """A wheel that is online, and of which a report of health and the table's state have come."""
    wheel = WheelView()
    wheel.is_reached = True
    for message in (AVAILABILITY, HEALTH, TABLE):
        assert take(wheel, message, retained=True, now_s=now_s)
    return wheel
