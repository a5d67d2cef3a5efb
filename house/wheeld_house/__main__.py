"""`python -m wheeld_house`: the same as `wheeld-house`."""

from __future__ import annotations

import sys

from wheeld_house.cli import main

sys.exit(main())
