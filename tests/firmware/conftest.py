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
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bytes of the RP2040's program from the start of the flash."""
    compiler = shutil.which("arm-none-eabi-gcc") or pytest.skip("apt-get install gcc-arm-none-eabi")
    elf = tmp_path_factory.mktemp("rp2040") / "board.elf"
    sources = RP2040 / "main.c", RP2040 / "boot2.c", *core("codec", "board", "sensors")
    link = f"-I{CORE}", f"-I{RP2040}", "-T", str(RP2040 / "rp2040.ld"), *map(str, sources), "-lgcc", "-o", str(elf)
    subprocess.run([compiler, *WARNINGS, *CHIP, *link], check=True)
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", elf, elf.with_suffix(".bin")], check=True)
    return elf.with_suffix(".bin")


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
def programs(posix: Path, image: Path, mega2560: Path) -> dict[str, Path]:
    """The program of each port."""
    return {"posix": posix, "rp2040": image, "mega2560": mega2560}
