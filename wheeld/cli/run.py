"""`wheeld run`: the daemon of one wheel."""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial

from wheeld.cli.failure import file_trouble
from wheeld.config.instance import WheelFiles, wheel_of
from wheeld.config.problems import ConfigError
from wheeld.config.reading import load
from wheeld.core.catalogue import Catalogue
from wheeld.daemon import root
from wheeld.daemon.identity import digest_of_file
from wheeld.exits import Exit
from wheeld.journal.seal import FileSigner, KeyFileError


def run(options: argparse.Namespace) -> Exit:
    """Run the daemon of the configuration's wheel until somebody stops it. Raises ConfigError, OSError.

    If somebody asks the daemon to read the configuration again, it starts again in the same process, with the program
    that is installed at that time. So what the daemon reports about its program is true.
    """
    wheel = wheel_of(options.wheel)
    config = load(*wheel)
    if (ended := root.run(config, digest_of_file(wheel.config), partial(_unusable, wheel))) is None:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  it is this process's command line
    return ended


def _unusable(wheel: WheelFiles) -> str | None:
    """Return why the files of the wheel cannot be used now, or None if they can."""
    try:
        if (key_file := load(*wheel).journal.signing_key_file) is not None:
            FileSigner(key_file)
    except (ConfigError, KeyFileError) as wrong:
        return str(wrong)
    except OSError as wrong:
        why = file_trouble(wrong)
        return why if isinstance(why, str) else Catalogue("en").say_text(why)
    return None
