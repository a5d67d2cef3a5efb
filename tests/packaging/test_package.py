"""What the Debian packages are made of, each part alone; `make test-install` installs the whole."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tomllib
import zipfile
from collections.abc import Callable
from email.message import Message
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import hw_sim.cli
import wheeld.cli.parser
import wheeld_report.cli
from release.debian.fetch import Fetched, Part, Target, fetch, unpack
from release.debian.package import (
    FILES,
    RELEASES,
    REPORT,
    SIMULATOR,
    Build,
    control,
    control_own,
    debian_version,
    lay_out,
    lay_out_own,
    pack,
)
from tests.setup.bench import SIMULATED, BareComputer, set_up
from wheeld.config.problems import ConfigError
from wheeld.config.reading import parse
from wheeld.config.sections import SECTIONS

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "systemd").glob("*.service"))
EXAMPLE = (FILES / "example.toml").read_text()
FILLED = {
    "site": '"campione"',
    "id": '"campione-03"',
    "house": '"campione"',
    "game": '"roulette"',
    "rotor_ticks": "148",
    "beams_deg": "[0, 90, 180, 270]",
    "readers_deg": "[30, 150, 270]",
    "port": '"/dev/wheeld/0042"',
    "path": '"/var/lib/wheeld/campione-03.sqlite"',
    "host": '"broker.casino.example"',
}
needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="no dpkg on this host")


# --- the example ------------------------------------------------------------------------------------------------------


def test_nothing_is_wrong_in_the_example_but_what_must_be_filled_in() -> None:
    with pytest.raises(ConfigError) as caught:
        parse(EXAMPLE)
    open_lines = {number for number, line in enumerate(EXAMPLE.splitlines(), start=1) if "# FILL IN" in line}
    found = {problem.line for problem in caught.value.problems}
    assert found <= open_lines
    # A game is known by its house: one problem for both.
    missed = [EXAMPLE.splitlines()[line - 1] for line in open_lines - found]
    assert [line.split()[0] for line in missed] == ["game"]


def test_the_example_filled_in_is_good() -> None:
    text = EXAMPLE
    for key, value in FILLED.items():
        text, count = re.subn(rf'^{key} = (""|0|\[\])', f"{key} = {value}", text, flags=re.MULTILINE)
        assert count == 1, key
    assert parse(text).table.check() == []


def test_every_key_that_the_example_leaves_out_is_one() -> None:
    section, seen = "", 0
    for line in EXAMPLE.splitlines():
        if found := re.match(r"#?\[(\w+)\]", line):
            section = found[1]
        elif found := re.match(r"#?(\w+) = ", line):
            assert found[1] in SECTIONS[section]
            seen += 1
    assert seen > 30


# --- what is unpacked -------------------------------------------------------------------------------------------------


def wheel_file(directory: Path, files: dict[str, str], name: str = "one-1.0-py3-none-any.whl") -> Path:
    with zipfile.ZipFile(directory / name, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return directory / name


def test_a_wheel_is_unpacked_without_its_commands(tmp_path: Path) -> None:
    info = "one-1.0.dist-info"
    file = wheel_file(
        tmp_path,
        {
            "one/__init__.py": "",
            f"{info}/METADATA": "Name: one\nVersion: 1.0\nLicense: MIT\n",
            f"{info}/RECORD": "",
            f"{info}/entry_points.txt": "",
            f"{info}/licenses/LICENSE": "may be copied",
            "one-1.0.data/data/share/man/man1/one.1": "",
        },
    )
    part = unpack(file, tmp_path / "to")
    there = {path.relative_to(tmp_path / "to").as_posix() for path in (tmp_path / "to").rglob("*") if path.is_file()}
    assert there == {"one/__init__.py", f"{info}/METADATA"}
    assert part.called == "one 1.0"
    assert part.licences == {"LICENSE": "may be copied"}


@pytest.mark.parametrize(
    "path", ["../out.py", "one/../../out.py", "/etc/passwd", "one-1.0.data/scripts/one", "1.data/data/share/man/../x"]
)
def test_a_file_that_belongs_elsewhere_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="does not belong"):
        unpack(wheel_file(tmp_path, {path: ""}), tmp_path / "to")


def test_two_parts_never_share_a_file(tmp_path: Path) -> None:
    one = wheel_file(tmp_path, {"same.py": "1"})
    other = wheel_file(tmp_path, {"same.py": "2"}, "two-1.0-py3-none-any.whl")
    unpack(one, tmp_path / "to")
    with pytest.raises(ValueError, match="two parts have"):
        unpack(other, tmp_path / "to")


# --- what is fetched --------------------------------------------------------------------------------------------------

ASKED = [Requirement("one>=1"), Requirement("shipped>=2")]


def index(directory: Path) -> Path:
    """A lock of four packages; pip finds their files in `directory` and nothing else."""
    needs = {
        "one-1.0-py3-none-any": ["two>=1", 'early>=1; python_version < "3.12"', 'odd; extra == "more"'],
        "two-1.0-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64": ["shipped<4"],
        "two-1.0-cp311-cp311-manylinux_2_34_x86_64": ["shipped<4"],
        "early-1.0-py3-none-any": [],
        "shipped-9.0-py3-none-any": ["never"],
    }
    hashes = dict[str, list[str]]()
    for name, asked in needs.items():
        package, version = name.split("-")[:2]
        requires = "".join(f"Requires-Dist: {each}\n" for each in asked)
        metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n{requires}"
        info = f"{package}-{version}.dist-info"
        parts = {f"{package}.py": name, f"{info}/METADATA": metadata, f"{info}/WHEEL": "Wheel-Version: 1.0\n"}
        file = wheel_file(directory, parts, f"{name}.whl")
        hashes.setdefault(f"{package}=={version}", []).append(hashlib.sha256(file.read_bytes()).hexdigest())
    lock = directory / "lock.txt"
    marked = [f"{pin} ; python_full_version < '3.2'" if "early" in pin else pin for pin in hashes]
    rows = [
        " \\\n".join([pin, *(f"    --hash=sha256:{each}" for each in found)])
        for pin, found in zip(marked, hashes.values(), strict=True)
    ]
    lock.write_text("# made by hand\n" + "\n    # via nobody\n".join(rows) + "\n")
    return lock


@pytest.fixture
def fetching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Target], Fetched]:
    (tmp_path / "index").mkdir()
    (tmp_path / "work").mkdir()
    lock = index(tmp_path / "index")
    monkeypatch.delenv("PYTHONWARNINGS")  # pip itself uses what Python and setuptools are about to take away
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(lock.parent))
    return lambda target: fetch(lock, ASKED, target, tmp_path / "work", tmp_path / "to")


def test_what_debian_ships_is_not_inside_nor_what_only_that_needs(
    fetching: Callable[[Target], Fetched], tmp_path: Path
) -> None:
    fetched = fetching(Target("x86_64", "3.13", 41, {"shipped": "3.1"}))
    assert [part.called for part in fetched.parts] == ["one 1.0", "two 1.0"]
    assert fetched.of_debian == {"shipped": "3.1"}
    assert fetched.glibc_minor == 17
    assert (tmp_path / "to/two.py").read_text().startswith("two-1.0-cp313")


def test_the_target_decides_what_is_needed_and_not_this_computer(
    fetching: Callable[[Target], Fetched], tmp_path: Path
) -> None:
    fetched = fetching(Target("x86_64", "3.11", 36, {"shipped": "3.1"}))
    assert [part.called for part in fetched.parts] == ["early 1.0", "one 1.0", "two 1.0"]
    assert fetched.glibc_minor == 34
    assert (tmp_path / "to/two.py").read_text().startswith("two-1.0-cp311")


@pytest.mark.parametrize("version", ["1.9", "4.0"])
def test_a_version_of_debian_that_nobody_asks_for_is_refused(
    fetching: Callable[[Target], Fetched], version: str
) -> None:
    """Neither the program nor what is inside."""
    with pytest.raises(ValueError, match=f"asked for, and this Debian has shipped {version}"):
        fetching(Target("x86_64", "3.13", 41, {"shipped": version}))


def test_a_file_that_the_lock_does_not_name_is_refused(
    fetching: Callable[[Target], Fetched], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wheel_file(tmp_path / "index", {"one.py": "evil"}, "one-1.0-py3-none-any.whl")
    with pytest.raises(subprocess.CalledProcessError):
        fetching(Target("x86_64", "3.13", 41, {"shipped": "3.1"}))
    assert "DO NOT MATCH THE HASHES" in capfd.readouterr().err


@pytest.mark.parametrize("release", RELEASES)
def test_what_a_release_ships_is_a_version_that_is_asked_for(release: str) -> None:
    """Where the program itself asks for it; `fetch` holds what is inside to the same."""
    ships = RELEASES[release].ships
    assert ships
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for line in [*project["dependencies"], *extras["page"], *extras["sign"]]:
        asked = Requirement(line)
        assert ships.get(asked.name, "") in asked.specifier or asked.name not in ships


# --- what is packed ---------------------------------------------------------------------------------------------------


def fetched() -> Fetched:
    metadata = Message()
    metadata["Name"], metadata["Version"], metadata["License-Expression"] = "one", "1.0", "MIT"
    return Fetched([Part(metadata, {"LICENSE": "may be copied"})], 34, {"pyserial": "3.5"})


def made(directory: Path) -> tuple[Path, Path]:
    build = Build(ROOT, "bookworm", "0.9~rc1+deb12", 1_700_000_000, "The makers <makers@casino.example>")
    root, simulator, report = directory / "root", directory / "simulator", directory / "report"
    lay_out(root, build, wheeld.cli.parser.parser(), fetched())
    lay_out_own(simulator, build, hw_sim.cli.parser(), SIMULATOR)
    packages = directory / "packages"
    whole = pack(root, control(build, "amd64", fetched()), build, packages)
    lay_out_own(report, build, wheeld_report.cli.parser(), REPORT)
    pack(report, control_own(build, REPORT), build, packages)
    return whole, pack(simulator, control_own(build, SIMULATOR), build, packages)


def asked(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


DOCUMENT = r"/usr/share/doc/wheeld/[\w./-]*\w"


@needs_dpkg
def test_the_package_has_its_files_and_says_what_it_needs(tmp_path: Path) -> None:
    whole, simulator = made(tmp_path)
    listed = asked("dpkg-deb", "--contents", whole)
    files = {line.split()[5].removeprefix("."): line.split()[0] for line in listed.splitlines()}
    for path in (
        "/etc/wheeld/example.toml",
        "/usr/lib/systemd/system/mosquitto.service.d/wheeld.conf",
        "/usr/lib/systemd/system/wheeld@.service",
        "/usr/lib/systemd/system/wheeld-backup@.service",
        "/usr/lib/systemd/system/wheeld-backup@.timer",
        "/usr/lib/udev/rules.d/70-wheeld.rules",
        "/usr/lib/modules-load.d/wheeld.conf",
        "/usr/lib/sysusers.d/wheeld.conf",
        "/usr/lib/tmpfiles.d/wheeld.conf",
        "/usr/share/bash-completion/completions/wheeld",
        "/usr/share/doc/wheeld/copyright",
        "/usr/share/doc/wheeld/examples/metrics/wheeld-alerts.yml",
        "/usr/share/doc/wheeld/examples/metrics/wheeld-dashboard.json",
        "/usr/share/doc/wheeld/examples/mosquitto/bridge.conf",
        "/usr/share/doc/wheeld/examples/mosquitto/wheeld.conf",
        "/usr/share/man/man1/wheeld.1.gz",
    ):
        assert files[path] == "-rw-r--r--"
    named = {path for code in (ROOT / "wheeld").rglob("*.py") for path in re.findall(DOCUMENT, code.read_text())}
    assert len(named) > 1
    assert named <= files.keys(), "a message names a page that the computer does not have"
    assert files["/usr/bin/wheeld"] == "-rwxr-xr-x"
    assert {line.split()[1] for line in listed.splitlines()} == {"root/root"}
    fields = asked("dpkg-deb", "--field", whole)
    assert "Version: 0.9~rc1+deb12\nArchitecture: amd64\n" in fields
    needs = "python3 (>= 3.11), python3 (<< 3.12), systemd, python3-serial (>= 3.5), libc6 (>= 2.34), libgcc-s1"
    assert f"Depends: {needs}\n" in fields
    assert asked("dpkg-deb", "--info", whole, "conffiles") == "/etc/wheeld/example.toml\n"
    assert "Depends: python3, wheeld (= 0.9~rc1+deb12)\n" in asked("dpkg-deb", "--field", simulator)
    report = simulator.with_name("wheeld-report_0.9~rc1+deb12_all.deb")
    needs = "python3, wheeld (= 0.9~rc1+deb12), python3-matplotlib, python3-numpy, python3-scipy"
    assert f"Depends: {needs}\n" in asked("dpkg-deb", "--field", report)


def test_without_a_compiled_part_it_is_for_every_computer_with_that_python() -> None:
    build = Build(ROOT, "trixie", "0.9+deb13", 1_700_000_000, "The makers <makers@casino.example>")
    fields = control(build, "amd64", fetched()._replace(glibc_minor=0, of_debian={"aiohttp": "3.11.16"}))
    assert fields["Architecture"] == "all"
    assert fields["Depends"] == "python3 (>= 3.13), python3 (<< 3.14), systemd, python3-aiohttp (>= 3.11.16)"
    assert "python3-rpi-lgpio" in fields["Recommends"]


@needs_dpkg
def test_the_unit_of_the_package_runs_the_command_of_the_package(tmp_path: Path) -> None:
    whole, _ = made(tmp_path)
    asked("dpkg-deb", "--extract", whole, tmp_path / "out")
    unit = (tmp_path / "out/usr/lib/systemd/system/wheeld@.service").read_text()
    assert "\nExecStart=/usr/bin/wheeld run -c /etc/wheeld/%i.toml\n" in unit
    assert "/opt/" not in unit
    told = (tmp_path / "out/usr/share/doc/wheeld/copyright").read_text()
    assert "one 1.0, in /usr/lib/wheeld" in told
    assert "may be copied" in told


@needs_dpkg
def test_the_same_files_make_the_same_bytes(tmp_path: Path) -> None:
    once, again = made(tmp_path / "once"), made(tmp_path / "again")
    assert [path.read_bytes() for path in once] == [path.read_bytes() for path in again]


@pytest.mark.parametrize(
    ("version", "release", "of_debian"),
    [
        ("0.1.0", "bookworm", "0.1.0+deb12"),
        ("0.1.0", "trixie", "0.1.0+deb13"),
        ("0.2.0rc1", "bookworm", "0.2.0~rc1+deb12"),
        ("1.0.dev3", "trixie", "1.0~dev3+deb13"),
        ("1.0a2", "trixie", "1.0~a2+deb13"),
        ("1.0b1", "trixie", "1.0~b1+deb13"),
    ],
)
def test_a_version_before_the_release_sorts_before_it(version: str, release: str, of_debian: str) -> None:
    assert debian_version(version, release) == of_debian


@needs_dpkg
@pytest.mark.parametrize(
    ("older", "newer"),
    [("0.2.0+deb12", "0.2.0+deb13"), ("0.2.0~rc1+deb13", "0.2.0+deb12"), ("0.1.9+deb13", "0.2.0+deb12")],
)
def test_another_debian_is_an_upgrade_and_a_newer_program_is_one_before_that(older: str, newer: str) -> None:
    asked("dpkg", "--compare-versions", older, "lt", newer)


# --- maintainer scripts -----------------------------------------------------------------------------------------------

SCRIPTS = sorted(path for kind in ("preinst", "postinst", "prerm", "postrm") for path in FILES.glob(f"*.{kind}"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_one_that_any_shell_reads(script: Path) -> None:
    text = script.read_text()
    assert text.startswith("#!/bin/sh\nset -e\n")
    subprocess.run(["sh", "-n", script], check=True)


@needs_dpkg
@pytest.mark.parametrize(
    ("words", "refused"),
    [
        (("upgrade", "0.9.0"), False),
        (("upgrade", "1.0.0"), False),
        (("upgrade", "1.0.1"), True),
        (("upgrade", "1.0.0~rc1"), False),
        (("install",), False),
        (("install", "1.0.1"), False),  # it was removed, and that on purpose
    ],
)
def test_an_older_package_is_not_installed_over_a_newer_one(
    tmp_path: Path, words: tuple[str, ...], refused: bool
) -> None:
    script = tmp_path / "preinst"
    script.write_text((FILES / "wheeld.preinst").read_text().replace("@VERSION@", "1.0.0"))
    done = subprocess.run(["sh", script, *words], capture_output=True, text=True, check=False)
    assert done.returncode == (1 if refused else 0)
    assert ("does not open a journal" in done.stderr) is refused
    # apt has unpacked an older wheeld-sim of the same command, and then nothing else is installed or removed.
    assert ("apt-get --fix-broken install" in done.stderr) is refused
    assert ("apt-get install ./wheeld_1.0.0_*.deb\n" in done.stderr) is refused
    assert "`apt --fix-broken install`" in (ROOT / "docs" / "install.md").read_text()


# --- the end ----------------------------------------------------------------------------------------------------------


def test_what_a_purge_says_removes_all_that_setup_and_the_units_made(tmp_path: Path) -> None:
    said = re.findall(r"^wheeld:   (rm .+)$", (FILES / "wheeld.postrm").read_text(), re.MULTILINE)
    assert said == re.findall(r"^ {4}(rm .+)$", (ROOT / "docs" / "install.md").read_text(), re.MULTILINE)
    computer = BareComputer(tmp_path)
    before = computer.tree()
    set_up(computer, *SIMULATED)
    for state in re.findall(r"^StateDirectory=(.+)$", "".join(path.read_text() for path in UNITS), re.MULTILINE):
        (tmp_path / "var/lib" / state).mkdir(parents=True, exist_ok=True)
        (tmp_path / "var/lib" / state / "kept").touch()
    assert computer.tree().keys() - before.keys() >= {"var/lib/wheeld/kept", "var/lib/wheeld-page/kept"}
    for command in said:
        subprocess.run(["sh", "-c", command.replace(" /", f" {tmp_path}/")], check=True)
    left = computer.tree().keys() - before.keys()
    assert [path for path in left if ".wants/" not in path] == [], "what is enabled the scripts disable themselves"
