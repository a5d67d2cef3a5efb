"""The tools to align a wheel: counts of signals, learned angles, and findings with what to do.

Only `bench`, `rewrite` and `record` do I/O.
"""
