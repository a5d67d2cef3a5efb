"""One line: its exact form, and what its digits mean in which product."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.cammegh.status import (
    FAULTS,
    BareNumber,
    Basic,
    Bonus,
    Extended,
    Flag,
    HeadReply,
    LineError,
    Product,
    StateCode,
    Status,
    parse,
    spin_after,
)

SS2, M360 = Product.SLINGSHOT_2, Product.MERCURY_360
PLAIN = "*X;3;012; 6;0;154;1"
LONG = "*X;5;010;35;0;214;1;0122;0A;0;162B4; 5"


def read(line: str, product: Product = SS2, pockets: int = 37) -> Status:
    parsed = parse(line, product, pockets=pockets)
    assert isinstance(parsed, Status)
    return parsed


@pytest.mark.parametrize("product", Product)
def test_a_status_line(product: Product) -> None:
    assert read(PLAIN, product) == Status(StateCode.BALL_IN_RIM, 12, 6, frozenset(), 154, "ccw")
    assert read("*X;6;001;  ;0;000;0", product) == Status(StateCode.TABLE_CLOSED, 1, None, frozenset(), 0, "cw")


def test_the_extended_line_counts_in_hexadecimal_and_keeps_what_nobody_documents() -> None:
    assert read(LONG, M360).extended == Extended(laps=10, ball="cw", pocket=5, raw_7="0122", raw_10="162B4")
    assert read("*X;3;010;22;0;219;1;0022;12;1;0B099;??", M360).extended == Extended(18, "ccw", None, "0022", "0B099")


def test_only_a_mercury_may_end_a_line_with_a_semicolon_or_extend_it() -> None:
    assert read(PLAIN + ";", M360) == read(PLAIN)
    for line in (PLAIN + ";", LONG):
        with pytest.raises(LineError):
            parse(line, SS2)


@pytest.mark.parametrize(("product", "state"), [(SS2, StateCode.BALL_OFF_TRACK), (M360, StateCode.DEALER_LOCK)])
def test_state_7_by_product(product: Product, state: StateCode) -> None:
    assert read("*X;7;012; 6;0;154;1", product).state is state


@pytest.mark.parametrize("sum_", range(16))
@pytest.mark.parametrize(
    ("product", "bits"),
    [
        (SS2, [Flag.BALL_NOT_DETECTED, Flag.SAME_DIRECTION, Flag.SENSOR_FAULT, Flag.LAUNCH_FAILED]),
        (M360, [Flag.ROTOR_SPEED, Flag.SAME_DIRECTION, Flag.SENSOR_FAULT, Flag.VOID_GAME]),
    ],
)
def test_every_sum_of_warning_bits_by_product(product: Product, bits: list[Flag], sum_: int) -> None:
    expected = frozenset(flag for index, flag in enumerate(bits) if sum_ >> index & 1)
    assert read(f"*X;2;012; 6;{sum_:X};154;1", product).flags == expected


@pytest.mark.parametrize(
    ("text", "pockets", "number"),
    [(" 0", 37, 0), ("36", 37, 36), ("00", 38, 37), ("38", 39, 38), ("39", 40, 39), ("06", 37, 6)],
)
def test_numbers_by_the_wheel_s_pockets(text: str, pockets: int, number: int) -> None:
    assert read(f"*X;5;012;{text};0;154;1", SS2, pockets).number == number
    assert parse(text, SS2, pockets=pockets) == BareNumber(number)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("*X;0;012; 6;0;154;1", "value"),
        ("*X;8;012; 6;0;154;1", "value"),
        ("*X;3;257; 6;0;154;1", "value"),
        ("*X;3;012;37;0;154;1", "value"),
        ("*X;3;012;00;0;154;1", "value"),
        ("*X;3;012;6 ;0;154;1", "malformed"),
        ("*X;3;012; 6;a;154;1", "malformed"),
        ("*X;3;012; 6;0;154;2", "malformed"),
        ("*X;3;012; 6;0;1540;1", "malformed"),
        ("*X;3;12; 6;0;154;1", "malformed"),
        ("*X;3;012; 6;0;154;1 ", "malformed"),
        ("*X;3;01٢; 6;0;154;1", "malformed"),
        ("*X", "malformed"),
        ("6; 9;0;158;0", "shape"),
        ("4;146; 9;0;159;0", "shape"),
        ("00;0", "shape"),
        ("6", "shape"),
        ("00", "value"),
        ("37", "value"),
        ("137", "shape"),
        ("*Y;7;123", "shape"),
        ("*S", "shape"),
        ("*", "shape"),
        ("", "shape"),
    ],
)
def test_what_a_slingshot_never_says(line: str, fault: str) -> None:
    with pytest.raises(LineError, match=fault) as raised:
        parse(line, SS2)
    assert raised.value.fault == fault
    assert fault in FAULTS


@pytest.mark.parametrize("torn", range(1, len(LONG)))
def test_a_torn_extended_line_is_never_another_extended_line(torn: int) -> None:
    for part in (LONG[:torn], LONG[torn:]):
        with contextlib.suppress(LineError):
            parsed = parse(part, M360)
            assert not isinstance(parsed, Status) or parsed.extended is None


def test_the_mercury_counts_to_255_and_the_slingshot_to_256() -> None:
    assert (spin_after(M360, 255), spin_after(SS2, 255), spin_after(SS2, 256)) == (1, 256, 1)
    assert read("*X;3;256; 6;0;154;1").spin == 256
    with pytest.raises(LineError, match="value"):
        parse("*X;3;256; 6;0;154;1", M360)


@pytest.mark.parametrize(
    ("line", "product", "meaning"),
    [
        ("*S", M360, Basic("S")),
        ("*N", M360, Basic("N")),
        ("*W21", M360, Basic("W", 21)),
        ("*Y;1;123;30", SS2, Bonus()),
        ("*Y;1;123", SS2, Bonus()),
        ("*S V2.50", SS2, HeadReply("S", "V2.50")),
        ("*T s 14.0 17.50000", SS2, HeadReply("T", "s 14.0 17.50000")),
        ("*  NO", SS2, HeadReply(" ", "NO")),
        ("*) NO", SS2, HeadReply(")", "NO")),
        ("*bn 12", SS2, HeadReply("bn", "12")),
        ("* SP1 13.3", M360, HeadReply("SP1", "13.3")),
    ],
)
def test_other_lines(line: str, product: Product, meaning: object) -> None:
    assert parse(line, product) == meaning


@given(st.text(max_size=60) | st.from_regex(r"\*X(;[0-9A-F? ]{0,5}){0,12}", fullmatch=True), st.sampled_from(Product))
def test_any_text_is_a_line_or_an_error(text: str, product: Product) -> None:
    try:
        parsed = parse(text, product)
    except LineError:
        return
    if isinstance(parsed, Status):
        assert len(text.rstrip(";").split(";")) in {7, 12}
