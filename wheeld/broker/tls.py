"""TLS to the broker: a context made from files that may be renewed at any time, and the causes of failures in words."""

from __future__ import annotations

import ssl
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from wheeld.core.catalogue import Part, Text
from wheeld.text_error import TextError, reason

Stamp: TypeAlias = tuple[tuple[int, int, int] | None, ...]
"""The version of each file: inode, modification time and size. None for a file that does not exist."""

_OF_BROKER = {
    9: "is not valid yet: the clock of the broker or of this computer is wrong (`timedatectl` on both)",
    10: "has expired: it has to be renewed at the broker, unless this computer's clock is wrong (`timedatectl`)",
    62: "is for another name than `host`: correct `host`; if it is right, this is another broker",
    64: "is for another address than `host`: correct `host`; if it is right, this is another broker",
}
"""What OpenSSL's verification codes mean for the broker's certificate. All other codes concern its authority."""

_OF_US = {
    "ALERT_CERTIFICATE_REQUIRED": "the broker asks for a client certificate: give cert_file and key_file",
    "ALERT_CERTIFICATE_EXPIRED": "the broker says that our certificate has expired: renew cert_file "
    "(check-config prints how)",
    "ALERT_CERTIFICATE_REVOKED": "the broker says that our certificate is revoked: have a new cert_file issued",
    "ALERT_UNKNOWN_CA": (
        "the broker does not know the authority of our certificate: correct cert_file, or the broker's cafile"
    ),
    "ALERT_BAD_CERTIFICATE": "the broker does not accept our cert_file: the log of the broker says why",
    "CONNECTION:_NOT_AUTHORIZED": "the broker refuses our login: correct username and password_file, or cert_file "
    "(check-config prints how this wheel logs in)",
    "WRONG_VERSION_NUMBER": "the broker does not use TLS on this port: correct `port`",
    # If `host` has several addresses, the text has one error for each, and CONNECTION_REFUSED may be anywhere in it.
    "CONNECTION_REFUSED": "no broker listens there: start it on its computer (`systemctl start mosquitto`; if it "
    "ends again, `journalctl --unit=mosquitto --lines=20` says why), or correct `host` and `port`",
}
"""What a failed connection means, by the name that OpenSSL, MQTT or the system gives to the failure."""


class TlsFilesError(TextError):
    """The TLS files cannot be used. The text names the file and the cause, and never contains what is in the file.
    `key` is the configuration key that names the file."""

    def __init__(self, text: Text, key: str) -> None:
        super().__init__(text)
        self.key = key

    def __str__(self) -> str:
        """Return the key and the text, for logs, which have no other place for the key."""
        return f"{self.key} {super().__str__()}"


class TlsFiles(msgspec.Struct, frozen=True):
    """PEM files: the authorities that we accept (by default those of the system), our certificate and its key."""

    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None

    @property
    def named(self) -> list[Path]:
        """The files that are configured. TLS is on if at least one file is configured."""
        return [path for path in (self.ca_file, self.cert_file, self.key_file) if path is not None]

    def stamp(self) -> Stamp:
        """Return the version of each file. Symbolic links are followed: a renewal may only change a link."""
        return tuple(_stamp(path) for path in self.named)

    def context(self) -> ssl.SSLContext:
        """Return a new context from the present content of the files. It uses TLS 1.2 or later, and verifies the
        broker's certificate and name.

        This blocks for some ms. Raises TlsFilesError.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.ca_file is None:
            context.load_default_certs()
        else:
            load_authorities(context, self.ca_file)
        if self.cert_file is not None:
            load_own(context, self.cert_file, self.key_file)
        return context

    def check_renewed(self, now_utc_us: int) -> None:
        """Check that a new connection could use the files now. Raises TlsFilesError."""
        self.context()
        own = None if self.cert_file is None else own_certificate(self.cert_file)
        if own is not None and own.ends.timestamp() * 1e6 <= now_utc_us:
            ended: dict[str, Part] = {"file": str(self.cert_file), "at": f"{own.ends:%Y-%m-%d %H:%M} UTC"}
            raise TlsFilesError(
                Text("{file} expired at {at} by this computer's clock (`timedatectl`)", ended), "cert_file"
            )
        if own is not None and own.begins.timestamp() * 1e6 > now_utc_us:
            begins: dict[str, Part] = {"file": str(self.cert_file), "at": f"{own.begins:%Y-%m-%d %H:%M} UTC"}
            raise TlsFilesError(
                Text("{file} is valid only from {at}: check this computer's clock (`timedatectl`)", begins), "cert_file"
            )


class OwnCertificate(NamedTuple):
    """Our certificate: the name in it, which may be empty and which brokers may take as the user name, and its
    validity."""

    name: str
    begins: datetime
    ends: datetime


def own_certificate(cert_file: Path) -> OwnCertificate | None:
    """Return the name and the validity of our certificate. None if the optional package that reads it is not installed.
    Raises TlsFilesError."""
    try:
        from cryptography import x509  # noqa: PLC0415  cryptography is optional
    except ImportError:
        return None
    try:
        certificate, *_ = x509.load_pem_x509_certificates(cert_file.read_bytes())
    except OSError as wrong:
        raise _unreadable("cert_file", cert_file, wrong) from None
    except ValueError:
        raise _no_certificate("cert_file", cert_file) from None
    names = certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    name = str(names[0].value).strip() if names else ""
    return OwnCertificate(name, certificate.not_valid_before_utc, certificate.not_valid_after_utc)


def common_name(cert_file: Path) -> str | None:
    """Return the name in our certificate. Returns None and raises errors as `own_certificate` does."""
    own = own_certificate(cert_file)
    return None if own is None else own.name


def is_from(cert_file: Path, ca_file: Path) -> bool:
    """Return whether an authority in `ca_file` issued the last certificate in `cert_file`: our own, or, if others
    follow it, that of an intermediate authority. Raises ImportError, OSError, ValueError."""
    from cryptography import exceptions, x509  # noqa: PLC0415  cryptography is optional

    *_, last = x509.load_pem_x509_certificates(cert_file.read_bytes())
    for authority in x509.load_pem_x509_certificates(ca_file.read_bytes()):
        with suppress(ValueError, TypeError, exceptions.InvalidSignature):
            last.verify_directly_issued_by(authority)
            return True
    return False


def fault(error: BaseException) -> str:
    """Return why a connection failed, in words, if the reason was TLS, our login, or a missing broker. If not, return
    an empty text."""
    cause = error.__cause__
    if isinstance(cause, ssl.SSLCertVerificationError):
        unknown = "is not from an authority in ca_file: this is another broker, or ca_file is wrong"
        return f"the broker's certificate {_OF_BROKER.get(cause.verify_code, unknown)} ({cause.verify_message})"
    text = str(error).upper().replace(" ", "_")
    return next((words for name, words in _OF_US.items() if name in text), "")


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def load_authorities(context: ssl.SSLContext, ca_file: Path) -> None:
    """Load the authorities that may have issued the other side's certificate. Raises TlsFilesError."""
    try:
        context.load_verify_locations(ca_file)
    except ssl.SSLError:
        raise _no_certificate("ca_file", ca_file) from None
    except OSError as wrong:
        raise _unreadable("ca_file", ca_file, wrong) from None


def _unreadable(key: str, path: Path, wrong: OSError) -> TlsFilesError:
    return TlsFilesError(Text("{file} cannot be read: {reason}", {"file": str(path), "reason": reason(wrong)}), key)


def _no_certificate(key: str, path: Path) -> TlsFilesError:
    return TlsFilesError(Text("{file} holds no certificate in PEM", {"file": str(path)}), key)


def load_own(context: ssl.SSLContext, cert_file: Path, key_file: Path | None) -> None:
    """Load our certificate and its key. Raises TlsFilesError."""
    files: dict[str, Part] = {"certificate": str(cert_file), "key": f"key_file {key_file}"}
    try:
        context.load_cert_chain(cert_file, key_file, password=_no_passphrase)
    except ssl.SSLError as wrong:
        if wrong.reason == "KEY_VALUES_MISMATCH":
            raise TlsFilesError(Text("{certificate} and {key} do not belong together", files), "cert_file") from None
        raise TlsFilesError(
            Text("{certificate} and {key} are not a certificate and its key in PEM", files), "cert_file"
        ) from None
    except OSError as wrong:
        files["reason"] = reason(wrong)
        raise TlsFilesError(Text("{certificate} or {key} cannot be read: {reason}", files), "cert_file") from None


def _no_passphrase() -> str:
    """Refuse a key with a passphrase. Otherwise OpenSSL would ask for it on the terminal and wait."""
    raise TlsFilesError(
        Text("the key has a passphrase, and nobody is there to type it: use a key without a passphrase"), "key_file"
    )
