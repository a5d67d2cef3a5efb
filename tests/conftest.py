"""What holds for all tests."""

from __future__ import annotations

import os

# Commands speak the language of the locale, and tests expect English where they name none.
os.environ["LC_ALL"] = "C.UTF-8"
# What Python is about to change is an error in the processes that tests start, too (`filterwarnings`: in pytest's own).
os.environ["PYTHONWARNINGS"] = "error::DeprecationWarning,error::PendingDeprecationWarning,error::ResourceWarning"
