"""`wheeld run`: the daemon of one wheel."""

from __future__ import annotations

import argparse

from wheeld.config.instance import wheel_of
from wheeld.config.problems import ConfigError
from wheeld.config.reading import load
from wheeld.daemon import root
from wheeld.daemon.identity import digest_of_file
from wheeld.exits import Exit
from wheeld.service.notify import ServiceNotifier


def run(options: argparse.Namespace) -> Exit:
    """Run the wheel of the configuration until it is asked to stop. Raises ConfigError, OSError."""
    wheel = wheel_of(options.config)
    try:
        config = load(*wheel)
    except ConfigError as wrong:
        ServiceNotifier().failed(str(wrong))
        raise
    return root.run(config, digest_of_file(wheel.config), wheel.name)
