"""Which package provides the module `RPi.GPIO`: two do, under one name, and on each machine one of them works.

The original, `RPi.GPIO`, works up to kernel 6.5, and not on a Pi 5. `rpi-lgpio` works on every Pi; from kernel 6.6 on,
and on a Pi 5, there is nothing else. The configuration says which one is meant; the other is never taken instead.
"""

from __future__ import annotations

import os
import struct
from importlib import metadata
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

Provider: TypeAlias = Literal["rpi", "rpi-lgpio"]
"""Named like the extras of this package that install them."""

PACKAGES: dict[Provider, str] = {"rpi": "RPi.GPIO", "rpi-lgpio": "rpi-lgpio"}
KERNEL_WITHOUT_SYSFS = (6, 6)
"""From this kernel on the numbers of /sys/class/gpio no longer begin at 0, on which the original relies."""
PI_5 = 0x17
"""The model in a revision code from which on the pins hang on another chip."""
REVISION = Path("/sys/firmware/devicetree/base/system/linux,revision")
"""The same as below /proc/device-tree, which a service that sees only processes in /proc cannot read."""


class Machine(NamedTuple):
    """What decides which package is right; `revision` is None on anything but a Raspberry Pi."""

    kernel: tuple[int, int]
    revision: int | None

    @property
    def right(self) -> Provider:
        """The provider for it."""
        return "rpi-lgpio" if self.kernel >= KERNEL_WITHOUT_SYSFS or self.is_pi_5 else "rpi"

    @property
    def is_pi_5(self) -> bool:
        """Or a later one."""
        return self.revision is not None and self.revision >> 4 & 0xFF >= PI_5

    def __str__(self) -> str:
        """In words."""
        return f"kernel {self.kernel[0]}.{self.kernel[1]}" + (" on a Raspberry Pi 5" if self.is_pi_5 else "")


def this_machine() -> Machine:
    """The running kernel, and the Raspberry Pi's revision, where this is one or `RPI_LGPIO_REVISION` says so."""
    major, minor = os.uname().release.split(".")[:2]
    given = os.environ.get("RPI_LGPIO_REVISION")
    revision: int | None = None
    if given is not None:
        revision = int(given, 16)
    elif REVISION.is_file():
        (revision,) = struct.unpack(">I", REVISION.read_bytes())
    return Machine((int(major), int("".join(filter(str.isdigit, minor)))), revision)


def installed() -> set[Provider]:
    """Which of the two packages are installed."""
    there: set[Provider] = set()
    for provider in get_args(Provider):
        try:
            metadata.distribution(PACKAGES[provider])
        except metadata.PackageNotFoundError:
            continue
        there.add(provider)
    return there


def trouble(wanted: Provider, there: set[Provider], machine: Machine) -> str | None:
    """Why the configured provider cannot be used, and what to do; None when it can."""
    right = machine.right
    if len(there) > 1:
        wrong = PACKAGES["rpi" if right == "rpi-lgpio" else "rpi-lgpio"]
        return (
            "RPi.GPIO and rpi-lgpio are both installed and own the same module: "
            f"`pip uninstall RPi.GPIO rpi-lgpio`, then `pip install 'wheeld[{right}]'`; {machine} needs no {wrong}"
        )
    if wanted == "rpi" and right != "rpi":
        return (
            f'the original RPi.GPIO does not work with {machine}: set provider = "rpi-lgpio", '
            "`pip uninstall RPi.GPIO`, `pip install 'wheeld[rpi-lgpio]'`"
        )
    if wanted not in there:
        instead = f"; {PACKAGES[there.pop()]} is installed instead, uninstall it first" if there else ""
        return f"{PACKAGES[wanted]} is not installed: `pip install 'wheeld[{wanted}]'`{instead}"
    return None
