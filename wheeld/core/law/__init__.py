"""For every state of the table and every fact there is one row: where the table goes, what is done, and why.

A *fact* is what the sensors have proven, or what a person asked for. A *state* is where the table stands. A *row* rests
on rules of docs/rulebook.md (R: what makes a coup valid, N: what makes it void, A: what happens around it, a digit: a
section); the house's profile says which article a rule is. Sometimes the fact alone does not decide. Then a *guard*
chooses between two facts: a launch before the table was ready is another fact than a launch. Guards stand beside the
rows of their facts, in one module for each subject: `launch`, `run`, `drop`, `breakdown`, `head`, `people`. `table`
collects all rows. It refuses a pair of state and fact that is missing or stands twice. To apply the law is to look a
row up, and then to do what it says.

Three states have the same name in messages, "rien ne va plus": before the launch, after it, and while a number awaits
the chef. In all three the bets are closed. `stay`: the table stays in its state. `return`: it goes back to its state
before a suspension.

## What decides beside the rows

The table remembers more than its state. It also keeps these registers. Each is a small machine that the rows do not
show. They stand in `registers` and in the table's state.

- `launches.meanings`
  - Remembers: what a launch meant lately, and since when. It is needed because a launch is proven only after it was
    made.
  - Written: when the table moves to a state where a launch means something else, and at a restart.
  - Read: by the guard of launches, and for the margin of an early launch.
  - Rows: `launched_before`, `launched_idle`, `launched_null`.
- `launches.void_before_us`
  - Remembers: a time. If a ball is first seen before this time, its coup is void already.
  - Written: in three cases. First, "rien va" voids a coup whose passes came but do not prove a launch yet. Second,
    "rien va" voids a coup, and a head may report the ball later (at most `launch_late_us` of the observer later).
    Third, the controller restarts after a void or in a suspension. Then a ball may still run for `STILL_RUNNING_US`.
  - Read: by the guard of launches.
  - Rows: `launched_null`.
- `launches.void_asked`
  - Remembers: a "rien va" that was refused, at a wheel whose head reports launches late.
  - Written: with the refusal. Cleared with the next `launched`.
  - Read: with the next `launched`. If this comes within `launch_late_us`, the "rien va" is applied then.
  - Rows: `chef_void`.
- `resume_to`
  - Remembers: the state before a suspension. If the suspension made a coup void, it is "rien va" instead. If operations
    were owed, they are still owed (`state_after_suspension`).
  - Written: with each move to `suspended`.
  - Read: by the rows that return.
  - Rows: `resume`.
- `decided`
  - Remembers: whether the present coup has had its verdict.
  - Written: with a verdict, and when a coup gets its number.
  - Read: when a coup begins. A coup that still awaits its launch keeps its number.
  - Rows: all that begin a coup or open the bets.
- `last_coup` and `closing`
  - Remember: that la dernière is announced (`last_coup`), and that it was played (`closing`).
  - Written: by `last_coup`, by a result, and when the table closes.
  - Read: by the guards of "tout va" and "operations done".
  - Rows: `tout_va_last`, `operations_done_last`.
- `current.called`
  - Remembers: the number that awaits the chef.
  - Written: by `number_unconfirmed`. It is forgotten with the coup.
  - Read: with the result.
  - Rows: `confirm`.
- `bouler_due_reported`
  - Remembers: that the end of the bouler's time was published.
  - Written: when that is published, and when another bouler begins.
  - Read: by the deadlines.
  - Rows: `bouler_due`.
"""
