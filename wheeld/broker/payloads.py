"""The payloads that the core does not make: commands, acks, availability, health."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from wheeld.core.catalogue import translatable
from wheeld.core.facts import Case, Trouble
from wheeld.core.messages.payloads import Published
from wheeld.core.observations import CommandName, RuledAs
from wheeld.core.pockets import Label
from wheeld.core.setting import BEAMS_MAX, READERS_MAX

VISIBLE = r"^(?![\s\S]*[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069])"
"""A text without control characters, line ends, or characters that change the direction of writing. A person who reads
the log of commands in a terminal must see what was sent, on one line."""

NAME_MAX, SENTENCE_MAX = 64, 500

Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=NAME_MAX, pattern=VISIBLE)]
"""An id, or a person's name. 64 characters are enough for a UUID with a prefix, or for a name and a staff number."""

Sentence: TypeAlias = Annotated[str, Meta(min_length=1, max_length=SENTENCE_MAX, pattern=VISIBLE)]
"""A reason, for the control office to read."""

SENSORS_MAX = BEAMS_MAX + READERS_MAX + 1
"""How many sensors of a table can be left out: all beams and readers, and the object sensor."""

WHOLE_MAX = 2**53 - 1
"""The largest whole number that every JSON reader reads exactly. SQLite can store it. A number that is too large for
SQLite would end the daemon."""


Number: TypeAlias = Annotated[int, Meta(ge=0, le=WHOLE_MAX)] | Label
"""The number of a pocket, or its printed label if that is not the number in digits ("00")."""


class CommandPayload(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every command has: `id` (chosen by the sender, for the reply), `by` (the person), and the `reason`.

    `coup`: the command is refused unless this is the current coup. `expires_at`: it is refused after this moment. `at`:
    when it was said, by the sender's clock. Both dates are in RFC 3339. `at` counts if the daemon stood still at that
    time, and for a "rien va" that the network delayed (docs/rulebook.md 7).
    """

    id: Name
    by: Name
    reason: Sentence
    coup: Annotated[int, Meta(ge=0, le=WHOLE_MAX)] | None = None
    expires_at: Annotated[datetime, Meta(tz=True)] | None = None
    at: Annotated[datetime, Meta(tz=True)] | None = None


class BoulerPayload(CommandPayload, frozen=True, kw_only=True):
    """`bouler`: `who` launches from now on; `announced`: he is to launch next, and a later `bouler` says when (A4)."""

    who: Name
    announced: bool = False


class AcknowledgePayload(CommandPayload, frozen=True, kw_only=True):
    """`acknowledge`: the inspector knows that `who` is announced as the next bouler."""

    who: Name


class RienVaPayload(CommandPayload, frozen=True, kw_only=True):
    """`rien_va`: the chef declares the coup void. `case`: which of the five cases of C11 it is, if named."""

    case: Case | None = None


class ConfirmPayload(CommandPayload, frozen=True, kw_only=True):
    """`confirm`: the chef confirms what no sensor could prove of coup `coup`, whose number waits for this. With
    `number`, the chef gives another number in its place."""

    coup: Annotated[int, Meta(ge=0, le=WHOLE_MAX)]
    number: Number | None = None


class ResumePayload(CommandPayload, frozen=True, kw_only=True):
    """`resume` and `open`: `without` names the failing sensors that the table goes on without. `number` is the pocket
    in which the ball lies, if the positions of the pockets are not known."""

    without: Annotated[tuple[Name, ...], Meta(max_length=SENSORS_MAX)] = ()
    number: Number | None = None


class LateBetPayload(CommandPayload, frozen=True, kw_only=True):
    """`late_bet`: what the chef decides about a bet that came while the ball ran (A3)."""

    accepted: bool


class RulingPayload(CommandPayload, frozen=True, kw_only=True):
    """`ruling`: what the direction rules about coup `about`, which has its verdict (A9). `number` is given only if the
    number changes."""

    about: Annotated[int, Meta(ge=1, le=WHOLE_MAX)]
    ruled_as: RuledAs
    number: Number | None = None


Found: TypeAlias = Literal["good", "corrected", "faulty"]
"""What an inspection found: no fault, a fault that was corrected, or a fault that was not corrected."""


class InspectPayload(CommandPayload, frozen=True, kw_only=True):
    """`cmd/inspect`: what a person found at an inspection of the wheel: its `level`, the `ball`, the `balance` of the
    rotor. What was not inspected is null. Measures and remarks are in `reason`."""

    level: Found | None = None
    ball: Found | None = None
    balance: Found | None = None


class ResendPayload(CommandPayload, frozen=True, kw_only=True):
    """`resend`: publish every sequenced message from `from_seq` again."""

    from_seq: Annotated[int, Meta(ge=1, le=WHOLE_MAX)]


class AckPayload(msgspec.Struct, frozen=True):
    """`ack`: the settlement core has stored everything up to `seq`. Unknown members are ignored."""

    seq: Annotated[int, Meta(ge=0, le=WHOLE_MAX)]


_Line: TypeAlias = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=40,  # so that the letters can be read at ten metres
        pattern=VISIBLE + r".*\S",
        description=translatable("a text on one line, at most 40 characters"),
    ),
]
_Lines: TypeAlias = Annotated[
    tuple[_Line, ...],
    Meta(
        max_length=4,
        description=translatable("a list of at most 4 texts, each on one line of at most 40 characters"),
    ),
]


class Display(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`[display]`: what players read about the table. The configuration file has exactly these keys, and `availability`
    gives them to every display. They decide nothing."""

    name: Annotated[
        _Line | None,
        Meta(
            title="the table's name for players",
            examples=["Table 3"],
            extra={"left_out": "its `id`"},
        ),
    ] = None
    limits: Annotated[
        _Lines,
        Meta(
            title="the lowest and the highest bets, in the house's own words, one text for each line",
            examples=[["Plein 5–200 €", "Rouge, noir 50–5000 €"]],
            extra={"left_out": "none are shown"},
        ),
    ] = ()


class Availability(Published, frozen=True, kw_only=True):
    """`availability`: `online`, with the version and the boot id. `offline` when the daemon stops. If its connection
    fails, the broker publishes `offline` for it (last will). `display`: what players read about the table, if it is
    configured."""

    schema: Literal["availability/1"] = "availability/1"
    state: Literal["online", "offline"]
    version: str
    boot_id: str
    display: Display | UnsetType = UNSET


class ClockHealth(msgspec.Struct, frozen=True, kw_only=True):
    """How well the host knows the sensing clock. `error_us` and `drift_ppm` are null while they are not known.

    `synchronised`: whether a time server has set the host's UTC. Null if that is not known. If it is not true, dates in
    UTC may be wrong, but `t_us` and the order of verdicts are right.
    """

    error_us: int | None = None
    drift_ppm: float | None = None
    synchronised: bool | None = None


class SelfTestHealth(msgspec.Struct, frozen=True, kw_only=True):
    """How the self-test of this start ended: whether it `passed`, which lines had not answered before its end
    (`silent`), and which sensors did not work (`failing`)."""

    passed: bool
    at: str
    silent: tuple[str, ...]
    failing: tuple[str, ...]


class BrokerRefusal(msgspec.Struct, frozen=True, kw_only=True):
    """What the broker refuses the wheel: a subscription to `topic`, or publications on it (below the root). `since` is
    when it was first refused, and `why` is the reason in the words of MQTT, or that the broker confirms the
    subscription and sends nothing."""

    kind: Literal["subscription", "publication"]
    topic: str
    since: str
    why: str


class Health(Published, frozen=True, kw_only=True):
    """`health`: counters by part and name, cumulative since the daemon's start, and temperatures in °C by zone.

    `troubles`: for each sensor, what is wrong with it or with the line to the sensors, the most important first. Empty
    if nothing is wrong. `program`: the digest of the installed program's files, read once at the start. Null until they
    have been read. `refused`: what the broker refuses now.
    """

    schema: Literal["health/1"] = "health/1"
    at: str
    boot_id: str
    uptime_s: float
    state: str
    program: str | None = None
    sensors: dict[str, bool]
    troubles: dict[str, tuple[Trouble, ...]] = msgspec.field(default_factory=dict)
    self_test: SelfTestHealth | None = None
    clock: ClockHealth
    outbox_depth: int
    refused: tuple[BrokerRefusal, ...] = ()
    counters: dict[str, dict[str, int]]
    temperatures_c: dict[str, float]


UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""The errors of decoding: for wrong bytes, for a text that is not UTF-8, and for a thousand nested brackets."""

COMMANDS: dict[str, type[CommandPayload]] = {
    **dict.fromkeys(CommandName.__args__, CommandPayload),  # type: ignore[attr-defined]
    "acknowledge": AcknowledgePayload,
    "bouler": BoulerPayload,
    "confirm": ConfirmPayload,
    "inspect": InspectPayload,
    "late_bet": LateBetPayload,
    "open": ResumePayload,
    "program": CommandPayload,
    "resend": ResendPayload,
    "rien_va": RienVaPayload,
    "resume": ResumePayload,
    "ruling": RulingPayload,
    "seal": CommandPayload,
}
"""The payload that each `cmd/{user}/{name}` takes. A name that is not here is refused."""
