"""What to do about a failed connection to a broker, in terms of the options of `wheeld watch` and `wheeld page`."""

from __future__ import annotations

from wheeld.core.catalogue import translatable

HINTS = (
    (
        "resend",
        translatable(
            "only the settlement system and the collector may ask for earlier messages: log in as one of them, or "
            "leave --from-seq out"
        ),
    ),
    (
        "Connection refused",
        translatable("no broker listens there: check --host and --port, and whether the broker runs"),
    ),
    ("Name or service not known", translatable("no computer has that name: check --host")),
    (
        "Temporary failure in name resolution",
        translatable("the name of the broker cannot be looked up now: check --host and the network"),
    ),
    ("CERTIFICATE_REQUIRED", translatable("the broker asks for a certificate: give --cert-file and --key-file")),
    (
        "certificate has expired",
        translatable(
            "the broker's certificate has expired: renew it there, unless this computer's clock is wrong "
            "(`timedatectl`)"
        ),
    ),
    (
        "certificate is not yet valid",
        translatable(
            "the broker's certificate is not valid yet: the clock of the broker or of this computer is wrong "
            "(`timedatectl` on both)"
        ),
    ),
    (
        "CERTIFICATE_VERIFY_FAILED",
        translatable(
            "the broker's certificate is from another authority, or for another name: check --ca-file and --host"
        ),
    ),
    (
        "_ALERT_",
        translatable("the broker does not accept our certificate: check --cert-file, and whether it has expired"),
    ),
    (
        "Session taken over",
        translatable(
            "another client has logged in with this name, and the broker lets each name in once: log in with another "
            "name"
        ),
    ),
    ("its signature is wrong", translatable("if each message is refused, --public-key is the key of another wheel")),
    ("ot authori", translatable("the broker refuses this user: check --username and --password-file")),
    (
        "WRONG_VERSION_NUMBER",
        translatable("the broker has no TLS on this port: check --port, or leave the files for TLS out"),
    ),
    (
        "reset by peer",
        translatable("only one of the two sides uses TLS, the broker or this command: check --port and --ca-file"),
    ),
    ("is marked as a test", translatable("give --test to read a bench table's messages")),
    ("has no mark of a test", translatable("leave --test out: this table is live")),
    ("access list refuses", translatable("this user cannot read this table: check SITE/TABLE and `wheeld acl`")),
)
"""Pairs: a part of an error text, and what to do about it. The texts are from the system, OpenSSL or the broker. The
first part that is found counts."""


def hint_of(trouble: str) -> str | None:
    """Return what to do about this error, in English. This text is the key of its translations. None if the error is
    clear by itself, or unknown here."""
    return next((text for part, text in HINTS if part in trouble), None)
