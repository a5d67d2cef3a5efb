"""What a technician needs to align a wheel: counted signals, learned angles, findings and what to do.

Only `bench`, `rewrite` and `record` do I/O.
"""
