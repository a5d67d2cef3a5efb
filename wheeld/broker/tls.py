"""TLS to the broker: a context made of files that may be renewed at any time, and whose fault a failure is."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TypeAlias

import msgspec

from wheeld.errors import WheeldError

Stamp: TypeAlias = tuple[tuple[int, int, int] | None, ...]
"""Which version of each file is there: inode, modification time and size; None for one that is not."""

_OF_BROKER = {
    9: "is not valid yet: the broker's or this computer's clock is wrong",
    10: "has expired: it has to be renewed at the broker, unless this computer's clock is wrong",
    62: "is for another name than `host`: correct `host`, or it is another broker",
    64: "is for another address than `host`: correct `host`, or it is another broker",
}
"""What OpenSSL's verification codes mean for the broker's certificate; any other is one of its authority."""

_OF_US = {
    "ALERT_CERTIFICATE_REQUIRED": "the broker asks for a client certificate: give cert_file and key_file",
    "ALERT_CERTIFICATE_EXPIRED": "the broker says that our certificate has expired: renew cert_file",
    "ALERT_CERTIFICATE_REVOKED": "the broker says that our certificate is revoked: have a new cert_file issued",
    "ALERT_UNKNOWN_CA": "the broker does not know the authority of our certificate: correct cert_file, or its cafile",
    "ALERT_BAD_CERTIFICATE": "the broker does not accept our cert_file",
    "WRONG_VERSION_NUMBER": "the broker does not speak TLS on this port: correct `port`",
}
"""What the broker answers, by what OpenSSL calls it."""


class TlsFilesError(WheeldError):
    """The files make no usable context; the text says which one, and why. Never what is in them."""


class TlsFiles(msgspec.Struct, frozen=True):
    """PEM files: whom to believe (the system's authorities by default), and how to be believed."""

    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None

    @property
    def named(self) -> list[Path]:
        """Those that are configured; TLS is on when there is any."""
        return [path for path in (self.ca_file, self.cert_file, self.key_file) if path is not None]

    def stamp(self) -> Stamp:
        """Differs when a file was replaced or written; follows links, as renewing programs change those."""
        return tuple(_stamp(path) for path in self.named)

    def context(self) -> ssl.SSLContext:
        """A new context of what the files hold now: TLS 1.2 or later, certificate and name verified.

        Blocks for some ms. Raises TlsFilesError.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.ca_file is None:
            context.load_default_certs()
        else:
            _load_authorities(context, self.ca_file)
        if self.cert_file is not None:
            _load_own(context, self.cert_file, self.key_file)
        return context


def fault(error: BaseException) -> str:
    """Whose fault a failed connection is, in words, where TLS was the reason; empty where it was not."""
    cause = error.__cause__ or error.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        unknown = "is of no authority in ca_file: another broker, or the wrong ca_file"
        return f"the broker's certificate {_OF_BROKER.get(cause.verify_code, unknown)} ({cause.verify_message})"
    text = str(error).upper().replace(" ", "_")
    return next((words for name, words in _OF_US.items() if name in text), "")


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _load_authorities(context: ssl.SSLContext, ca_file: Path) -> None:
    try:
        context.load_verify_locations(ca_file)
    except ssl.SSLError:
        raise TlsFilesError(f"ca_file {ca_file} holds no certificate in PEM") from None
    except OSError as wrong:
        raise TlsFilesError(f"ca_file {ca_file} cannot be read: {wrong.strerror}") from None


def _load_own(context: ssl.SSLContext, cert_file: Path, key_file: Path | None) -> None:
    try:
        context.load_cert_chain(cert_file, key_file, password=_no_passphrase)
    except ssl.SSLError as wrong:
        mismatch = wrong.reason == "KEY_VALUES_MISMATCH"
        why = "do not belong together" if mismatch else "are not a certificate and its key in PEM"
        raise TlsFilesError(f"cert_file {cert_file} and key_file {key_file} {why}") from None
    except OSError as wrong:
        why = f"cert_file {cert_file} or key_file {key_file} cannot be read: {wrong.strerror}"
        raise TlsFilesError(why) from None


def _no_passphrase() -> str:
    """OpenSSL would ask on the terminal, and wait for ever."""
    raise TlsFilesError("key_file is locked by a passphrase, which nobody is there to type: use one that is not")
