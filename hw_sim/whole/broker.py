"""A simulated MQTT 5 broker: retained messages, last wills, sessions that survive a reconnect, a network that fails.

A session owes its client each message (QoS 1) until the client confirms it, even over several connections.

Times are those of the timeline. If the network is cut without notice, both ends detect this after one and a half
keep-alives. If the network is back sooner, the messages that were sent in the meantime arrive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from hw_sim.whole.timeline import Timeline

TRAVEL_S = 0.001
"""The time that a message takes from a client to the broker, or back."""
KEEPALIVE_S = 5.0


class BrokerAwayError(Exception):
    """The broker does not answer at its address."""


class Delivery(NamedTuple):
    """A message on its way to a client."""

    topic: str
    payload: bytes
    retained: bool


@dataclass(eq=False)
class Client:
    """One connection. `deliver` is called with each message for the client, and `ended` when the connection ends."""

    deliver: Callable[[Delivery], None]
    ended: Callable[[], None]
    will: tuple[str, bytes] | None = None
    is_over: bool = False
    held: list[Callable[[], None]] = field(default_factory=list)
    """Calls that wait until the network is back, in order."""


@dataclass(eq=False)
class KeptSession:
    """The daemon's session, which the broker keeps for `keeps_s` after the end of the connection."""

    keeps_s: float
    client: Client | None
    topics: set[str] = field(default_factory=set)
    owed: list[Delivery] = field(default_factory=list)
    ended_us: int = 0

    def hears(self, topic: str) -> bool:
        """Whether the session has subscribed to `topic`, by its name or with `+` instead of some levels."""
        levels = topic.split("/")
        return any(
            len(wanted) == len(levels) and all(one in ("+", level) for one, level in zip(wanted, levels, strict=True))
            for wanted in (subscribed.split("/") for subscribed in self.topics)
        )


class SimBroker:
    """The broker. It passes every message to its `listeners`, which are the panels of the people at the table."""

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
        """Take a new connection and end an older one. Continue the kept session if `resumes`. Returns whether a session
        was continued. Raises BrokerAwayError."""
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
        """Deliver the messages of `topics` from now on, first those that are retained."""
        if self._session is None or self._session.client is not client:
            return
        self._session.topics |= topics
        for topic, payload in list(self.retained.items()):
            if self._session.hears(topic):
                self._deliver(client, Delivery(topic, payload, retained=True))

    def unsubscribe(self, client: Client, topics: set[str], *, taken: Callable[[], None]) -> None:
        """Stop delivering the messages of `topics`, and call `taken` when the client has the broker's confirmation."""
        if self._session is not None and self._session.client is client:
            self._session.topics -= topics
        self.ask(client, taken)

    def confirm(self, client: Client, delivery: Delivery) -> None:
        """Take the client's confirmation of `delivery`."""

        def arrive() -> None:
            session = self._session
            if session is not None and session.client is client and delivery in session.owed:
                session.owed.remove(delivery)

        self._timeline.after_s(TRAVEL_S, lambda: self._through(client, arrive))

    def send(self, client: Client, topic: str, payload: bytes, *, retain: bool, taken: Callable[[], None]) -> None:
        """Publish a message of the client, and call `taken` when the client has the broker's confirmation."""

        def arrive() -> None:
            if client.is_over:
                return
            self.publish(topic, payload, retain=retain)
            self._timeline.after_s(TRAVEL_S, lambda: self._through(client, taken))

        self._timeline.after_s(TRAVEL_S, lambda: self._through(client, arrive))

    def ask(self, client: Client, answered: Callable[[], None]) -> None:
        """Answer a request of the client, such as a ping: call `answered` when the answer has arrived."""

        def arrive() -> None:
            self._timeline.after_s(TRAVEL_S, lambda: self._through(client, answered))

        self._timeline.after_s(TRAVEL_S, lambda: self._through(client, arrive))

    def leave(self, client: Client, *, forget: bool) -> None:
        """Disconnect the client at its own request, without publishing its last will. If `forget`, the broker also
        discards the session."""
        client.will = None
        if forget and self.client is client:
            self._session = None
        self.drop(client)

    def drop(self, client: Client) -> None:
        """End the connection and publish the last will."""
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
        """After one and a half keep-alives, drop the present client if `is_silent` then returns true."""
        client = self.client

        def found_out() -> None:
            if client is not None and is_silent():
                self.drop(client)

        self._timeline.after_s(1.5 * KEEPALIVE_S, found_out)

    # --- messages ----------------------------------------------------------------------------------------------------

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> bool:
        """Take a message from the daemon or from people, and return True. Return False if the broker does not run."""
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
        """Return the session, unless it has expired."""
        session = self._session
        if session is None or session.client is not None:
            return session
        return session if self._timeline.now_us - session.ended_us < session.keeps_s * 1e6 else None

    def _deliver(self, client: Client, delivery: Delivery) -> None:
        self._timeline.after_s(TRAVEL_S, lambda: self._through(client, lambda: client.deliver(delivery)))

    def _through(self, client: Client, arrive: Callable[[], None]) -> None:
        """Call `arrive` when the network works, in the order of the messages."""
        if self.has_network and not client.held:
            if not client.is_over:
                arrive()
        else:
            client.held.append(arrive)

    # --- faults ------------------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """End the broker's program."""
        self.is_up = False
        if self.client is not None:
            self.drop(self.client)

    def start(self, *, remembers: bool = True) -> None:
        """Start the broker, unless it runs. Without `remembers`, retained messages and the session are lost."""
        if self.is_up:
            return
        self.is_up = True
        if not remembers:
            self.retained.clear()
            self._session = None

    def network(self, *, works: bool) -> None:
        """If not `works`, stop all messages between the daemon and the broker. Neither end gets a notice. If `works`,
        let messages pass again: those that were sent in the meantime arrive now."""
        self.has_network = works
        if not works:
            self.unheard(lambda: not self.has_network)
        elif (client := self.client) is not None:
            held, client.held = client.held, []
            for arrive in held:
                if not client.is_over:
                    arrive()
