"""The configuration file: TOML, read and judged whole before anything starts.

Every problem is told at once, each with its key, its line where that can be found, and what was expected. A key that
nobody knows is a problem too, for a mistyped setting that is silently ignored is worse than none. What the values
*mean* for the law is judged in one place only, the core's `TableSetting`. Secrets stand in files of their own, or are
credentials of systemd.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, get_args

import msgspec
from msgspec import Meta, structs

from wheeld.config import gpio as config_gpio
from wheeld.config import head as config_head
from wheeld.config.gpio import GpioSection
from wheeld.config.head import HeadSection
from wheeld.config.paths import CREDENTIAL, MISPLACED, SECRETS, credentials_directory, resolve, trouble
from wheeld.core.houses import PROFILES
from wheeld.core.observations import Source, Unproven
from wheeld.core.setting import TableSetting
from wheeld.errors import WheeldError

_Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=255, description="a text that is not empty")]
_File: TypeAlias = Annotated[Path, Meta(description="the path of a file")]
_Angles: TypeAlias = Annotated[
    tuple[float, ...],
    Meta(description="a list of angles in degrees, clockwise seen from above, like [0, 90, 180, 270]"),
]
_Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=3600, description="seconds, more than 0")]
_Port: TypeAlias = Annotated[int, Meta(ge=1, le=65535, description="a TCP port, 1 to 65535")]


def _whole(low: int, high: int, what: str) -> Meta:
    return Meta(ge=low, le=high, description=f"{what}, {low} to {high}")


class TableSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[table]`: which table this is, and the figures of its law."""

    site: _Text
    id: _Text
    house: _Text
    game: _Text
    min_laps: int = 3
    sightings_to_call: int = 3
    last_number: int | None = None
    auto_rien_ne_va_plus_rev_s: float | None = None
    unproven: Unproven | None = None


class WheelSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[wheel]`: where the sensors sit on the bowl, and the rotor's encoder.

    A wheel with a `[head]` may leave out what the head tells; who tells of `rotor`, `ball` and `pocket` follows from
    what is there, and may be said.
    """

    rotor_ticks: int = 0
    beams_deg: _Angles = ()
    readers_deg: _Angles = ()
    rotor: Source | None = None
    ball: Source | None = None
    pocket: Source | None = None
    rotor_direction: Literal["cw", "ccw"] | None = None


class SensorsSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[sensors]`: the serial line to the board, and which board must be at its end."""

    port: _Text
    baud: Annotated[int, _whole(9600, 4_000_000, "the line's bits a second")] = 115200
    silence_s_max: Annotated[float, Meta(ge=0.02, le=60, description="seconds, 0.02 to 60")] = 1.0
    board_serial: _Text | None = None
    config_hash: (
        Annotated[str, Meta(pattern="^[0-9a-f]{16}$", description="16 hexadecimal digits, as the board tells them")]
        | None
    ) = None
    max_drift_ppm: Annotated[int, _whole(1, 100_000_000, "parts in a million")] = 200
    """Crystals keep 200. A simulated board that plays n times faster than life needs (n - 1) · 1,000,000."""


class JournalSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[journal]`: where everything that was said is kept, who signs it, and how long evidence stays."""

    path: _File
    signing_key_file: _File | None = None
    evidence_age_days: Annotated[float, Meta(ge=1, le=36_525, description="days, 1 to 36525")] | None = None
    evidence_bytes_max: Annotated[int, _whole(1_000_000, 2**50, "bytes")] | None = None


class MqttSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[mqtt]`: the broker, and how to be known to it."""

    host: _Text
    port: _Port = 1883
    username: _Text | None = None
    password_file: _File | None = None
    client_id: _Text | None = None
    protocol: Literal["5", "3.1.1"] = "5"
    ca_file: _File | None = None
    cert_file: _File | None = None
    key_file: _File | None = None
    keepalive_s: Annotated[int, _whole(1, 3600, "whole seconds")] = 5
    publish_timeout_s: _Seconds = 5.0
    settlement_ack: bool = False


class LogSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[log]`: how much is told on standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file, judged good."""

    table: TableSection
    wheel: WheelSection
    sensors: SensorsSection | None = None
    gpio: GpioSection | None = None
    head: HeadSection | None = None
    journal: JournalSection
    mqtt: MqttSection
    log: LogSection = LogSection()

    def setting(self) -> TableSetting:
        """What the core needs of it. The wheel is the game's; of a game that nobody knows, what its rotor suggests."""
        table, wheel = self.table, self.wheel
        profile = PROFILES.get((table.house, table.game))
        return TableSetting(
            site=table.site,
            table=table.id,
            house=table.house,
            game=table.game,
            wheel=profile.wheel if profile else "fair" if wheel.rotor_direction else "french",
            rotor_ticks=wheel.rotor_ticks,
            beams_deg=wheel.beams_deg,
            readers_deg=wheel.readers_deg,
            rotor_direction=wheel.rotor_direction,
            min_laps=table.min_laps,
            sightings_to_call=table.sightings_to_call,
            last_number=table.last_number,
            auto_rien_ne_va_plus_rev_s=table.auto_rien_ne_va_plus_rev_s,
            head=None if self.head is None else self.head.product,
            rotor=wheel.rotor or self._teller(by_sensors=wheel.rotor_ticks > 0),
            ball=wheel.ball or self._teller(by_sensors=bool(wheel.beams_deg)),
            pocket=wheel.pocket or self._teller(by_sensors=bool(wheel.readers_deg)),
            unproven=table.unproven,
        )

    def _teller(self, *, by_sensors: bool) -> Source:
        """Who tells of something where it is not said: sensors, where there are some or no head."""
        return "sensors" if by_sensors or self.head is None else "head"


class Problem(NamedTuple):
    """What is wrong with one key; `line` counts from 1, None where it stands nowhere."""

    key: str
    what: str
    line: int | None = None


class ConfigError(WheeldError, ValueError):
    """The file cannot be used. The message is for the person who wrote it: a line a problem."""

    def __init__(self, name: str, problems: list[Problem]) -> None:
        self.problems = problems
        places = [name if problem.line is None else f"{name}:{problem.line}" for problem in problems]
        super().__init__(
            "\n".join(
                f"{place}: {problem.key}: {problem.what}" if problem.key else f"{place}: {problem.what}"
                for place, problem in zip(places, problems, strict=True)
            )
        )


def load(path: Path) -> Config:
    """Read and judge the file at `path`; raises OSError when it cannot be read, ConfigError when it is wrong.

    Paths in it are relative to the directory it stands in; a key that ends in `_file` may name a credential of systemd.
    """
    raw = path.read_bytes()
    try:
        text = raw.decode()
    except UnicodeDecodeError as wrong:
        line = raw[: wrong.start].count(b"\n") + 1
        raise ConfigError(str(path), [Problem("", "is not UTF-8 text", line)]) from None
    return parse(text, name=str(path), directory=path.parent, credentials=credentials_directory())


def parse(
    text: str, *, name: str = "configuration", directory: Path = Path(), credentials: Path | None = None
) -> Config:
    """Judge the text of a file called `name`; raises ConfigError with every problem found."""
    try:
        tree = tomllib.loads(text)
    except (ValueError, RecursionError) as wrong:  # of numbers too, 5,000 digits long, and of a thousand brackets
        raise ConfigError(name, [_syntax_problem(str(wrong))]) from None
    reader = _Reader(directory, credentials)
    config = reader.config(tree)
    problems = reader.problems
    if config is not None and not problems:
        meaning = _judge_meaning(config)
        problems = [
            *meaning,
            *([] if meaning else _judge_sources(config)),  # who tells of what must be clear first
            *_judge_files(config),
            *_judge_broker(config.mqtt),
        ]
    if config is None or problems:
        lines = _lines_of_keys(text)
        located = [problem._replace(line=_line_of(problem.key, lines)) for problem in problems]
        raise ConfigError(name, sorted(located, key=lambda problem: problem.line or 0))
    return config


class _Reader:
    """From a tree of plain values to the structures, noting every problem rather than stopping at the first."""

    def __init__(self, directory: Path, credentials: Path | None) -> None:
        self._directory = directory
        self._credentials = credentials
        self.problems: list[Problem] = []

    def config(self, tree: dict[str, Any]) -> Config | None:
        fields = structs.fields(Config)
        self._refuse_unknown("", tree, [field.name for field in fields])
        sections: dict[str, Any] = {
            field.name: self._section(field.name, _struct_of(field), tree.get(field.name, {}))
            for field in fields
            if field.name in tree or type(None) not in get_args(field.type)
        }
        return None if self.problems else Config(**sections)

    def _section(self, name: str, kind: type[msgspec.Struct], values: object) -> object:
        if not isinstance(values, dict):
            self.problems.append(Problem(name, f"must be a section: write [{name}] on a line of its own"))
            return None
        fields = structs.fields(kind)
        self._refuse_unknown(name, values, [field.name for field in fields])
        good: dict[str, object] = {}
        for field in fields:
            key = f"{name}.{field.name}"
            if field.name in values:
                good[field.name] = self._value(key, field, values[field.name])
            elif field.required:
                self.problems.append(Problem(key, f"is missing; expected {_expected(field.type)}"))
        return None if self.problems else kind(**good)

    def _value(self, key: str, field: structs.FieldInfo, value: object) -> object:
        try:
            return msgspec.convert(value, field.type, dec_hook=partial(self._path, field.name))
        except msgspec.ValidationError as wrong:
            is_credential = isinstance(value, str) and value.startswith(CREDENTIAL)
            said = str(wrong) if is_credential or field.name.endswith(SECRETS) else f"is {_shown(value)}"
            self.problems.append(Problem(key, f"{said}; expected {_expected(field.type)}"))
            return None

    def _path(self, name: str, kind: type, value: object) -> Path:
        if kind is not Path or not isinstance(value, str):
            raise ValueError("is no path")
        if not name.endswith("_file") and value.startswith(CREDENTIAL):
            raise ValueError("names a credential, which nothing can be written to")
        return resolve(value, self._directory, self._credentials)

    def _refuse_unknown(self, section: str, values: dict[str, Any], known: list[str]) -> None:
        for name in values:
            if name not in known:
                key = f"{section}.{name}" if section else name
                self.problems.append(Problem(key, f"is not a known {_kind(section)}; {_hint(section, name, known)}"))


def _struct_of(field: structs.FieldInfo) -> type[msgspec.Struct]:
    """The section's structure, whether or not the section may be left out."""
    kind: type[msgspec.Struct] = next((part for part in get_args(field.type) if part is not type(None)), field.type)
    return kind


def _kind(section: str) -> str:
    return "key" if section else "section"


def _hint(section: str, name: str, known: list[str]) -> str:
    """Where secrets belong; the nearest known name; the section where the key would be right; all known here."""
    if name in MISPLACED:
        files = " or ".join(key for key in known if key.endswith(SECRETS)) or "mqtt.password_file"
        return f"a secret does not belong in this file: write it to one of its own, and name that in {files}"
    nearest = difflib.get_close_matches(name, known, n=1)
    if nearest:
        return f"did you mean {nearest[0]}?"
    homes = [f"[{home.name}]" for home in structs.fields(Config) if name in _struct_of(home).__struct_fields__]
    if homes:
        return f"it belongs in {' or '.join(homes)}"
    where = f"[{section}]" if section else "the file"
    return f"{where} knows {', '.join(known)}"


def _expected(kind: Any) -> str:
    """What a field's type asks for, in words."""
    for part in (kind, *get_args(kind)):
        for note in getattr(part, "__metadata__", ()):
            if isinstance(note, Meta) and note.description:
                return note.description
    names = {int: "a whole number", float: "a number", bool: "true or false"}
    choices = [part for part in _flat(kind) if isinstance(part, str)]
    if choices:
        return " or ".join(f'"{choice}"' for choice in choices)
    return next(names[part] for part in _flat(kind) if part in names)


def _flat(kind: Any) -> Iterator[Any]:
    parts = get_args(kind)
    if not parts:
        yield kind
    for part in parts:
        yield from _flat(part)


def _shown(value: object) -> str:
    """The value as a person would know it again, cut where it is long."""
    text = msgspec.json.encode(value, enc_hook=str).decode()
    return text if len(text) <= 60 else f"{text[:57]}..."


def _syntax_problem(message: str) -> Problem:
    found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message)
    if found is None:
        return Problem("", f"is not TOML: {message}")
    return Problem("", f"is not TOML: {found[1]} (column {found[3]})", int(found[2]))


_SECTION_LINE = re.compile(r"\s*\[\s*([A-Za-z0-9_.-]+)\s*\]")
_KEY_LINE = re.compile(r"\s*[\"']?([A-Za-z0-9_.-]+)[\"']?\s*=")


def _lines_of_keys(text: str) -> dict[str, int]:
    """Where sections and keys stand; good for a message, so a key in a multi-line text may fool it."""
    lines: dict[str, int] = {}
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _SECTION_LINE.match(line):
            section = found[1]
            lines.setdefault(section, number)
        elif found := _KEY_LINE.match(line):
            lines.setdefault(f"{section}.{found[1]}".lstrip("."), number)
    return lines


def _line_of(key: str, lines: dict[str, int]) -> int | None:
    """The key's own line; that of its section when it is missing from it."""
    return lines.get(key, lines.get(key.partition(".")[0]))


_KEY_OF_SETTING = {
    "table": "table.id",
    "wheel": "table.game",
    "rotor_ticks": "wheel.rotor_ticks",
    "beams_deg": "wheel.beams_deg",
    "readers_deg": "wheel.readers_deg",
    "rotor_direction": "wheel.rotor_direction",
    "rotor": "wheel.rotor",
    "ball": "wheel.ball",
    "pocket": "wheel.pocket",
}
"""Where the file has what the core calls otherwise; the rest stands in `[table]` under the core's name."""


def _judge_meaning(config: Config) -> list[Problem]:
    """The core's own judgement of the table, in the file's keys."""
    return [Problem(_KEY_OF_SETTING.get(key, f"table.{key}"), what) for key, what in config.setting().check()]


def _judge_sources(config: Config) -> list[Problem]:
    """Something must see the wheel: a head, and for what it does not tell a board or pins, one of them."""
    gpio, wheel, seen = config.gpio, config.wheel, config.setting()
    of_head = () if config.head is None else config_head.judge(config.head)
    problems = [Problem(f"head.{key}", what) for key, what in of_head]
    if config.head is not None and config.sensors is not None and config.head.port == config.sensors.port:
        problems.append(Problem("head.port", "is the board's too, of [sensors]; one line has one of them at its end"))
    by_head = tuple(key for key in ("rotor", "ball") if getattr(seen, key) == "head")
    if len(by_head) == 2 and config.sensors is not None:
        problems.append(Problem("sensors.port", "is a board that has nothing to tell: [head] tells of rotor and ball"))
    told = [key for key in ("rotor", "ball", "pocket") if getattr(seen, key) == "sensors"]
    if told and gpio is None and config.sensors is None:
        what = f"is missing; expected since sensors tell of {', '.join(told)}, and nothing in [gpio] sees the wheel"
        problems.append(Problem("sensors.port", f"{what} either; or describe the wheel's head in [head]"))
    if gpio is None:
        return problems
    found = config_gpio.judge(
        gpio,
        beams=len(wheel.beams_deg),
        readers=len(wheel.readers_deg),
        rotor_ticks=wheel.rotor_ticks,
        has_board=config.sensors is not None,
        by_head=by_head,
    )
    return [*problems, *(Problem(f"gpio.{key}", what) for key, what in found)]


def _judge_files(config: Config) -> list[Problem]:
    """Files that must be there; those that hold secrets must be kept."""
    problems: list[Problem] = []
    for section in structs.fields(Config):
        values = getattr(config, section.name)
        for key, path in ({} if values is None else structs.asdict(values)).items():
            if key.endswith("_file") and path is not None and (why := trouble(path, secret=key.endswith(SECRETS))):
                problems.append(Problem(f"{section.name}.{key}", why))
    return problems


def _judge_broker(mqtt: MqttSection) -> list[Problem]:
    """Keys that are nothing without each other, and a host that is no more than one."""
    problems: list[Problem] = []
    if set(mqtt.host) & set("@/ "):
        what = "is more than the name or the address of a host: user and password have keys of their own"
        problems.append(Problem("mqtt.host", what))
    if mqtt.password_file is not None and mqtt.username is None:
        problems.append(Problem("mqtt.username", "is missing; expected since password_file is given"))
    if (mqtt.cert_file is None) != (mqtt.key_file is None):
        missing = "cert_file" if mqtt.cert_file is None else "key_file"
        problems.append(Problem(f"mqtt.{missing}", "is missing; cert_file and key_file go together"))
    return problems
