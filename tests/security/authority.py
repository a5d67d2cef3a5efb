"""A certificate authority of a test's own, thrown away with its directory, and a broker that asks for certificates."""

from __future__ import annotations

import datetime
import ipaddress
import os
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.mosquitto import Mosquitto
from wheeld.broker.tls import TlsFiles

DAY = datetime.timedelta(days=1)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _write(path: Path, data: bytes) -> Path:
    """As renewing programs do: a new file in the place of the old one."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(data)
    fresh.chmod(0o600)
    os.replace(fresh, path)
    return path


class Authority:
    """Issues certificates into `directory`; two authorities of the same name share nothing else."""

    def __init__(self, directory: Path, name: str = "house") -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        self.file = _write(directory / f"{name}-ca.crt", self._signed(self._name, self._key, ca=True))

    def issue(
        self, name: str, *, server: bool = False, begins: int = -100, days: int = 30, host: str = "127.0.0.1"
    ) -> TlsFiles:
        """A certificate for `name`, its key, and this authority. It is valid from the day `begins` to the day `days`;
        0 is today."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._signed(_name(name), key, ca=False, server=server, begins=begins, days=days, host=host)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return TlsFiles(
            ca_file=self.file,
            cert_file=_write(self._directory / f"{name}.crt", certificate),
            key_file=_write(self._directory / f"{name}.key", private),
        )

    def revoke(self, files: TlsFiles) -> Path:
        """A list of one revoked certificate."""
        assert files.cert_file is not None
        lost = x509.load_pem_x509_certificate(files.cert_file.read_bytes())
        now = datetime.datetime.now(datetime.UTC)
        entry = x509.RevokedCertificateBuilder().serial_number(lost.serial_number).revocation_date(now - DAY).build()
        builder = x509.CertificateRevocationListBuilder().issuer_name(self._name).add_revoked_certificate(entry)
        signed = builder.last_update(now - DAY).next_update(now + DAY).sign(self._key, hashes.SHA256())
        return _write(self._directory / "revoked.pem", signed.public_bytes(serialization.Encoding.PEM))

    def _signed(
        self,
        name: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        *,
        ca: bool,
        server: bool = False,
        begins: int = -100,
        days: int = 30,
        host: str = "127.0.0.1",
    ) -> bytes:
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + begins * DAY)
            .not_valid_after(now + days * DAY)
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        )
        if not ca:
            use = ExtendedKeyUsageOID.SERVER_AUTH if server else ExtendedKeyUsageOID.CLIENT_AUTH
            builder = builder.add_extension(x509.ExtendedKeyUsage([use]), critical=False)
        if server:
            address = x509.IPAddress(ipaddress.ip_address(host))
            builder = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def strict(directory: Path, own: TlsFiles, *more: str) -> Mosquitto:
    """A broker with the certificate `own` that lets in only who has one of the same authority."""
    directory.mkdir(exist_ok=True)
    lines = [f"cafile {own.ca_file}", f"certfile {own.cert_file}", f"keyfile {own.key_file}"]
    return Mosquitto(directory, *lines, "require_certificate true", "use_identity_as_username true", *more)
