"""`wheeld run`: the daemon of one wheel."""

from __future__ import annotations

import argparse
import os
import sys

from wheeld.cli.failure import file_trouble
from wheeld.config.instance import wheel_of
from wheeld.config.problems import ConfigError
from wheeld.config.reading import load
from wheeld.core.catalogue import Catalogue
from wheeld.daemon import root
from wheeld.daemon.identity import digest_of_file
from wheeld.exits import Exit
from wheeld.service.notify import ServiceNotifier


def run(options: argparse.Namespace) -> Exit:
    """Run the wheel of the configuration until somebody stops it. Raises ConfigError, OSError.

    If somebody asks it to read the configuration again, it starts again in the same process, with the program that is
    installed then. So what it reports about its program is true.
    """
    try:
        wheel = wheel_of(options.config)
        config = load(*wheel)
    except (ConfigError, OSError) as wrong:
        why = file_trouble(wrong) if isinstance(wrong, OSError) else str(wrong)
        # The text is in English, like the log.
        ServiceNotifier().failed(why if isinstance(why, str) else Catalogue("en").say_text(why))
        raise
    if (ended := root.run(config, digest_of_file(wheel.config), wheel.name)) is None:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  the command line of this process
    return ended
