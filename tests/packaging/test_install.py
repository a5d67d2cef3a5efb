"""The packages in a bare Debian: installed by apt, run by systemd, upgraded, refused, removed, purged, installed again.

`make test-install` makes that Debian, of either release, and boots it. The tests follow one another on it.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from release.debian.package import DEBIAN_NAMES, RELEASES
from tests.smallest_wheel import NO_BOARD, WHEEL, table
from tests.systemd.machine import Machine, booted

PROJECT = Path(__file__).parents[2]
APT_S = 600.0
"""It unpacks and compiles Python and all packages, or a whole release of Debian, on a machine that is busy too."""
BOARD = "/usr/bin/hw-sim run --pty /run/board/line --seed 3 --speed 10 --quick"


def configuration(name: str) -> str:
    """Of a wheel without a board."""
    rest = f'[journal]\npath = "/var/lib/wheeld/{name}.sqlite"\n[mqtt]\nhost = "127.0.0.1"\n'
    return table("test", name) + WHEEL + NO_BOARD + rest


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    root = os.environ.get("WHEELD_PACKAGES_ROOT")
    if root is None:
        pytest.skip("`make test-install` makes a Debian and boots it")
    with booted(Path(root), PROJECT, tmp_path_factory.mktemp("machine")) as machine:
        version = version_in(machine)
        code, said = apt(machine, "install", package(machine, version), package(machine, version, "wheeld-sim"))
        assert code == 0, said
        yield machine


def version_in(machine: Machine, addition: str = "") -> str:
    """Of the commit at hand, or of its earlier or later sister, for dpkg."""
    number = machine.ask("sh", "-c", ". /etc/os-release && echo $VERSION_ID")
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    return f"{project['version']}{addition}+deb{number}"


@pytest.fixture(scope="module")
def version(machine: Machine) -> str:
    return version_in(machine)


def package(machine: Machine, version: str, name: str = "wheeld") -> str:
    return machine.ask("sh", "-c", f"ls /packages/{name}_{version}_*.deb")


def apt(machine: Machine, *words: str) -> tuple[int, str]:
    """Offline: what is needed is there. Returns the exit code and what was said."""
    command = ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "-q", "--no-install-recommends", *words)
    done = machine.run(*command, check=False, patience_s=APT_S)
    return done.returncode, done.stdout + done.stderr


def installed(machine: Machine) -> str:
    return machine.ask("dpkg-query", "--show", "--showformat", "${db:Status-Abbrev}${Version}", "wheeld")


def state(machine: Machine, name: str) -> str:
    return machine.ask("systemctl", "is-active", f"wheeld@{name}")


def pid(machine: Machine, name: str) -> str:
    return machine.ask("systemctl", "show", "--value", "--property", "MainPID", f"wheeld@{name}")


def is_compiled(machine: Machine) -> bool:
    files = machine.ask("find", "/usr/lib/wheeld/wheeld", "-type", "f").splitlines()
    tag = machine.ask("python3", "-c", "import sys; print(sys.implementation.cache_tag)")
    compiled, sources = (sum(file.endswith(end) for file in files) for end in (f".{tag}.pyc", ".py"))
    return compiled == sources > 0


def configure(machine: Machine, name: str, mqtt: str = "") -> None:
    machine.write(f"/etc/wheeld/{name}.toml", configuration(name) + mqtt)
    machine.shell(f"chgrp wheeld /etc/wheeld/{name}.toml && chmod 640 /etc/wheeld/{name}.toml")


def test_the_program_runs_and_is_compiled(machine: Machine, version: str) -> None:
    assert machine.run("wheeld", "--version").stdout.startswith("wheeld ")
    assert installed(machine) == f"ii {version}"
    assert machine.run("dpkg", "--verify", "wheeld", "wheeld-sim").stdout == ""
    assert is_compiled(machine)
    assert machine.run("hw-sim", "--help").stdout.startswith("usage: hw-sim")


def test_a_simulated_board_plays_where_no_login_was_made_for_its_people(machine: Machine) -> None:
    """At a broker that asks for one and is not the house's own."""
    configure(machine, "blind", 'cert_file = "/etc/wheeld/blind.crt"\n')
    machine.run("systemctl", "start", "wheeld-sim@blind")
    log = partial(machine.ask, "journalctl", "--unit=wheeld-sim@blind", "--output=cat")
    machine.until(
        lambda: "do not look at the table" in log() and "# waiting for a host" in log(), "it waits for a host"
    )
    assert machine.ask("systemctl", "is-active", "wheeld-sim@blind") == "active"
    machine.run("systemctl", "stop", "wheeld-sim@blind")
    machine.shell("rm /etc/wheeld/blind.toml")


def test_a_module_of_the_same_name_elsewhere_is_not_taken(machine: Machine) -> None:
    """Whatever the environment says: what stands in its own directory goes before Debian's packages, and nothing else
    is read."""
    (local,) = machine.ask("sh", "-c", "ls -d /usr/local/lib/python3.*/dist-packages").split()
    for module, directory in (
        ("msgspec", "/tmp/evil"),
        ("msgspec", local),
        ("mqtt5", "/usr/lib/python3/dist-packages"),
    ):
        machine.write(f"{directory}/{module}.py", "raise SystemExit('not ours')\n")
    for command in ("check-config", "run -c"):
        machine.shell(f"cd /tmp/evil; PYTHONPATH=/tmp/evil wheeld {command} /etc/wheeld/example.toml || [ $? = 78 ]")
    machine.shell(f"rm /tmp/evil/msgspec.py {local}/msgspec.py /usr/lib/python3/dist-packages/mqtt5.py")


def test_debian_has_what_its_list_says(machine: Machine) -> None:
    """`release/debian/debian-13.txt` and its like, with which the tests are tried."""
    shown = machine.ask("dpkg-query", "--show", "--showformat", "${Package} ${Version}\\n", "python3-*")
    there = {name: version for name, _, version in (line.partition(" ") for line in shown.splitlines())}
    number = int(machine.ask("sh", "-c", ". /etc/os-release && echo $VERSION_ID"))
    (release,) = (release for release in RELEASES.values() if release.number == number)
    for name, version in release.ships.items():
        assert re.match(rf"{re.escape(version)}[+-]", there[f"python3-{DEBIAN_NAMES.get(name, name)}"]), name


def test_the_program_is_that_of_its_release(machine: Machine) -> None:
    said = machine.run("wheeld", "--version", "--verify", "--release-key", "/packages/release.pub").stdout
    assert "files are those of release" in said


def test_every_library_that_the_compiled_parts_need_is_there(machine: Machine) -> None:
    parts = machine.ask("find", "/usr/lib/wheeld", "-name", "*.so*", "-type", "f").splitlines()
    assert len(parts) >= 3
    assert "not found" not in machine.run("ldd", *parts).stdout


def test_the_example_is_refused_only_for_what_must_be_filled_in(machine: Machine) -> None:
    done = machine.run("wheeld", "check-config", "/etc/wheeld/example.toml", check=False)
    assert done.returncode == 78
    lines = {int(line) for line in re.findall(r"example\.toml:(\d+):", done.stderr)}
    text = machine.ask("cat", "/etc/wheeld/example.toml").splitlines()
    assert lines
    assert all("# FILL IN" in text[line - 1] for line in lines)


def test_the_users_and_directories_are_there(machine: Machine) -> None:
    assert {"wheeld", "dialout", "gpio"} <= set(machine.ask("id", "-nG", "wheeld").split())
    assert machine.ask("stat", "-c", "%U:%G %a", "/etc/wheeld") == "root:wheeld 750"
    assert machine.run("systemd-analyze", "verify", "--man=no", "wheeld@any.service").stderr == ""


def test_the_manual_and_the_completion_are_found(machine: Machine) -> None:
    listed = machine.ask("dpkg", "--listfiles", "wheeld").splitlines()
    assert "/usr/share/bash-completion/completions/wheeld" in listed
    machine.shell("bash -n /usr/share/bash-completion/completions/wheeld /usr/share/bash-completion/completions/hw-sim")


def test_wheels_run(machine: Machine) -> None:
    machine.service("board", BOARD, "User=wheeld\nRuntimeDirectory=board\nEnvironment=PYTHONUNBUFFERED=1")
    for name in ("running", "stopped"):
        configure(machine, name)
        machine.run("systemctl", "--quiet", "enable", "--now", f"wheeld@{name}")
        assert state(machine, name) == "active"
    machine.run("systemctl", "stop", "wheeld@stopped")
    assert machine.ask("systemctl", "is-active", "board") == "active"


def test_an_upgrade_restarts_the_wheels_that_run_and_no_others(machine: Machine, version: str) -> None:
    before = pid(machine, "running")
    later = version_in(machine, "+later")
    code, said = apt(machine, "install", package(machine, later), package(machine, later, "wheeld-sim"))
    assert code == 0, said
    assert installed(machine) == f"ii {later}"
    assert state(machine, "running") == "active"
    assert pid(machine, "running") not in (before, "0")
    assert state(machine, "stopped") == "inactive"


@pytest.mark.parametrize("older", ["", "~earlier"])
def test_a_downgrade_is_refused_with_its_reason(machine: Machine, older: str) -> None:
    before = pid(machine, "running")
    version, later = version_in(machine, older), version_in(machine, "+later")
    both = [package(machine, version), package(machine, version, "wheeld-sim")]
    code, said = apt(machine, "install", "--allow-downgrades", *both)
    assert code != 0
    assert "an older program does not open a journal" in " ".join(said.replace("wheeld: ", "").split())
    assert "apt-get remove wheeld" in said
    assert "apt-get --fix-broken install" in said
    assert apt(machine, "--fix-broken", "install")[0] == 0
    assert installed(machine) == f"ii {later}"
    apt(machine, "install", "-f", package(machine, later, "wheeld-sim"))
    assert installed(machine) == f"ii {later}"
    assert pid(machine, "running") == before
    assert is_compiled(machine)


def test_a_removal_stops_the_wheels_and_leaves_their_journals(machine: Machine) -> None:
    code, said = apt(machine, "remove", "wheeld")
    assert code == 0, said
    assert state(machine, "running") != "active"
    machine.shell(
        "test -s /var/lib/wheeld/running.sqlite && test -f /etc/wheeld/example.toml && ! test -e /usr/bin/wheeld"
    )
    assert machine.ask("find", "/usr/lib/wheeld") == ""


def test_a_purge_leaves_journals_and_configurations_and_says_so(machine: Machine) -> None:
    code, said = apt(machine, "purge", "wheeld")
    assert code == 0, said
    assert "rm -rf /var/lib/wheeld " in said
    machine.shell("test -s /var/lib/wheeld/running.sqlite && test -f /etc/wheeld/running.toml")
    machine.shell("! test -e /etc/wheeld/example.toml")
    assert machine.ask("find", "/etc/systemd/system", "-name", "wheeld@*") == ""


def test_installed_again_the_wheel_goes_on_with_its_journal(machine: Machine) -> None:
    code, said = apt(machine, "install", package(machine, version_in(machine, "+later")))
    assert code == 0, said
    assert state(machine, "running") != "active"
    machine.run("systemctl", "--quiet", "enable", "--now", "wheeld@running")
    assert state(machine, "running") == "active"
    machine.run("systemctl", "stop", "wheeld@running")
    machine.shell("runuser -u wheeld -- wheeld journal verify /var/lib/wheeld/running.sqlite")
