"""`wheeld-house receipt`, `verify`, `witness` and `stamp`: proofs of coups for people outside the house."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import psycopg
from msgspec import Meta

from wheeld_house.checkpoints import TreeWitness, WitnessKey, receipt_of
from wheeld_house.note import WITNESS, NoteError, Verifier
from wheeld_house.qr import TooLongError, qr_code, receipt_in
from wheeld_house.receipt import RECEIPT_BYTES_MAX, ReceiptError, verify_receipt
from wheeld_house.settings import HouseWheel, SettingsError, check_keys, raw_public_key, read_toml, site_and_table
from wheeld_house.timestamps import StampError, checkpoint_text, stamp_newest, stamped_at

EVERY_S = 60.0
"""How often the witness looks for checkpoints. A wheel seals a few times in an evening, so a minute is short enough."""


class WitnessSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a witness. `name`: the name of its key. `state_file`: the file in which it keeps what it has
    cosigned. `wheels`: the wheels whose checkpoints it cosigns, each with its public key."""

    name: Annotated[str, Meta(pattern=r"^[^\s+]{1,255}\Z")]
    key_file: str
    state_file: str
    database: str
    wheels: Annotated[tuple[HouseWheel, ...], Meta(min_length=1)]


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the four commands."""
    receipt = commands.add_parser("receipt", help="write the receipt of a coup")
    receipt.add_argument("database", help="the connection string, of a user who may read")
    receipt.add_argument("table", type=site_and_table, metavar="SITE/TABLE", help="the wheel: campione/campione-03")
    receipt.add_argument("coup", type=int, help="its number")
    receipt.add_argument("-o", "--output", type=Path, metavar="FILE", help="write it there (default: standard output)")
    receipt.add_argument("--stamp", type=Path, metavar="FILE", help="write the authority's time-stamp there")
    receipt.add_argument("--qr", type=_picture, metavar="FILE", help="write it as a QR code there, .svg or .png")
    receipt.set_defaults(run=_receipt)
    verify = commands.add_parser("verify", help="verify a receipt, without database and network")
    verify.add_argument("receipt", type=Path, help="its file, or a file with the text of its QR code")
    verify.add_argument("--key", type=Path, required=True, metavar="FILE", help="the public key of the wheel, PEM")
    verify.add_argument(
        "--witness",
        type=_witness_key,
        action="append",
        default=[],
        metavar="KEY",
        help="the key of a witness that must have cosigned, as `wheeld-house witness` prints it; may be given again",
    )
    verify.add_argument("--stamp", type=Path, metavar="FILE", help="a time-stamp of it; needs --authority")
    verify.add_argument("--authority", type=Path, metavar="FILE", help="the root certificate of the authority, PEM")
    verify.set_defaults(run=_verify)
    witness = commands.add_parser("witness", help="cosign the checkpoints of a house, until Ctrl-C or SIGTERM")
    witness.add_argument("settings", type=Path, help="the TOML file with the settings of the witness")
    witness.add_argument("--once", action="store_true", help="cosign what is there, and end")
    witness.set_defaults(run=_witness)
    stamp = commands.add_parser("stamp", help="have the newest checkpoints stamped by an authority (RFC 3161)")
    stamp.add_argument("database", help="the connection string, of a user of the role wheeld_collector")
    stamp.add_argument("address", metavar="URL", help="where the authority answers, http:// or https://")
    stamp.add_argument("--authority", type=Path, required=True, metavar="FILE", help="its root certificate, PEM")
    stamp.set_defaults(run=_stamp)


def _witness_key(text: str) -> Verifier:
    """Read the key of a witness from the command line. Raises ArgumentTypeError."""
    try:
        return Verifier.read(text)
    except NoteError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None


def _picture(text: str) -> Path:
    """Read the name of a picture from the command line. Raises ArgumentTypeError."""
    path = Path(text)
    if path.suffix not in (".svg", ".png"):
        raise argparse.ArgumentTypeError(f"{text} does not end with .svg or .png")
    return path


def _receipt(options: argparse.Namespace) -> int:
    site, table = options.table
    with psycopg.connect(options.database, autocommit=True) as database:
        receipt, token = receipt_of(database, site, table, options.coup, stamped=options.stamp is not None)
    if options.stamp is not None:
        options.stamp.write_bytes(token)
    if options.output is None:
        sys.stdout.write(receipt)
    else:
        options.output.write_text(receipt, encoding="utf-8")
    if options.qr is not None:
        try:
            qr_code(receipt).save(str(options.qr), scale=4, light="white")
        except TooLongError as wrong:
            sys.stderr.write(f"wheeld-house: {wrong}\n")
            return 1
    return 0


def _stamp(options: argparse.Namespace) -> int:
    try:
        with psycopg.connect(options.database, autocommit=True) as database:
            for origin in stamp_newest(database, options.address, options.authority):
                sys.stdout.write(f"stamped {origin}\n")
    except StampError as wrong:
        sys.stderr.write(f"wheeld-house: {wrong}\n")
        return 1
    return 0


def _verify(options: argparse.Namespace) -> int:
    if (options.stamp is None) is not (options.authority is None):
        raise SettingsError("give --stamp and --authority together: the certificate shows whose time-stamp it is")
    with options.receipt.open("rb") as file:
        raw = file.read(RECEIPT_BYTES_MAX + 1)
    try:
        receipt = receipt_in(raw.decode())
        proven = verify_receipt(receipt, raw_public_key(options.key), options.witness)
        if options.stamp is not None:
            stamped = stamped_at(checkpoint_text(receipt), options.stamp.read_bytes(), options.authority)
    except (ReceiptError, StampError, UnicodeDecodeError) as error:
        why = "it is not a text in UTF-8" if isinstance(error, UnicodeDecodeError) else error
        sys.stderr.write(f"wheeld-house: {options.receipt} proves nothing: {why}\n")
        return 1
    message = proven.message
    said = {name: value for name, value in message.body.items() if not isinstance(value, dict | list)}
    lines = [f"This receipt is good: the wheel {proven.root} published {message.topic} {message.seq}."]
    lines += [f"  {name}: {msgspec.json.encode(value).decode()}" for name, value in said.items()]
    lines += [f"It is one of {proven.size} messages in the tree that the wheel signed."]
    for name, at_s in proven.witnessed_at_s.items():
        lines.append(f"The witness {name} saw this tree at {datetime.fromtimestamp(at_s, UTC).isoformat()}.")
    if options.stamp is not None:
        lines.append(f"The authority of {options.authority} saw this tree at {stamped.isoformat()}.")
    sys.stdout.write("\n".join([*lines, ""]))
    return 0


def _witness(options: argparse.Namespace) -> int:
    settings = read_toml(options.settings, WitnessSettings)
    keys = {wheel.root: key for wheel in settings.wheels if (key := wheel.public_key()) is not None}
    check_keys(keys.items())
    own = WitnessKey.read(settings.name, Path(settings.key_file))
    witness = TreeWitness(own, Path(settings.state_file))
    verifier = Verifier(own.name, own.key.public_key().public_bytes_raw(), WITNESS)
    sys.stdout.write(f"the key of this witness, for those who verify: {verifier}\n")
    sys.stdout.flush()
    while True:
        refused: list[str] = []
        try:
            with psycopg.connect(settings.database, autocommit=True) as database:
                cosigned, refused = witness.cosign(database, keys)
        except psycopg.Error as wrong:
            if options.once:
                raise
            sys.stderr.write(f"wheeld-house: {wrong}; trying again\n")
        else:
            sys.stdout.writelines(f"cosigned {origin}\n" for origin in cosigned)
            sys.stdout.flush()
        for why in refused:
            sys.stderr.write(
                f"wheeld-house: not cosigned: {why}. The house shows another history: tell the authority\n"
            )
        if options.once:
            return 1 if refused else 0
        time.sleep(EVERY_S)
