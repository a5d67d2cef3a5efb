"""`wheeld run`: the daemon of one wheel."""

from __future__ import annotations

import argparse
import os
import sys

from wheeld.config.instance import wheel_of
from wheeld.config.reading import load
from wheeld.daemon import root
from wheeld.daemon.identity import digest_of_file
from wheeld.exits import Exit


def run(options: argparse.Namespace) -> Exit:
    """Run the daemon of the configuration's wheel until somebody stops it. Raises ConfigError, OSError.

    If somebody asks the daemon to read the configuration again, it starts again in the same process, with the program
    that is installed at that time. So what the daemon reports about its program is true.
    """
    wheel = wheel_of(options.config)
    config = load(*wheel)
    if (ended := root.run(config, digest_of_file(wheel.config), wheel.name)) is None:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  it is this process's command line
    return ended
