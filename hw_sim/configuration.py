"""The sections of a `wheeld` configuration that describe a simulated wheel."""

from __future__ import annotations

import json
from pathlib import Path

from firmware_protocol.messages import Layout as BoardLayout
from hw_sim.board import BoardSetup
from hw_sim.wheel import Layout

SILENCE_S = (0.2, 1.0)
"""The least that a configuration may have, and the default."""
OUTAGE_S = 3.5
"""Simulated seconds of silence that must be a fault: the outages of the scenarios last four or more."""


def sections(layout: Layout, *, site: str, table: str, last_number: int | None, port: Path, speed: float) -> str:
    """`[table]`, `[wheel]` and `[sensors]`, in TOML, for a board at `port` that plays at `speed` times real time."""
    values: dict[str, dict[str, object]] = {
        "table": {
            "site": site,
            "id": table,
            "house": layout.house,
            "game": layout.game,
            "last_number": last_number,
            "language": "en",  # as the rest of what the simulator shows
        },
        "wheel": {
            "rotor_ticks": layout.rotor_ticks,
            "beams_deg": list(layout.beams_deg),
            "readers_deg": list(layout.readers_deg),
            "rotor_direction": layout.rotor_direction,
        },
        "sensors": {
            "port": str(port),
            "silence_s_max": silence_s(speed),
            "max_drift_ppm": None if speed == 1 else 1_000_000,
        },
    }
    return "\n".join(_section(name, keys) for name, keys in values.items())


def silence_s(speed: float) -> float:
    """The silence that must be a fault, in real seconds: at a higher speed an outage is over sooner."""
    least, most = SILENCE_S
    return round(min(most, max(least, OUTAGE_S / speed)), 3)


def board_setup(layout: Layout) -> BoardSetup:
    """The board of that wheel."""
    return BoardSetup(
        BoardLayout(
            beams=len(layout.beams_deg),
            readers=len(layout.readers_deg),
            rotor_ticks=layout.rotor_ticks,
            object_sensor=True,
        )
    )


def _section(name: str, keys: dict[str, object]) -> str:
    # JSON's texts, numbers and lists of numbers are TOML's.
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items() if value is not None]
    return "\n".join([f"[{name}]", *lines, ""])
