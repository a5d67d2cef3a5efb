"""Decides who plays at the demo's wheel: its own people, scenario after scenario, or a person with the buttons."""

from __future__ import annotations

from collections.abc import Iterator

from hw_sim.bench.buttons import buttons
from hw_sim.bench.hand import Hand, NotPossibleError
from hw_sim.bench.ledger import Ledger
from hw_sim.events import SimEvent
from hw_sim.live_table import LiveTable
from hw_sim.people import People
from hw_sim.run import outcome_text
from hw_sim.scenarios import Scenario
from hw_sim.subscriber import Subscriber

STEP_S = 0.05
"""The real seconds of one step. A button has effect at the end of a step. People do not notice such a short delay."""
BY_ITSELF, BY_HAND = "by-itself", "by-hand"


class Play:
    """Plays a wheel without end. `speed`: how many simulated seconds pass in a real second. `by_hand`: whether the
    person with the buttons begins. The texts are in the language of `subscriber`."""

    def __init__(
        self, live: LiveTable, people: People, subscriber: Subscriber, ledger: Ledger, *, speed: float, by_hand: bool
    ) -> None:
        self._live, self._people, self._ledger = live, people, ledger
        self._words, self._buttons = subscriber.words, buttons(subscriber.words.say)
        self._step_s = STEP_S * speed
        self._by_hand = by_hand
        self._is_handed_over = False
        self._hand = Hand(live, subscriber, note=self._note)

    def events(self, scenarios: Iterator[Scenario]) -> Iterator[SimEvent]:
        """Yield the events. The first ones may come before the first message of the table. People play `scenarios`.
        Raises TableStuckError."""
        while True:
            if self._by_hand:
                yield from self._play_by_hand()
            else:
                self._tell(BY_ITSELF, self._words.say("The people of the demo play by themselves."))
                yield from self._people.events(self._while_by_itself(scenarios))

    def press(self, name: str) -> str:
        """Press the button `name`. Returns a text of what was done. Raises NotPossibleError, KeyError if no button has
        the name."""
        if name in (BY_ITSELF, BY_HAND):
            by_hand, say = name == BY_HAND, self._words.say
            if by_hand is self._by_hand:
                raise NotPossibleError(
                    say("You play by hand already.") if by_hand else say("The people play by themselves already.")
                )
            self._by_hand = by_hand
            if by_hand:
                return say("The people finish their coup. Then it is your turn.")
            return say("The people put the wheel in order and go on playing.")
        button = self._buttons[name]
        if not self._is_handed_over:
            raise NotPossibleError(
                self._words.say("The people finish what they are doing. Then it is your turn.")
                if self._by_hand
                else self._words.say("The people of the demo play. Press “By hand” first.")
            )
        done = button.press(self._hand)
        self._note(done)
        return done

    def _play_by_hand(self) -> Iterator[SimEvent]:
        self._tell("", self._words.say("The people make the table ready."))
        yield from self._people.make_ready()
        self._hand.begin()
        self._is_handed_over = True
        self._tell(BY_HAND, self._words.say("It is your turn."))
        while self._by_hand:
            yield from self._hand.step(self._step_s)
        self._is_handed_over = False
        self._tell("", self._words.say("The people put the wheel in order."))
        while not self._hand.tidy():
            yield from self._hand.step(self._step_s)

    def _while_by_itself(self, scenarios: Iterator[Scenario]) -> Iterator[Scenario]:
        truth, say = self._live.table.truth, self._words.say
        while not self._by_hand:
            known = len(truth)
            scenario = next(scenarios)
            self._note(say("The people play {name}: {about}", name=scenario.name, about=say(scenario.about)))
            yield scenario
            for outcome in truth[known:]:  # the caller asks for the next scenario, so `scenario` is over
                self._note(say("The truth: {outcome}.", outcome=outcome_text(outcome, self._words)))

    def _note(self, text: str) -> None:
        self._ledger.write("truth", text)

    def _tell(self, who: str, text: str) -> None:
        self._ledger.write("play", text, name=who)
