"""The questions about a wheel, in order. The next question depends on the answers before it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from wheeld.broker.settings import TLS_PORT
from wheeld.config.problems import Problem
from wheeld.config.validation import wrong_port
from wheeld.core.catalogue import Catalogue, Part, Text, either
from wheeld.core.heads import HEADS
from wheeld.setup.answers import Answers, example_of, meaning
from wheeld.setup.computer import SetupError

Shape: TypeAlias = Literal["text", "number", "numbers", "angles", "names"]
ANGLES_MAX = 32
"""The most beams of a wheel. A single number from 2 to this is a count of sensors. Any other single number is an
angle."""
TRIES = 5
"""Setup gives up after this number of wrong answers to one question."""


class SetupQuestion(NamedTuple):
    """A question for the value of `key`. On the command line, `option` gives the answer. `default` is None if there is
    no default. `offers` are good answers that were found on this computer, or None if it has nothing to find. An
    `optional` question needs no answer."""

    key: str
    option: Part
    shape: Shape = "text"
    default: Any = None
    offers: tuple[str, ...] | None = None
    optional: bool = False


class Here(NamedTuple):
    """The names by which devices reach a broker on this computer, the paths of its serial ports, the path of the
    certificate of the house's authority, and the function that finds what the computer lacks for a wheel with these
    answers."""

    hosts: tuple[str, ...]
    lines: tuple[str, ...]
    authority: Path
    problems: Callable[[Answers], Iterable[Problem]]


def questions(answers: Answers, here: Here) -> Iterator[SetupQuestion]:
    """Yield one question after the other. Each answer must be stored before the next question is taken.

    The answers may be the complete configuration of a wheel that is set up again. It says what sees the wheel, and
    whether its broker is the house's.
    """
    yield SetupQuestion("setup.name", "NAME", default=answers.get("table.id"))
    described = answers.configuration
    sees = "head" if "head" in described else "pins" if "gpio" in described else "board"
    yield SetupQuestion("setup.sensors", either("--board, --head, --pins", "--simulated"), default=sees)
    is_simulated = answers.get("setup.sensors") == "simulated"
    yield SetupQuestion("table.site", "--site", default="bench" if is_simulated else None)
    yield SetupQuestion("table.id", "--table", default=answers.get("setup.name"))
    yield SetupQuestion("table.house", "--house", default="campione" if is_simulated else None)
    yield SetupQuestion("table.game", "--game", default="roulette" if is_simulated else None)
    match answers.get("setup.sensors"):
        case "board":
            default = here.lines[0] if len(here.lines) == 1 else None
            yield SetupQuestion("sensors.port", "--board", default=default, offers=here.lines)
            yield from _wheel()
        case "pins":
            yield from _wheel()
            yield SetupQuestion("gpio.encoder", "--answers", default="quadrature")
            for name in ("encoder_pins", "beam_pins", "reader_pins"):
                yield SetupQuestion(f"gpio.{name}", "--answers", "numbers")
        case "head":
            yield SetupQuestion("head.product", "--head")
            yield SetupQuestion("head.port", "--head-line", offers=here.lines)
            head = HEADS.get(answers.get("head.product"))
            if head is not None and not head.counts_laps and not answers.get("wheel.beams_deg"):
                yield SetupQuestion("table.unproven", "--unproven")
        case _:
            yield from _wheel((148, (0, 90, 180, 270), (30, 150, 270)))
    if answers.get("table.game") == "fair":
        yield SetupQuestion("wheel.rotor_direction", "--rotor-direction", default="cw")
    yield from _broker(answers, here)


def _broker(answers: Answers, here: Here) -> Iterator[SetupQuestion]:
    """Yield the questions about the broker and the login there."""
    is_another = answers.get("mqtt.host") is not None and answers.get("mqtt.ca_file") != str(here.authority)
    broker = "existing" if is_another else "house"
    yield SetupQuestion("setup.broker", either("--house-broker", "--broker"), default=broker)
    if answers.get("setup.broker") == "house":
        yield SetupQuestion("setup.broker_names", "--broker-name", "names", default=here.hosts)
        return
    yield SetupQuestion("mqtt.host", "--broker")
    yield SetupQuestion("mqtt.port", "--broker-port", "number", default=TLS_PORT)
    yield SetupQuestion("mqtt.cert_file", "--cert-file", optional=True)
    if has_certificate := answers.get("mqtt.cert_file") is not None:
        yield SetupQuestion("mqtt.key_file", "--key-file")
    # With a certificate of the wheel, the system's authorities count. On this port, one of the two must turn TLS on.
    is_optional = has_certificate or answers.get("mqtt.port") != TLS_PORT
    yield SetupQuestion("mqtt.ca_file", "--ca-file", optional=is_optional)
    if has_certificate:
        return
    yield SetupQuestion("mqtt.username", "--username", optional=True)
    if answers.get("mqtt.username"):
        yield SetupQuestion("mqtt.password_file", "--password-file", optional=True)


def _wheel(defaults: Sequence[Any] = (None, None, None)) -> Iterator[SetupQuestion]:
    """Yield the questions about sensors of our own. A wheel with a head may have no such sensors."""
    ticks, beams, readers = defaults
    yield SetupQuestion("wheel.rotor_ticks", "--ticks", "number", default=ticks)
    yield SetupQuestion("wheel.beams_deg", "--beams", "angles", default=beams)
    yield SetupQuestion("wheel.readers_deg", "--readers", "angles", default=readers)


def value_of(text: str, shape: Shape) -> Any:
    """Return the value that a person typed. Unsuitable text stays text, and the check of the answer refuses it."""
    words = [word for word in re.split(r"[\s,\[\]]+", text) if word]
    if shape == "names":
        return words
    if shape == "text":
        return text.strip()
    numbers = [_number(word) for word in words]
    if None in numbers or not numbers:
        return text.strip()
    if shape == "number":
        return numbers[0] if len(numbers) == 1 else text.strip()
    if shape == "angles" and len(numbers) == 1 and numbers[0] in range(2, ANGLES_MAX + 1):
        return evenly(int(numbers[0] or 0))
    return numbers


def evenly(count: int) -> list[float]:
    """Return `count` evenly spaced angles. `wheeld doctor --learn` measures the true ones."""
    return [round(place * 360 / count, 2) for place in range(count)]


def _number(word: str) -> float | None:
    try:
        return int(word) if re.fullmatch(r"-?\d{1,9}", word) else float(word)
    except ValueError:
        return None


def take_defaults(answers: Answers, here: Here, *, unasked: bool = True) -> None:
    """Fill in defaults for missing answers. Raises ConfigError with all problems if a required answer has none. If the
    person did not want it `unasked` (--yes), and all given answers are good, raises SetupError."""
    missing: list[Problem] = []
    for question in questions(answers, here):
        if answers.get(question.key) is None and question.default is not None:
            answers.put(question.key, question.default)
        if answers.get(question.key) is None and not question.optional:
            _, accepted = meaning(question.key)
            how: dict[str, Part] = {"expected": accepted, "option": question.option}
            what = Text("is missing; expected {expected}; give {option}, or write it in a file of answers", how)
            missing.append(Problem(question.key, what))
    if missing:
        wrong = answers.problems()
        if not unasked and not wrong:
            what = Text(
                "nobody can answer here, because the input is not a terminal: nothing was done; {command} says what to "
                "give",
                {"command": "`wheeld setup --yes`"},
            )
            raise SetupError(what)
        answers.refuse(wrong, missing)  # an answer may be missing because the name of its key is wrong


def ask_all(
    answers: Answers, here: Here, ask: Callable[[str], str], say: Callable[[str], None], catalogue: Catalogue
) -> None:
    """Ask for each missing answer until it is good. Raises EOFError if the input ends, and SetupError after `TRIES`
    wrong answers. Raises ConfigError if something must be asked after a wrong answer of an option or a file: perhaps no
    answer would be right."""
    wrong: list[Problem] = []
    for question in questions(answers, here):
        if answers.get(question.key) is not None:
            wrong += _wrong_at(question.key, answers, here)
            continue
        if wrong:
            answers.refuse(wrong)
        for offer in question.offers or ():
            say(f"  {catalogue.say('found here: {offer}', offer=offer)}")
        if question.offers == ():
            say(f"  {catalogue.say('no serial port: is the device plugged in?')}")
        if not any(_is_answered(question, answers, here, ask, say, catalogue) for _ in range(TRIES)):
            what = Text("none of {count} answers to this question can be used: nothing was done", {"count": str(TRIES)})
            raise SetupError(what)


def _wrong_at(key: str, answers: Answers, here: Here) -> list[Problem]:
    return [problem for problem in (*answers.problems(), *here.problems(answers)) if problem.key == key]


def _is_answered(
    question: SetupQuestion,
    answers: Answers,
    here: Here,
    ask: Callable[[str], str],
    say: Callable[[str], None],
    catalogue: Catalogue,
) -> bool:
    """Ask once, and return whether the answer is good."""
    title, accepted = meaning(question.key)
    default = question.default
    shown = ", ".join(map(str, default)) if isinstance(default, list | tuple) else str(default or "")
    hint = catalogue.say("nothing") if question.optional else shown
    asked = f"{catalogue.say(title)}\n  ({catalogue.say_text(accepted)}){f' [{hint}]' if hint else ''}"
    text = ask(catalogue.say("{first}: {second}", first=asked, second="")).strip()
    answer = value_of(text, question.shape) if text else question.default
    if answer is None:
        if not question.optional:
            said = Text(
                "this question has no default; an answer is, for example, {example}",
                {"example": example_of(question.key)},
            )
            say(f"  {catalogue.say_text(said)}")
        return question.optional
    answers.put(question.key, answer)
    problems = _wrong_at(question.key, answers, here)
    for problem in problems:
        say(f"  {catalogue.say_text(problem.what)}")
    if problems:
        answers.put(question.key, None)
    elif question.offers is not None:
        for note in wrong_port(question.key, answer):
            say(f"  {catalogue.say_text(note)}")
    return not problems
