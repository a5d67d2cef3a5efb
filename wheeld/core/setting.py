"""The setting of one table: its wheel, sensors and limits. It comes from the configuration or from a log's header."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import Annotated, Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta, structs

from wheeld.core.catalogue import Catalogue, Language, Text, either, translatable
from wheeld.core.catalogue import Part as TextPart
from wheeld.core.heads import HEADS, Head
from wheeld.core.houses import PROFILES, TOUT_VA, Profile, VoidWords
from wheeld.core.observations import Direction, Source, Unproven
from wheeld.core.pockets import Label, number_of

BEAMS_MAX = 32
READERS_MAX = 16
ROTOR_TICKS_MAX = 4096
"""More ticks would give over 1,000 edges/s at 15 rpm."""
LAPS_MAX = 20
SIGHTINGS_MAX = 20
MIRROR_DEG = 20.0
"""If the only two beams are 180° apart, within this limit, their times hardly show the ball's direction (R1)."""
STRAYS_MAX = 3
MANY_BEAMS = 4
"""With this many beams or more, two strays are tolerated. This makes the proven part of a run two gaps shorter, but
gaps between so many beams are small."""
NAME_PATTERN = r"[a-z0-9][a-z0-9_-]{0,63}"
"""The form of the names of a site and a table, which are parts of topics."""

Part: TypeAlias = Literal["rotor", "ball", "pocket"]
SENSORS_OF: dict[Part, str] = {"rotor": "rotor_ticks", "ball": "beams_deg", "pocket": "readers_deg"}
"""For each part of the wheel: the field that describes our own sensors of it. The field is empty without such
sensors."""
Problem: TypeAlias = tuple[str, Text]
"""A setting, and what is wrong with it."""
NAME = Text("lower-case letters, digits, - and _, 64 at most")
TRUE_OR_FALSE = Text("true or false")
_LEFT_OUT = '`"sensors"` if such sensors are described or there is no `[head]`, else `"head"`'
HOUSES = tuple(dict.fromkeys(house for house, _ in PROFILES))
LAPS_LEAST = min(profile.min_laps for profile in PROFILES.values())
POCKETS_LEAST = min(profile.pockets.count for profile in PROFILES.values())
GAMES = tuple(dict.fromkeys(game for _, game in PROFILES))


def quoted(values: Iterable[str]) -> Text:
    """Return the values to choose from, two or more, as they are written in the file."""
    return either(*(f'"{value}"' for value in values))


SOURCES = quoted(("sensors", "head"))


def _angles_in_number(least: int, most: int) -> Text:
    return Text(
        "a list of angles in degrees, clockwise seen from above, like {example}; {least} to {most} of them",
        {"example": "[0, 90, 180, 270]", "least": least, "most": most},
    )


def _whole(least: int, most: int) -> Text:
    return Text("a whole number, {least} to {most}", {"least": least, "most": most})


class ConfigKey(msgspec.Struct, frozen=True):
    """The place of a setting in the configuration file: key `name` of `[section]`.

    `default`: the value if the key is left out. `NODEFAULT`: the default of the field itself. If the field has no
    default, the key is required. `row`: the text for people about a value, with `{value}` in the place of the value.
    """

    section: str
    name: str
    default: Any = msgspec.NODEFAULT
    row: str = ""


def _key(
    place: str,
    meaning: str,
    expected: Text,
    example: Any,
    *,
    default: Any = msgspec.NODEFAULT,
    left_out: str = "",
    row: str = "",
) -> Meta:
    """Declare a field as the key `place` (`section.name`), for which a person writes `expected`. `left_out`: what
    applies without the key, if that cannot be written as a value."""
    section, _, name = place.partition(".")
    extra = {"key": ConfigKey(section, name, default, row), "left_out": left_out, "parts": expected.parts}
    return Meta(title=meaning, description=expected.english, examples=[example], extra=extra)


class TableSetting(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the core needs to know of a table. Each setting of a table is declared only here.

    Each field determines its key in the configuration file (if it has one), the text about a wrong value, its line in
    `wheeld check-config` (`row`), and its member in the `Header` of a log, where fields without a default are always
    written. Angles: degrees clockwise from the bowl's mark.
    """

    table: Annotated[
        str, _key("table.id", translatable("the table's name; it is part of every topic"), NAME, "campione-03")
    ]
    house: Annotated[
        str,
        _key("table.house", translatable("the house whose regulation counts"), quoted(HOUSES), "campione"),
    ]
    game: Annotated[str, _key("table.game", translatable("the game of this house"), quoted(GAMES), "roulette")]
    wheel: Literal["french", "fair"]
    """The type of the game's wheel."""
    rotor_ticks: Annotated[
        int,
        _key(
            "wheel.rotor_ticks",
            translatable("sectors of the rotor's encoder in one turn; leave this out if the head reports the rotor"),
            Text(
                "a whole number from {least} to {most}, at least as many as the wheel has pockets",
                {"least": POCKETS_LEAST, "most": ROTOR_TICKS_MAX},
            ),
            148,
            default=0,
            left_out="no encoder",
        ),
    ]
    """0 if there is no encoder."""
    beams_deg: Annotated[
        tuple[float, ...],
        _key(
            "wheel.beams_deg",
            translatable("the angles of the beams at the ball's track; leave this out if the head reports the ball"),
            _angles_in_number(2, BEAMS_MAX),
            (0, 90, 180, 270),
            default=(),
            left_out="no beams",
        ),
    ]
    readers_deg: Annotated[
        tuple[float, ...],
        _key(
            "wheel.readers_deg",
            translatable("the angles of the readers of the pockets; leave this out if the head gives the number"),
            _angles_in_number(1, READERS_MAX),
            (30, 150, 270),
            default=(),
            left_out="no readers",
        ),
    ]
    object_sensor: Annotated[
        bool,
        _key(
            "wheel.object_sensor",
            "whether a sensor watches for foreign objects (N6); without it the chef's word counts",
            TRUE_OR_FALSE,
            example=True,
            default=None,
            left_out="true with `[sensors]` or `gpio.object_pin`, else false",
        ),
    ] = True
    """The default in the file is None: a board has the sensor, and pins have it if its pin is configured."""
    levels: bool = False
    """Whether the source reports the present state of everything (`Level`) at its start and after each gap. False for
    logs of other programs: the cylinder is clear at first, and after a gap everything is as it was before."""
    min_laps: Annotated[
        int,
        _key(
            "table.min_laps",
            "full laps that a valid coup needs (R2); a table may ask more than its house",
            Text(
                "a whole number from {least} to {most}, at least as many as the house asks",
                {"least": LAPS_LEAST, "most": LAPS_MAX},
            ),
            4,
            default=None,
            left_out="as many as the house asks",
            row=translatable("a coup needs {value} proven laps"),
        ),
    ]
    """None, the default in the file, means the house's minimum."""
    last_number: Annotated[
        int | Label | None,
        _key(
            "table.last_number",
            "the pocket in which the ball lies; it counts only at the very first start of a journal",
            Text("a number as it is printed on the wheel, like {example}", {"example": '17, or "00"'}),
            17,
            left_out="not known",
            row=translatable("last number: {value}, for a journal that is still empty"),
        ),
    ] = None
    rotor_direction: Annotated[
        Direction | None,
        _key(
            "wheel.rotor_direction",
            translatable(
                "the direction in which a Fair wheel turns, seen from above; required there, left out for a "
                "French wheel (A7)"
            ),
            quoted(get_args(Direction)),
            "cw",
            left_out="either way",
        ),
    ] = None
    site: Annotated[
        str, _key("table.site", translatable("the casino's name; it is part of every topic"), NAME, "campione")
    ]
    sightings_to_call: Annotated[
        int,
        _key(
            "table.sightings_to_call",
            "how often readers must see the ball in the same pocket before its number counts (R3)",
            _whole(1, SIGHTINGS_MAX),
            3,
        ),
    ] = 3
    strays_tolerated: Annotated[
        int | None,
        _key(
            "table.strays_tolerated",
            "how many pulses may be strays: the proof of a lap must hold without them, whichever they are "
            "(R2); only with beams",
            _whole(1, STRAYS_MAX),
            2,
            left_out=f"2 with {MANY_BEAMS} beams or more, else 1",
        ),
    ] = None
    auto_rien_ne_va_plus_rev_s: Annotated[
        float | None,
        _key(
            "table.auto_rien_ne_va_plus_rev_s",
            'the speed of the ball at which "rien ne va plus" is announced automatically (A1); only with beams',
            Text("laps a second, 0.3 to 3"),
            0.8,
            left_out="the chef announces it",
            row=translatable("rien ne va plus: announced automatically when the ball slows to {value} laps a second"),
        ),
    ] = None
    head: str | None = None
    """The commercial wheel head, if there is one: its key in `HEADS`."""
    rotor: Annotated[Source, _key("wheel.rotor", "who reports the rotor", SOURCES, "head", left_out=_LEFT_OUT)] = (
        "sensors"
    )
    ball: Annotated[
        Source, _key("wheel.ball", "who reports the ball on its track", SOURCES, "sensors", left_out=_LEFT_OUT)
    ] = "sensors"
    pocket: Annotated[Source, _key("wheel.pocket", "who gives the number", SOURCES, "head", left_out=_LEFT_OUT)] = (
        "sensors"
    )
    unproven: Annotated[
        Unproven | None,
        _key(
            "table.unproven",
            translatable(
                "what happens to a coup for which the sensors cannot prove R1 and R2: it is void, or the "
                "chef confirms it; required with a head that cannot prove both and has no beams beside it"
            ),
            quoted(get_args(Unproven)),
            "chef",
            left_out="with beams: the chef confirms it",
        ),
    ] = None
    confirm_numbers: Annotated[
        bool,
        _key(
            "table.confirm_numbers",
            "whether the chef confirms each number before it is published, proven or not",
            TRUE_OR_FALSE,
            example=True,
        ),
    ] = False
    """Some jurisdictions require this (docs/standards.md)."""
    test: Annotated[
        bool,
        _key(
            "table.test",
            "whether this is a bench table: every message is marked, and no feed accepts it as a live one",
            TRUE_OR_FALSE,
            example=True,
        ),
    ] = False
    """docs/standards.md lists the standards that require this."""
    void_words: Annotated[
        VoidWords | None,
        _key(
            "table.void_words",
            "the words with which a coup is declared void",
            quoted(get_args(VoidWords)),
            "nulla vale",
            left_out="those of the house",
        ),
    ] = None
    language: Annotated[
        Language | None,
        _key(
            "table.language",
            "the language of texts for people in messages; numbers are announced as at the house",
            Text("{first} or {last}", {"first": '"fr", "it"', "last": '"en"'}),
            "it",
            left_out="that of the house",
        ),
    ] = None

    @property
    def number_before(self) -> int | None:
        """The number that `last_number` names."""
        return None if self.last_number is None else number_of(self.last_number)

    @property
    def strays(self) -> int:
        """How many pulses may be strays, whichever they are: `strays_tolerated`, or its default."""
        if self.strays_tolerated is not None:
            return self.strays_tolerated
        return 2 if len(self.beams_deg) >= MANY_BEAMS else 1

    @property
    def table_language(self) -> Language:
        """The language of the table's messages. May raise KeyError if `check()` returns problems."""
        return self.language or self.profile.language

    @property
    def catalogue(self) -> Catalogue:
        """The texts of the table's messages, with its own words. May raise KeyError if `check()` returns problems."""
        return self.catalogue_in(self.table_language)

    def catalogue_in(self, language: Language) -> Catalogue:
        """Return the same texts in `language`."""
        return Catalogue(language, {"void": self.words, "tout_va": TOUT_VA[self.words]})

    @property
    def profile(self) -> Profile:
        """The house's game. May raise KeyError if `check()` returns problems."""
        return PROFILES[self.house, self.game]

    @property
    def words(self) -> VoidWords:
        """The words that declare a coup void at this table. May raise KeyError if `check()` returns problems."""
        return self.void_words or self.profile.void_words

    @property
    def product(self) -> Head | None:
        """The wheel head's product, with what it can do. None if there is no head."""
        return HEADS.get(self.head or "")

    @property
    def lacks(self) -> tuple[str, ...]:
        """The rules among R1 and R2 (docs/rulebook.md) that this table's sensors can never prove."""
        return ("R2",) if self.ball == "head" and self.product is not None and not self.product.counts_laps else ()

    @property
    def confirmable(self) -> tuple[str, ...]:
        """The rules among R1 and R2 for which the chef may answer. With a head: the rules that nothing can prove, if
        `unproven` says so. With beams: R2, for laps that passes only suggest, unless `unproven` makes the coup void."""
        by_default = "chef" if self.ball == "sensors" else "void"
        return ("R2",) if (self.unproven or by_default) == "chef" else ()

    @property
    def tells_object(self) -> bool:
        """Whether a sensor reports, after each gap, whether a foreign object is in the cylinder."""
        return self.levels and self.object_sensor

    @property
    def sensors(self) -> tuple[str, ...]:
        """The names of all sensors whose state can be reported (`SensorState`)."""
        beams = [f"beam/{number}" for number in range(len(self.beams_deg))]
        readers = [f"reader/{number}" for number in range(len(self.readers_deg))]
        head = ("head", "head/sensors") if self.head is not None else ()
        return (*beams, *readers, "rotor", "object", "link", *head)

    def check(self) -> list[Problem]:
        """Return what is wrong. The list is empty if this table can be adjudicated."""
        return [problem for rule in RULES for problem in rule(self)]


class Header(TableSetting, frozen=True, kw_only=True, tag_field="kind", tag="wheel", omit_defaults=True):
    """The first line of a log: the table's setting, and the table's state at the beginning of the log.

    `started`: the UTC of sensing time 0. `snapshot` is only in a log that a daemon stored: the complete state of the
    table just before the first observation, so that a replay of the log gives the published bytes.
    """

    format: Literal[1]
    started: str
    site: str = "log"
    """The site of a log that does not name one."""
    boot_id: str = ""
    snapshot: dict[str, Any] | None = None


def from_header(header: Header) -> TableSetting:
    """Return the setting that a log's first line describes."""
    return TableSetting(**{name: getattr(header, name) for name in TableSetting.__struct_fields__})


def config_keys() -> dict[str, ConfigKey]:
    """Return, for each field of `TableSetting` that the configuration file can set, its place in the file."""
    return {
        field.name: note.extra["key"]
        for field in structs.fields(TableSetting)
        for note in getattr(field.type, "__metadata__", ())
    }


def rows_of(setting: TableSetting) -> Iterator[Text]:
    """Yield what the table's settings mean, for people: one text for each field that has a value and a `row`."""
    for field, key in config_keys().items():
        value = getattr(setting, field)
        if key.row and value is not None:
            yield Text(key.row, {"value": value})


def _article(setting: TableSetting, rule: str) -> str:
    """Return the house's article for a rule of docs/rulebook.md, or the rule itself if there is none."""
    profile = PROFILES.get((setting.house, setting.game))
    return rule if profile is None else profile.articles.get(rule, rule)


def _name(key: Literal["site", "table"], setting: TableSetting) -> Iterator[Problem]:
    value = getattr(setting, key)
    if re.fullmatch(NAME_PATTERN, value):
        return
    what = Text(
        "{value} becomes a part of MQTT topics: use only lower-case letters, digits, - and _, 64 at most",
        {"value": repr(value)},
    )
    near = re.sub(r"\s+", "-", value.strip().lower())
    if re.fullmatch(NAME_PATTERN, near):
        yield key, Text("{what}; write {near}", {"what": what, "near": f'"{near}"'})
    else:
        yield key, what


def _game(setting: TableSetting) -> Iterator[Problem]:
    if setting.house not in HOUSES:
        return
    profile = PROFILES.get((setting.house, setting.game))
    if profile is None:
        known = ", ".join(f"{house}/{game}" for house, game in PROFILES)
        asked = {"house": setting.house, "game": setting.game, "known": known}
        yield "game", Text("no regulation for {house}/{game}; known: {known}", asked)
    elif profile.wheel != setting.wheel:
        named = {"house": setting.house, "game": setting.game, "right": profile.wheel, "wrong": setting.wheel}
        yield "wheel", Text("{house}/{game} is played on a {right} wheel, not a {wrong} one", named)
    if setting.wheel == "fair" and setting.rotor_direction is None:
        ways = quoted(get_args(Direction))
        yield "rotor_direction", Text("a fair wheel turns one way only (A7): set {ways}", {"ways": ways})
    if setting.wheel == "french" and setting.rotor_direction is not None:
        yield "rotor_direction", Text("a french rotor may turn either way (A7): leave this key out")


def _known(key: str, known: Collection[str], setting: TableSetting) -> Iterator[Problem]:
    value = getattr(setting, key)
    if value is not None and value not in known:
        yield key, Text("is {value}; expected {expected}", {"value": f'"{value}"', "expected": quoted(known)})


def _source(key: Part, setting: TableSetting) -> Iterator[Problem]:
    """Check that the rotor, the ball or the pocket (`key`) has one source, and that its sensors are used."""
    if getattr(setting, key) != "head":
        return
    if setting.head is None:
        yield (
            key,
            Text(
                "is {value}, and no head is configured: describe the head in a section [head], or leave this key out",
                {"value": '"head"'},
            ),
        )
    elif getattr(setting, SENSORS_OF[key]):
        lines = {"head": f'{key} = "head"', "sensors": f'{key} = "sensors"'}
        yield SENSORS_OF[key], Text("with {head} nothing uses these sensors: leave them out, or set {sensors}", lines)


def _number(setting: TableSetting) -> Iterator[Problem]:
    if setting.head is not None and setting.pocket == "sensors":
        yield (
            "pocket",
            Text(
                "is {sensors}, but the configured head gives the number: set {head}, or remove the section [head]",
                {"sensors": '"sensors"', "head": '"head"'},
            ),
        )


def _within(value: float, least: float, most: float) -> Text:
    """Return the text that `value` is outside its limits. The numbers are written as in the file."""
    limits = {"value": str(value), "least": str(least), "most": str(most)}
    return Text("{value} is not within {least}…{most}", limits)


def _rotor_ticks(setting: TableSetting) -> Iterator[Problem]:
    if setting.rotor == "sensors" and setting.rotor_ticks == 0:
        yield "rotor_ticks", Text("is missing: how many ticks has the rotor's encoder?")
    elif setting.rotor == "sensors":
        profile = PROFILES.get((setting.house, setting.game))
        least = POCKETS_LEAST if profile is None else profile.pockets.count
        if not least <= setting.rotor_ticks <= ROTOR_TICKS_MAX:  # fewer ticks than pockets can't show the ball's pocket
            yield "rotor_ticks", _within(setting.rotor_ticks, least, ROTOR_TICKS_MAX)


def _policy(setting: TableSetting) -> Iterator[Problem]:
    article = _article(setting, "R2")
    if setting.lacks and setting.unproven is None:
        yield (
            "unproven",
            Text(
                "is missing, and these sensors do not prove {rules} ({article}). Add beams, or choose what "
                "happens to a coup without this proof: with {void} it is void, with {chef} the chef confirms it",
                {"rules": tuple(map(Text, setting.lacks)), "article": article, "void": '"void"', "chef": '"chef"'},
            ),
        )
    if setting.unproven is not None and setting.product is not None and not setting.lacks and setting.ball == "head":
        yield (
            "unproven",
            Text(
                "is {value}, but these sensors prove all of {article}: leave this key out",
                {"value": f'"{setting.unproven}"', "article": article},
            ),
        )


def _angles(key: str, angles_deg: tuple[float, ...], most: int) -> Iterator[Problem]:
    if not 1 <= len(angles_deg) <= most:
        yield key, Text("the list has {count} angles, but needs 1…{most}", {"count": len(angles_deg), "most": most})
    if any(not 0 <= angle < 360 for angle in angles_deg):
        yield key, Text("an angle is 0 degrees or more and less than 360; write 0 for 360")
    if len(set(angles_deg)) < len(angles_deg):
        yield key, Text("two of the angles are the same; give each sensor its own angle")


def _beams(setting: TableSetting) -> Iterator[Problem]:
    beams_deg, article = setting.beams_deg, {"article": _article(setting, "R1")}
    if setting.ball != "sensors":
        return
    yield from _angles("beams_deg", beams_deg, BEAMS_MAX)
    if len(beams_deg) == 1:
        yield (
            "beams_deg",
            Text(
                "one beam can't show the ball's direction, so no coup could ever be proven ({article}): add a second",
                article,
            ),
        )
    if len(beams_deg) == 2 and abs(abs(beams_deg[0] - beams_deg[1]) - 180) < MIRROR_DEG:
        yield (
            "beams_deg",
            Text(
                "two beams opposite each other (within {degrees}°) can't show the ball's direction "
                "({article}): move one, or add a third",
                {"degrees": MIRROR_DEG, **article},
            ),
        )


def _readers(setting: TableSetting) -> Iterator[Problem]:
    if setting.pocket == "sensors" and setting.head is None:
        yield from _angles("readers_deg", setting.readers_deg, READERS_MAX)
    if not 1 <= setting.sightings_to_call <= SIGHTINGS_MAX:
        wrong = _within(setting.sightings_to_call, 1, SIGHTINGS_MAX)
        yield "sightings_to_call", Text("{wrong} (R3: 3 by default)", {"wrong": wrong})


def _laps(setting: TableSetting) -> Iterator[Problem]:
    profile = PROFILES.get((setting.house, setting.game))
    if profile is not None and not profile.min_laps <= setting.min_laps <= LAPS_MAX:
        asked: dict[str, TextPart] = {
            "wrong": _within(setting.min_laps, profile.min_laps, LAPS_MAX),
            "article": _article(setting, "R2"),
            "least": profile.min_laps,
        }
        yield "min_laps", Text("{wrong} ({article} asks {least} at least; other jurisdictions ask 4)", asked)


def _strays(setting: TableSetting) -> Iterator[Problem]:
    strays = setting.strays_tolerated
    if strays is not None and not 1 <= strays <= STRAYS_MAX:
        wrong = {"wrong": _within(strays, 1, STRAYS_MAX)}
        yield "strays_tolerated", Text("{wrong} (R2: 2 with four beams or more, else 1)", wrong)
    if strays is not None and setting.ball == "head":
        yield "strays_tolerated", Text("needs beams: the head counts the laps itself; leave this key out")


def _last_number(setting: TableSetting) -> Iterator[Problem]:
    profile = PROFILES.get((setting.house, setting.game))
    if profile is not None and setting.number_before not in (None, *profile.pockets.order):
        numbers = {"number": str(setting.last_number), "printed": profile.pockets.printed}
        yield "last_number", Text("{number} is not on the wheel ({printed})", numbers)


def _auto_rien_ne_va_plus(setting: TableSetting) -> Iterator[Problem]:
    speed = setting.auto_rien_ne_va_plus_rev_s
    if speed is not None and not 0.3 <= speed <= 3:
        yield "auto_rien_ne_va_plus_rev_s", Text("{speed} is not within 0.3…3 laps per second", {"speed": str(speed)})
    if speed is not None and setting.ball == "head":
        yield "auto_rien_ne_va_plus_rev_s", Text("needs beams: no head reports the ball's speed; leave this key out")


RULES: tuple[Callable[[TableSetting], Iterator[Problem]], ...] = (
    partial(_name, "site"),
    partial(_name, "table"),
    partial(_known, "house", HOUSES),
    _game,
    partial(_known, "head", HEADS),
    *(partial(_source, part) for part in SENSORS_OF),
    _number,
    _rotor_ticks,
    _beams,
    _readers,
    _laps,
    _strays,
    _last_number,
    _auto_rien_ne_va_plus,
    _policy,
)
"""The rules for a table's setting. Each rule reads few settings, and yields what is wrong before it reads the next
setting. So if one setting of a file cannot be read, the rules still judge the others."""
