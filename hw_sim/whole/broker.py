"""A simulated MQTT 5 broker: retained messages, last wills, sessions that outlive connections, a network that fails.

A session owes its client each message (QoS 1) until the client confirms it, over as many connections as that takes.

Times are those of the timeline. A connection that was cut without a word is found out by both ends when one and a half
keep-alives have passed; what was sent meanwhile arrives if the network is back before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from hw_sim.whole.timeline import Timeline

TRAVEL_S = 0.001
"""From a client to the broker, or back."""
KEEPALIVE_S = 5.0


class BrokerAwayError(Exception):
    """Nobody answers at the broker's address."""


class Delivery(NamedTuple):
    """A message on its way to a client."""

    topic: str
    payload: bytes
    retained: bool


@dataclass(eq=False)
class Client:
    """One connection. `deliver` gets what it has subscribed to; `ended` is called at its end."""

    deliver: Callable[[Delivery], None]
    ended: Callable[[], None]
    will: tuple[str, bytes] | None = None
    is_over: bool = False
    held: list[Callable[[], None]] = field(default_factory=list)
    """What waits for the network to come back, in order."""


@dataclass(eq=False)
class KeptSession:
    """What the broker keeps of the daemon for `keeps_s` after the end of its connection."""

    keeps_s: float
    client: Client | None
    topics: set[str] = field(default_factory=set)
    owed: list[Delivery] = field(default_factory=list)
    ended_us: int = 0

    def hears(self, topic: str) -> bool:
        """Whether it has subscribed to that topic, by its name or with a `+` for any of its levels."""
        return any(_fits(subscribed, topic) for subscribed in self.topics)


def _fits(subscribed: str, topic: str) -> bool:
    wanted, levels = subscribed.split("/"), topic.split("/")
    return len(wanted) == len(levels) and all(one in ("+", level) for one, level in zip(wanted, levels, strict=True))


class SimBroker:
    """The broker; `listeners` hear every message that it takes: they stand for the people's panels in the same room."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self.is_up = True
        self.has_network = True
        self.retained: dict[str, bytes] = {}
        self.listeners: list[Callable[[str, bytes], None]] = []
        self._session: KeptSession | None = None

    @property
    def client(self) -> Client | None:
        """The daemon's connection, if there is one."""
        return None if self._session is None else self._session.client

    # --- the daemon's connection -----------------------------------------------------------------------------------

    def connect(self, client: Client, *, keeps_s: float, resumes: bool) -> bool:
        """Take a new connection; an older one of the same client ends. It goes on with the session of that one if it
        `resumes` it; returns whether there was one. Raises BrokerAwayError."""
        if not self.is_up or not self.has_network:
            raise BrokerAwayError
        if self.client is not None:
            self.drop(self.client)
        kept = self._kept() if resumes else None
        session = kept or KeptSession(keeps_s, client)
        session.client, session.keeps_s, self._session = client, keeps_s, session
        for delivery in session.owed:
            self._deliver(client, delivery)
        return kept is not None

    def subscribe(self, client: Client, topics: set[str]) -> None:
        """Deliver these from now on."""
        if self._session is None or self._session.client is not client:
            return
        self._session.topics |= topics
        for topic, payload in list(self.retained.items()):
            if self._session.hears(topic):
                self._deliver(client, Delivery(topic, payload, retained=True))

    def unsubscribe(self, client: Client, topics: set[str], *, taken: Callable[[], None]) -> None:
        """Deliver these no longer; `taken` is called when the confirmation has come back."""
        if self._session is not None and self._session.client is client:
            self._session.topics -= topics
        self.ask(client, taken)

    def confirm(self, client: Client, delivery: Delivery) -> None:
        """The client has it."""

        def arrive() -> None:
            session = self._session
            if session is not None and session.client is client and delivery in session.owed:
                session.owed.remove(delivery)

        self._timeline.after_s(TRAVEL_S, lambda: self._through(client, arrive))

    def send(self, client: Client, topic: str, payload: bytes, *, retain: bool, taken: Callable[[], None]) -> None:
        """The client publishes; `taken` is called when the confirmation has come back."""

        def arrive() -> None:
            if client.is_over:
                return
            self.publish(topic, payload, retain=retain)
            self._timeline.after_s(TRAVEL_S, lambda: self._through(client, taken))

        self._timeline.after_s(TRAVEL_S, lambda: self._through(client, arrive))

    def ask(self, client: Client, answered: Callable[[], None]) -> None:
        """The client asks for a sign; `answered` is called when it has come."""

        def arrive() -> None:
            self._timeline.after_s(TRAVEL_S, lambda: self._through(client, answered))

        self._timeline.after_s(TRAVEL_S, lambda: self._through(client, arrive))

    def leave(self, client: Client, *, forget: bool) -> None:
        """The client disconnects in order: no last will. `forget`: nor does the broker keep anything of the session."""
        client.will = None
        if forget and self.client is client:
            self._session = None
        self.drop(client)

    def drop(self, client: Client) -> None:
        """The connection ends, and the last will is published."""
        if client.is_over:
            return
        client.is_over = True
        client.held.clear()
        if self._session is not None and self._session.client is client:
            self._session.client, self._session.ended_us = None, self._timeline.now_us
        if client.will is not None and self.is_up:
            self.publish(*client.will, retain=True)
        client.ended()

    def unheard(self, is_silent: Callable[[], bool] = lambda: True) -> None:
        """The client says nothing any more, and no keep-alive comes: after a while the broker drops it, if it
        `is_silent` still."""
        client = self.client

        def found_out() -> None:
            if client is not None and is_silent():
                self.drop(client)

        self._timeline.after_s(1.5 * KEEPALIVE_S, found_out)

    # --- messages ----------------------------------------------------------------------------------------------------

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> bool:
        """Take a message, of the daemon or of people; False when the broker is away."""
        if not self.is_up:
            return False
        if retain:
            self.retained[topic] = payload
        for listener in self.listeners:
            listener(topic, payload)
        if (session := self._kept()) is not None and session.hears(topic):
            delivery = Delivery(topic, payload, retained=False)
            session.owed.append(delivery)
            if session.client is not None:
                self._deliver(session.client, delivery)
        return True

    def _kept(self) -> KeptSession | None:
        """The session, unless it has expired."""
        session = self._session
        if session is None or session.client is not None:
            return session
        return session if self._timeline.now_us - session.ended_us < session.keeps_s * 1e6 else None

    def _deliver(self, client: Client, delivery: Delivery) -> None:
        self._timeline.after_s(TRAVEL_S, lambda: self._through(client, lambda: client.deliver(delivery)))

    def _through(self, client: Client, arrive: Callable[[], None]) -> None:
        """Over the network, when it is there, and in order."""
        if self.has_network and not client.held:
            if not client.is_over:
                arrive()
        else:
            client.held.append(arrive)

    # --- faults ------------------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """The broker's program ends."""
        self.is_up = False
        if self.client is not None:
            self.drop(self.client)

    def start(self, *, remembers: bool = True) -> None:
        """It runs again; without its disk it remembers nothing, no session either. One that runs already goes on."""
        if self.is_up:
            return
        self.is_up = True
        if not remembers:
            self.retained.clear()
            self._session = None

    def cut_network(self) -> None:
        """Nothing passes between the daemon and the broker, and nobody is told."""
        self.has_network = False
        self.unheard(lambda: not self.has_network)

    def mend_network(self) -> None:
        """It passes again; what was sent meanwhile arrives now."""
        self.has_network = True
        if (client := self.client) is not None:
            held, client.held = client.held, []
            for arrive in held:
                if not client.is_over:
                    arrive()
