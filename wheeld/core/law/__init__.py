"""For every state of the table and every fact there is one row: where the table goes, what is done, and why.

A *fact* is what the sensors have proven, or what a person asked for. It carries the time of its evidence, and the law
takes facts in the order of that time (see below). A *state* is where the table stands. A *row* rests on rules of
docs/rulebook.md (R: what makes a coup valid, N: what makes it void, A: what happens around it, a digit: a section); the
house's profile says which article a rule is. Sometimes the fact alone does not decide. Of what sensors show a *guard*
then chooses between two facts: a fault of a sensor that the coup can spare is another fact than a fault. Of what people
ask a row may have a *condition*, beside the row that holds without it: "tout va" after la dernière leads elsewhere. And
a command's row names what it *needs*. A need is one object (`needs`): whether it is met, with which rules and text the
command is refused while it is not, what the table waits for meanwhile, and for how long the word waits for it. Rows and
guards stand in one module for each subject: `launch`, `run`, `drop`, `breakdown`, `head`, `people`. `table` collects
all rows. It refuses a pair of state and fact that is missing or stands twice. To apply the law is to look a row up, and
then to do what it says.

Two pairs of states share a name in messages: "rien ne va plus" before the launch and after it, and "rien va" with and
without operations owed. `stay`: the table stays in its state. `return`: it goes back to its state before a suspension.

## In which order

What happens is often proven later: a launch up to a lap after it was made, a number up to a rotor turn after the ball
came to rest. `waiting` lists the questions that are open meanwhile, and what waits for the answer because the answer
could change its meaning. Each question has an end; without an answer until then the answer is no. A command also waits
for what it needs, where that may come by itself. `history` knows
where the table stood at any time lately. A launch that is proven only after the table moved on has its row in `late`:
it means what it meant when it was made, and it changes no verdict that was published. `standing` says what a state
meets as it is entered: an object that lies in the cylinder, a sensor that fails, a wheel that has stopped or misfired.

## What the table remembers beside its state

- `history`: the states of the last moves, by the time of their evidence. Written with each move, and at a restart. Read
  for a launch that comes late, and for the margin of an early launch.
- `resume_to`: the state before a suspension. If the suspension made a coup void, it is "rien va" instead. If operations
  were owed, they are still owed (`standing`). Written with each move to `suspended`. Read by the rows that return.
- `decided`: whether the present coup has had its verdict. Written with a verdict, and when a coup is numbered. Read
  when a coup begins. A coup that still awaits its launch is not numbered again.
- `object_level`: whether a foreign object is in the cylinder, as far as is decided: `clear`, `present` or `unknown`.
  Written by `object_in`, `object_out` and `object_unknown`, and by `resume` and `open` where they leave its sensor out.
  Read by the needs of words that open the bets, by the guard of a number, and as a coup begins.
- `la_derniere`: the number of the coup from which on la dernière counts, once it is announced; `played` when it was
  played. Written by `last_coup` and `last_coup_off`, by a result, and when the table closes. Read by the conditions of
  "tout va", "operations done", `last_coup` and `last_coup_off`.
- `tout_va_owed`: that the latest void is not over. A closed table does not end it: the ball goes back in any case.
  Written with each void, and by "tout va". Read by a condition of `open`.
- `current.called`: the number that awaits the chef. Written by `number_unconfirmed`, `number_not_proven` and
  `rotor_stopped_in_fall`. It is forgotten with the coup. It is kept while play is suspended or closed meanwhile. A
  sighting elsewhere, or a head that contradicts itself, leaves it without a number. Read with the result, by the guards
  of a number that is seen meanwhile, by the needs of `confirm`, and by a condition of `confirm`, `rien_va`, `resume`
  and `open` while play is stopped.
- `current.overtaken`: that a ball was launched while a number awaits the chef. What is seen since then is not of that
  number. Written by a launch, or a game that nobody received, while a number awaits the chef. Forgotten with the coup.
  Read by the guards of a number, or a ball, that is seen meanwhile.
- `current.launch_due_us`: until when the launch may come that is awaited since "rien ne va plus". Written by "rien ne
  va plus" before the launch. Forgotten with the coup, and when it has passed. Read by the deadlines.
- `left_out`: the sensors that a person has left out. The observer hears nothing of them. Written by `resume` and
  `open`. Read by the needs of `resume` and `open`, and by the observer.
- `spinning`: who spins, how long he has served, since when his time runs, that its end was published, who is announced
  to spin next, and who has acknowledged it. Written by `bouler` and `acknowledge`, when the table opens or closes, and
  when the end of his time is published. Read by the deadlines, the conditions of `bouler`, the need of `acknowledge`.
"""
