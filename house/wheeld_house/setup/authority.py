"""The certificate authority of the house: it knows the house's broker, the collector and the bridge of each cabinet.

Keys are ECDSA P-256, as those that `wheeld setup` makes.
"""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Sequence

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = datetime.timedelta(days=1)
AUTHORITY_DAYS = 20 * 365
CERTIFICATE_DAYS = 5 * 365
RENEWED_DAYS = 90
"""A certificate that ends within this time is renewed."""
CLOCK = DAY
"""Certificates are valid this much earlier: the clock of a cabinet's computer may be slow."""


def new_key() -> bytes:
    """A private key, PEM."""
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def authority(key: bytes, hosts: Sequence[str], now: datetime.datetime) -> bytes:
    """Return the authority's own certificate. It counts only for a broker on `hosts` and for who has no host name."""
    name, private = f"house authority of {hosts[0]}", _private(key)
    permitted: list[x509.GeneralName] = [_network(host) for host in hosts]
    return _signed(
        _builder(name, private, _name(name), now, AUTHORITY_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(is_authority=True), critical=True)
        .add_extension(x509.NameConstraints(permitted, None), critical=True),
        private,
    )


def issue(key: bytes, name: str, by: tuple[bytes, bytes], now: datetime.datetime, hosts: Sequence[str] = ()) -> bytes:
    """Return a certificate for `key` and the user `name`, or for a broker on `hosts` if there are any. `by`: the
    certificate and the key of the authority."""
    issuer = x509.load_pem_x509_certificate(by[0])
    identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    use = ExtendedKeyUsageOID.SERVER_AUTH if hosts else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = (
        _builder(name, _private(key), issuer.subject, now, CERTIFICATE_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(is_authority=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([use]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
    )
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName([_host(each) for each in hosts]), critical=False)
    return _signed(builder, _private(by[1]))


def hosts_of(certificate: bytes) -> tuple[str, ...]:
    """Return the names and addresses of a broker's certificate, in their order."""
    extensions = x509.load_pem_x509_certificate(certificate).extensions
    return tuple(str(each.value) for each in extensions.get_extension_for_class(x509.SubjectAlternativeName).value)


def wrong_with(certificate: bytes, key: bytes | None, name: str, issuer: bytes | None) -> str | None:
    """Return why this authority did not issue the certificate for `name` and `key`; None if it did."""
    try:
        found = x509.load_pem_x509_certificate(certificate)
        found.verify_directly_issued_by(x509.load_pem_x509_certificate(issuer or b""))
        if _private(key or b"").public_key() != found.public_key():
            return "it does not belong to its key"
    except InvalidSignature:
        return "another authority issued it"
    except (ValueError, TypeError):
        return "it or its key cannot be read, or another authority issued it"
    names = [each.value for each in found.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    return None if names == [name] else f"it is not the certificate of {name}"


def ends_soon(certificate: bytes, now: datetime.datetime) -> bool:
    """Return whether the certificate must be renewed."""
    return x509.load_pem_x509_certificate(certificate).not_valid_after_utc - now < RENEWED_DAYS * DAY


def _builder(
    name: str, key: ec.EllipticCurvePrivateKey, issuer: x509.Name, now: datetime.datetime, days: int
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK)
        .not_valid_after(now + days * DAY)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _signed(builder: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey) -> bytes:
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _usage(*, is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not is_authority,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])  # the longest common name (RFC 5280)


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _network(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_network(text))
    except ValueError:
        return x509.DNSName(text)


def _private(key: bytes) -> ec.EllipticCurvePrivateKey:
    private = serialization.load_pem_private_key(key, None)
    if not isinstance(private, ec.EllipticCurvePrivateKey):
        raise TypeError("no key on an elliptic curve")
    return private
