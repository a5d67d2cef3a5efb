"""The plan of a wheel, and what becomes of a computer: once, again, with other files there, for a second wheel."""

from __future__ import annotations

import datetime
import os
import re
from pathlib import Path

import pytest

from hw_sim.configuration import sections
from hw_sim.demo import LAYOUT
from tests.setup.bench import NOW, REAL, SIMULATED, BareComputer, actions, planned, set_up
from wheeld.broker.acl import access_list
from wheeld.broker.roles import ROLES, TableAccess
from wheeld.certificates import CERTIFICATE_DAYS, authority, hosts_of, new_key
from wheeld.config.problems import ConfigError
from wheeld.config.reading import parse
from wheeld.core.catalogue import Catalogue, Text
from wheeld.setup.broker import hosts_known, shipped
from wheeld.setup.computer import SetupError
from wheeld.setup.configuration import SIMULATED as OF_A_SIMULATED_BOARD
from wheeld.setup.configuration import checked
from wheeld.setup.places import Places
from wheeld.setup.steps import carry_out, shown

ENGLISH = Catalogue("en")
ROOT = Path(__file__).parents[2]
SECRETS = (
    "etc/credstore/wheeld.bench-01.signing-key",
    "etc/credstore/wheeld.bench-01.mqtt-key",
    "etc/wheeld/house/authority.key",
    "etc/wheeld/house/chef-bench-01.key",
    "etc/mosquitto/certs/broker.key",
)


@pytest.fixture
def computer(tmp_path: Path) -> BareComputer:
    return BareComputer(tmp_path / "root")


def test_a_plan_writes_nothing_and_shows_every_step(computer: BareComputer) -> None:
    before = computer.tree()
    plan = planned(computer, *SIMULATED)
    assert computer.tree() == before
    assert computer.commands == []
    text = shown(plan, ENGLISH)
    assert len(text.splitlines()) == len(plan) > 20
    for word in ("etc/wheeld/bench-01.toml", "chef-bench-01.key", "wheeld.acl", "restart mosquitto", "(0640)"):
        assert word in text


def test_everything_is_there_and_belongs_to_whom_it_should(computer: BareComputer) -> None:
    set_up(computer, *SIMULATED)
    assert computer.owners["etc/wheeld/bench-01.toml"] == "root:wheeld"
    assert computer.mode("etc/wheeld/bench-01.toml") == "0640"
    assert (computer.mode("etc/wheeld"), computer.mode("etc/credstore")) == ("0750", "0700")
    assert computer.owners["var/lib/wheeld"] == "wheeld:wheeld"
    assert [computer.mode(path) for path in SECRETS] == ["0600", "0600", "0600", "0600", "0640"]
    assert computer.mode("etc/wheeld/house") == "0700"
    brokers = {path: owner for path, owner in computer.owners.items() if "mosquitto" in owner}
    key, listed = "etc/mosquitto/certs/broker.key", "etc/mosquitto/wheeld.acl"
    assert brokers == {key: "root:mosquitto", listed: "mosquitto:mosquitto"}
    assert (computer.mode(key), computer.mode(listed)) == ("0640", "0600")
    config = checked(Places(computer, "bench-01"))
    assert config.table.test
    assert config.mqtt.host == "localhost"
    assert not [path for path in computer.tree() if path.endswith(".new")]


def test_each_device_gets_its_certificate(computer: BareComputer) -> None:
    set_up(computer, *SIMULATED)
    users = [role.user("bench-01") for role in ROLES[1:] if role.name != "page"]
    assert len(users) == 11
    for user in users:
        assert {f"etc/wheeld/house/{user}.crt", f"etc/wheeld/house/{user}.key"} <= computer.tree().keys()


def test_the_pages_of_this_computer_are_ready_for_who_wants_them(computer: BareComputer) -> None:
    """The options are those of the command, and name what systemd gives the unit."""
    set_up(computer, *SIMULATED)
    places = Places(computer, "bench-01")
    words = places.pages.read_text().split("\n")[:-1]
    unit = (Path(__file__).parents[2] / "systemd/wheeld-page@.service").read_text()
    credentials = [word.partition("credential:")[2] for word in words if "credential:" in word]
    assert credentials == ["page-certificate", "page-key"]
    for name in credentials:
        assert f"LoadCredential={name}:wheeld.%i.{name}" in unit
        assert computer.mode(f"etc/credstore/wheeld.bench-01.{name}") == "0600"
    config = checked(places)
    assert config.monitor is not None
    assert f"--socket={config.monitor.socket}" in words


def test_each_wheel_of_a_computer_has_pages_at_a_port_of_its_own(computer: BareComputer) -> None:
    """Two at one port: the second unit would be started again and again."""
    first, second, third = (Places(computer, f"bench-0{number}").pages for number in (1, 2, 3))
    set_up(computer, *SIMULATED)
    assert "--listen" not in first.read_text(), "it has the command's default"
    first.write_text(first.read_text() + "--metrics\n127.0.0.1:8420\n")
    told = [
        step.why.parts["address"]
        for step in set_up(computer, "bench-02", *SIMULATED[1:])
        if "address" in step.why.parts
    ]
    assert (told, "--listen=127.0.0.1:8410\n" in second.read_text()) == (["http://127.0.0.1:8410/"], True)
    set_up(computer, "bench-03", *SIMULATED[1:])
    assert "--listen=127.0.0.1:8430\n" in third.read_text(), "metrics of the first have 8420"
    assert set(actions(planned(computer, "bench-02", *SIMULATED[1:])).values()) == {"stays"}


def test_the_commands_come_last_and_a_listener_needs_a_restart(computer: BareComputer) -> None:
    set_up(computer, *SIMULATED)
    assert computer.commands == [
        "systemctl enable mosquitto.service",
        "systemctl restart mosquitto.service",
        "systemctl enable --now wheeld-sim@bench-01.service",
    ]


def test_again_everything_stays(computer: BareComputer) -> None:
    set_up(computer, *SIMULATED)
    before = computer.tree()
    computer.commands.clear()
    plan = set_up(computer, *SIMULATED)
    assert set(actions(plan).values()) == {"stays"}
    assert computer.tree() == before
    assert computer.commands == []


def test_a_setup_that_was_broken_off_goes_on(computer: BareComputer) -> None:
    """Whichever step it was: nothing is made twice, and the broker is started all the same."""
    steps = len(planned(computer, *SIMULATED))
    for done in range(steps):
        made = BareComputer(computer.root.with_name(f"root-{done}"))
        carry_out(planned(made, *SIMULATED)[:done], made)
        kept = made.tree()
        set_up(made, *SIMULATED)
        assert {path: content for path, content in made.tree().items() if path in kept} == kept
        assert set(actions(planned(made, *SIMULATED)).values()) == {"stays"}
        assert made.commands.count("systemctl restart mosquitto.service") == 1


def test_a_broker_that_was_not_started_since_its_files_were_written_is(computer: BareComputer) -> None:
    set_up(computer, *SIMULATED)
    computer.broker_started_s = 1.0
    assert [step.what for step in planned(computer, *SIMULATED) if step.does] == ["systemctl restart mosquitto.service"]


RESTART = "systemctl restart mosquitto.service"


def started_before_the_list(computer: BareComputer) -> None:
    """The broker has run for long, with all that it reads at its start, when the list is written."""
    for path in ("conf.d/wheeld.conf", "certs/house-ca.crt", "certs/broker.crt", "certs/broker.key"):
        os.utime(computer.at(f"etc/mosquitto/{path}"), (1.0, 1.0))
    computer.broker_started_s = 2.0


def test_a_broker_that_has_not_read_its_list_is_started_again(
    computer: BareComputer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The restart failed after the list was written; it is done by the next setup, and not again by the one after."""

    def fails(*command: str) -> None:
        raise SetupError(Text("{command} ended with 1", {"command": " ".join(command)}))

    set_up(computer, *SIMULATED)
    started_before_the_list(computer)
    second = ("bench-02", "--simulated", "--house-broker")
    with monkeypatch.context() as broken:
        broken.setattr(computer, "run", fails)
        with pytest.raises(SetupError, match="restart"):
            set_up(computer, *second)
    assert "bench-02" in computer.at("etc/mosquitto/wheeld.acl").read_text()
    computer.commands.clear()
    set_up(computer, *second)
    assert computer.commands[0] == RESTART
    for words in (SIMULATED, second):
        assert set(actions(planned(computer, *words)).values()) == {"stays"}


@pytest.mark.parametrize("path", ["etc/wheeld/bench-01.toml", "etc/mosquitto/conf.d/wheeld.conf"])
def test_a_file_that_differs_is_named_and_left_alone(computer: BareComputer, path: str) -> None:
    set_up(computer, *SIMULATED)
    file = computer.root / path
    file.write_text(f"{file.read_text()}port = 8884\n# a technician was here\n")
    before = computer.tree()
    plan = set_up(computer, *SIMULATED)
    assert [step.what for step in plan if step.action != "stays"] == [str(file)]
    assert actions(plan)[str(file)] == "differs"
    assert computer.tree() == before


def test_other_comments_are_no_other_configuration(computer: BareComputer) -> None:
    """After an upgrade, the comments of setup have other words; a person writes his own."""
    words = ("campione-03", *REAL, "--broker", "mqtt.example", "--broker-port", "1883")
    set_up(computer, *words)
    file = computer.at("etc/wheeld/campione-03.toml")
    file.write_text("# a technician was here\n" + re.sub(" *#.*", "", file.read_text()))
    assert set(actions(planned(computer, *words)).values()) == {"stays"}


def test_keys_are_never_replaced_and_certificates_of_others_are_named(computer: BareComputer) -> None:
    set_up(computer, *SIMULATED)
    house = computer.root / "etc/wheeld/house"
    for end in ("crt", "key"):
        (house / f"chef-bench-01.{end}").write_bytes((house / f"display-bench-01.{end}").read_bytes())
    (house / "direction.crt").write_bytes((house / "auditor.crt").read_bytes())
    before = computer.tree()
    differs = [step for step in set_up(computer, *SIMULATED) if step.action == "differs"]
    found = {step.what.rpartition("/")[2]: ENGLISH.say_text(step.why) for step in differs}
    new_ones = "move certificate and key away, and setup makes new ones"
    assert found == {
        "chef-bench-01.crt, chef-bench-01.key": f"it is not the certificate of chef-bench-01; {new_ones}",
        "direction.crt, direction.key": f"it does not belong to its key; {new_ones}",
    }
    assert computer.tree() == before


def test_a_certificate_that_ends_soon_is_renewed_with_its_key(computer: BareComputer) -> None:
    set_up(computer, *SIMULATED)
    before = computer.tree()
    late = NOW + datetime.timedelta(days=CERTIFICATE_DAYS - 30)
    plan = set_up(computer, *SIMULATED, now=late)
    changed = {path for path, content in computer.tree().items() if before.get(path) != content}
    assert changed == {path for path in before if path.endswith((".crt", "-certificate")) and "house-ca" not in path}
    assert "replace" in set(actions(plan).values())
    assert set(actions(planned(computer, *SIMULATED, now=late)).values()) <= {"stays", "run"}


def test_a_certificate_that_has_expired_is_said_to_have_expired(computer: BareComputer) -> None:
    set_up(computer, *SIMULATED)
    (step,) = (
        step
        for step in planned(computer, *SIMULATED, now=NOW + datetime.timedelta(days=CERTIFICATE_DAYS))
        if "chef-bench-01.crt" in step.what
    )
    assert (step.action, ENGLISH.say_text(step.why)) == ("replace", "it has expired; carry both files to the device")


def test_a_certificate_that_is_not_valid_yet_is_renewed(computer: BareComputer) -> None:
    """The clock was wrong when it was made. What `check-config` prints about it must mend it."""
    set_up(computer, *SIMULATED)
    early = NOW - datetime.timedelta(days=365)
    (step,) = (step for step in planned(computer, *SIMULATED, now=early) if "bench-01.crt, wheeld" in step.what)
    assert (step.action, "it is not valid yet" in ENGLISH.say_text(step.why)) == ("replace", True)
    set_up(computer, *SIMULATED, now=early)
    assert "replace" not in actions(planned(computer, *SIMULATED, now=early)).values()


def test_a_broker_of_other_names_needs_a_new_authority(computer: BareComputer) -> None:
    """Its authority may give no other names, and no device would know the broker by one of them."""
    set_up(computer, *SIMULATED, "--broker-name", "wheel.example")
    assert hosts_known(computer) == ("wheel.example", "localhost", "127.0.0.1")
    before = computer.tree()
    with pytest.raises(
        SetupError, match=r"is for wheel\.example, localhost, 127\.0\.0\.1, and its authority allows no"
    ):
        planned(computer, *SIMULATED, "--broker-name", "wheel.example", "--broker-name", "other.example")
    assert set(actions(planned(computer, *SIMULATED, "--broker-name", "wheel.example")).values()) == {"stays"}
    assert computer.tree() == before


@pytest.mark.parametrize("lost", ["broker.crt", "house-ca.crt"])
def test_a_lost_certificate_is_made_for_the_same_names(computer: BareComputer, lost: str) -> None:
    """The authority allows no other name, and the other certificate has all of them."""
    set_up(computer, *SIMULATED, "--broker-name", "wheel.example", "--broker-name", "192.168.7.1")
    before = hosts_known(computer)
    (computer.root / "etc/mosquitto/certs" / lost).unlink()
    with pytest.raises(SetupError, match="its authority allows no other name"):
        planned(computer, *SIMULATED, "--broker-name", "other.example")
    set_up(computer, *SIMULATED, "--broker-name", "wheel.example")
    made = (computer.root / "etc/mosquitto/certs" / lost).read_bytes()
    assert hosts_of(made) == before == ("wheel.example", "192.168.7.1", "localhost", "127.0.0.1")


def test_a_lost_key_and_its_certificate_are_made_anew(computer: BareComputer) -> None:
    """`credential:mqtt-key` names a file that is not there, and the message promises that setup makes it."""
    set_up(computer, *SIMULATED)
    before = computer.tree()
    lost = "etc/credstore/wheeld.bench-01.mqtt-key"
    (computer.root / lost).unlink()
    set_up(computer, *SIMULATED)
    changed = {path for path, content in computer.tree().items() if before.get(path) != content}
    assert changed == {lost, "etc/wheeld/bench-01.crt"}
    assert set(actions(planned(computer, *SIMULATED)).values()) == {"stays"}


def test_a_lost_certificate_of_the_authority_is_made_anew_and_all_others_stay(computer: BareComputer) -> None:
    set_up(computer, *SIMULATED)
    before = computer.tree()
    lost = "etc/mosquitto/certs/house-ca.crt"
    (computer.root / lost).unlink()
    assert "differs" not in actions(planned(computer, *SIMULATED)).values()
    set_up(computer, *SIMULATED)
    assert {path for path, content in computer.tree().items() if before.get(path) != content} == {lost}
    assert set(actions(planned(computer, *SIMULATED)).values()) == {"stays"}


def test_a_second_wheel_has_the_same_broker(computer: BareComputer) -> None:
    set_up(computer, *SIMULATED)
    before = computer.tree()
    computer.commands.clear()
    set_up(computer, "bench-02", "--simulated", "--house-broker")
    after = computer.tree()
    changed = {path for path, content in before.items() if after[path] != content}
    assert changed == {"etc/mosquitto/wheeld.acl"}
    tables = [TableAccess.of("bench", f"bench-0{number}") for number in (1, 2)]
    assert after["etc/mosquitto/wheeld.acl"].decode() == access_list(tables)
    assert computer.commands == [
        RESTART,
        "systemctl enable --now wheeld-sim@bench-02.service",
    ]
    assert set(actions(planned(computer, *SIMULATED)).values()) == {"stays"}


def test_a_table_of_another_computer_stays_in_the_list(computer: BareComputer) -> None:
    elsewhere = TableAccess.of("bench", "bench-09")
    computer.at("etc/mosquitto/wheeld.acl").write_text(access_list([elsewhere]))
    set_up(computer, *SIMULATED)
    text = computer.at("etc/mosquitto/wheeld.acl").read_text()
    assert text == access_list([TableAccess.of("bench", "bench-01"), elsewhere])


def test_a_list_with_a_right_that_somebody_gave_by_hand_is_left_alone(computer: BareComputer) -> None:
    file = computer.at("etc/mosquitto/wheeld.acl")
    file.write_text(access_list([TableAccess.of("bench", "bench-09")]) + "\nuser monitor\ntopic read $SYS/#\n")
    before = file.read_text()
    step, closed = (step for step in set_up(computer, *SIMULATED) if step.what == str(file))
    assert (step.action, '("monitor: topic read $SYS/#")' in ENGLISH.say_text(step.why)) == ("differs", True)
    assert closed.action == "replace"
    assert file.read_text() == before
    assert computer.mode("etc/mosquitto/wheeld.acl") == "0600"


@pytest.mark.parametrize("access", [(0o640, "root:mosquitto"), (0o644, "root:root"), (0o600, "mosquitto:root")])
def test_a_list_that_the_broker_would_refuse_is_mended(computer: BareComputer, access: tuple[int, str]) -> None:
    """Earlier versions left it to root; people may leave it to everybody."""
    set_up(computer, *SIMULATED)
    before, name = computer.tree(), "etc/mosquitto/wheeld.acl"
    mode, computer.owners[name] = access
    computer.at(name).chmod(mode)
    computer.commands.clear()
    plan = set_up(computer, *SIMULATED)
    assert [step.what for step in plan if step.action == "replace"] == [str(computer.at(name))]
    assert (computer.mode(name), computer.owners[name]) == ("0600", "mosquitto:mosquitto")
    assert computer.tree().items() >= before.items()
    assert computer.commands == [RESTART]
    assert set(actions(planned(computer, *SIMULATED)).values()) == {"stays"}


def test_roles_that_a_configuration_gives_are_in_the_list(computer: BareComputer) -> None:
    set_up(computer, *SIMULATED)
    file = computer.at("etc/wheeld/bench-01.toml")
    file.write_text(file.read_text().replace("[mqtt]\n", '[mqtt]\nusers = { panel-7 = "chef" }\n'))
    set_up(computer, "bench-02", "--simulated", "--house-broker")
    assert "user panel-7\n" in computer.at("etc/mosquitto/wheeld.acl").read_text()


def test_a_real_wheel_with_its_board(computer: BareComputer) -> None:
    set_up(computer, "campione-03", *REAL, "--house-broker")
    config = checked(Places(computer, "campione-03"))
    assert config.sensors is not None
    assert (config.sensors.port, config.table.beams_deg) == ("/dev/wheeld/0042", (0, 90, 180, 270))
    assert (config.table.test, config.mqtt.client_id) == (False, "wheeld-campione-campione-03")
    assert not [command for command in computer.commands if "wheeld-sim" in command]


def test_an_existing_broker_gets_copies_of_the_files_that_are_named(computer: BareComputer, tmp_path: Path) -> None:
    house_ca = authority(new_key(), ("mqtt.example",), NOW)
    (tmp_path / "ca").write_bytes(house_ca)
    (tmp_path / "password").write_text("the password\n")
    broker = ("--broker", "mqtt.example", "--ca-file", str(tmp_path / "ca"), "--username", "wheel-7",
              "--password-file", str(tmp_path / "password"))  # fmt: skip
    set_up(computer, "campione-03", *REAL, *broker)
    config = checked(Places(computer, "campione-03"))
    assert (config.mqtt.host, config.mqtt.port, config.mqtt.username) == ("mqtt.example", 8883, "wheel-7")
    assert computer.mode("etc/credstore/wheeld.campione-03.mqtt-password") == "0600"
    assert computer.at("etc/wheeld/campione-03.ca.crt").read_bytes() == house_ca
    assert computer.commands == []
    assert set(actions(planned(computer, "campione-03", *REAL, *broker)).values()) == {"stays"}


PINS = b"""\
[table]
site = "campione"
id = "campione-03"
house = "campione"
game = "roulette"
[wheel]
rotor_ticks = 148
beams_deg = [0, 90, 180, 270]
readers_deg = [30]
object_sensor = false
[gpio]
encoder = "quadrature"
encoder_pins = [5, 6, 13]
beam_pins = [17, 27, 22, 23]
reader_pins = [24]
"""


@pytest.mark.parametrize("broker", ["house", "password", "certificate"])
@pytest.mark.parametrize("sensors", ["board", "head", "pins"])
def test_its_own_configuration_sets_a_wheel_up_again(
    computer: BareComputer, tmp_path: Path, broker: str, sensors: str
) -> None:
    """As `wheeld check-config` prints the command: nothing but the configuration is given."""
    for name in ("ca", "password", "certificate", "key"):
        (tmp_path / name).write_text(name)
    (tmp_path / "pins.toml").write_bytes(PINS)
    logins = {
        "house": ("--house-broker",),
        "password": ("--broker", "localhost", "--username", "wheel-7", "--password-file", str(tmp_path / "password"),
                     "--ca-file", str(tmp_path / "ca")),
        "certificate": ("--broker", "mqtt.example", "--cert-file", str(tmp_path / "certificate"),
                        "--key-file", str(tmp_path / "key")),
    }  # fmt: skip
    sees = {
        "board": REAL,
        "head": (*REAL[:6], "--head", "slingshot-2", "--head-line", "/dev/ttyUSB0", "--unproven", "chef"),
        "pins": ("--pins", "--answers", str(tmp_path / "pins.toml")),
    }
    set_up(computer, "campione-03", *sees[sensors], *logins[broker])
    again = planned(computer, "campione-03", "--answers", str(computer.at("etc/wheeld/campione-03.toml")), "--yes")
    assert set(actions(again).values()) == {"stays"}, actions(again)


def test_a_head_needs_no_geometry(computer: BareComputer) -> None:
    words = ("--site", "venezia", "--house", "venezia", "--game", "roulette-francese", "--head", "slingshot-2",
             "--head-line", "socket://10.0.0.7:4001", "--unproven", "chef", "--house-broker")  # fmt: skip
    set_up(computer, "venezia-01", *words)
    config = checked(Places(computer, "venezia-01"))
    assert (config.table.head, config.table.pocket, config.table.rotor_ticks) == ("slingshot-2", "head", 0)


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        ("usr/sbin/mosquitto", "apt install mosquitto"),
        ("etc/systemd/system/wheeld-sim@.service", "apt install ./wheeld-sim"),
    ],
)
def test_what_is_not_installed_is_said_before_anything_is_written(
    computer: BareComputer, gone: str, words: str
) -> None:
    (computer.root / gone).unlink()
    before = computer.tree()
    with pytest.raises(SetupError, match=words) as caught:
        set_up(computer, *SIMULATED)
    assert "\n" not in str(caught.value)
    assert computer.tree() == before


def test_one_table_has_one_wheel(computer: BareComputer) -> None:
    set_up(computer, *SIMULATED)
    with pytest.raises(SetupError, match="is already the wheel of this table"):
        planned(computer, "other", "--simulated", "--table", "bench-01", "--house-broker")
    with pytest.raises(SetupError, match="give this wheel another name"):
        planned(computer, "bench-01", "--simulated", "--table", "bench-02", "--house-broker")
    with pytest.raises(SetupError, match="two tables have the name bench-01"):
        planned(computer, "other", "--simulated", "--site", "x", "--table", "bench-01", "--house-broker")


def test_one_port_has_one_wheel(computer: BareComputer) -> None:
    set_up(computer, "campione-03", *REAL, "--house-broker")
    with pytest.raises(SetupError, match=r"/dev/wheeld/0042 is the port of .*campione-03\.toml: name the port of"):
        planned(computer, "campione-04", *REAL, "--house-broker")
    assert set(actions(planned(computer, "campione-03", *REAL, "--house-broker")).values()) == {"stays"}


def test_an_authority_without_its_key_makes_no_certificates(computer: BareComputer) -> None:
    set_up(computer, *SIMULATED)
    computer.at("etc/wheeld/house/authority.key").unlink()
    with pytest.raises(SetupError, match="by the person who keeps this key"):
        planned(computer, *SIMULATED)


def test_what_is_wrong_afterwards_is_named(computer: BareComputer) -> None:
    set_up(computer, *SIMULATED)
    computer.at("etc/credstore/wheeld.bench-01.mqtt-key").unlink()
    with pytest.raises(ConfigError, match=r"mqtt.key_file: .*bench-01.mqtt-key does not exist"):
        checked(Places(computer, "bench-01"))


def test_the_broker_s_configuration_is_the_one_that_ships() -> None:
    assert shipped() == (ROOT / "systemd/mosquitto/wheeld.conf").read_bytes()


def test_a_simulated_board_plays_as_fast_as_the_configuration_expects() -> None:
    unit = (ROOT / "systemd/wheeld-sim@.service").read_text()
    assert "--speed 5" in unit
    text = sections(LAYOUT, site="s", table="t", last_number=None, port=Path("/x"), speed=5)
    sensors = parse(f'{text}[journal]\npath = "j"\n[mqtt]\nhost = "h"\n').sensors
    assert sensors is not None
    assert {key: getattr(sensors, key) for key in OF_A_SIMULATED_BOARD} == OF_A_SIMULATED_BOARD


def test_its_line_is_where_its_unit_puts_it(computer: BareComputer) -> None:
    unit = (ROOT / "systemd/wheeld-sim@.service").read_text()
    line = Places(computer, "%i").line.relative_to(computer.root)
    assert f"--pty /{line}" in unit
    assert "RuntimeDirectory=wheeld-sim/%i" in unit
