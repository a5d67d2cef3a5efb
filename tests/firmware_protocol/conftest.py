"""The same examples in every run, and no deadline: a busy machine is no fault of the code."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")
