"""The firmware's core, compiled once."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.firmware.harness import CORE, HERE, WARNINGS, compiled, core
from tests.firmware.ports import MEGA2560

CHIP = ("-mcpu=cortex-m0plus", "-mthumb", "-Os", "-ffreestanding", "-fno-tree-loop-distribute-patterns", "-nostdlib")
RP2040 = CORE / "rp2040"
AVR = CORE / "avr"
AVR_CHIP = (f"-mmcu={MEGA2560}", "-DF_CPU=16000000UL", "-Os", "-include", AVR / "memory.h", f"-I{CORE}", f"-I{AVR}")


@pytest.fixture(scope="session")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole core."""
    return compiled(
        tmp_path_factory.mktemp("firmware") / "harness", HERE / "harness.c", *core("codec", "board", "sensors")
    )


@pytest.fixture(scope="session")
def posix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program on a pseudo-terminal, with the ring of a small board."""
    sources = CORE / "posix" / "main.c", *core("codec", "board", "sensors")
    return compiled(tmp_path_factory.mktemp("posix") / "board", *sources)


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The bytes of the RP2040's programs from the start of the flash: the one that speaks by UART, and that by USB."""
    compiler = shutil.which("arm-none-eabi-gcc") or pytest.skip("apt-get install gcc-arm-none-eabi")
    made = {}
    for port, line in {"rp2040": "uart", "rp2040 by USB": "usb"}.items():
        elf = tmp_path_factory.mktemp("rp2040") / f"{line}.elf"
        sources = *(RP2040 / f"{name}.c" for name in ("main", line, "boot2")), *core("codec", "board", "sensors")
        link = f"-I{CORE}", f"-I{RP2040}", "-T", str(RP2040 / "rp2040.ld"), *map(str, sources), "-lgcc", "-o", str(elf)
        subprocess.run([compiler, *WARNINGS, *CHIP, *link], check=True)
        made[port] = elf.with_suffix(".bin")
        subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", elf, made[port]], check=True)
    return made


@pytest.fixture
def image(images: dict[str, Path]) -> Path:
    """The one that speaks by UART."""
    return images["rp2040"]


@pytest.fixture(scope="session")
def mega2560(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of the ATmega2560. The simulator of the chip, `simulator`, is in the same directory."""
    compiler = shutil.which("avr-gcc") or pytest.skip("apt-get install gcc-avr avr-libc")
    if not Path("/usr/include/simavr").exists():
        pytest.skip("apt-get install libsimavr-dev")
    elf = tmp_path_factory.mktemp("avr") / "board.elf"
    sources = AVR / "main.c", *core("codec", "board", "sensors")
    subprocess.run([compiler, *WARNINGS, *AVR_CHIP, *sources, "-o", elf], check=True)
    host = ("cc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror")
    subprocess.run([*host, HERE / "avr.c", "-o", elf.with_name("simulator"), "-lsimavr"], check=True)
    return elf


@pytest.fixture
def programs(posix: Path, images: dict[str, Path], mega2560: Path) -> dict[str, Path]:
    """The program of each port."""
    return {"posix": posix, **images, "mega2560": mega2560}
