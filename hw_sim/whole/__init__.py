"""Everything around the daemon, simulated: one table of a house for an evening, on virtual time, from one seed.

The fault model. Every part may fail, and the faults of an evening meet as they please (`plan.KINDS` has them all):

- **The daemon's computer** loses its power, kills the daemon, stops and starts it, stands still for up to 15 s. systemd
  starts a daemon that has ended again after 5 s, and kills one that gives no sign for 20 s. The computer's date is set
  by up to an hour; its clock runs too fast by up to 1,500 ppm. Other processes take the processor, also between two
  readings of the clocks.
- **Its disk** is slow (each call of the journal up to 0.8 s) or takes no more. Calls are whole or not at all. When the
  power goes, the disk has what SQLite has synced and nothing else. A disk that says that it synced and did not is not
  in the model.
- **The board** loses its power, is reset, or lets its clock begin again. Its line is pulled, cut, cut again and again,
  deaf in one direction, or damaged. What the kernel has not handed on yet is 4 kB; what is more waits in the board.
- **The sensors**: the encoder's disc slips by two ticks or more and stays so. A beam, a reader or all readers see
  nothing for up to 90 s, or report 30 ms late, and nothing reports that.
- **A head** of the wheel gives the number in a quarter of the evenings: a Mercury 360, a SlingShot 2 alone or beside a
  board with beams. Power and line fail as the board's; what nobody reads is lost. A SlingShot 2 misfires, or stops its
  own game until somebody starts it.
- **Pins** of the daemon's own computer see the wheel in a part of the evenings. What happens while nobody reads them is
  lost; their levels are not.
- **The broker** restarts, and remembers or forgets what it retained and the daemon's session. It drops a daemon that
  stands still for longer than one and a half keep-alives, and keeps commands for it for a minute. The network to it is
  cut without a word: both ends find out after one and a half keep-alives, and what was sent meanwhile arrives if the
  network is back sooner.
- **Everything** loses its power at once and gets it back part by part, in any order.
- **The settlement core** is away, and has what it stored when it is back. It asks for what it misses.
- **People** do what `waiting_codes` says: at once, late, twice, or after a wrong command. They see what was published
  and nothing else. They wait for what ends by itself, start a wheel that has stopped, and switch a board off and on
  where a notice says so. Where the table asks for the ball's pocket they name it, and where it says that a ball is not
  in its pocket, which is, they say "tout va" and do what the refusal says. A word that gets no answer at a panel they
  give once more with the board's button. Half of the panels say when a word was said, unless the daemon's date is
  wrong. Between two coups they see to the table; while a scenario plays they act as it is written, whatever the daemon
  says.
- **A foreign object** falls in at any moment, and may be taken out unseen. The chef says "rien va" at any
  moment. An impatient chef gives, each second, the command for which the table waits, even while the ball runs.

The physics is that of `SimTable`. A `Witness` keeps what truly happened, for oracles that never ask the daemon.
"""
