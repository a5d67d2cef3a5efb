"""The firmware of the STM32F205, as it goes on the chip, in QEMU, which has its UART but not its pins."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder, encode_frame
from firmware_protocol.wire import decode_from_board, encode
from tests.firmware.harness import CORE, WARNINGS, core

PORT = CORE / "stm32"
CHIP = ("-mcpu=cortex-m3", "-mthumb", "-Os", "-ffreestanding", "-fno-tree-loop-distribute-patterns", "-nostdlib")
MACHINE = ("-M", "netduino2", "-display", "none", "-monitor", "none", "-serial", "stdio")
RAM_BYTES = 128 * 1024
HELLO_S = 0.25
"""A host asks again so often."""
LAYOUT = m.Layout(beams=4, readers=3, rotor_ticks=148, object_sensor=True, door_switch=True)


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program for the chip."""
    compiler = shutil.which("arm-none-eabi-gcc") or pytest.skip("apt-get install gcc-arm-none-eabi")
    elf = tmp_path_factory.mktemp("stm32") / "board.elf"
    sources = PORT / "main.c", *core("codec", "board", "sensors")
    link = f"-I{CORE}", f"-I{PORT}", "-T", str(PORT / "stm32.ld"), *map(str, sources), "-lgcc", "-o", str(elf)
    subprocess.run([compiler, *WARNINGS, *CHIP, *link], check=True)
    return elf


def asked(elf: Path, message: m.Hello | m.SyncRequest) -> Iterator[m.FromBoard]:
    """What the board says while it is asked again and again."""
    emulator = shutil.which("qemu-system-arm") or pytest.skip("apt-get install qemu-system-arm")
    pipe = subprocess.PIPE
    decoder = FrameDecoder()
    with subprocess.Popen([emulator, *MACHINE, "-kernel", elf], stdin=pipe, stdout=pipe, bufsize=0) as process:
        assert process.stdin
        assert process.stdout
        try:
            while process.poll() is None:
                process.stdin.write(b"\0" + encode_frame(encode(message)))
                again_s = time.monotonic() + HELLO_S
                while select.select([process.stdout], [], [], max(0.0, again_s - time.monotonic()))[0]:
                    yield from map(decode_from_board, decoder.feed(os.read(process.stdout.fileno(), 4096)))
        finally:
            process.terminate()


def test_it_answers_hello(elf: Path) -> None:
    identity = next(one for one in asked(elf, m.Hello(7)) if isinstance(one, m.Identity))
    assert (identity.token, identity.version, identity.layout) == (7, 1, LAYOUT)
    assert (identity.serial, identity.firmware) == ("STM-0001", "stm32f205 1.0.0")
    assert identity.ring_ms >= m.RING_MS_MIN


def test_it_tells_its_time(elf: Path) -> None:
    """Heartbeats go on, and a reply stands between them."""
    said = asked(elf, m.SyncRequest(81000000000))
    first = next(one for one in said if isinstance(one, m.Heartbeat))
    reply = next(one for one in said if isinstance(one, m.SyncReply))
    after = next(one for one in said if isinstance(one, m.Heartbeat) and one.board_us > reply.board_tx_us)
    assert reply.token == 81000000000
    assert first.board_us < reply.board_rx_us <= reply.board_tx_us < after.board_us
    assert first.boot_id == reply.boot_id == after.boot_id


def test_two_thirds_of_the_memory_are_spare(elf: Path) -> None:
    size = subprocess.check_output(["arm-none-eabi-size", elf], text=True).splitlines()[1].split()
    assert int(size[1]) + int(size[2]) < RAM_BYTES / 3
