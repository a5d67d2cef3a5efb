"""Makes the manual page and the bash completion of a command from its parser, so that they always agree with it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FILES = frozenset({"FILE", "WHEEL", "JOURNAL", "COPY", "OUT"})
"""Metavars that mean a file. An option whose type is a path also takes a file."""


class Command(NamedTuple):
    """One command: the words that people type for it, what it does in one line, and its parser."""

    words: tuple[str, ...]
    about: str
    parser: argparse.ArgumentParser


def commands(whole: argparse.ArgumentParser) -> list[Command]:
    """Return the whole program, and then each command before its own subcommands."""
    return list(_commands(whole, (whole.prog,), ""))


def _commands(parser: argparse.ArgumentParser, words: tuple[str, ...], about: str) -> Iterator[Command]:
    yield Command(words, about, parser)
    for group in _groups(parser):
        helps = {action.dest: action.help or "" for action in group._choices_actions}
        for name, part in group.choices.items():
            yield from _commands(part, (*words, name), helps.get(name, ""))


def _groups(parser: argparse.ArgumentParser) -> list[argparse._SubParsersAction[argparse.ArgumentParser]]:
    return [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]


# --- the manual page --------------------------------------------------------------------------------------------------


def man_page(whole: argparse.ArgumentParser, *, about: str, version: str, date: str, more: str = "") -> str:
    """Return the page of section 1, in roff. `more`: sections that no parser knows, also in roff."""
    name = whole.prog
    examples, exits = _epilog(whole)
    lines = [
        f'.\\" Made from the command line of {name}: change that, not this.',
        f'.TH {name.upper()} 1 "{date}" "{_text(f"{name} {version}")}" "{_text("User Commands")}"',
        ".SH NAME",
        f"{_text(name)} \\- {_text(about)}",
        ".SH SYNOPSIS",
        *_usage(whole),
        ".SH DESCRIPTION",
        *_paragraphs(whole.description),
        ".SH OPTIONS",
        *_options(whole),
        *([".SH COMMANDS"] if _groups(whole) else []),
        *(line for command in commands(whole)[1:] for line in _section(command)),
        *([".SH EXAMPLES", *_verbatim(examples)] if examples else []),
        *([".SH EXIT STATUS", *_verbatim(exits)] if exits else []),
        *more.splitlines(),
    ]
    return "\n".join(lines) + "\n"


def _section(command: Command) -> Iterator[str]:
    yield f'.SS "{_text(" ".join(command.words[1:]))}"'
    yield from _usage(command.parser)
    if command.parser.description or command.about:
        yield ".PP"
        yield from _paragraphs(command.parser.description or f"{command.about.capitalize()}.")
    yield from _options(command.parser)
    examples, _ = _epilog(command.parser)
    # The subcommands of a command have the same examples, so they are not repeated.
    if examples and len(command.words) == 2:
        yield ".PP"
        yield "Examples:"
        yield from _verbatim(examples)


def _usage(parser: argparse.ArgumentParser) -> Iterator[str]:
    usage = parser.format_usage().removeprefix("usage: ")
    yield f".B {_text(' '.join(usage.split()))}"


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if action.help == argparse.SUPPRESS or isinstance(action, argparse._SubParsersAction):
            continue
        yield ".TP"
        yield _called(action)
        yield _text(_help(action)) or "\\&"


def _called(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else _metavar(action)
    if not action.option_strings:
        return f"\\fI{_text(value)}\\fR"
    names = ", ".join(f"\\fB{_text(name)}\\fR" for name in action.option_strings)
    return f"{names} \\fI{_text(value)}\\fR" if value else names


def _metavar(action: argparse.Action) -> str:
    if action.metavar is not None:
        return action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar)
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper() if action.option_strings else action.dest


def _help(action: argparse.Action) -> str:
    """Return the help as `--help` prints it. Its % marks stand for values of the action."""
    values = {key: value for key, value in vars(action).items() if value is not argparse.SUPPRESS}
    return (action.help or "") % {**values, "prog": ""} if "%" in (action.help or "") else action.help or ""


def _epilog(parser: argparse.ArgumentParser) -> tuple[str, str]:
    """Return the examples and the exit codes, each without its heading."""
    examples, _, exits = (parser.epilog or "").partition("exit codes:")
    _, found, examples = examples.partition("examples:\n")
    return (examples.rstrip() if found else ""), exits.strip()


def _paragraphs(text: str | None) -> Iterator[str]:
    for number, paragraph in enumerate(re.split(r"\n\s*\n", (text or "").strip())):
        if number:
            yield ".PP"
        yield _text(" ".join(paragraph.split()))


def _verbatim(text: str) -> list[str]:
    return [".nf", *(_text(line) or "\\&" for line in text.splitlines()), ".fi"]


def _text(text: str) -> str:
    """Return text that roff prints unchanged. A hyphen stays that of the keyboard, because people copy options."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").replace("…", "...")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


# --- completion -------------------------------------------------------------------------------------------------------


def completion(whole: argparse.ArgumentParser) -> str:
    """Return the completion for bash: commands, options, choices, and files where a command takes a file."""
    name = whole.prog
    function = "_" + re.sub(r"\W", "_", name)
    every = commands(whole)
    paths = [" ".join(command.words) for command in every]
    return "\n".join(
        [
            f"# bash completion of {name}, made from its command line.",
            f"{function}() {{",
            f'    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} at="{name}" words="" i',
            "    for ((i = 1; i < COMP_CWORD; i++)); do",
            '        case "$at ${COMP_WORDS[i]}" in',
            f'        {"|".join(_quoted(path) for path in paths[1:])}) at="$at ${{COMP_WORDS[i]}}" ;;',
            "        esac",
            "    done",
            '    case "$at $prev" in',
            *(line for command in every for line in _values(command)),
            "    esac",
            '    case "$at" in',
            *(f'    {_quoted(" ".join(each.words))}) words="{" ".join(_words(each.parser))}" ;;' for each in every),
            "    esac",
            '    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")',
            f'    case "$at" in {"|".join(_quoted(" ".join(each.words)) for each in every if _has_file(each.parser))})',
            '        [[ $cur == -* ]] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur") ;;',
            "    esac",
            "}",
            f"complete -o filenames -F {function} {name}",
            "",
        ]
    )


def _values(command: Command) -> Iterator[str]:
    """Yield the cases for what may follow an option that takes a value."""
    for action in command.parser._actions:
        if not action.option_strings or action.nargs == 0:
            continue
        patterns = "|".join(_quoted(f"{' '.join(command.words)} {option}") for option in action.option_strings)
        if action.choices is not None:
            words = " ".join(map(str, action.choices))
            yield f'    {patterns}) mapfile -t COMPREPLY < <(compgen -W "{words}" -- "$cur"); return ;;'
        elif _is_file(action):
            yield f'    {patterns}) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;'
        else:
            yield f"    {patterns}) COMPREPLY=(); return ;;"


def _words(parser: argparse.ArgumentParser) -> list[str]:
    names = [name for group in _groups(parser) for name in group.choices]
    shown = (action for action in parser._actions if action.help != argparse.SUPPRESS)
    return [*names, *(option for action in shown for option in action.option_strings)]


def _has_file(parser: argparse.ArgumentParser) -> bool:
    return any(not action.option_strings and _is_file(action) for action in parser._actions)


def _is_file(action: argparse.Action) -> bool:
    return action.type is Path or action.metavar in FILES


def _quoted(text: str) -> str:
    return f'"{text}"'
