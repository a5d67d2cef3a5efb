"""The line protocol of Cammegh's wheels, Mercury 360 and SlingShot 2: bytes and times in, typed events and bytes out.

What these wheels send is text without a checksum, twice a second, and a host hears it torn, merged, late or not at all.
So each layer refuses what it cannot stand for:

- `lines` cuts bytes into lines, afresh at each CR, LF and `*`. What was not ended by CR or LF is never a line.
- `status` takes a line by its exact form and ranges or rejects it, with the cause. Digits that mean different things in
  the two products get names here (state 7, every warning bit), so that nothing later can confuse them.
- `game` says what the lines prove of each run of the ball; `rotor` and `laps` do the same for speed and lap count.
- `commands` asks one thing at a time, and believes a setting only when the wheel reads it back.
- `session` joins them, polls, and notices silence. It never reads a clock and never waits.

What is concluded, and when:

- *The ball runs* at the first line in state 3, *leaves* at the first in state 4: one line, since a state is a word.
- *What makes a coup good needs two witnesses.* A number: the bare number and `*X;5`, or on a port that gives no bare
  number two `*X;5` in a row; two that say another one afterwards take it back. A lap: two lines in a row that count it,
  from a count that began with the run and grew as a ball can. A direction: two lines in a row that agree.
- *What makes it null needs one.* A line is seldom damaged into another good line; then a good coup is played again.
- *A spin number or last number that does not follow from what was heard* must stand in two lines; then it is a coup
  that nobody observed, or a wheel that was switched off. No result is ever derived from it.

What is refused:

- a number without its run, from a bare number alone, from the *last winning number* of other states, from basic mode;
- laps from anything but the extended lines of a Mercury 360: the SlingShot 2 reports none, so none are proven;
- a standing rotor from a `000` that no reading of 40 rpm or less came before, since the field also shows `000` above
  99.9 rpm; nor is it a turning rotor, its speed is None;
- a rotor that stops or reverses before the launch as anything wrong: in state 2 the SlingShot 2 does both in each game;
- the undocumented extended fields 7 and 10, which are handed on as they came;
- moving the wheel: nothing that does is sent but by a method that says so.

Times are those of the host's reading, monotonic nanoseconds: later than the wheel's by the line and by whatever held
the host up. Where a rule speaks of seconds at the wheel, lines that come by themselves are counted, 500 ms each.
"""
