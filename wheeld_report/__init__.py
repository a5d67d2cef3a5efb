"""The health of a wheel, from its journals: what its numbers, its ball, its rotor and its sensors did over time.

`reading` reads journals into `WheelRecord`s. The modules about numbers, ball, rotor and sensors make `Check`s from
them. `health` judges all checks together. `page` and `plots` show what was found and what a technician should do.
docs/report.md says what each of them can show.

SciPy and matplotlib are the extra `wheeld[report]`. A wheel itself does not need them.
"""
