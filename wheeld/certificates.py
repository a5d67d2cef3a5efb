"""Makes the certificates that a setup needs: for an authority, for its broker, and for each user of the broker.

Keys are ECDSA P-256, which the TLS libraries of all devices support. Some do not support Ed25519 yet. `wheeld setup`
and `wheeld-house setup` use this module. Only the first has catalogues, so the texts here are in English.
"""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = datetime.timedelta(days=1)
AUTHORITY_DAYS = 20 * 365
"""How long the certificate of an authority is valid. No wheel is used for so long. If the authority changes, a person
must carry a new certificate to each device."""
CERTIFICATE_DAYS = 5 * 365
"""How long any other certificate is valid. A house replaces its devices within about this time, so a forgotten
certificate has expired by then."""
RENEWED_DAYS = 90
"""Setup renews a certificate that expires within this number of days. This leaves time to carry it to its device."""
CLOCK = DAY
"""The validity of a certificate begins this long before it is made: the clock of a small computer may be late after a
start."""

Verdict: TypeAlias = Literal["make", "renew", "differs", "stays"]
_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address | ipaddress.IPv4Network | ipaddress.IPv6Network


def new_key() -> bytes:
    """Return a new private key for TLS, as PEM."""
    return _pem(ec.generate_private_key(ec.SECP256R1()))


def new_signing_key() -> bytes:
    """Return a new private key that signs a wheel's feed and journal (Ed25519), as PEM."""
    return _pem(ed25519.Ed25519PrivateKey.generate())


def public_half(key: bytes) -> bytes:
    """Return the public key that belongs to a private key, as PEM. Raises ValueError if `key` is not a private key."""
    public = serialization.load_pem_private_key(key, None).public_key()
    return _public_pem(public)


def authority(key: bytes, hosts: Sequence[str], now: datetime.datetime) -> bytes:
    """Return the authority's own certificate. It lets the authority issue certificates for a broker on `hosts`, and for
    devices without a host name, and for nobody else. So a thief of the key cannot make a device trust any other
    server."""
    private = _private(key)
    name = _name(f"house authority of {hosts[0]}")
    # In this constraint, an address must be written as a network of one address.
    permitted = [_general(host, ipaddress.ip_network) for host in hosts]
    builder = _builder(name, name, private, now, AUTHORITY_DAYS)
    return _signed(
        builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.NameConstraints(permitted, None), critical=True),
        private,
    )


def issue(key: bytes, name: str, by: tuple[bytes, bytes], now: datetime.datetime, hosts: Sequence[str] = ()) -> bytes:
    """Return a certificate for `key` with the common name `name`. `by`: the certificate and the key of the authority.
    `hosts`: the names and addresses of a broker. A certificate without hosts is for a device."""
    issuer, signs = x509.load_pem_x509_certificate(by[0]), _private(by[1])
    use = ExtendedKeyUsageOID.SERVER_AUTH if hosts else ExtendedKeyUsageOID.CLIENT_AUTH
    identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    builder = (
        _builder(_name(name), issuer.subject, _private(key), now, CERTIFICATE_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([use]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
    )
    if hosts:
        names = x509.SubjectAlternativeName([_general(each, ipaddress.ip_address) for each in hosts])
        builder = builder.add_extension(names, critical=False)
    return _signed(builder, signs)


def hosts_of(certificate: bytes) -> tuple[str, ...]:
    """Return the names and addresses in a broker's certificate, or those that an authority's certificate allows. Raises
    ValueError, ExtensionNotFound."""
    extensions = x509.load_pem_x509_certificate(certificate).extensions
    try:
        names = extensions.get_extension_for_class(x509.NameConstraints).value.permitted_subtrees or ()
    except x509.ExtensionNotFound:
        names = tuple(extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    return tuple(str(each.value).partition("/")[0] for each in names)


def wrong_with(certificate: bytes, key: bytes, name: str, issuer: bytes) -> str | None:
    """Return why this is not a certificate that `issuer` issued for `name` and `key`; None if it is. The text is in
    English, and `{name}` in it stands for the name."""
    try:
        found, by = x509.load_pem_x509_certificate(certificate), x509.load_pem_x509_certificate(issuer)
        if public_half(key) != _public_pem(found.public_key()):
            return "it does not belong to its key"
        found.verify_directly_issued_by(by)
    except InvalidSignature:
        return "another authority issued it"
    except (ValueError, TypeError):
        return "it or its key cannot be read, or another authority issued it"
    names = found.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    is_right = [each.value for each in names] == [name]
    return None if is_right else "it is not the certificate of {name}"


def judged(
    certificate: bytes | None, key: bytes | None, name: str, issuer: bytes, now: datetime.datetime
) -> tuple[Verdict, str]:
    """Return what setup does with the certificate of `name` and its key, and why, as a text like those of `wrong_with`.
    Setup makes a missing certificate, and renews one that has no key, ends soon or is not valid yet."""
    if certificate is None:
        return "make", ""
    if key is None:
        return "renew", "the key is missing"
    if wrong := wrong_with(certificate, key, name, issuer):
        return "differs", wrong
    reason = out_of_date(certificate, now)
    return ("renew", reason) if reason else ("stays", "")


def issuer_of(certificate: bytes | None, key: bytes | None, hosts: Sequence[str], now: datetime.datetime) -> bytes:
    """Return the authority's certificate, with which other certificates are checked. If it is lost, return the one that
    setup makes with the authority's key. If the key is lost too, return an empty text."""
    if certificate is None and key is not None:
        return authority(key, hosts, now)
    return certificate or b""


def out_of_date(certificate: bytes, now: datetime.datetime) -> str | None:
    """Return a text in English if the certificate is not valid yet, has expired, or expires within `RENEWED_DAYS`.
    Otherwise return None."""
    found = x509.load_pem_x509_certificate(certificate)
    left = found.not_valid_after_utc - now
    if found.not_valid_before_utc > now:
        return "by this computer's clock it is not valid yet"
    if left <= datetime.timedelta():
        return "it has expired"
    return "it expires soon" if left < RENEWED_DAYS * DAY else None


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime.datetime, days: int
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK)
        .not_valid_after(now + days * DAY)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _signed(builder: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey) -> bytes:
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])  # the longest name that RFC 5280 allows


def _general(text: str, address: Callable[[str], _Address]) -> x509.GeneralName:
    """Return the text as an address. If it is not an address, return it as the name of a host."""
    try:
        return x509.IPAddress(address(text))
    except ValueError:
        return x509.DNSName(text)


def _private(key: bytes) -> ec.EllipticCurvePrivateKey:
    private = serialization.load_pem_private_key(key, None)
    if not isinstance(private, ec.EllipticCurvePrivateKey):
        raise TypeError("the key is not on an elliptic curve")
    return private


def _pem(key: PrivateKeyTypes) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _public_pem(key: PublicKeyTypes) -> bytes:
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
