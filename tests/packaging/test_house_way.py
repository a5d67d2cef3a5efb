"""From two bare Debians, one in a cabinet and one of the house, to a coup on the fleet page: the commands of the pages
docs/install.md and docs/collector.md, word by word, and those that `wheeld-house setup` prints.

`make test-install STEPS=tests/packaging/test_house_way.py` makes that Debian and boots it twice, with a cable between.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packaging.test_install import APT_S, PROJECT, version_in
from tests.packaging.test_whole_way import COUPS_S, FOUR
from tests.systemd.machine import Machine, booted

pytestmark = pytest.mark.timeout(1200)

INSTALL, SETUP, START = FOUR[:3]
PAGE = (PROJECT / "docs" / "collector.md").read_text()
HOUSE_INSTALL, HOUSE_SETUP = re.findall(
    r"^ {4}((?:apt|wheeld-house) .+)$", PAGE.partition("## Start it")[2].partition("### By hand")[0], re.MULTILINE
)
COMMANDS_MAX = 8
DOWNLOADS = "/root/downloads"
TABLE = "bench/bench-01"
HOUSE, CABINET = "10.9.0.1", "10.9.0.2"


class Pair:
    """The computer of the house and that of the cabinet. `typed`: what a person has typed at both."""

    def __init__(self, house: Machine, cabinet: Machine) -> None:
        self.house, self.cabinet = house, cabinet
        self.typed: list[str] = []

    def type(self, machine: Machine, command: str, more: str = "") -> str:
        """`more`: options, in place of answers."""
        self.typed.append(command)
        environment = "export DEBIAN_FRONTEND=noninteractive"
        line = re.sub(r"^apt ", "apt-get -y -q --no-install-recommends ", command)
        return machine.run("sh", "-euc", f"{environment}; cd {DOWNLOADS}; {line}{more}", patience_s=APT_S).stdout

    def carry(self, source: Machine, path: str, to: Machine) -> None:
        """On a stick: a file or a folder."""
        folder, _, name = path.rpartition("/")
        to.shell(
            f"cd {DOWNLOADS} && echo '{source.shell(f'tar -C {folder} -cz {name} | base64')}' | base64 -d | tar -xz"
        )


def connect(one: Machine, other: Machine) -> None:
    """A cable between two machines."""
    pids = str(one.leader), str(other.leader)
    ip = ["ip", "link", "add", "cable", "netns", pids[0], "type", "veth", "peer", "name", "cable", "netns", pids[1]]
    subprocess.run(ip, check=True)
    for pid, address in zip(pids, (HOUSE, CABINET), strict=True):
        for words in (f"addr add {address}/24 dev cable", "link set cable up"):
            subprocess.run(["nsenter", "--net", "--target", pid, "ip", *words.split()], check=True)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    root = os.environ.get("WHEELD_PACKAGES_ROOT")
    if root is None:
        pytest.skip("`make test-install` makes a Debian and boots it")
    folders = [tmp_path_factory.mktemp(name) for name in ("house", "cabinet")]
    with booted(Path(root), PROJECT, folders[0]) as house, booted(Path(root), PROJECT, folders[1]) as cabinet:
        connect(house, cabinet)
        for machine in (house, cabinet):
            machine.shell(f"mkdir {DOWNLOADS} && cp /packages/wheeld*_{version_in(machine)}_*.deb {DOWNLOADS}")
        yield Pair(house, cabinet)


def test_a_coup_of_the_cabinet_is_on_the_page_of_the_house(pair: Pair) -> None:
    house, cabinet = pair.house, pair.cabinet
    pair.type(cabinet, INSTALL)
    pair.type(cabinet, SETUP, " --yes")
    pair.type(cabinet, START)
    pair.carry(cabinet, "/etc/wheeld/bench-01.pub", house)
    pair.type(house, HOUSE_INSTALL)
    ours = HOUSE_SETUP.replace("campione/campione-03", TABLE).replace("campione-03.pub", "bench-01.pub")
    said = pair.type(house, ours, f" --test --broker-name {HOUSE} --yes")
    found = re.search(r"^carry (\S+) to the computer with the broker of cabinet-1.+\n((?:  .+\n)+)", said, re.MULTILINE)
    assert found is not None, said
    pair.carry(house, found[1], cabinet)
    for command in found[2].splitlines():
        pair.type(cabinet, command.strip())
    assert len(pair.typed) <= COMMANDS_MAX

    def shown() -> bool:
        ask = (
            "import urllib.request as u; print(u.urlopen('http://127.0.0.1:8500/wheel/bench/bench-01').read().decode())"
        )
        return f'href="/coup/{TABLE}/' in house.ask("python3", "-c", ask)

    house.until(shown, "a coup is on the page", COUPS_S)
    asked = "select bool_and(is_signed), (select count(*) from house.alarms) from house.messages"
    assert house.shell(f"runuser -u wheeld-house-page -- psql -XAt -d house -c '{asked}'") == "t|0\n"


def test_setup_again_changes_nothing(pair: Pair) -> None:
    said = pair.type(pair.house, "wheeld-house setup --yes")
    assert {line.split()[0] for line in said.splitlines() if line.startswith("  ")} == {"stays"}


def test_the_services_are_no_other_s_and_come_back_after_a_boot(pair: Pair) -> None:
    for user, code in (("wheeld-house-page", 2), ("wheeld-house", 0)):
        ask = ("runuser", "-u", user, "--", "psql", "-d", "house", "-U", "wheeld-house", "-c", "select 1")
        assert pair.house.run(*ask, check=False).returncode == code, user
    pair.house.shut_down("reboot")
    pair.house.boot()
    for unit in ("wheeld-house-collect", "wheeld-house-page"):
        assert pair.house.ask("systemctl", "is-active", unit) == "active"
