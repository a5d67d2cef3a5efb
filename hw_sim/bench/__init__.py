"""The bench page: a simulated wheel with a button for each thing that can happen to it, beside the daemon's answer.

`hand` is the wheel that is played by hand, `buttons` what can be pressed, `play` says who plays, `ledger` keeps what
happened and what was published, `server` shows it all to a browser.
"""
