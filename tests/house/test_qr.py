"""A receipt as a QR code: another program reads it, what it reads is verified, and what is damaged is refused."""

from __future__ import annotations

import asyncio
import random
import shutil
import subprocess
import threading
import zlib
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.browser.browser import SIZES, chromium, looking
from tests.core.test_published import feed_of, played
from tests.house.page_house import KEY, PageHouse, visiting
from tests.house.test_checkpoints import HOUSE, SIGNER, verifier
from tests.house.test_page import texts
from tests.house.test_receipts import checkpoint_of, feed, receipt_of, witnessed
from tests.house.test_verify_page import PAGE
from wheeld.journal.seal import sign_message
from wheeld.journal.tree import FeedTree
from wheeld_house import cli
from wheeld_house.note import cosignature, read_note
from wheeld_house.page import records
from wheeld_house.page.database import BusyError, PageDatabase
from wheeld_house.qr import LETTERS, LETTERS_MAX, PREFIX, TooLongError, base45, from_base45, qr_text, receipt_in
from wheeld_house.receipt import RECEIPT_BYTES_MAX, ReceiptError, write_receipt

MESSAGES = feed(41)
RECEIPT = receipt_of(MESSAGES, 16, witnessed(checkpoint_of(MESSAGES)))
MUCH = "".join(random.Random("much").choices(LETTERS, k=9000))
"""No code holds so much, however it is compressed."""

EXAMPLES = [(b"AB", "BB8"), (b"Hello!!", "%69 VD92EX0"), (b"base-45", "UJCLQE7W581"), (b"ietf!", "QED8WEX0"), (b"", "")]
NO_BASE45 = ["GGW", ":::", "::", "A", "BB80", "bB8", "é00"]


@pytest.fixture
def house(house: PageHouse) -> PageHouse:
    """Coup 7 has a receipt, coup 8 has one that is too long, coup 9 has none yet."""
    house.add("one")
    for coup in range(1, 9):
        house.say("one", coup=coup, number=coup, **({"words": MUCH} if coup == 8 else {}))
    house.seal("one")
    house.say("one", coup=9, number=9)
    return house


def read_back(picture: Path) -> str:
    """What ZBar reads in a picture, as other scanners do."""
    if shutil.which("zbarimg") is None:
        pytest.skip("apt-get install zbar-tools")
    ran = subprocess.run(
        ["zbarimg", "--quiet", "--raw", picture], capture_output=True, text=True, timeout=60, check=True
    )
    return ran.stdout


@pytest.mark.parametrize(("data", "letters"), EXAMPLES)
def test_base45_is_that_of_rfc_9285(data: bytes, letters: str) -> None:
    assert (base45(data), from_base45(letters)) == (letters, data)


@pytest.mark.parametrize("letters", NO_BASE45)
def test_what_is_no_base45_is_refused(letters: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        from_base45(letters)
    with pytest.raises(ReceiptError, match="damaged"):
        receipt_in(f"{PREFIX}{letters}")


def test_a_text_is_the_receipt_with_any_space_around_it() -> None:
    text = qr_text(RECEIPT)
    assert [receipt_in(each) for each in (text, f"{text}\n", f"\n {text}\r\n")] == [RECEIPT] * 3
    assert receipt_in(RECEIPT) == RECEIPT
    assert set(text) <= set(LETTERS)
    for count in range(300):  # a scanner or a text field may remove space at the end: it is never a part of the text
        data = random.Random(count).randbytes(count)
        assert base45(data) == base45(data).rstrip()


def damaged() -> list[str]:
    """Each letter is another one, or missing, and the text ends everywhere."""
    text, rng = qr_text(RECEIPT), random.Random("letters")
    others = [rng.choice([letter for letter in LETTERS if letter != each]) for each in text]
    return [
        *(text[:at] + other + text[at + 1 :] for at, other in enumerate(others)),
        *(text[:at] + text[at + 1 :] for at in range(len(text))),
        *(text[:at] for at in range(len(text))),
    ]


def packed(data: bytes) -> str:
    return f"{PREFIX}{base45(data)}"


HOSTILE = {
    "a bomb": packed(zlib.compress(bytes(2_500_000), 9)),
    "more than a receipt": packed(zlib.compress(bytes(RECEIPT_BYTES_MAX + 1), 9)),
    "more after its end": packed(zlib.compress(RECEIPT.encode(), 9) + b"\0"),
    "twice": packed(zlib.compress(RECEIPT.encode(), 9) * 2),
    "no UTF-8": packed(zlib.compress(b"\xff")),
    "longer than a code": packed(zlib.compress(MUCH.encode())),
    "a letter alone": f"{packed(zlib.compress(b'even'))}0",
    "nothing": PREFIX,
}


def test_a_damaged_text_is_refused() -> None:
    """The receipt that it holds is verified after this: here it need only be the same one, or none."""
    accepted = []
    for text in damaged():
        try:
            found = receipt_in(text)
        except ReceiptError:
            continue
        if found not in (text, RECEIPT):  # a text without its prefix is returned as it is, and is no receipt
            accepted.append(text)
    assert accepted == []


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_text_is_refused(text: str) -> None:
    assert len(packed(zlib.compress(bytes(2_500_000), 9))) < LETTERS_MAX
    with pytest.raises(ReceiptError, match="damaged"):
        receipt_in(text)


async def test_the_browser_refuses_the_same() -> None:
    given = [*damaged(), *HOSTILE.values()]
    async with chromium() as browser, await browser.new_context(offline=True) as context:
        page = await context.new_page()
        await page.goto(PAGE.as_uri())
        found = await page.evaluate(
            """async given => {
                const found = [];
                for (const text of given) {
                    try { found.push(await receiptIn(text)); } catch (error) {
                        found.push(error instanceof Wrong ? null : String(error));
                    }
                }
                return found;
            }""",
            given,
        )
        read = await page.evaluate(
            """given => given.map(letters => {
                try { return [...base45(letters)]; } catch (error) { return error instanceof RangeError ? null : 0; }
            })""",
            [*NO_BASE45, *(letters for _, letters in EXAMPLES)],
        )
    assert read == [*[None] * len(NO_BASE45), *(list(data) for data, _ in EXAMPLES)]
    wrong = [text for text, said in zip(given, found, strict=True) if said not in (None, text, RECEIPT)]
    assert wrong == []
    assert found[-len(HOSTILE) :] == [None] * len(HOSTILE)
    assert found.count(None) > 0.9 * len(given)


def test_what_does_not_fit_says_so() -> None:
    with pytest.raises(TooLongError, match=r"needs \d+ letters, and a code holds 4296"):
        qr_text(receipt_of(feed(3, words=MUCH), 1, checkpoint_of(feed(3, words=MUCH))))


def test_each_receipt_of_an_evening_fits_with_four_witnesses() -> None:
    told = [message for step in played(1)[1] for message in feed_of(step) if message.topic in ("result", "void")]
    assert len(told) > 10
    for size in (10**4, 10**5, 10**6, 10**7):
        rng, letters = random.Random(size), []
        checkpoint = FeedTree(size=size, peaks=[rng.randbytes(32)]).checkpoint("campione", "campione-03", SIGNER)
        for name in ("house.example", "authority.example", "other-house.example", "press.example"):
            key = Ed25519PrivateKey.from_private_bytes(rng.randbytes(32))
            checkpoint += cosignature(read_note(checkpoint), name, key, 1_795_000_000)
        for message in told:
            proof = [rng.randbytes(32) for _ in range(size.bit_length())]
            receipt = write_receipt(sign_message(message.payload, SIGNER), rng.randrange(size), proof, checkpoint)
            letters.append(len(qr_text(receipt)))
        assert 2500 < min(letters) < max(letters) < 0.9 * LETTERS_MAX, size


def command(house: PageHouse, tmp_path: Path, coup: int, picture: str) -> int:
    words = [house.cluster.dsn(house.database), "campione/one", str(coup), "-o", str(tmp_path / "receipt")]
    return cli.main(["receipt", *words, "--qr", str(tmp_path / picture)])


def verify(tmp_path: Path, receipt: Path) -> int:
    (tmp_path / "key").write_bytes(KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return cli.main(["verify", str(receipt), "--key", str(tmp_path / "key"), "--witness", str(verifier(HOUSE))])


def test_the_command_writes_a_code_that_is_read_back_and_verified(
    house: PageHouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [command(house, tmp_path, 7, name) for name in ("code.svg", "code.png")] == [0, 0]
    assert (tmp_path / "code.svg").read_text().startswith("<?xml")
    read = tmp_path / "read"
    read.write_text(read_back(tmp_path / "code.png"))
    assert receipt_in(read.read_text()) == (tmp_path / "receipt").read_text()
    assert verify(tmp_path, read) == 0
    assert "published result 7." in capsys.readouterr().out
    read.write_text(read.read_text()[:-9])
    assert verify(tmp_path, read) == 1
    assert "the text of the QR code is damaged" in capsys.readouterr().err


def test_the_command_says_what_it_cannot_draw(
    house: PageHouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(house, tmp_path, 8, "code.svg") == 1
    assert "too long for a QR code" in capsys.readouterr().err
    assert not (tmp_path / "code.svg").exists()
    assert verify(tmp_path, tmp_path / "receipt") == 0
    with pytest.raises(SystemExit):
        command(house, tmp_path, 7, "code.txt")
    assert "does not end with .svg or .png" in capsys.readouterr().err


async def test_the_page_shows_a_code_that_is_read_back_and_verified_by_the_other_page(
    house: PageHouse, tmp_path: Path
) -> None:
    async with (
        chromium() as browser,
        visiting(house) as visitor,
        looking(browser, f"{visitor.address}/coup/campione/one/7", SIZES["desktop"]) as look,
    ):
        await look.page.get_by_role("link", name="Receipt of this coup").click()
        async with look.page.expect_download() as downloading:
            await look.page.get_by_role("link", name="as a file").click()
        file = Path(await (await downloading.value).path())
        assert verify(tmp_path, file) == 0
        await look.page.get_by_role("img", name="QR code").screenshot(path=tmp_path / "code.png")
        assert look.complaints == []
        text = read_back(tmp_path / "code.png")
        assert receipt_in(text) == await asyncio.to_thread(file.read_text)
        await look.page.goto(PAGE.as_uri())
        for field, value in (
            ("receipt", text),
            ("key", (tmp_path / "key").read_text()),
            ("witnesses", str(verifier(HOUSE))),
        ):
            await look.page.locator(f"#{field}").fill(value)
        await look.page.locator("button").click()
        await look.page.get_by_text("This receipt is good.").wait_for()


async def test_the_page_says_why_there_is_no_code(house: PageHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    async with visiting(house) as visitor:
        page = await visitor.page("/receipt/campione/one/8")
        assert "too long for a QR code" in texts(page)
        assert "<svg" not in page
        assert 'download="coup-8.tlog-proof"' in page
        for path, why in (("one/9", "no checkpoint covers coup 9"), ("one/10", "no verdict on coup 10"), ("two/7", "")):
            status, page = await visitor.get(f"/receipt/campione/{path}")
            assert status == 404
            assert why in texts(page)
        monkeypatch.setattr(records, "RECEIPT_RECORDS_MAX", 7)
        status, page = await visitor.get("/receipt/campione/one/7")
        assert status == 404
        assert "made from 8 records, too many for this page" in texts(page)


async def test_the_page_makes_one_receipt_at_a_time(house: PageHouse) -> None:
    database = PageDatabase(house.cluster.dsn(house.database))
    begun, may_end = threading.Event(), threading.Event()

    def slow(connection: psycopg.Connection[Any]) -> Any:
        begun.set()
        assert may_end.wait(30)
        return connection.execute("select current_user::text").fetchone()

    first = asyncio.create_task(database.work(slow))
    await asyncio.to_thread(begun.wait, 30)
    with pytest.raises(BusyError):
        await database.work(slow)
    may_end.set()
    assert await first == ("wheeld_page",)
    assert await database.work(slow) == ("wheeld_page",)
