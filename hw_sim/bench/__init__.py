"""The bench page: a simulated wheel with a button for each thing that can happen to it, and the daemon's answer.

`hand` is the wheel that a person plays by hand, and `buttons` has the buttons for it. `play` decides who plays.
`ledger` keeps what happened and what was published. `server` shows all this in a browser.
"""
