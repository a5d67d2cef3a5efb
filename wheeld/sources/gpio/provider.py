"""Which package provides the module `RPi.GPIO`: two do, under one name, and on each machine one of them works.

The original, `RPi.GPIO`, works up to kernel 6.5, and not on a Pi 5. `rpi-lgpio` works on every Pi; from kernel 6.6 on,
and on a Pi 5, there is nothing else. The one that is installed is taken, if it works here. When the configuration says
which one is meant, the other is never taken instead.
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

from wheeld.core.catalogue import Text
from wheeld.ports import PinsError
from wheeld.text_error import TextError

Provider: TypeAlias = Literal["rpi", "rpi-lgpio"]
"""Named like the extras of this package that install them."""

PACKAGES: dict[Provider, str] = {"rpi": "RPi.GPIO", "rpi-lgpio": "rpi-lgpio"}
LGPIO_COMPILED_FOR = (3, 12)
"""The last Python for which the index has a compiled lgpio; for a later one pip builds it, with PYPI=1 without Debian's
liblgpio, which Debian 13 does not have."""
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
    def runs_original(self) -> bool:
        """Whether the original works on it; rpi-lgpio does everywhere."""
        return self.kernel < KERNEL_WITHOUT_SYSFS and not self.is_pi_5

    @property
    def is_pi_5(self) -> bool:
        """Or a later one."""
        return self.revision is not None and self.revision >> 4 & 0xFF >= PI_5

    @property
    def told(self) -> Text:
        """In words."""
        kernel = {"kernel": f"{self.kernel[0]}.{self.kernel[1]}"}
        if self.revision is None:
            return Text("kernel {kernel}, not on a Raspberry Pi", kernel)
        if self.is_pi_5:
            return Text("kernel {kernel} on a Raspberry Pi 5 or later", kernel)
        return Text("kernel {kernel} on a Raspberry Pi before the 5", kernel)


class ProviderError(TextError, PinsError):
    """No provider can be used as configured; says why, and what to do."""


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
    """Which of the two packages are installed, in the first directory of Python's path that has one: the module is
    taken from there. What Debian has beside the one in our own package is not used."""
    from importlib import metadata  # noqa: PLC0415  a wheel without pins needs none of its 2 MB

    for directory in sys.path:
        names = {each.metadata["Name"] for each in metadata.distributions(path=[directory])}
        if there := {provider for provider in get_args(Provider) if PACKAGES[provider] in names}:
            return there
    return set()


def choose(wanted: Provider | None, there: set[Provider], machine: Machine) -> Provider:
    """The provider that is wanted, None: the one that is there; raises ProviderError when it cannot be used."""
    meant: Provider = next(iter(there), "rpi-lgpio") if wanted is None else wanted
    if len(there) > 1:
        why = Text("RPi.GPIO and rpi-lgpio are both installed and own the same module")
    elif meant == "rpi" and not machine.runs_original:
        why = Text("the original RPi.GPIO does not work with {machine}", {"machine": machine.told})
    elif meant not in there:
        why = Text("{package} is not installed", {"package": PACKAGES[meant]})
    else:
        return meant
    better: Provider = "rpi" if wanted == "rpi" and machine.runs_original and not there else "rpi-lgpio"
    steps: tuple[Text, ...] = ()
    if wanted not in (None, better):
        steps += (Text("take `provider` out of [gpio]"),)
    if there != {better}:
        command = {"command": _command(better, there)}
        if sys.prefix != sys.base_prefix:
            steps += (Text("run `{command}`", command),)
        else:
            steps += (
                Text("run `{command}` (Raspberry Pi OS has it; for another, firmware_protocol/gpio.md)", command),
            )
    raise ProviderError(Text("{first}: {second}", {"first": why, "second": steps}))


def _command(provider: Provider, there: set[Provider]) -> str:
    """After it `provider` is installed, and the other is not."""
    if sys.prefix == sys.base_prefix:
        return f"apt install python3-{PACKAGES[provider].lower()}"  # which removes the other
    pip = f"{sys.prefix}/bin/pip"
    command = f"{pip} install 'wheeld[{provider}]'"
    if provider == "rpi":
        command = f"apt install gcc python3-dev && {command}"
    elif sys.version_info[:2] > LGPIO_COMPILED_FOR:
        command = f"apt install gcc python3-dev swig && PYPI=1 {command}"
    # Uninstalling one takes files of the other with it.
    return f"{pip} uninstall -y RPi.GPIO rpi-lgpio && {command}" if there else command
