"""`wheeld status` and `wheeld logs`: the state and the log of a wheel's unit, from systemd, in words."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from wheeld.cli.failure import catalogue_of
from wheeld.config.instance import wheel_of
from wheeld.core.catalogue import Part, Text
from wheeld.exits import Exit
from wheeld.screen.terminal import printable

PROPERTIES = (
    "ActiveState,SubState,ActiveEnterTimestamp,StateChangeTimestamp,StatusText,Result,ExecMainStatus,UnitFileState,"
    "NRestarts,ReloadResult,AssertResult,AssertTimestampMonotonic"
)
LEVELS = {"2": "critical: ", "3": "error: ", "4": "warning: "}
"""The word for each priority. An ordinary priority has no word."""
TOLD = frozenset({"event", "level", "at", "why"})
"""The members of a line of our log that are not listed at its end, because the line says them before."""


def status(options: argparse.Namespace) -> Exit:
    """Print the state of the units of the wheel, of its pages and of its simulated board, and what to do if one of them
    does not run. In that case the exit code is the one that `systemctl status` returns. Raises OSError.

    Nothing is printed about pages, or a simulated board, that do not run and do not start with the computer, and
    nothing about the backup unless the last one failed.
    """
    name = wheel_of(options.wheel).config.stem
    units: dict[str, Part] = {
        f"wheeld@{name}": name,
        f"wheeld-page@{name}": Text("the page of {wheel}", {"wheel": name}),
        f"wheeld-sim@{name}": Text("the simulated board of {wheel}", {"wheel": name}),
    }
    catalogue, code = catalogue_of(options), Exit.OK
    for unit, what in units.items():
        logs = f"wheeld logs {name}" if what == name else f"journalctl --unit={unit} --lines=20"
        if (told := _shown(unit)) is None:
            return Exit.NOT_INSTALLED
        if what != name and told["ActiveState"] == "inactive" and told["UnitFileState"] != "enabled":
            continue
        if told["ActiveState"] in ("failed", "inactive") or _is_again(told):
            code = Exit.LOOK
        for text in _standing(what, unit, logs, told):
            sys.stdout.write(f"{printable(catalogue.say_text(text))}\n")
    backup = f"wheeld-backup@{name}"
    if (told := _shown(backup)) is None:
        return Exit.NOT_INSTALLED
    failed = None
    if told["AssertResult"] == "no" and told["AssertTimestampMonotonic"] != "0":
        # The unit asserts this, so systemd did not start it.
        start: dict[str, Part] = {"start": f"systemctl start {backup}"}
        failed = Text(
            "the last backup was not made: no disk was mounted at /mnt/backup; mount it, then `{start}`", start
        )
    elif told["ActiveState"] == "failed":
        logs = f"journalctl --unit={backup} --lines=20"
        failed = Text("the last backup has failed; `{logs}` prints why", {"logs": logs})
    if failed is not None:
        sys.stdout.write(f"{printable(catalogue.say_text(failed))}\n")
    return code


def _shown(unit: str) -> dict[str, str] | None:
    """Return what systemd knows of the unit, or None if systemctl has printed that it cannot say."""
    asked = ["systemctl", "show", f"--property={PROPERTIES}", unit]
    # Only the name of the unit varies in this command.
    shown = subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603
    return None if shown.returncode else dict(line.partition("=")[::2] for line in shown.stdout.splitlines())


def _is_again(told: Mapping[str, str]) -> bool:
    """Return whether the unit has failed and systemd starts it again. After exit code 74, systemd waits some seconds
    before that."""
    sub = told["SubState"]
    return sub == "auto-restart" or (sub == "stop-post" and told["Result"] != "success")


def _standing(what: Part, unit: str, logs: str, told: Mapping[str, str]) -> Iterator[Text]:
    state, is_again = told["ActiveState"], _is_again(told)
    # While the unit runs, each reload changes `StateChangeTimestamp`, even a reload that failed.
    changed = "ActiveEnterTimestamp" if state == "active" else "StateChangeTimestamp"
    since: dict[str, Part] = {"wheel": what, "since": told[changed]}
    start = f"systemctl start {unit}"
    if state == "active":
        yield Text("{wheel} has been running since {since}", since)
        if told["ReloadResult"] != "success":
            yield Text(
                "the last reload was refused: unless the configuration has been corrected since, the next start fails, "
                "too; `{check}` says what is wrong",
                {"check": f"wheeld check-config {unit.partition('@')[2]}"},
            )
    elif state == "inactive":
        yield Text("{wheel} is stopped; start it: `{start}`", {"wheel": what, "start": start})
    elif state != "failed" and not is_again:
        yield Text("{wheel} is starting or stopping, since {since}", since)
    else:
        yield Text("{wheel} has not run since {since}", since)
        code = told["ExecMainStatus"]
        known = {str(each.value): each.text for each in Exit}
        if told["Result"] in ("exit-code", "start-limit-hit") and code in known:
            yield Text("it ended with exit code {code}: {why}", {"code": code, "why": known[code]})
        else:
            yield Text("systemd ended it, or could not start it: {result}", {"result": f"{told['Result']} {code}"})
        if is_again:
            yield Text("systemd starts it again")
        else:
            again = {"reset": f"systemctl reset-failed {unit}", "start": start}
            yield Text("after you have corrected the cause: `{reset}`, then `{start}`", again)
    if state not in ("inactive", "failed") and (count := told["NRestarts"]) != "0":
        # The pages may run at this moment although they fail: without their port they run for a second or two at each
        # start.
        yield Text("it has ended by itself, and systemd has started it again (times: {count})", {"count": count})
    if (last := told["StatusText"]) and state != "inactive":
        yield Text("the daemon reports: {what}", {"what": last})
    yield Text("`{logs}` prints more", {"logs": logs})
    if told["UnitFileState"] != "enabled":
        yield Text(
            "it does not start with the computer; to change this: `{enable}`", {"enable": f"systemctl enable {unit}"}
        )


def logs(options: argparse.Namespace) -> Exit:
    """Print the log of the wheel's unit, each line in words. Raises OSError."""
    unit = f"--unit=wheeld@{wheel_of(options.wheel).config.stem}"
    asked = ["journalctl", "--output=json", f"--lines={options.lines}", unit, *(["--follow"] if options.follow else [])]
    with subprocess.Popen(asked, stdout=subprocess.PIPE) as journal:  # noqa: S603  only the name of the unit varies
        assert journal.stdout is not None
        for line in journal.stdout:
            sys.stdout.write(f"{printable(in_words(json.loads(line)))}\n")
            sys.stdout.flush()
    return Exit.OK


def in_words(entry: Mapping[str, Any]) -> str:
    """Return a line of systemd's log in words: time, level, event, reason, and its other members."""
    at = datetime.fromtimestamp(int(entry["__REALTIME_TIMESTAMP"]) / 1e6)  # noqa: DTZ006  people read local time
    message, level = entry.get("MESSAGE"), LEVELS.get(entry.get("PRIORITY", ""), "")
    if isinstance(message, list):  # systemd writes bytes that are not text as a list
        message = bytes(message).decode(errors="replace")
    head = f"{at:%Y-%m-%d %H:%M:%S}  {level}"
    try:
        told = json.loads(message or "")
        what = told["event"].replace(".", ": ", 1).replace("_", " ")
    except (ValueError, TypeError, KeyError, AttributeError):  # this is not a line of our log
        return f"{head}{message}"
    more = [f"{key.replace('_', ' ')} {value}" for key, value in told.items() if key not in TOLD]
    return f"{head}{'; '.join([what, *filter(None, [told.get('why')]), *more])}"
