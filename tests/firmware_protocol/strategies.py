"""Everything that either side can say, for hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from firmware_protocol import messages as m

u32, u64 = (st.integers(0, 2**bits - 1) for bits in (32, 64))
versions = st.integers(1, 255)
sensors = st.one_of(
    st.builds(m.SensorReport, st.just("beam"), st.integers(0, m.BEAMS_MAX - 1), st.booleans()),
    st.builds(m.SensorReport, st.just("reader"), st.integers(0, m.READERS_MAX - 1), st.booleans()),
    st.builds(m.SensorReport, st.sampled_from(["rotor", "object"]), st.just(0), st.booleans()),
)
events: st.SearchStrategy[m.Event] = st.one_of(
    st.builds(m.RotorEdge, st.integers(0, m.ROTOR_TICKS_MAX - 1), st.sampled_from(m.DIRECTIONS)),
    st.builds(m.BallPass, st.integers(0, m.BEAMS_MAX - 1)),
    st.builds(m.PocketSighting, st.integers(0, m.READERS_MAX - 1)),
    st.builds(m.ObjectSeen, st.booleans()),
    sensors,
    st.builds(m.ButtonPress, st.sampled_from(m.BUTTONS)),
    st.builds(m.DoorMoved, st.booleans()),
)


@st.composite
def event_frames(draw: st.DrawFn) -> m.Events:
    size = draw(st.integers(1, m.EVENTS_MAX))
    span = sorted(draw(st.lists(st.integers(0, m.SPAN_US_MAX), min_size=size - 1, max_size=size - 1)))
    first_us = draw(st.integers(0, m.COUNT_MAX - m.SPAN_US_MAX))
    timed = tuple(m.TimedEvent(first_us + delta_us, draw(events)) for delta_us in (0, *span))
    return m.Events(draw(u32), draw(st.integers(0, m.COUNT_MAX - size)), timed)


@st.composite
def identities(draw: st.DrawFn) -> m.Identity:
    text = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=m.TEXT_BYTES)
    version_min, version_max = sorted((draw(versions), draw(versions)))
    oldest_seq, next_seq = sorted((draw(u64), draw(u64)))
    return m.Identity(
        token=draw(u32),
        version=draw(st.sampled_from([0, version_min, version_max])),
        version_min=version_min,
        version_max=version_max,
        boot_id=draw(u32),
        oldest_seq=oldest_seq,
        acked_seq=draw(st.integers(0, next_seq)),
        next_seq=next_seq,
        serial=draw(text),
        firmware=draw(text),
        config_hash=draw(st.binary(min_size=8, max_size=8)).hex(),
        ring_events=draw(st.integers(m.RING_EVENTS_MIN, 2**16 - 1)),
        top_rate=draw(st.integers(1, 2**16 - 1)),
        layout=m.Layout(
            draw(st.integers(0, 16)),
            draw(st.integers(0, 16)),
            draw(st.integers(0, 4096)),
            draw(st.booleans()),
            draw(st.booleans()),
        ),
    )


def some_of(places: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.sets(st.integers(0, places - 1)).map(lambda chosen: tuple(sorted(chosen)))


levels: st.SearchStrategy[m.Levels] = st.builds(
    m.Levels,
    beams_blocked=some_of(m.BEAMS_MAX),
    readers_blocked=some_of(m.READERS_MAX),
    buttons_held=some_of(len(m.BUTTONS)).map(lambda chosen: tuple(m.BUTTONS[place] for place in chosen)),
    object=st.sampled_from(m.OBJECT_LEVELS),
    door=st.sampled_from(m.DOOR_LEVELS),
)


@st.composite
def heartbeats(draw: st.DrawFn) -> m.Heartbeat:
    next_seq = draw(u64)
    below = st.integers(0, next_seq)
    counts = draw(u32), draw(u32), draw(u32)
    return m.Heartbeat(
        draw(u32), draw(u64), draw(below), draw(below), draw(below), next_seq, *counts, levels=draw(levels)
    )


@st.composite
def sync_replies(draw: st.DrawFn) -> m.SyncReply:
    return m.SyncReply(draw(u32), draw(u64), *sorted((draw(u64), draw(u64))))


from_host: st.SearchStrategy[m.FromHost] = st.one_of(
    st.builds(lambda token, known: m.Hello(token, *sorted(known)), u32, st.tuples(versions, versions)),
    st.builds(m.Ack, u32, u64),
    st.builds(m.Replay, u32, u64),
    st.builds(m.SyncRequest, u64),
    st.builds(m.SelfTestRequest, u32),
)
from_board: st.SearchStrategy[m.FromBoard] = st.one_of(
    identities(),
    event_frames(),
    heartbeats(),
    sync_replies(),
    st.builds(
        m.SelfTestResult, u32, u32, u64, st.lists(sensors, max_size=34, unique_by=lambda one: one.name).map(tuple)
    ),
)
