"""Campaigns: thousands of simulated coups against the daemon as a black box, every verdict held to the truth.

Read in this order: `night` plays one evening into `wheeld replay -` (`black_box`) and has its verdicts judged
(`compare`); `explain` finds which fault a disagreement comes from; `crew` spreads evenings over processes; `report`
counts, `page` and `plots` show; `alone` plays one coup again and `drawing` draws it.
"""
