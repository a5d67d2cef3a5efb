"""The line protocol of Cammegh's wheels, Mercury 360 and SlingShot 2: bytes and times in, events and bytes out.

These wheels send text without a checksum, twice a second. A host reads it torn, merged, late or not at all. So each
layer rejects what it cannot be sure of:

- `lines` cuts bytes into lines and begins a new one at each CR, LF and `*`. Only CR or LF ends a good line.
- `status` parses a line by its exact form and ranges, or rejects it with the cause. Digits that mean different things
  in the two products (state 7, every warning bit) get names here.
- `order` compares each status line with the one before; `game` follows the runs of the ball. Its parts are `run`,
  `laps` and `number` (what two lines agree on), `voids` and `faults` (warnings that last), and `rotor` (the speed
  field).
- `commands` asks one thing at a time; `level` sets the extended mode of a Mercury.
- `session` puts them together, polls, and notices silence. It reads no clock and never waits.

What the events mean for a coup under the rules is concluded in the core of wheeld, not here. The events report what
lines show:

- *One line is enough* for a state, since a damaged line is seldom another good one, and for what makes a coup null: at
  worst a good coup is played again.
- *Two lines are needed* for what makes a coup good. A number: the bare number and `*X;5`, or on a port without bare
  numbers two `*X;5` in a row; two that show another number afterwards take it back. A lap: two lines in a row that
  count it, from a count that began with the run and grew as a ball can. A direction: two lines in a row that agree.
- *Two lines are needed* for a spin number or last number that does not follow from the line before. Then a coup was
  not observed, or the wheel was switched off. No result is ever derived from it.

What is not accepted:

- a number without its run, from a bare number alone, from the *last winning number* of other states, or from basic
  mode;
- laps from anything but the extended lines of a Mercury 360; no line of the SlingShot 2 has any;
- a standing rotor from a `000` that no speed of 40 rpm or less came before, since the field also shows `000` above
  99.9 rpm. Nor is it a turning rotor: its speed is None.

The fields 7 and 10 of extended lines are not documented: they are parsed and not used. Nothing is sent that moves the
wheel.

Times are those of the host's reading, monotonic nanoseconds: later than the wheel's by the transmission and by any
delay of the host. Where a rule speaks of seconds at the wheel, lines that come by themselves are counted, 500 ms each.
"""
