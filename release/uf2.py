"""python uf2.py BIN UF2: make the file that people copy to a Pico from the bytes of a program.

The bytes begin at the start of the flash. The first 252 are the second stage of the boot. The chip runs it only if its
CRC follows it, so this program puts the CRC there.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

BOOT2_BYTES = 252
FLASH = 0x10000000
BLOCK_BYTES = 256
RP2040_FAMILY = 0xE48BFF56


def crc(data: bytes) -> int:
    """Return the CRC-32 that the chip's ROM computes: highest bit first, and no inversion at the end."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1) ^ (0x04C11DB7 if value >> 31 else 0)
            value &= 0xFFFFFFFF
    return value


def uf2(program: bytes) -> bytes:
    """Return the UF2 file of a program."""
    image = program[:BOOT2_BYTES] + struct.pack("<I", crc(program[:BOOT2_BYTES])) + program[BOOT2_BYTES + 4 :]
    parts = [image[at : at + BLOCK_BYTES].ljust(BLOCK_BYTES, b"\0") for at in range(0, len(image), BLOCK_BYTES)]
    blocks = []
    for number, part in enumerate(parts):
        place = FLASH + number * BLOCK_BYTES, BLOCK_BYTES, number, len(parts), RP2040_FAMILY
        head = struct.pack("<8I", 0x0A324655, 0x9E5D5157, 0x2000, *place)
        blocks.append(head + part.ljust(476, b"\0") + struct.pack("<I", 0x0AB16F30))
    return b"".join(blocks)


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(uf2(Path(sys.argv[1]).read_bytes()))
