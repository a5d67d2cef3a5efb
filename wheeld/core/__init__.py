"""The adjudicator, pure: observations in, messages out. It never reads a clock, a file or a socket."""
