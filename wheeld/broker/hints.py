"""What to do about a trouble of a connection to a broker, by the options of `wheeld watch` and `wheeld page`."""

from __future__ import annotations

from wheeld.core.catalogue import translatable

HINTS = (
    (
        "resend",
        translatable("only the settlement system may ask for earlier messages: log in as it, or leave --from-seq out"),
    ),
    ("Connection refused", translatable("no broker listens there: check --host and --port, and whether it runs")),
    ("Name or service not known", translatable("no computer has that name: check --host")),
    ("Temporary failure in name resolution", translatable("nobody knows that name now: check --host and the network")),
    ("CERTIFICATE_REQUIRED", translatable("the broker asks for a certificate: give --cert-file and --key-file")),
    (
        "CERTIFICATE_VERIFY_FAILED",
        translatable("the broker's certificate is of another authority or name: check --ca-file and --host"),
    ),
    ("_ALERT_", translatable("the broker does not accept our certificate: check --cert-file, and when it ends")),
    ("ot authori", translatable("the broker does not let this user in: check --username and --password-file")),
    (
        "WRONG_VERSION_NUMBER",
        translatable("the broker has no TLS on this port: check --port, or leave the files for TLS out"),
    ),
    (
        "reset by peer",
        translatable("the broker wants TLS where we have none, or the other way round: check --port and --ca-file"),
    ),
    ("access list refuses", translatable("this user may not read this table: check SITE/TABLE and `wheeld acl`")),
)
"""By a part of the trouble, in the words of the system, of OpenSSL or of the broker, what to do about it. The first
that fits counts."""


def hint_of(trouble: str) -> str | None:
    """What to do about it, in English, the key of its translations; None for one that says enough, or is unknown."""
    return next((text for part, text in HINTS if part in trouble), None)
