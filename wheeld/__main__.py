"""`python -m wheeld`: the same as the command `wheeld`."""

from __future__ import annotations

import sys

from wheeld.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
