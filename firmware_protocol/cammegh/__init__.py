"""The line protocol of Cammegh's wheels Mercury 360 and SlingShot 2: converts bytes and times to events and bytes.

These wheels send text without a checksum, twice a second. A host may read only a part of a line, two lines as one, or a
line late, or not at all. So each module rejects everything that is not certain:

- `lines` cuts bytes into lines and begins a new one at each CR, LF and `*`. Only CR or LF ends a good line.
- `status` parses a line by its exact form and ranges, or rejects it with the cause. Digits that mean different things
  in the two products (state 7, every warning bit) get names here.
- `game` compares each status line with the line before it, and follows the runs of the ball, the rotor's speed and the
  faults of sensors. `run` finds the number, the laps and the void of one run, from lines that agree.
- `commands` sends one request at a time.
- `session` combines these modules, sets the extended mode of a Mercury, polls, and detects silence. It reads no clock
  and never waits.

The core of wheeld decides what the events mean for a coup under the rules. The events only report what lines show:

- *One line is enough* for a state, because a damaged line rarely looks like another good line. One line is also enough
  for what makes a coup void: at worst a good coup is played again.
- *Two lines are needed* for what makes a coup valid. A number needs the bare number and `*X;5`, or two `*X;5` in a row
  on a port without bare numbers. Two later lines with another number cancel the first number. A lap needs two lines in
  a row that count it, and a count that began with the run and grew no faster than a ball runs. A direction needs two
  lines in a row that agree.
- *Two lines are needed* for a spin number or last number that does not follow from the previous line. Such a number
  shows that a coup was not observed, or that the wheel was switched off. It never leads to a result.

These are not accepted:

- a number whose run was not read, a bare number alone, the *last winning number* in other states than 5, and every
  number in basic mode;
- laps from any lines except the extended lines of a Mercury 360. The lines of the SlingShot 2 contain no laps;
- a standing rotor from a `000` without an earlier speed of 40 rpm or less, because the field also shows `000` above
  99.9 rpm. Such a line does not show a turning rotor either, so its speed is None.

The fields 7 and 10 of extended lines are not documented. They are parsed but not used. No command that moves the wheel
is sent.

Times are monotonic nanoseconds at which the host read the line. They are later than the wheel's times by the time of
transmission and any delay of the host. Where a rule counts seconds at the wheel, each automatic line counts as 500 ms.
"""
