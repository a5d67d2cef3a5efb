"""When people's words count (docs/rulebook.md 7): a word was said between two moments, and may be heard later.

Sensors keep their own time. Nobody knows when a word was said that a network delayed, or that came while the machine
stood still, unless its sender says so.
"""

from __future__ import annotations

ON_THEIR_WAY_US = 60_000_000
"""For so long at most a word is on its way: a connection that fails is made again within half a minute, and a broker
keeps words no longer. A sender that names an earlier time has a wrong clock, more likely than a late word."""


def when_said(name: str, since: int | None, came: int, said: int | None) -> tuple[int, int]:
    """The earliest and the latest moment at which a command of that name counts as said, all on one clock, whichever
    it is. It came at `came`, and nobody could be heard from `since` until then (None: the machine listened); `said`:
    when its sender says that it was said, None when he does not.

    While the machine listened only "rien va" counts from before it came (N7). Any other word would then lie before what
    it was an answer to, by a clock that may be wrong.
    """
    is_rien_va = name == "rien_va"
    earliest = since if since is not None else came - ON_THEIR_WAY_US * is_rien_va
    if said is not None and earliest <= said <= came:
        return said, said
    return (earliest if is_rien_va and since is not None else came), came
