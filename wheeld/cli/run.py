"""`wheeld run`: the daemon of one wheel."""

from __future__ import annotations

import argparse

from wheeld.config.reading import load
from wheeld.daemon import root
from wheeld.daemon.identity import digest_of_file
from wheeld.exits import Exit


def run(options: argparse.Namespace) -> Exit:
    """Run the wheel of the configuration until it is asked to stop; raises ConfigError, OSError."""
    config = load(options.config)
    return root.run(config, digest_of_file(options.config))
