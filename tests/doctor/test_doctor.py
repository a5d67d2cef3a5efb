"""`wheeld doctor` as a technician has it: angles that are wrong in the file are right after."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from contextlib import closing
from pathlib import Path

import pytest
from serial import Serial

from hw_sim.demo import LAYOUT
from tests.cli.live import PATIENCE_S, running
from tests.journal.journals import open_reader, write_keys
from tests.live.bench import Wheel, turning, write_config
from tests.mosquitto import free_port
from wheeld.cli.main import main
from wheeld.config.reading import load
from wheeld.doctor.geometry import apart_deg
from wheeld.doctor.rewrite import RewriteError, with_angles
from wheeld.exits import Exit

WRONG_DEG = (0.0, 83.0, 180.0, 270.0)


async def doctor(*arguments: str) -> tuple[int, str, str]:
    pipe = asyncio.subprocess.PIPE
    words = ("-m", "wheeld", "doctor", *arguments)
    process = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=pipe, stderr=pipe)
    async with asyncio.timeout(PATIENCE_S):
        out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def test_a_wheel_is_aligned(tmp_path: Path) -> None:
    path = write_config(tmp_path, 1883)
    path.write_text(path.read_text().replace("[0.0, 90.0, 180.0, 270.0]", f"{list(WRONG_DEG)}  # as drawn"))
    async with turning(Wheel(11), tmp_path / "board") as wheel:
        playing = asyncio.create_task(wheel.play("valid", "valid", "valid"))
        code, out, err = await doctor("-c", str(path), "--seconds", "3", "--learn")
        await playing
        assert code == Exit.OK, out + err
        (found_deg,) = re.findall(r"wrong  beam 2 is at ([0-9.]+)°.+; learn the angles with `wheeld doctor", out)
        assert f"`wheeld doctor {path} --seconds 180 --learn`, or move the sensor\n" in out, "the wheel as it was given"
        assert abs(float(found_deg) - 90) < 1
        playing = asyncio.create_task(wheel.play("valid", "valid", "valid"))
        _, out, err = await doctor("-c", str(path), "--seconds", "3")
        await playing
    assert re.search(r"ok  beam 2 is at [0-9.]+° ±", out), out + err
    assert "from beams_deg" not in out
    learned = load(path).table.beams_deg
    assert all(abs(apart_deg(a, b)) < 1 for a, b in zip(learned, LAYOUT.beams_deg, strict=True)), learned
    assert "# as drawn" in path.read_text()
    assert "83.0" in path.with_name("wheel.toml.before").read_text()


async def test_a_board_that_is_not_there_is_said_to_be_wrong(tmp_path: Path) -> None:
    path = write_config(tmp_path, 1883)
    code, out, _ = await doctor("-c", str(path), "--seconds", "2")
    assert code == Exit.BAD_DATA
    (line,) = re.findall(r"^ *(?:look|wrong)  (.+)", out, re.MULTILINE)
    assert line.startswith("the line to the sensors does not work, or reports nothing")
    assert "a line cannot be opened: " in line
    assert f"the port is not there: is the device plugged in? If it is, correct `port` in [sensors] of {path}" in line
    assert "cable" not in line


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [
        (
            "[sensors]",
            '[sensors]\nboard_serial = "0042"',
            (
                "the board's `board_serial` is SIM-0001, and the configuration asks for 0042; correct `board_serial` "
                "in [sensors] of {path}, or connect that board"
            ),
        ),
        (
            "[0.0, 90.0, 180.0, 270.0]",
            "[0.0, 120.0, 240.0]",
            (
                "the sensor board has other sensors than the configuration (beams 4, configured 3); correct the "
                "numbers of beams, readers and ticks in the configuration, or on the sensor board"
            ),
        ),
    ],
)
async def test_of_a_board_that_is_refused_only_that_is_said(
    tmp_path: Path, before: str, after: str, wrong: str
) -> None:
    """It answers, so its cable is well, and nothing of its sensors is known."""
    path = write_config(tmp_path, 1883)
    path.write_text(path.read_text().replace(before, after))
    async with turning(Wheel(11), tmp_path / "board"):
        code, out, err = await doctor("-c", str(path), "--seconds", "2")
    assert code == Exit.BAD_DATA, out + err
    assert re.findall(r"^ *(?:ok|look|wrong)  .+", out, re.MULTILINE) == [f"wrong  {wrong.format(path=path)}"]


async def test_a_board_that_another_program_has_is_said_to_be_so(tmp_path: Path) -> None:
    """Another wheel's daemon, say: ModemManager is not named unless it is that."""
    path = write_config(tmp_path, 1883)
    async with turning(Wheel(11), tmp_path / "board"):
        with closing(Serial(str(tmp_path / "board"), exclusive=True)):
            code, out, _ = await doctor("-c", str(path), "--seconds", "2")
    assert code == Exit.BAD_DATA
    assert re.search(rf"wrong  the line to the sensors .+: process {os.getpid()} holds the port \(.+\): stop that", out)


async def test_a_daemon_starts_on_a_journal_that_the_doctor_wrote_in(tmp_path: Path) -> None:
    key, public = write_keys(tmp_path)
    path, journal = write_config(tmp_path, free_port(), signing_key=key), tmp_path / "journal.sqlite"
    async with running(path) as daemon:
        await daemon.until("daemon.ready")
        code, out, err = await doctor("-c", str(path), "--seconds", "1")
        assert (code, out) == (Exit.NOT_OPENED, ""), out + err
        assert "`systemctl stop wheeld@wheel`" in err
        assert await daemon.end() == Exit.OK
    code, out, err = await doctor("-c", str(path), "--seconds", "1", "--by", "Rossi")
    assert (code, "what was found is stored, by Rossi" in out) == (Exit.BAD_DATA, True), out + err
    async with running(path) as daemon:
        await daemon.until("daemon.ready")
        assert await daemon.end() == Exit.OK
    assert main(["journal", "verify", str(journal), "--public-key", str(public)]) == Exit.OK
    with closing(open_reader(journal)) as reader:
        names = [(event.event, event.by) for event in reader.events(0, 100)]
        boots = [event.details for event in reader.events(0, 100) if event.event == "power_up"]
    kinds = [each for each in names if each[0] in ("power_up", "stop", "doctor")]
    assert [kind for kind, _ in kinds] == ["power_up", "stop", "doctor", "power_up", "stop"]
    assert ("doctor", "Rossi") in kinds
    assert '"stopped_in_order":true' in boots[1]


def test_what_is_connected_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == Exit.OK
    assert "serial port" in capsys.readouterr().out
    assert main(["doctor", "campione-04"]) == Exit.NO_INPUT  # only that there is no such wheel
    assert capsys.readouterr().out == ""


def test_only_the_angles_change_in_the_file() -> None:
    before = "[table]\nbeams_deg = 1\n[wheel] # ours\n  beams_deg = [0, 90]  # two\nreaders_deg=[7]\n[mqtt]\n"
    after = with_angles(before, {"beams_deg": [0.0, 91.5], "readers_deg": [8.0]})
    assert after == "[table]\nbeams_deg = 1\n[wheel] # ours\nbeams_deg = [0, 91.5]  # two\nreaders_deg = [8]\n[mqtt]\n"


@pytest.mark.parametrize(
    "text",
    ["[mqtt]\n", "[wheel]\n", "[wheel]\nbeams_deg = [\n0, 90]\n", "[wheel]\n[a]\nbeams_deg = [0]"],
)
def test_a_file_that_cannot_be_changed_by_machine_is_left_alone(text: str) -> None:
    with pytest.raises(RewriteError):
        with_angles(text, {"beams_deg": [0.0]})
