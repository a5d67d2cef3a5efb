"""Campaigns: thousands of simulated coups against the daemon as a black box. Every verdict is compared with the truth.

Read the modules in this order. `evening_run` plays one evening into `wheeld replay -` (`black_box`) and compares the
verdicts with the truth (`comparison`). `explain` finds which fault causes a disagreement. `report` counts the results.
`page` and `plots` show the counts. `coup_command` plays one coup again. `timeline` reads a log, and `drawing` draws it.
"""
