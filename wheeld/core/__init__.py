"""The adjudicator. It takes observations and returns messages. It never reads a clock, a file or a socket."""
