"""Simulates everything around the daemon: one table of a house for one evening, on virtual time, from one seed.

The fault model: every part may fail, and the faults of an evening may overlap in any way (`plan.KINDS` lists them all).

- **The daemon's computer** loses its power, kills the daemon, stops and starts it, or stands still for up to 15 s.
  systemd starts the daemon again 5 s after it ended, and kills it if it does not feed the watchdog for 20 s. The date
  is changed by up to 4,000 s. The clock runs too fast by up to 1,500 ppm. Other processes take the processor, also
  between two readings of the clocks.
- **The disk of that computer** is slow (each call of the journal takes up to 0.8 s) or full. Each call is done
  completely or not at all. After a loss of power, the disk contains what SQLite has synced and nothing else. In the
  model, a disk never reports a sync that it did not do.
- **The board** loses its power, is reset, or starts its clock again at 0. Its line is unplugged, is cut once or
  repeatedly, passes no bytes in one direction, or damages bytes. The kernel buffers 4 kB of unread data. Further data
  waits in the board.
- **The sensors**: the encoder's disc slips by two ticks or more and stays there. A beam, a reader or all readers see
  nothing for up to 90 s, or one of them reports 30 ms late. No message reports such a fault.
- **A head** of the wheel gives the number in some of the evenings: a Mercury 360, or a SlingShot 2 alone, or with a
  board or with pins. Its power and line fail like those of the board, and unread bytes are lost. A SlingShot 2
  misfires, or stops its own game until a person starts it.
- **Pins** of the daemon's own computer observe the wheel in some of the evenings. Edges are lost while the daemon does
  not read the pins. Levels are not lost.
- **The broker** restarts, and either keeps or loses its retained messages and the daemon's session. It drops a daemon
  that stands still for longer than one and a half keep-alives, and keeps the commands for that daemon for a minute. Its
  network is cut without notice: both ends detect this after one and a half keep-alives. If the network is back sooner,
  the messages that were sent in the meantime arrive.
- **Everything** loses its power at once. The parts get their power back one by one, in any order.
- **The settlement core** stops for a time and keeps what it stored. It asks for messages that it lacks.
- **People** do what `waiting_codes` asks for: at once, late, twice, or after a wrong command. They know only what was
  published. They wait for what ends by itself, start a wheel that has stopped, and switch a board off and on if a
  notice says so. If the table asks for the ball's pocket, they name it. If the table wrongly says that a ball is not in
  its pocket, they say "tout va" and do what the refusal says. A command without an answer at a panel is given once more
  with the board's button. Half of the panels send the time of each command, unless the daemon's date is wrong. People
  do this between two coups. While a scenario plays, they act as it is written, whatever the daemon publishes.
- **A foreign object** falls in at any moment, and may be taken out while no sensor sees it. The chef says "rien va" at
  any moment. An impatient chef gives, each second, the command for which the table waits, even while the ball runs.

The physics is that of `SimTable`. A `Witness` records what truly happened. Tests compare it with what was published.
"""
