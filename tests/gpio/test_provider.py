"""Which package is right for which machine, the error when it is not there, and the two packages of the module."""

from __future__ import annotations

import os
import sys
import tomllib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gpio.bench import ON_LINES
from wheeld.core.catalogue import Catalogue
from wheeld.ports import Edge, PinsError
from wheeld.sources.gpio import provider
from wheeld.sources.gpio.provider import Machine, choose, installed, this_machine
from wheeld.sources.gpio.rpi import CALLBACK_ERROR_NS, KERNEL_ERROR_NS, RpiPins, open_pins

PI_4, PI_5 = 0xC03114, 0xC04170
OLD, NEW = (6, 1), (6, 6)


@pytest.mark.parametrize(
    ("machine", "runs_original", "told"),
    [
        (Machine(OLD, PI_4), True, "kernel 6.1 on a Raspberry Pi older than the 5"),
        (Machine((6, 5), None), True, "kernel 6.5, not on a Raspberry Pi"),
        (Machine(NEW, PI_4), False, "kernel 6.6 on a Raspberry Pi older than the 5"),
        (Machine(OLD, PI_5), False, "kernel 6.1 on a Raspberry Pi 5 or later"),
        (Machine((7, 0), PI_4), False, "kernel 7.0 on a Raspberry Pi older than the 5"),
    ],
)
def test_kernel_and_model_decide_whether_the_original_works(machine: Machine, runs_original: bool, told: str) -> None:
    assert (machine.runs_original, Catalogue("en").say_text(machine.told)) == (runs_original, told)


@pytest.mark.parametrize(
    ("wanted", "there", "machine", "chosen"),
    [
        (None, {"rpi-lgpio"}, Machine(NEW, PI_5), "rpi-lgpio"),
        (None, {"rpi-lgpio"}, Machine(OLD, PI_4), "rpi-lgpio"),
        (None, {"rpi"}, Machine(OLD, PI_4), "rpi"),
        ("rpi", {"rpi"}, Machine(OLD, PI_4), "rpi"),
        ("rpi-lgpio", {"rpi-lgpio"}, Machine(OLD, PI_4), "rpi-lgpio"),
    ],
)
def test_the_installed_one_is_taken_if_it_works_here(
    wanted: Any, there: set[Any], machine: Machine, chosen: str
) -> None:
    assert choose(wanted, there, machine) == chosen


REFUSED = [
    (None, set(), NEW, "rpi-lgpio is not installed: run `{lgpio}`"),
    (None, set(), OLD, "rpi-lgpio is not installed: run `{lgpio}`"),
    (None, {"rpi"}, NEW, "the original RPi.GPIO does not work with {pi}: run `{lgpio}`"),
    (None, {"rpi", "rpi-lgpio"}, OLD, "{both}: run `{one}`"),
    ("rpi-lgpio", {"rpi", "rpi-lgpio"}, NEW, "{both}: run `{one}`"),
    ("rpi-lgpio", set(), NEW, "rpi-lgpio is not installed: run `{lgpio}`"),
    ("rpi-lgpio", {"rpi"}, OLD, "rpi-lgpio is not installed: run `{lgpio}`"),
    ("rpi", set(), OLD, "RPi.GPIO is not installed: run `{original}`"),
    ("rpi", set(), NEW, "the original RPi.GPIO does not work with {pi}: {out} and run `{lgpio}`"),
    ("rpi", {"rpi-lgpio"}, OLD, "RPi.GPIO is not installed: {out}"),
    ("rpi", {"rpi-lgpio"}, NEW, "the original RPi.GPIO does not work with {pi}: {out}"),
    ("rpi", {"rpi"}, NEW, "the original RPi.GPIO does not work with {pi}: {out} and run `{lgpio}`"),
    ("rpi", {"rpi", "rpi-lgpio"}, OLD, "{both}: {out} and run `{one}`"),
]
"""What is wanted, what is there, the kernel of a Pi 4, the error."""
APT = ("install python3-rpi-lgpio", "install python3-rpi.gpio", "install python3-rpi-lgpio")
LOCKED = "/opt/wheeld/bin/pip install --no-build-isolation --require-hashes -r release/locks/wheel-{}.txt"
IN_VENV = {
    (3, 11): LOCKED.format("rpi-lgpio"),
    (3, 13): f"apt install gcc python3-dev swig && PYPI=1 {LOCKED.format('rpi-lgpio')}",
}


@pytest.mark.parametrize("python", [None, *IN_VENV], ids=["Debian's", "venv of 3.11", "venv of 3.13"])
@pytest.mark.parametrize(("wanted", "there", "kernel", "expected"), REFUSED)
def test_an_error_says_what_to_do(
    wanted: Any,
    there: set[Any],
    kernel: tuple[int, int],
    expected: str,
    python: tuple[int, int] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    if python is None:
        monkeypatch.setattr(sys, "prefix", "/usr")
        also = "` (Raspberry Pi OS has this package; for another system: firmware_protocol/gpio.md)"
        expected = expected.replace("}`", "}" + also)
        lgpio, original, one = (f"apt {do}" for do in APT)
    else:
        monkeypatch.setattr(sys, "prefix", "/opt/wheeld")
        monkeypatch.setattr(sys, "version_info", (*python, 5))
        uninstall = "/opt/wheeld/bin/pip uninstall -y RPi.GPIO rpi-lgpio && " if there else ""
        lgpio = one = uninstall + IN_VENV[python]
        original = f"apt install gcc python3-dev && {LOCKED.format('rpi')}"
        expected = expected.replace("run `", "in the directory of wheeld's source archive run `")
    said = expected.format(
        lgpio=lgpio,
        original=original,
        one=one,
        both="RPi.GPIO and rpi-lgpio are both installed and own the same module",
        out="remove `provider` from [gpio]",
        pi=f"kernel {kernel[0]}.{kernel[1]} on a Raspberry Pi older than the 5",
    )
    with pytest.raises(PinsError) as wrong:
        choose(wanted, there, Machine(kernel, PI_4))
    assert str(wrong.value) == said


def test_the_page_has_the_same_commands() -> None:
    page = (Path(__file__).parents[2] / "firmware_protocol" / "gpio.md").read_text()
    commands = (*IN_VENV.values(), f"apt {APT[0]}")
    assert [command for command in commands if f"`{command}`" not in page] == []


def test_the_extras_bring_one_package_each_and_no_other_brings_both() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]

    def packages(requirements: list[str]) -> set[str]:
        names = {requirement.split(">")[0].split("[")[0].lower() for requirement in requirements}
        for requirement in requirements:
            if requirement.startswith("wheeld["):
                for extra in requirement.removeprefix("wheeld[").removesuffix("]").split(","):
                    names |= packages(extras[extra])
        return names

    owners = {"rpi.gpio", "rpi-lgpio"}
    assert packages(extras["rpi"]) & owners == {"rpi.gpio"}
    assert packages(extras["rpi-lgpio"]) & owners == {"rpi-lgpio"}
    others = [name for name in extras if name not in ("rpi", "rpi-lgpio")]
    assert all(not packages(extras[name]) & owners for name in others)
    assert not packages(project["dependencies"]) & owners


def test_this_machine_is_read_from_its_kernel_and_its_device_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RPI_LGPIO_REVISION", raising=False)
    monkeypatch.setattr(provider, "REVISION", tmp_path / "revision")
    major, minor = os.uname().release.split(".")[:2]
    assert this_machine() == Machine((int(major), int(minor.split("-")[0])), None)
    (tmp_path / "revision").write_bytes(PI_5.to_bytes(4, "big"))
    assert this_machine().is_pi_5
    monkeypatch.setenv("RPI_LGPIO_REVISION", f"{PI_4:x}")
    assert this_machine().revision == PI_4


def test_installed_packages_are_found_where_the_module_is_taken_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, of_debian = tmp_path / "ours", tmp_path / "debian"
    monkeypatch.setattr(sys, "path", [str(tmp_path / "nothing"), str(ours), str(of_debian)])
    assert installed() == set()
    install(of_debian, "RPi.GPIO")
    assert installed() == {"rpi"}
    install(ours, "rpi-lgpio")
    assert installed() == {"rpi-lgpio"}, "Debian's own is not used"
    install(ours, "RPi.GPIO")
    assert installed() == {"rpi", "rpi-lgpio"}


def install(directory: Path, name: str) -> None:
    info = directory / f"{name.replace('-', '_')}-0.6.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Name: {name}\n")


class Gpio(types.ModuleType):
    """A stand-in for the module, as either package has it."""

    BCM, IN, OUT, BOTH, PUD_UP, PUD_DOWN, PUD_OFF = 11, 1, 0, 33, 22, 21, 20

    def __init__(self, *, chip: int | None = None) -> None:
        super().__init__("RPi.GPIO")
        self._chip = chip
        self.levels: dict[int, int] = {}
        self.callbacks: dict[int, Any] = {}
        self.pulls: dict[int, int] = {}
        self.out: list[tuple[int, bool]] = []
        self.cleaned = 0

    def setwarnings(self, _on: bool) -> None: ...

    def setmode(self, mode: int) -> None:
        assert mode == self.BCM

    def setup(self, pin: int, direction: int, pull_up_down: int = 0, initial: bool = False) -> None:
        if pin == 99:
            raise ValueError("The channel sent is invalid on a Raspberry Pi")
        if direction == self.IN:
            self.pulls[pin] = pull_up_down

    def add_event_detect(self, pin: int, edge: int, callback: Any = None) -> None:
        assert edge == self.BOTH
        self.callbacks[pin] = callback

    def input(self, pin: int) -> int:
        return self.levels.get(pin, 1)

    def output(self, pin: int, level: bool) -> None:
        self.out.append((pin, level))

    def cleanup(self) -> None:
        self.cleaned += 1


class Lgpio(types.ModuleType):
    """A stand-in for the library below rpi-lgpio: its callbacks get the kernel's stamp."""

    BOTH_EDGES = 3

    def __init__(self) -> None:
        super().__init__("lgpio")
        self.asked: list[tuple[int, int, Any]] = []
        self.cancelled = 0

    def callback(self, chip: int, pin: int, edges: int, func: Any) -> Lgpio:
        assert edges == self.BOTH_EDGES
        self.asked.append((chip, pin, func))
        return self

    def cancel(self) -> None:
        self.cancelled += 1


def test_the_original_dates_when_the_callback_runs_and_reads_the_level_then() -> None:
    gpio = Gpio()
    pins = RpiPins(gpio, monotonic_ns=iter([7_000, 9_000]).__next__)
    assert pins.listen(4, "up")
    assert gpio.pulls == {4: Gpio.PUD_UP}
    gpio.levels[4] = 0
    assert not pins.level(4)
    gpio.callbacks[4](4)
    gpio.levels[4] = 1
    gpio.callbacks[4](4)
    assert pins.take().edges == [Edge(4, False, 7_000), Edge(4, True, 9_000)]
    assert pins.take().edges == []
    assert pins.error_ns == CALLBACK_ERROR_NS


def test_under_rpi_lgpio_the_kernel_dates_and_a_stamp_of_another_clock_is_a_lost_edge() -> None:
    gpio, lgpio = Gpio(chip=2), Lgpio()
    now_ns = 10**12
    pins = RpiPins(gpio, lgpio, monotonic_ns=lambda: now_ns)
    assert pins.listen(5, "down")
    assert gpio.callbacks[5] is None
    ((chip, pin, alerted),) = lgpio.asked
    assert (chip, pin, pins.error_ns) == (2, 5, KERNEL_ERROR_NS)
    alerted(2, 5, 0, now_ns - 800_000)
    assert pins.take().edges == [Edge(5, False, now_ns - 800_000)]
    alerted(2, 5, 1, 1_800_000_000 * 10**9)
    alerted(2, 5, 0, now_ns)
    assert (pins.take().lost, pins.take().lost) == (2, 0)
    pins.close()
    pins.close()
    assert (lgpio.cancelled, gpio.cleaned) == (1, 1)


def test_what_the_module_refuses_is_an_error_with_its_pin() -> None:
    pins = RpiPins(Gpio())
    with pytest.raises(PinsError, match="pin 99 cannot be used: The channel sent is invalid"):
        pins.listen(99, "off")
    with pytest.raises(PinsError, match="pin 99"):
        pins.drive(99, level=False)
    with pytest.raises(PinsError, match="does not show the chip"):
        RpiPins(Gpio(), Lgpio())


def test_outputs_are_claimed_once_and_written_each_time() -> None:
    gpio = Gpio()
    pins = RpiPins(gpio)
    pins.drive(6, level=True)
    pins.drive(6, level=False)
    assert gpio.out == [(6, True), (6, False)]


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A machine on which either package may be there."""
    if ON_LINES:
        pytest.skip("the real ones are there")
    monkeypatch.delenv("RPI_LGPIO_REVISION", raising=False)
    monkeypatch.delenv("RPI_LGPIO_CHIP", raising=False)
    yield monkeypatch
    for name in ("RPI_LGPIO_REVISION", "RPI_LGPIO_CHIP"):
        os.environ.pop(name, None)


def test_what_is_configured_is_opened_and_nothing_else(modules: pytest.MonkeyPatch) -> None:
    modules.setattr(provider, "this_machine", lambda: Machine(OLD, PI_4))
    modules.setattr(provider, "installed", lambda: {"rpi-lgpio"})
    modules.setitem(sys.modules, "RPi.GPIO", Gpio(chip=0))
    modules.setitem(sys.modules, "lgpio", Lgpio())
    before = os.getcwd()
    assert open_pins("rpi-lgpio", 3).error_ns == KERNEL_ERROR_NS
    assert (os.environ["RPI_LGPIO_CHIP"], os.environ["RPI_LGPIO_REVISION"]) == ("3", "c03114")
    assert os.getcwd() == before
    with pytest.raises(PinsError, match=r"RPi\.GPIO is not installed"):
        open_pins("rpi", None)
    modules.setattr(provider, "installed", lambda: {"rpi"})
    assert open_pins("rpi", None).error_ns == CALLBACK_ERROR_NS
    assert open_pins(None, None).error_ns == CALLBACK_ERROR_NS
    modules.setattr(provider, "installed", lambda: {"rpi-lgpio"})
    assert open_pins(None, None).error_ns == KERNEL_ERROR_NS


def test_a_module_that_does_not_load_is_an_error(modules: pytest.MonkeyPatch) -> None:
    modules.setattr(provider, "this_machine", lambda: Machine(OLD, None))
    modules.setattr(provider, "installed", lambda: {"rpi-lgpio"})
    modules.setitem(sys.modules, "RPi.GPIO", None)
    with pytest.raises(PinsError, match=r"RPi\.GPIO cannot be used here: "):
        open_pins("rpi-lgpio", None)
