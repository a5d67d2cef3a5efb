"""Chooses the package that provides the module `RPi.GPIO`. There are two such packages, and one of them does not work
everywhere.

The original, `RPi.GPIO`, works up to kernel 6.5, but not on a Pi 5. `rpi-lgpio` works on every Pi. From kernel 6.6 on,
and on a Pi 5, it is the only package that works. The installed package is used if it works on this machine. If the
configuration names one package, the other is never used instead.
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
"""The two packages, by the names of wheeld's extras that install them. Their locks: `release/locks/wheel-NAME.txt`."""

PACKAGES: dict[Provider, str] = {"rpi": "RPi.GPIO", "rpi-lgpio": "rpi-lgpio"}
LGPIO_COMPILED_FOR = (3, 12)
"""The last Python for which the index has a compiled lgpio. For a later Python, pip compiles lgpio. With PYPI=1, this
is possible without Debian's liblgpio, which Debian 13 does not have."""
KERNEL_WITHOUT_SYSFS = (6, 6)
"""From this kernel on the numbers of /sys/class/gpio no longer begin at 0. The original needs them to begin at 0."""
PI_5 = 0x17
"""The number of the Pi 5 in a revision code. From this model on, the pins are connected to another chip."""
REVISION = Path("/sys/firmware/devicetree/base/system/linux,revision")
"""The same file is in /proc/device-tree. But a service that sees only processes in /proc cannot read it there."""


class Machine(NamedTuple):
    """The facts that decide which package is right. `revision` is None if this is not a Raspberry Pi."""

    kernel: tuple[int, int]
    revision: int | None

    @property
    def runs_original(self) -> bool:
        """Whether the original works on this machine. rpi-lgpio works on all machines."""
        return self.kernel < KERNEL_WITHOUT_SYSFS and not self.is_pi_5

    @property
    def is_pi_5(self) -> bool:
        """Whether the machine is a Pi 5 or later."""
        return self.revision is not None and self.revision >> 4 & 0xFF >= PI_5

    @property
    def told(self) -> Text:
        """A description of the machine in words."""
        kernel = {"kernel": f"{self.kernel[0]}.{self.kernel[1]}"}
        if self.revision is None:
            return Text("kernel {kernel}, not on a Raspberry Pi", kernel)
        if self.is_pi_5:
            return Text("kernel {kernel} on a Raspberry Pi 5 or later", kernel)
        return Text("kernel {kernel} on a Raspberry Pi older than the 5", kernel)


class ProviderError(TextError, PinsError):
    """No provider can be used as configured. The text says why, and what to do."""


def this_machine() -> Machine:
    """Return the running kernel and the revision of the Raspberry Pi. If `RPI_LGPIO_REVISION` is set, it gives the
    revision."""
    major, minor = os.uname().release.split(".")[:2]
    given = os.environ.get("RPI_LGPIO_REVISION")
    revision: int | None = None
    if given is not None:
        revision = int(given, 16)
    elif REVISION.is_file():
        (revision,) = struct.unpack(">I", REVISION.read_bytes())
    return Machine((int(major), int("".join(filter(str.isdigit, minor)))), revision)


def installed() -> set[Provider]:
    """Return which of the two packages Python would use: those in the first directory of its path that has one. So a
    package of Debian is not used if our own environment has one too."""
    from importlib import metadata  # noqa: PLC0415  it takes 2 MB, which a wheel without pins does not need

    for directory in sys.path:
        names = {each.metadata["Name"] for each in metadata.distributions(path=[directory])}
        if there := {provider for provider in get_args(Provider) if PACKAGES[provider] in names}:
            return there
    return set()


def choose(wanted: Provider | None, there: set[Provider], machine: Machine) -> Provider:
    """Return `wanted`, or if it is None, the installed provider. Raises ProviderError if this provider cannot be
    used."""
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
        steps += (Text("remove `provider` from [gpio]"),)
    # Install `better`, and remove the other package.
    if there != {better} and sys.prefix != sys.base_prefix:
        pip = f"{sys.prefix}/bin/pip"
        command = f"{pip} install --no-build-isolation --require-hashes -r release/locks/wheel-{better}.txt"
        if better == "rpi":
            command = f"apt install gcc python3-dev && {command}"
        elif sys.version_info[:2] > LGPIO_COMPILED_FOR:
            command = f"apt install gcc python3-dev swig && PYPI=1 {command}"
        if there:  # uninstalling one package also removes files of the other
            command = f"{pip} uninstall -y RPi.GPIO rpi-lgpio && {command}"
        steps += (Text("in the directory of wheeld's source archive run `{command}`", {"command": command}),)
    elif there != {better}:
        command = f"apt install python3-{PACKAGES[better].lower()}"  # apt then removes the other package
        steps += (
            Text(
                "run `{command}` (Raspberry Pi OS has this package; for another system: firmware_protocol/gpio.md)",
                {"command": command},
            ),
        )
    raise ProviderError(Text("{first}: {second}", {"first": why, "second": steps}))
