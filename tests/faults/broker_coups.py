"""Any number of coups for tests of the message path: a simulated wheel and the real table, step by step."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain

import msgspec

from hw_sim.demo import LAYOUT
from hw_sim.evening import repeatable
from hw_sim.live_table import QUICK_PAUSE_FACTOR, LiveTable, draw_scenarios
from wheeld.core.messages.chain import GENESIS, close_with_hash
from wheeld.core.observations import Observation
from wheeld.core.setting import TableSetting
from wheeld.core.step import Message, Step
from wheeld.core.table import Table

SITE, TABLE = "campione", "campione-03"
ROOT = f"wheel/v1/{SITE}/{TABLE}"
LAST_NUMBER = 17
STARTED_UTC_US = 1_795_197_600_000_000
SETTING = TableSetting(
    site=SITE,
    table=TABLE,
    house=LAYOUT.house,
    game=LAYOUT.game,
    wheel=LAYOUT.wheel,
    rotor_ticks=LAYOUT.rotor_ticks,
    beams_deg=LAYOUT.beams_deg,
    readers_deg=LAYOUT.readers_deg,
    min_laps=3,
    rotor_direction=LAYOUT.rotor_direction,
    last_number=LAST_NUMBER,
)


def steps(seed: str) -> Iterator[Step]:
    """The steps of one table from its start on, without the empty ones."""
    live = LiveTable(LAYOUT, repeatable(f"coups {seed}"), LAST_NUMBER)
    live.table.pause_factor = QUICK_PAUSE_FACTOR
    table, opening = Table.start(SETTING, boot_id="b" * 32, started_utc_us=STARTED_UTC_US)
    yield opening
    rng = random.Random(f"plays {seed}")
    for events in chain([live.command("open")], map(live.play, draw_scenarios(LAYOUT, rng))):
        for event in events:
            step = table.apply(msgspec.json.decode(msgspec.json.encode(event), type=Observation))
            if step:
                yield step


def coups(seed: str, count: int) -> Iterator[Step]:
    """The steps up to the `count`-th verdict."""
    verdicts = 0
    for step in steps(seed):
        yield step
        verdicts += sum(message.topic in ("result", "void") for message in step.messages)
        if verdicts >= count:
            return


class RepeatedCoups:
    """Many coups, made quickly: those of a short pattern again and again, with new numbers and new hashes."""

    def __init__(self, seed: str, pattern: int) -> None:
        self._pattern = [message for step in coups(seed, pattern) for message in step.messages]
        self._pattern_coups = pattern
        self._seq = 0
        self._prev = GENESIS

    def steps(self, count: int) -> Iterator[Step]:
        """At least `count` coups, the pattern repeated; each step holds one message."""
        for message in self._pattern * -(-count // self._pattern_coups):
            yield Step(messages=(self._renumbered(message),))

    def _renumbered(self, message: Message) -> Message:
        if message.seq is None:
            return message
        self._seq += 1
        body = msgspec.json.decode(message.payload)
        del body["hash"]
        payload, self._prev = close_with_hash(msgspec.json.encode(body | {"seq": self._seq, "prev": self._prev}))
        return Message(message.t_us, message.topic, payload, self._seq)
