"""A step of a plan: a directory, files or a command, and the action for it. A step that is only made, and not carried
out, changes nothing.

Setup replaces an existing file in two cases only, where it can make it again from other files: a certificate that
expires soon or has no key, and an access list that lacks a table or that its broker would refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from wheeld.core.catalogue import Catalogue, Text, translatable
from wheeld.setup.computer import Computer


class Action(StrEnum):
    """The action for a step, in the English words that people read."""

    MAKE = translatable("make")
    REPLACE = translatable("replace")
    RUN = translatable("run")
    STAYS = translatable("stays")
    DIFFERS = translatable("differs")
    UNKNOWN = translatable("unknown")


class Put(NamedTuple):
    """A file to be written. `make` returns its content. When it is called, the files of earlier steps must exist."""

    path: Path
    mode: int
    make: Callable[[], bytes]
    group: str = "root"
    owner: str = "root"


class SetupStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step. `what` and `why` are for people. The step makes `files` or `directory`, or runs `command`."""

    action: Action
    what: str
    why: Text
    files: tuple[Put, ...] = ()
    directory: tuple[Path, int, str] | None = None
    """The path, the mode, and the owner as `USER` or `USER:GROUP`."""
    command: tuple[str, ...] = ()

    @property
    def does(self) -> bool:
        """Whether the step changes the computer."""
        return self.action in (Action.MAKE, Action.REPLACE, Action.RUN)


def directory(computer: Computer, path: Path, mode: int, owner: str, why: Text) -> SetupStep:
    """Return the step for a directory. `owner` is `USER:GROUP`, or one name for both."""
    action = Action.STAYS if computer.is_directory(path) else Action.MAKE
    return SetupStep(action=action, what=f"{path}/", why=why, directory=(path, mode, owner))


def secret(computer: Computer, put: Put, why: Text) -> SetupStep:
    """Return the step for a key. An existing file stays, whatever its content is."""
    action = Action.MAKE if computer.read(put.path) is None else Action.STAYS
    return SetupStep(action=action, what=str(put.path), why=why, files=(put,))


def text(computer: Computer, put: Put, why: Text, otherwise: Text) -> SetupStep:
    """Return the step for a file of known content. `otherwise` says what to do if another file is there."""
    found = computer.read(put.path)
    if found is None:
        return SetupStep(action=Action.MAKE, what=str(put.path), why=why, files=(put,))
    if found == put.make():
        return SetupStep(action=Action.STAYS, what=str(put.path), why=why)
    differs = Text("is not what setup would write; {otherwise}", {"otherwise": otherwise})
    return SetupStep(action=Action.DIFFERS, what=str(put.path), why=differs)


def command(words: Sequence[str], why: Text) -> SetupStep:
    """Return the step for a command."""
    return SetupStep(action=Action.RUN, what=" ".join(words), why=why, command=tuple(words))


def looked(make: Callable[[], SetupStep], what: object) -> SetupStep:
    """Return the step that `make` returns. If this user cannot read the files, return a step which says that only root
    can see them."""
    try:
        return make()
    except PermissionError:
        return SetupStep(action=Action.UNKNOWN, what=str(what), why=Text("only root can see whether it exists"))


def shown(plan: Sequence[SetupStep], catalogue: Catalogue) -> str:
    """Return the plan for people, one line for each step."""
    words = {action: catalogue.say(action) for action in Action}
    width = max(map(len, words.values()))
    lines = []
    for step in plan:
        modes = {f"{put.mode:04o}" for put in step.files}
        if step.directory is not None:
            modes = {f"{step.directory[1]:04o}"}
        about = catalogue.say_text(step.why)
        if modes and step.does:
            about += f" ({', '.join(sorted(modes))})"
        lines.append(f"  {words[step.action]:<{width}}  {step.what:<58}  {about}".rstrip() + "\n")
    return "".join(lines)


def carry_out(plan: Sequence[SetupStep], computer: Computer) -> None:
    """Do the steps that change something, in order. Raises OSError, SetupError. After an error, make a new plan."""
    for step in plan:
        if not step.does:
            continue
        if step.directory is not None:
            path, mode, owners = step.directory
            owner, _, group = owners.partition(":")
            computer.make_directory(path, mode=mode, owner=owner, group=group or owner)
        for put in step.files:
            computer.write(put.path, put.make(), mode=put.mode, owner=put.owner, group=put.group)
        if step.command:
            computer.run(*step.command)
