"""The health of a wheel, from its journals: what its numbers, its ball, its rotor and its sensors did over time.

`reading` reads journals to `Wheel`; each part makes `Check`s of it; `health` judges them together and says what a
technician should do; `page` and `plots` show it. docs/report.md says what each part says, and what it does not.

SciPy and matplotlib are an extra, `wheeld[report]`: a wheel itself needs neither.
"""
