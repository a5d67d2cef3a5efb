"""`wheeld status` and `wheeld logs`, with systemd's own answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from wheeld.cli.main import main
from wheeld.config import instance
from wheeld.exits import Exit

Captured = pytest.CaptureFixture[str]
Answers = Callable[[str, str], None]
UNIT = "wheeld@campione-03"
SINCE = "Fri 2026-11-27 21:04:05 UTC"


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Answers:
    """A computer with one wheel; a program that is given here prints its text, and notes how it was called. Of the
    pages' unit it prints the file `pages`, and of the backup's the file `backup`: that there are none, unless a test
    writes another."""
    (tmp_path / "etc/wheeld").mkdir(parents=True)
    (tmp_path / "etc/wheeld/campione-03.toml").touch()
    monkeypatch.setattr(instance, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def program(name: str, text: str) -> None:
        (tmp_path / "said").write_text(text)
        for other in ("pages", "backup"):
            (tmp_path / other).write_text(shown("inactive", "dead", boots=""))
        others = f"*wheeld-page@*|*wheeld-sim@*) cat {tmp_path}/pages ;; *wheeld-backup@*) cat {tmp_path}/backup ;;"
        said = f'case "$*" in {others} *) cat {tmp_path}/said ;; esac'
        (tmp_path / name).write_text(f'#!/bin/sh\n{said}\necho "$@" >> {tmp_path}/called\n')
        (tmp_path / name).chmod(0o755)

    return program


def shown(
    state: str,
    sub: str,
    *,
    result: str = "success",
    code: int = 0,
    status: str = "",
    boots: str = "enabled",
    restarts: int = 0,
    reload: str = "success",
    asserted_us: int = 0,
) -> str:
    return (
        f"Result={result}\nExecMainStatus={code}\nActiveState={state}\nSubState={sub}\nStatusText={status}\n"
        f"UnitFileState={boots}\nNRestarts={restarts}\nReloadResult={reload}\n"
        f"AssertResult=no\nAssertTimestampMonotonic={asserted_us}\n"
        + (f"ActiveEnterTimestamp={SINCE}\nStateChangeTimestamp=reload\n" if state == "active" else "")
        + (f"ActiveEnterTimestamp=start\nStateChangeTimestamp={SINCE}\n" if state != "active" else "")
    )


WAITS = "campione-03: suspended, coup 7; waiting for: the chef to resume"
STANDS = {
    "runs": (
        shown("active", "running", status=WAITS),
        [f"campione-03 has been running since {SINCE}", f"the daemon reports: {WAITS}"],
    ),
    "runs for a second at each try": (
        shown("active", "running", restarts=7),
        [
            f"campione-03 has been running since {SINCE}",
            "it has ended by itself, and systemd has started it again (times: 7)",
        ],
    ),
    "runs on after a reload that was refused": (
        shown("active", "running", status=WAITS, reload="exit-code"),
        [
            f"campione-03 has been running since {SINCE}",
            (
                "the last reload was refused: unless the configuration has been corrected since, the next start fails, "
                "too; `wheeld check-config campione-03` says what is wrong"
            ),
            f"the daemon reports: {WAITS}",
        ],
    ),
    "has a full disk": (
        shown("deactivating", "stop-post", result="exit-code", code=74),
        [
            f"campione-03 has not run since {SINCE}",
            f"it ended with exit code 74: {Exit.IO_FAILED.text}",
            "systemd starts it again",
        ],
    ),
    "stops": (
        shown("deactivating", "stop-post"),
        [f"campione-03 is starting or stopping, since {SINCE}"],
    ),
    "wrong": (
        shown("failed", "failed", result="exit-code", code=78, status="campione-03.toml:3: table.id: is missing"),
        [
            f"campione-03 has not run since {SINCE}",
            f"it ended with exit code 78: {Exit.BAD_CONFIG.text}",
            f"after you have corrected the cause: `systemctl reset-failed {UNIT}`, then `systemctl start {UNIT}`",
            "the daemon reports: campione-03.toml:3: table.id: is missing",
        ],
    ),
    "tried again": (
        shown("activating", "auto-restart", result="exit-code", code=74),
        [f"it ended with exit code 74: {Exit.IO_FAILED.text}", "systemd starts it again"],
    ),
    "tried too often": (
        shown("failed", "failed", result="start-limit-hit", code=74),
        [f"it ended with exit code 74: {Exit.IO_FAILED.text}"],
    ),
    "killed": (
        shown("failed", "failed", result="watchdog", code=6),
        ["systemd ended it, or could not start it: watchdog 6"],
    ),
    "starting": (shown("activating", "start"), [f"campione-03 is starting or stopping, since {SINCE}"]),
    "stopped": (
        shown("inactive", "dead", boots="disabled", status="old"),
        [
            "campione-03 is stopped; start it: `systemctl start wheeld@campione-03`",
            "it does not start with the computer; to change this: `systemctl enable wheeld@campione-03`",
        ],
    ),
}


@pytest.mark.parametrize("name", STANDS)
def test_how_a_wheel_stands(name: str, answers: Answers, tmp_path: Path, capsys: Captured) -> None:
    told, said = STANDS[name]
    answers("systemctl", told)
    runs = name.startswith("runs") or name in ("stops", "starting")
    assert main(["status", "campione-03", "--language", "en"]) == (Exit.OK if runs else Exit.LOOK)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line in said] == said
    assert "`wheeld logs campione-03` prints more" in lines
    assert "old" not in " ".join(lines)
    asked = [line.split()[-1] for line in (tmp_path / "called").read_text().splitlines()]
    assert asked == [f"{unit}@campione-03" for unit in ("wheeld", "wheeld-page", "wheeld-sim", "wheeld-backup")]
    assert not any(word in " ".join(lines) for word in ("page", "backup"))
    assert ("reload" in " ".join(lines)) == name.endswith("refused")
    assert ("ended by itself" in " ".join(lines)) == (name == "runs for a second at each try")


def test_pages_and_a_simulated_board_that_do_not_run(answers: Answers, tmp_path: Path, capsys: Captured) -> None:
    answers("systemctl", STANDS["runs"][0])
    (tmp_path / "pages").write_text(shown("failed", "failed", result="exit-code", code=74))
    assert main(["status", "campione-03", "--language", "en"]) == Exit.LOOK
    again = [f"systemctl {each} wheeld-page@campione-03" for each in ("reset-failed", "start")]
    lines = capsys.readouterr().out.splitlines()
    assert lines[-8:-4] == [
        f"the page of campione-03 has not run since {SINCE}",
        f"it ended with exit code 74: {Exit.IO_FAILED.text}",
        f"after you have corrected the cause: `{again[0]}`, then `{again[1]}`",
        "`journalctl --unit=wheeld-page@campione-03 --lines=20` prints more",
    ]
    sim = [
        line.replace("wheeld-page@", "wheeld-sim@").replace("the page of", "the simulated board of") for line in lines
    ]
    assert lines[-4:] == sim[-8:-4]


@pytest.mark.parametrize(
    ("backup", "said"),
    [
        (
            shown("failed", "failed", result="exit-code", code=74, boots="static"),
            "has failed; `journalctl --unit=wheeld-backup@campione-03 --lines=20` prints why",
        ),
        (
            shown("inactive", "dead", boots="static", asserted_us=7),
            (
                "was not made: no disk was mounted at /mnt/backup; mount it, then "
                "`systemctl start wheeld-backup@campione-03`"
            ),
        ),
    ],
)
def test_a_backup_that_failed(backup: str, said: str, answers: Answers, tmp_path: Path, capsys: Captured) -> None:
    answers("systemctl", STANDS["runs"][0])
    (tmp_path / "backup").write_text(backup)
    assert main(["status", "campione-03", "--language", "en"]) == Exit.OK
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"the last backup {said}"


def test_a_computer_that_systemd_did_not_start(answers: Answers, tmp_path: Path, capsys: Captured) -> None:
    answers("systemctl", "")
    (tmp_path / "systemctl").write_text("#!/bin/sh\nexit 1\n")
    assert main(["status", "campione-03"]) == Exit.NOT_INSTALLED
    assert capsys.readouterr().out == ""


def test_a_wheel_that_is_not_here(answers: Answers, capsys: Captured) -> None:
    answers("systemctl", "")
    assert main(["status", "campione-04"]) == Exit.NO_INPUT
    assert "no wheel with that name" in capsys.readouterr().err


def test_a_log_in_words(answers: Answers, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    ours = {"event": "link.unavailable", "level": "warning", "at": "x", "why": "no port", "then": "trying again"}
    messages = [
        ("4", json.dumps(ours)),
        ("6", json.dumps({"event": "daemon.ready", "level": "info", "table": "campione-03"})),
        ("6", "Started wheeld@campione-03.service"),
        ("3", [0x1B, 0x5B, 0xFF]),
        ("6", "3"),
        ("6", None),
    ]
    entries = [{"__REALTIME_TIMESTAMP": "1795813445000000", "PRIORITY": level, "MESSAGE": m} for level, m in messages]
    answers("journalctl", "".join(f"{json.dumps(each)}\n" for each in entries))
    assert main(["logs", "campione-03", "--lines", "7"]) == Exit.OK
    lines = [line.removeprefix("2026-11-27 21:04:05  ") for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "warning: link: unavailable; no port; then trying again",
        "daemon: ready; table campione-03",
        "Started wheeld@campione-03.service",
        "error: \\x1b[\ufffd",
        "3",
        "None",
    ]
    assert (tmp_path / "called").read_text().split() == ["--output=json", "--lines=7", "--unit=wheeld@campione-03"]
