"""What a technician needs to align a wheel: counted signals, learned angles, findings and what to do.

Only `bench` and `rewrite` do I/O.
"""
