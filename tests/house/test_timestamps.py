"""Time-stamps of checkpoints, by an authority that `openssl ts` plays on loopback."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.feed.wheel import SITE, TABLE
from tests.house.house import ROOT
from tests.house.postgres import Cluster
from tests.house.test_checkpoints import RAW, Kept
from wheeld_house.cli import main
from wheeld_house.settings import SettingsError
from wheeld_house.timestamps import TOKEN_BYTES_MAX, StampError, stamp_newest

PRIVATE = Ed25519PrivateKey.from_private_bytes(RAW)
TSA = """
[ tsa ]
default_tsa = it
[ it ]
serial = serial
signer_cert = tsa.crt
signer_key = tsa.key
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256
ess_cert_id_alg = sha256
"""


class Authority:
    """A time-stamping authority in a folder, with a root certificate `ca.crt`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.ca, self.answer = folder / "ca.crt", b""
        (folder / "tsa.cnf").write_text(TSA)
        (folder / "serial").write_text("01")
        key = ["-newkey", "ed25519", "-nodes", "-days", "9"]
        self.run("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.crt", "-subj", f"/CN={folder.name}")
        key = ["-newkey", "rsa:2048", "-nodes"]
        self.run("req", *key, "-keyout", "tsa.key", "-out", "tsa.csr", "-subj", "/CN=tsa")
        (folder / "use").write_text("extendedKeyUsage = critical, timeStamping")
        signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "use", "-days", "9"]
        self.run("x509", "-req", "-in", "tsa.csr", *signed, "-out", "tsa.crt")

    def run(self, *words: str) -> None:
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)

    def reply(self, question: bytes) -> bytes:
        (self.folder / "question").write_bytes(question)
        self.run("ts", "-reply", "-config", "tsa.cnf", "-queryfile", "question", "-out", "reply")
        return self.answer or (self.folder / "reply").read_bytes()


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority") / "time.example")


@pytest.fixture(scope="module")
def address(authority: Authority) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.headers["Content-Type"] == "application/timestamp-query"
            token = authority.reply(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(token)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/tsa"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def kept(cluster: Cluster, database: str) -> Iterator[Kept]:
    kept = Kept(cluster, database)
    with closing(kept.store), closing(kept.sql):
        kept.keep(5)
        assert kept.prove(kept.tree())
        yield kept


def test_a_stamp_proves_since_when_the_tree_of_a_receipt_exists(
    kept: Kept,
    cluster: Cluster,
    database: str,
    authority: Authority,
    address: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    dsn, receipt, token, key = cluster.dsn(database), tmp_path / "receipt", tmp_path / "token", tmp_path / "wheel.pub"
    key.write_bytes(PRIVATE.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    asked = ["receipt", dsn, f"{SITE}/{TABLE}", "3", "-o", str(receipt), "--stamp", str(token)]
    assert main(asked) == 2
    assert "`wheeld-house stamp`" in capsys.readouterr().err
    assert main(["stamp", dsn, address, "--authority", str(authority.ca)]) == 0
    assert capsys.readouterr().out == f"stamped wheel/v1/{SITE}/{TABLE}/1\n"
    assert main(["stamp", dsn, address, "--authority", str(authority.ca)]) == 0
    assert capsys.readouterr().out == "", "a tree is stamped once"
    kept.keep(2)
    assert kept.prove(kept.tree())
    assert main(asked) == 0
    verify = ["verify", str(receipt), "--key", str(key), "--stamp", str(token), "--authority", str(authority.ca)]
    assert main(verify) == 0
    said = capsys.readouterr().out
    assert "one of 5 messages" in said, "not the newer tree, which nobody has stamped"
    at = datetime.fromisoformat(said.rpartition("saw this tree at ")[2].strip().rstrip("."))
    assert abs(at - datetime.now(UTC)) < timedelta(minutes=5)


def test_the_unit_asks_the_authority_of_its_settings(
    kept: Kept, cluster: Cluster, database: str, authority: Authority, address: str
) -> None:
    """With the settings of the page, and variables put in as systemd does."""
    unit = (ROOT / "systemd" / "wheeld-house-stamp.service").read_text()
    page = (ROOT / "docs" / "proof.md").read_text()
    lines = [*re.findall(r"^Environment=(.+)$", unit, re.MULTILINE), *page.split("```ini\n")[1].split("```")[0].split()]
    given = dict(line.split("=", 1) for line in lines)
    assert given.pop("DATABASE") == "dbname=house"
    here = {"DATABASE": cluster.dsn(database), "AUTHORITY": address, "AUTHORITY_CERTIFICATE": str(authority.ca)}
    assert given.keys() == here.keys() - {"DATABASE"}
    (command,) = re.findall(r"^ExecStart=/opt/wheeld/bin/wheeld-house (.+)$", unit, re.MULTILINE)
    assert main([here[word[2:-1]] if word.startswith("${") else word for word in command.split()]) == 0
    assert kept.rows("select count(*) from house.stamp") == [(1,)]


@pytest.mark.parametrize("kind", ["service", "timer"])
def test_the_timer_is_off_without_an_authority(kind: str) -> None:
    unit = (ROOT / "systemd" / f"wheeld-house-stamp.{kind}").read_text()
    (settings,) = re.findall(r"^ConditionPathExists=(.+)$", unit, re.MULTILINE)
    assert f"`{settings}`" in (ROOT / "docs" / "proof.md").read_text()
    enabling = "".join(path.read_text() for path in (ROOT / "house" / "wheeld_house" / "setup").glob("*.py"))
    assert "wheeld-house-stamp" not in enabling


def test_a_stamp_of_another_tree_or_authority_proves_nothing(
    kept: Kept, authority: Authority, address: str, tmp_path: Path
) -> None:
    other = Authority(tmp_path / "other.example")
    with pytest.raises(StampError, match="proves nothing"):
        stamp_newest(kept.sql, address, other.ca)
    question = tmp_path / "question"
    authority.run("ts", "-query", "-data", "tsa.cnf", "-sha256", "-cert", "-out", str(question))
    authority.answer = authority.reply(question.read_bytes())
    with pytest.raises(StampError, match="proves nothing"):
        stamp_newest(kept.sql, address, authority.ca)
    authority.answer = bytes(TOKEN_BYTES_MAX + 1)
    with pytest.raises(StampError, match="more than"):
        stamp_newest(kept.sql, address, authority.ca)
    authority.answer = b""
    assert kept.rows("select count(*) from house.stamp") == [(0,)]


def test_an_authority_that_cannot_be_asked_is_named(kept: Kept, authority: Authority, tmp_path: Path) -> None:
    """Wrong settings are told apart from an authority that is away: only that one is asked again."""
    with pytest.raises(StampError, match="gives no time-stamp"):
        stamp_newest(kept.sql, "http://127.0.0.1:1/", authority.ca)
    with pytest.raises(SettingsError, match="must begin with http"):
        stamp_newest(kept.sql, "file:///etc/passwd", authority.ca)
    with pytest.raises(SettingsError, match="must have the root certificate"):
        stamp_newest(kept.sql, "http://127.0.0.1:1/", tmp_path / "ca.crt")
