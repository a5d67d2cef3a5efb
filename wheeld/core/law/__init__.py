"""For every state of the table and every fact there is one row: where the table goes, what is done, and why.

A *fact* is what the sensors have proven, or what a person asked for. A *state* is where the table stands. A *row* rests
on rules of docs/rulebook.md (R: what makes a coup valid, N: what makes it void, A: what happens around it, a digit: a
section); the house's profile says which article a rule is. A *guard* chooses between two facts where more than the
fact itself decides: a launch before the table was ready is another fact than a launch. Guards stand beside the rows of
their facts, in one module for each subject: `launch`, `run`, `drop`, `breakdown`, `head`, `people`. `table` collects
all rows and refuses a pair that is missing or stands twice. To apply the law is to look a row up, and then to do what
it says.

Three states have one name in messages: before the launch, after it, and while a number awaits the chef, "rien ne va
plus" closes the bets alike. `stay` stays; `return` goes back to where a suspension began.

## What decides beside the rows

The state is not all that the table remembers. These registers are machines too: small ones, hidden from the rows. They
stand in `registers` and in the table's state.

- `launches.meanings` remembers what a launch meant lately, and since when: a launch is proven only after it was made.
  Written with each move to a state where a launch means something else, and at a restart. Read by the guard of launches
  and by the margin of an early launch. Rows: `launched_before`, `launched_idle`, `launched_null`.
- `launches.void_before_us` remembers until when a ball that is first seen is that of a coup that is void already.
  Written when "rien va" voids a coup whose passes came but prove no launch yet, or whose ball a head reports later
  (`launch_late_us` of the observer says how much later); and at a restart after a void or in a suspension, for as long
  as a ball may still run (`STILL_RUNNING_US`). Read by the guard of launches. Rows: `launched_null`.
- `launches.void_asked` remembers a "rien va" that was refused at a wheel whose head reports launches late. Written with
  the refusal. Read, and cleared, with the next `launched`: within `launch_late_us` the "rien va" is applied then. Rows:
  `chef_void`.
- `resume_to` remembers the state that a suspension hid; after a void in the suspension, "rien va" instead, with
  operations owed if they were (`state_after_suspension`). Written with each move to `suspended`. Read by the rows that
  return. Rows: `resume`.
- `decided` remembers whether the coup at hand has had its verdict. Written with a verdict, and when a coup is numbered.
  Read when a coup begins: one that still awaits its launch keeps its number. Rows: all that begin a coup or open the
  bets.
- `last_coup` and `closing` remember that la dernière is announced, and that it was played. Written by `last_coup`, by a
  result, and when the table closes. Read by the guards of "tout va" and "operations done". Rows: `tout_va_last`,
  `operations_done_last`.
- `current.called` remembers the number that awaits the chef. Written by `number_unconfirmed`, and forgotten with the
  coup. Read with the result. Rows: `confirm`.
- `bouler_due_reported` remembers that the end of the bouler's time was published. Written with it, and with another
  bouler. Read by the deadlines. Rows: `bouler_due`.
"""
