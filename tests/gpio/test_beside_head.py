"""A SlingShot 2 for number and rotor, our own beams for laps and direction: one wheel from two sources."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from hw_sim.pins import SimPins
from tests.config.test_config import GOOD, problems, with_line
from tests.config.test_gpio import SENSORS
from tests.gpio.test_contract import MS, pulse
from tests.gpio.test_feed import Ends, PinClock, looked
from wheeld.config.reading import parse
from wheeld.config.sections import Config
from wheeld.core.observations import BallPass, ForeignObject, HeadNumber
from wheeld.daemon import sources
from wheeld.daemon.sources import Source
from wheeld.sources.chatter import DoorSeen

WHEEL = GOOD[GOOD.index("[wheel]") : GOOD.index("[sensors]")]
HEAD = '[head]\nproduct = "slingshot-2"\nport = "/dev/ttyUSB0"\n\n'
BEAMS = '[gpio]\nprovider = "rpi-lgpio"\nbeam_pins = [5, 6, 13, 19]\nobject_pin = 26\nbutton_rien_va = 23\n\n'
COMBINED = GOOD.replace(WHEEL, "[wheel]\nbeams_deg = [0, 90, 180, 270]\n\n").replace(SENSORS, HEAD + BEAMS)
OBJECT_ONLY = '[gpio]\nprovider = "rpi-lgpio"\nobject_pin = 26\n\n'
MERCURY = GOOD.replace(WHEEL, "[wheel]\n\n").replace(SENSORS, HEAD.replace("slingshot-2", "mercury-360"))


@pytest.fixture
def pins(monkeypatch: pytest.MonkeyPatch) -> SimPins:
    made = SimPins()
    monkeypatch.setattr(sources, "open_pins", lambda *_: made)
    return made


def config_of(text: str, directory: Path) -> Config:
    return parse(text, directory=directory)


async def test_observations_of_the_head_are_in_order_of_time_among_the_passes(pins: SimPins, tmp_path: Path) -> None:
    config = config_of(COMBINED, tmp_path)
    assert config.table.check() == []
    source, ends, clock = Source(config, start_ns=pins.now_ns), Ends(), PinClock(pins)
    assert set(source.sensors) >= {"beam/0", "beam/3", "head", "head/sensors"}
    tasks = source.tasks(ends.put, ends.hand_on, turning=clock, clock=clock, state=lambda: "closed")
    assert set(tasks) == {"gpio", "head", "head_line"}
    tasks.pop("head").close()
    tasks.pop("head_line").close()
    start_ns = pins.now_ns
    for number, pin in enumerate((5, 6, 13, 19)):
        pins.play(pulse(pin, start_ns + (100 + 100 * number) * MS, 5 * MS))
    pins.play(pulse(26, start_ns + 420 * MS, 200 * MS))
    assert source._head is not None
    source._head.interleaver.second(HeadNumber(250_000, 17, 3))
    task = asyncio.create_task(tasks["gpio"])
    await looked(lambda: pins.now_ns >= start_ns + 800 * MS)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    seen = [one for batch in ends.batches for one in batch.observations]
    run = [
        one.beam if isinstance(one, BallPass) else one.number for one in seen if isinstance(one, BallPass | HeadNumber)
    ]
    assert run == [0, 1, 17, 2, 3]
    assert source.pulse_widths_us == {f"beam/{number}": (5_000, 5_000) for number in range(4)}
    assert [one.present for one in seen if isinstance(one, ForeignObject)][-2:] == [True, False]
    assert [one.t_us for one in seen] == sorted(one.t_us for one in seen)


def test_a_beam_for_foreign_objects_may_be_used_beside_a_head_that_reports_the_rest(
    pins: SimPins, tmp_path: Path
) -> None:
    source = Source(config_of(MERCURY.replace("[journal]", OBJECT_ONLY + "[journal]"), tmp_path), start_ns=pins.now_ns)
    assert set(source.counters) == {"gpio", "head"}
    assert source.door == DoorSeen()
    alone = Source(config_of(MERCURY, tmp_path), start_ns=0)
    assert (set(alone.counters), alone.sensing.is_up) == ({"head"}, True)


def test_the_switch_of_the_cabinet_s_door_may_be_used_beside_it(pins: SimPins, tmp_path: Path) -> None:
    text = MERCURY.replace("[journal]", OBJECT_ONLY.replace("object_pin = 26", "door_pin = 7") + "[journal]")
    config = config_of(text, tmp_path)
    assert config.table.object_sensor is False
    source = Source(config, start_ns=pins.now_ns)
    assert source.sensing.is_up
    assert set(source.counters) == {"gpio", "head"}


def test_pins_for_what_the_head_reports_are_refused() -> None:
    (problem,) = problems(MERCURY.replace("[journal]", BEAMS + "[journal]"))
    assert "gpio.beam_pins: cannot be used here: [head] sees this wheel already" in problem
    encoder = BEAMS.replace("object_pin", 'encoder = "slots"\nencoder_pins = [1, 2, 3]\nobject_pin')
    assert any("gpio.encoder: cannot be used here" in one for one in problems(COMBINED.replace(BEAMS, encoder)))
    no_beams = problems(COMBINED.replace("beam_pins = [5, 6, 13, 19]\n", ""))
    assert any("gpio.beam_pins: has 0 pins, but wheel.beams_deg has 4 angles" in one for one in no_beams)
    (problem,) = problems(with_line("head", "writable = false", MERCURY))
    assert "head.bare_number: is true, but the head sends this line on its port 1 only" in problem
