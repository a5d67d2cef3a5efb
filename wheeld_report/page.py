"""The report as one HTML page that needs no other file. It contains its style, its pictures, and for each picture a
table with the same values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from wheeld.core.catalogue import Catalogue, translatable
from wheeld.core.instants import to_text
from wheeld.screen.describe import LATE_BETS, RULED, minute
from wheeld_report.checks import POWER_MIN
from wheeld_report.health import WheelReport
from wheeld_report.numbers import EFFECT_POCKETS, EFFECT_TIMES
from wheeld_report.people import arrow_of
from wheeld_report.plots import Pictures, name_of

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #22313f; max-width: 44rem; margin: 1rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.2rem; margin-top: 2.5rem; border-top: 2px solid } h3 { font-size: 1rem }
svg { max-width: 100%; height: auto } .wide { overflow-x: auto } table { border-collapse: collapse; font-size: .85rem }
td, th { text-align: left; padding: .15rem .8rem .15rem 0; border-bottom: 1px solid #e3e8ec } td.n { text-align: right }
.found { border-left: 4px solid #b3392f; padding-left: .8rem }
.fine { border-left: 4px solid #2e7d5b; padding-left: .8rem }
.small { border-left: 4px solid #b8860b; padding-left: .8rem }
.light { display: inline-block; width: 1.6rem; height: 1.6rem; border-radius: 50%; vertical-align: middle;
  margin-right: .6rem } .found .light { background: #b3392f } .fine .light { background: #2e7d5b }
.small .light { background: #e0a100 } .verdict { font-size: 1.15rem }
.bench { background: #b8860b; color: #fff; padding: 0 .4rem }
"""
P_LEAST = 0.0001
"""The smallest chance that is shown. A smaller chance is not exact, and is hard to read."""
BENCH = translatable("BENCH TABLE: a test")
LIGHTS = {
    "found": translatable("red"),
    "nothing_found": translatable("green"),
    "too_small": translatable("amber"),
}
STEPS = {
    "found": translatable(
        "Do what is written below each finding. Begin with the first finding. Then make a new report."
    ),
    "nothing_found": translatable("There is nothing to do. Make a new report in a month."),
    "too_small": translatable("Play on, and make a new report when there are enough coups."),
}
DECIDED = {**RULED, "accepted": LATE_BETS["yes"], "refused": LATE_BETS["no"]}
CLASSES = {"found": "found", "nothing_found": "fine", "too_small": "small"}


def page(reports: Sequence[WheelReport], say: Catalogue) -> str:
    """Return the whole HTML text."""
    title = escape(say.say("Health of the wheel"))
    body = "\n".join(line for at, each in enumerate(reports) for line in _wheel(each, say, f"w{at}"))
    return (
        f'<!DOCTYPE html>\n<html lang="{say.language}">\n<head>\n<meta charset="utf-8"/>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"/>\n<title>{title}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    )


def verdict(health: WheelReport, say: Catalogue) -> str:
    """Return the conclusion of the report in one sentence."""
    if health.findings:
        return say.say("findings: {count}", count=len(health.findings))
    if health.verdict == "too_small":
        needed, coups = health.numbers.coups_needed, health.numbers.coups
        return say.say(
            "nothing was found, but {coups} coups are too few to say anything about the numbers: {needed} are needed",
            coups=coups,
            needed=needed,
        )
    return say.say("nothing was found")


def _wheel(health: WheelReport, say: Catalogue, name: str) -> Iterator[str]:
    bench = f' <span class="bench">{escape(say.say(BENCH))}</span>' if health.test else ""
    yield f"<section><h2>{escape(health.site)}/{escape(health.table)}{bench}</h2>"
    counted = say.say("coups: {coups}, voids: {voids}", coups=health.coups, voids=health.voids_count)
    period = " – ".join((at or "")[:16].replace("T", " ") for at in (health.first_at, health.last_at)) + " UTC"
    yield f"<p>{escape(period)}: {escape(counted)}. {escape(', '.join(health.journals))}</p>"
    yield f'<div class="{CLASSES[health.verdict]}"><p class="verdict"><span class="light"></span>'
    yield f"<b>{escape(say.say(LIGHTS[health.verdict]))}: {escape(verdict(health, say))}</b></p>"
    yield f"<p>{escape(say.say(STEPS[health.verdict]))}</p>"
    if health.findings:
        yield "<ul>"
        yield from (
            f"<li><b>{escape(each.said)}</b> <small>({chance(each.p, say)})</small><br/>{escape(each.action)}</li>"
            for each in health.findings
        )
        yield "</ul>"
    promise = say.say(
        "Of a hundred wheels with no fault, at most {percent} get a finding by chance.",
        percent=say.decimal(100 * health.false_alarms),
    )
    yield f"</div><p><small>{escape(promise)}</small></p>"
    if health.unreadable:
        said = say.say("messages of another version, left out: {count}", count=health.unreadable)
        yield f"<p>{escape(said)}</p>"
    pictures = Pictures(health, say, name)
    yield from _numbers(health, say, pictures)
    yield f"<h3>{escape(say.say('From one number to the next'))}</h3>"
    if health.offsets:
        further, strength = say.say("mean distance in pockets, clockwise"), say.say("strength, 0 to 1")
        offsets = (
            (name_of(each), arrow_of(each), each.coups, each.pockets, say.decimal(round(each.strength, 2)))
            for each in health.offsets
        )
        yield _table((say.say("bouler"), "", say.say("coups"), further, strength), offsets)
    else:
        yield _too_small(say)
    yield from _zones(health, say, pictures)
    if health.trends:
        yield f"<h3>{escape(say.say('Laps, speeds and times'))}</h3>{pictures.trends()}"
        heads = ("", say.say("values"), "5 %", "50 %", "95 %", say.say("change over the period"))
        rows = []
        for trend in health.trends:
            low, middle, high = (say.decimal(float(f"{trend.spread[at]:.3g}")) for at in (0, 2, 4))
            change = say.say("too few to say anything")
            if trend.change is not None and trend.change_low is not None and trend.change_high is not None:
                change = f"{100 * trend.change:+.0f} % ({100 * trend.change_low:+.0f} … {100 * trend.change_high:+.0f})"
            rows.append((f"{trend.label}, {trend.unit}", trend.count, low, middle, high, change))
        yield _details(say, _table(heads, rows))
    yield from _balance(health, say, pictures)
    yield from _voids(health, say, pictures)
    if health.decisions:
        yield f"<h3>{escape(say.say('Rulings of the direction, and late bets'))}</h3>"
        columns = (say.say("coup"), say.say("decided"), say.say("who"), say.say("when"), say.say("why"))
        decided = []
        for one in health.decisions:
            what, when = say.say(DECIDED[one.decided], number=one.label or ""), minute(to_text(one.at_utc_us))
            decided.append((one.coup, what, one.by, when, one.reason))
        yield _table(columns, decided)
    yield from _sensors(health, say, pictures)
    yield "</section>"


def _numbers(health: WheelReport, say: Catalogue, pictures: Pictures) -> Iterator[str]:
    numbers = health.numbers
    yield f"<h3>{escape(say.say('Numbers and sectors'))}</h3>"
    if not numbers.coups:
        yield _too_small(say)
        return
    power = say.say(
        "Chi-square {value}, p = {p}. In a sample of this size, a sector of {pockets} pockets with {times} times its "
        "share is found {power} times of 100. To find it {least} times of 100, {needed} coups are needed.",
        value=say.decimal(round(numbers.chi_square, 1)),
        p=say.decimal(float(f"{numbers.p_chi_square:.2g}")),
        pockets=EFFECT_POCKETS,
        times=say.decimal(EFFECT_TIMES),
        power=round(100 * numbers.power),
        needed=numbers.coups_needed,
        least=round(100 * POWER_MIN),
    )
    yield f"{pictures.numbers()}<p>{escape(power)}</p>"
    if not numbers.enough:
        yield _too_small(say)
    counts = _table((say.say("number"), say.say("coups")), zip(numbers.labels, numbers.counts, strict=True))
    heads = (say.say("pockets"), say.say("around"), say.say("coups"), say.say("times its share"), "95 %")
    windows = (
        (
            each.width,
            each.middle,
            each.count,
            say.decimal(round(each.times, 2)),
            f"{say.decimal(round(each.times_low, 2))}–{say.decimal(round(each.times_high, 2))}",
        )
        for each in numbers.windows
    )
    chance = say.say(
        "The sectors that differ most from their share. On {percent} of 100 fair wheels, a sector differs as much by "
        "chance.",
        percent=say.decimal(float(f"{100 * numbers.p_sectors:.2g}")),
    )
    yield f"<p>{escape(chance)}</p>{_table(heads, windows)}{_details(say, counts)}"


def _zones(health: WheelReport, say: Catalogue, pictures: Pictures) -> Iterator[str]:
    yield f"<h3>{escape(say.say('Drop zones'))}</h3>"
    if not health.zones.coups:
        yield f"<p>{escape(say.say('No stored log shows where the ball left the track.'))}</p>"
        return
    yield pictures.zones()
    tilt = health.zones.tilt
    if tilt is None:
        said = say.say(
            "Too few balls ran in each direction, so the times at the beams do not show whether the wheel is level: "
            "use a spirit level."
        )
    else:
        said = say.say(
            "The times at the beams show that the wheel is {tilt}° ± {error}° out of level.",
            tilt=say.decimal(round(tilt.tilt_deg, 2)),
            error=say.decimal(round(2 * tilt.error_deg, 2)),
        )
    yield f"<p>{escape(said)}</p>"
    if not health.zones.enough:
        yield _too_small(say)
    heads = (say.say("part of the track"), say.say("coups"), say.say("fair share, %"))
    rows = (
        (f"{zone.from_deg:g}–{zone.to_deg:g}°", zone.count, say.decimal(round(100 * zone.share, 1)))
        for zone in health.zones.zones
    )
    yield _details(say, _table(heads, rows))


def _balance(health: WheelReport, say: Catalogue, pictures: Pictures) -> Iterator[str]:
    yield f"<h3>{escape(say.say('Direction of the launches'))}</h3>"
    balance = health.balance
    if not balance.boulers:
        yield f"<p>{escape(say.say('No sensor reports the direction.'))}</p>"
        return
    if balance.one_way:
        yield f"<p>{escape(say.say('The launches at this table go in one direction: boulers are not compared.'))}</p>"
    heads = (say.say("bouler"), "↻", "↺", "")
    few = say.say("too few to say anything")
    rows = ((name_of(each), each.cw, each.ccw, "" if each.enough else few) for each in balance.boulers)
    yield pictures.balance() + _details(say, _table(heads, rows))


def _voids(health: WheelReport, say: Catalogue, pictures: Pictures) -> Iterator[str]:
    yield f"<h3>{escape(say.say('Voids by cause'))}</h3>"
    undecided = say.say(
        "the sensors did not decide {count} of {total} coups",
        count=health.voids.undecided,
        total=health.voids.verdicts,
    )
    yield f"<p>{escape(undecided)}.</p>"
    if not health.voids.causes:
        yield f"<p>{escape(say.say('There is no void coup.'))}</p>"
        return
    few = say.say("too few to say anything")
    heads = (say.say("cause"), say.say("voids"), say.say("twelfths of the period"), "")
    rows = (
        (each.cause, each.count, " ".join(map(str, each.slices)), "" if each.enough else few)
        for each in health.voids.causes
    )
    yield pictures.voids() + _details(say, _table(heads, rows))


def _sensors(health: WheelReport, say: Catalogue, pictures: Pictures) -> Iterator[str]:
    yield f"<h3>{escape(say.say('Sensors and margins'))}</h3>"
    sensors = health.sensors
    few = say.say("too few to say anything")
    if any(each.seen + each.missed for each in sensors.sensors):
        heads = (say.say("sensor"), say.say("seen"), say.say("missed"), say.say("late, ms"), "")
        rows = (
            (
                each.name,
                each.seen,
                each.missed,
                "" if each.late_s is None else say.decimal(round(1e3 * each.late_s, 1) + 0.0),
                "" if each.enough else few,
            )
            for each in sensors.sensors
        )
        yield pictures.sensors() + _details(say, _table(heads, rows))
    else:
        yield f"<p>{escape(say.say('No stored log shows what sensors missed.'))}</p>"
    if sensors.margins:
        columns = (say.say("measure"), say.say("verdicts"), say.say("nearly another verdict"))
        yield _table(columns, ((each.measure, each.count, each.low) for each in sensors.margins))
    notices = [(name, count) for name, count in sensors.notices.items() if count]
    if notices:
        yield _table((say.say("notice"), ""), notices)


def chance(p: float, say: Catalogue) -> str:
    """Return the chance of a finding as people read it."""
    return f"p = {say.decimal(float(f'{p:.1g}'))}" if p >= P_LEAST else f"p &lt; {say.decimal(P_LEAST)}"


def _too_small(say: Catalogue) -> str:
    return f'<p class="small">{escape(say.say("This sample is too small to say anything."))}</p>'


def _details(say: Catalogue, table: str) -> str:
    return f"<details><summary>{escape(say.say('The same as a table'))}</summary>{table}</details>"


def _table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    cells = (
        (f'<td class="n">{each}</td>' if isinstance(each, int) else f"<td>{escape(str(each))}</td>" for each in row)
        for row in rows
    )
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    return f'<div class="wide"><table>\n<tr>{head}</tr>\n{body}\n</table></div>'
