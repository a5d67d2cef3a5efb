"""Runs the `wheeld` that knows this maker: python -m tests.girella python -m wheeld ARGUMENTS."""

from __future__ import annotations

import sys

from tests import girella

if __name__ == "__main__":
    girella.add()
    from wheeld.cli.main import main

    sys.exit(main(sys.argv[4:]))
