"""A reader of logs that is independent of the simulator: lines to rotor angles, pockets and passes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

import msgspec

ORDER = [0, 32, 15, 19, 4, 21, 2, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10, 5, 24, 16, 33, 1, 20, 14, 31, 9, 22]
ORDER += [18, 29, 7, 28, 12, 35, 3, 26]


class Log:
    """The lines of one log, sorted by kind."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.header, *self.lines = [msgspec.json.decode(line) for line in lines]
        self.rotor = self.of("rotor")
        self._times = [line["t"] for line in self.rotor]

    def of(self, kind: str, **fields: Any) -> list[dict[str, Any]]:
        """The lines of a kind whose fields are these."""
        return [x for x in self.lines if x["kind"] == kind and all(x.get(k) == v for k, v in fields.items())]

    def times(self, kind: str, **fields: Any) -> list[int]:
        """When they were, in µs."""
        return [line["t"] for line in self.of(kind, **fields)]

    def edge_angle(self, edge: dict[str, Any]) -> float:
        """Rotor angle (turns) at an encoder edge, by the log's convention."""
        return float(edge["tick"] + (edge["direction"] == "ccw")) / float(self.header["rotor_ticks"])

    def pocket(self, sighting: dict[str, Any]) -> tuple[int, float]:
        """(number, distance from its centre in pockets) that passes the reader, from the edges round it."""
        after = min(bisect_right(self._times, sighting["t"]), len(self.rotor) - 1)  # the last edges serve to the end
        before, following = self.rotor[after - 1], self.rotor[after]
        start, way = self.edge_angle(before), self.edge_angle(following) - self.edge_angle(before)
        way = (way + 0.5) % 1.0 - 0.5
        between = (sighting["t"] - before["t"]) / max(1, following["t"] - before["t"])
        place = (self.header["readers_deg"][sighting["reader"]] / 360 - start - way * between) * 37
        return ORDER[round(place) % 37], abs(place - round(place))
