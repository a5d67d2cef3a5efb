"""For every state of the table and every fact there is a row: the next state, what is done, and why.

A *fact* is what the sensors have proven, or what a person asked for. A fact has the time of its evidence, and the law
takes facts in the order of this time (see below). A *state* is the stage of play at the table, such as `closed`. A
*row* names the rules of docs/rulebook.md that it applies (R: what makes a coup valid, N: what makes it void, A: what
happens around it, a digit: a section). The house's profile contains the article for each rule. Sometimes the fact alone
does not decide. Then a *guard* chooses between two facts of sensors. For example, a sensor fault is another fact if the
coup can be proven without that sensor. What people ask may have a second row with a *condition*. For example, "tout va"
leads to another state after la dernière. The row of a command also names its *needs*: what must be so before the
command is done. A need that is not met gives the rules and the text of the refusal, what the table waits for, and how
long the command waits for the need. Rows and guards are in one module for each subject: `launch`, `run`, `drop`,
`breakdown`, `head`, `people`. `table` collects all rows. It refuses a pair of state and fact that has no row, or two
rows with the same condition. To apply the law means to look up a row and to do what it says.

Two states are `rien_ne_va_plus` in messages: before the launch and after it. Two are `rien_va`: with and without
operations owed. `stay`: the table stays in its state. `return`: it goes back to its state before a suspension.

## In which order

A fact is often proven later than it happened: a launch up to a lap later, a number up to a rotor turn after the ball
came to rest. Meanwhile a question is open. `waiting` lists the questions. It also lists the words and facts that wait
for each answer, because the answer could change their meaning. Each question has an end. If there is no answer by then,
the answer is no. A command also waits for a need that may be met without a person. `history` has the recent states with
their times. A launch that is proven after the table moved on has its row in `LATE`. Such a launch means what it meant
when it was made, and it changes no published verdict. `standing_evidence` gives the facts that are already there when
the table enters a state: an object in the cylinder, a failing sensor, a wheel that stopped or failed to launch.

## What the table remembers in addition to its state

- `history`: the latest states, each with the time of the evidence that led to it. Written with each move, and at a
  restart. Read for a launch that is proven late, and for the margin of an early launch.
- `resume_to`: the state to which `resume` leads: the state before the suspension, or "rien va" if the suspension made a
  coup void. Operations that were owed are still owed. Written with each move to `suspended`. Read by the rows that
  return.
- `decided`: whether the present coup has its verdict. Written with a verdict, and when a coup is numbered. Read when a
  coup begins: a coup that still awaits its launch is not numbered again.
- `object_level`: whether a foreign object is in the cylinder: `clear`, `present` or `unknown` (not decided yet).
  Written by `object_in`, `object_out` and `object_unknown`, and by `resume` and `open` if they leave the object sensor
  out. Read by the needs of words that open the bets, by the guard of a number, and when a coup begins.
- `la_derniere`: while la dernière is announced, the number of the first coup that can be la dernière. `played` after it
  was played. Written by `last_coup` and `last_coup_off`, by a result, and when the table closes. Read by the conditions
  of "tout va", "operations done", `close`, `last_coup` and `last_coup_off`.
- `tout_va_owed`: whether "tout va" must still be said after a void. This is so even if the table has closed: the ball
  must still be put back. Written with each void, and by "tout va". Read by a condition of `open`.
- `current.called`: the number that awaits the chef. Written by `number_unconfirmed`, `number_not_proven` and
  `rotor_stopped_in_fall`. Forgotten with the coup, but kept while play is suspended or the table is closed. If the ball
  is seen in another pocket, or a head contradicts itself, the chef must name the number. Read for the result, by the
  guards of a number that is seen meanwhile, by the needs of `confirm`, and by a condition of `confirm`, `rien_va`,
  `resume` and `open` while play is stopped.
- `current.overtaken`: whether a ball was launched while a number awaits the chef. What is seen since then says nothing
  about that number. Written by such a launch, or by a game that was not observed. Forgotten with the coup. Read by the
  guards of a number, or a ball, that is seen meanwhile.
- `current.launch_due_us`: until when a launch is awaited after "rien ne va plus". Written when "rien ne va plus" is
  said before the launch. Forgotten with the coup, and when this time has passed. Read by the deadlines.
- `left_out`: the sensors that a person has left out. The observer gets nothing from them. Written by `resume` and
  `open`. Read by the needs of `resume` and `open`, and by the observer.
- `spinning`: the bouler, how long he has served, when his time last started, whether its end was published, the next
  bouler, and who acknowledged the change. Written by `bouler` and `acknowledge`, when the table opens or closes, and
  when his time is over. Read by the deadlines, the conditions of `bouler`, and the need of `acknowledge`.
"""
