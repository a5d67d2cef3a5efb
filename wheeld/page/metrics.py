"""Serves what is known of one wheel as metrics, for Prometheus and other programs that read OpenMetrics.

Nothing here is global: each application has its own registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from math import isinf

from aiohttp import hdrs, web
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector, CollectorRegistry

from wheeld.page.metric_list import FRESH_S, METRICS, Histogram, MetricsView
from wheeld.page.wheel import WheelView

WHERE = ("site", "table")
"""The labels that every metric has."""

OPEN_METRICS = "application/openmetrics-text"

KEPT_S = 1.0
"""How long the text of the metrics is kept. Making it takes up to 25 ms, and meanwhile no page is served. Prometheus
asks every 15 s. A program that asks more than once a second gets the same text again."""


class WheelCollector(Collector):
    """Makes the metrics of one wheel at each request. `now_s` returns monotonic seconds, on the same clock as
    `WheelView.heard_s`."""

    def __init__(self, wheel: WheelView, site: str, table: str, now_s: Callable[[], float]) -> None:
        self._wheel, self._where, self._now_s = wheel, (site, table), now_s
        self._start: tuple[str, float | None] | None = None
        """The boot id of the daemon's run, and when the run began. This is computed only once, because the computer's
        clock may be set later."""

    def collect(self) -> Iterator[Metric]:
        """Yield every metric of `METRICS`, also those without a sample now."""
        wheel = self._wheel
        age_s = None if wheel.heard_s is None else self._now_s() - wheel.heard_s
        table = wheel.table if wheel.is_online else None
        health = wheel.health
        # The message `health` describes the present if it is fresh, and from the run of the daemon that is online now.
        is_fresh = age_s is not None and age_s <= FRESH_S
        online = wheel.availability if wheel.is_online else None
        if health is None or online is None or not is_fresh or health.boot_id != online.boot_id:
            view = MetricsView(wheel, age_s, None, table, None)
        else:
            if self._start is None or self._start[0] != health.boot_id:
                began_s = None  # when the daemon began to run, in whole Unix seconds
                with suppress(ValueError, OverflowError):  # the times in `health` may not be valid
                    began_s = float(round(datetime.fromisoformat(health.at).timestamp() - health.uptime_s))
                self._start = health.boot_id, began_s
            view = MetricsView(wheel, age_s, health, table, self._start[1])
        for declared in METRICS:
            labels = (*WHERE, *declared.labels)
            if isinstance(declared, Histogram):
                family = HistogramMetricFamily(declared.name, declared.about, labels=labels)
                for named, spread in declared.spread(view):
                    buckets = [("+Inf" if isinf(bound) else str(bound), count) for bound, count in spread.at_most]
                    family.add_metric((*self._where, *named), buckets, spread.total)
                yield family
            elif declared.kind == "gauge":
                gauge = GaugeMetricFamily(declared.name, declared.about, labels=labels)
                for named, figure in declared.samples(view):
                    gauge.add_metric((*self._where, *named), float(figure))
                yield gauge
            else:
                counter = CounterMetricFamily(declared.name, declared.about, labels=labels)
                created_s = view.started_s if declared.is_of_run else None
                for named, figure in declared.samples(view):
                    counter.add_metric((*self._where, *named), float(figure), created=created_s)
                yield counter


def _wants_open_metrics(accept: str) -> bool:
    return OPEN_METRICS in [each.partition(";")[0].strip().lower() for each in accept.split(",")]


def exposition(registry: CollectorRegistry, accept: str) -> tuple[bytes, str]:
    """Return the metrics as text, and its content type. The format is OpenMetrics if the header `Accept` names
    OpenMetrics. If not, it is the format that every Prometheus reads."""
    # The header itself is not passed on: if its version is not a number, the library raises an error.
    encode, content_type = choose_encoder(f"{OPEN_METRICS}; version=1.0.0" if _wants_open_metrics(accept) else "")
    return encode(registry), content_type


def application(wheel: WheelView, site: str, table: str, now_s: Callable[[], float]) -> web.Application:
    """Return the application that answers GET /metrics and nothing else. `now_s` returns monotonic seconds, on the same
    clock as `WheelView.heard_s`."""
    registry = CollectorRegistry()
    registry.register(WheelCollector(wheel, site, table, now_s))
    kept: dict[bool, tuple[float, bytes, str]] = {}

    async def metrics(request: web.Request) -> web.Response:
        accept = ",".join(request.headers.getall(hdrs.ACCEPT, []))
        is_open = _wants_open_metrics(accept)
        if is_open not in kept or now_s() - kept[is_open][0] >= KEPT_S:
            kept[is_open] = now_s(), *exposition(registry, accept)
        _, text, content_type = kept[is_open]
        return web.Response(body=text, headers={hdrs.CONTENT_TYPE: content_type, hdrs.CACHE_CONTROL: "no-store"})

    server = web.Application()
    server.router.add_get("/metrics", metrics, allow_head=False)
    return server
