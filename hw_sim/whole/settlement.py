"""A simulated settlement core: it stores and acknowledges each message once, in order, and asks for missing ones."""

from __future__ import annotations

import json
from collections.abc import Callable

from hw_sim.subscriber import SEQUENCED

ASKS_AGAIN_S = 10.0
"""After this time, an unanswered request is repeated."""


class Settlement:
    """A settlement core. A restart loses nothing of `stored`. `say` publishes, and returns False if that fails."""

    def __init__(self, say: Callable[[str, bytes], bool]) -> None:
        self._say = say
        self.runs = True
        self.stored: list[bytes] = []
        self._waiting: dict[int, bytes] = {}
        self._asked_s = -ASKS_AGAIN_S

    def take(self, leaf: str, payload: bytes, now_s: float) -> None:
        """Take a message of the table."""
        if not self.runs or leaf not in SEQUENCED:
            return
        self._waiting.setdefault(json.loads(payload)["seq"], payload)
        while (following := self._waiting.pop(len(self.stored) + 1, None)) is not None:
            self.stored.append(following)
        self._waiting = {seq: one for seq, one in self._waiting.items() if seq > len(self.stored)}
        if self._waiting:
            self.ask(now_s)
        self._say("ack", b'{"seq":%d}' % len(self.stored))

    def ask(self, now_s: float) -> None:
        """Ask for the next missing message, but not again within ASKS_AGAIN_S."""
        if not self.runs or now_s - self._asked_s < ASKS_AGAIN_S:
            return
        self._asked_s = now_s
        seq = len(self.stored) + 1
        asked = {"id": f"resend-{now_s:.3f}", "by": "settlement", "reason": "a gap", "from_seq": seq}
        self._say("cmd/settlement/resend", json.dumps(asked).encode())
