"""Answers commands: each is done or refused, and says why."""

from __future__ import annotations

from wheeld.core.adjudicator import Adjudicator
from wheeld.core.law.facts import Fact
from wheeld.core.law.guards import Known
from wheeld.core.law.people import BY_WORD, fact_of, missing, rests_on_word
from wheeld.core.messages.writer import MessageWriter
from wheeld.core.observations import Command
from wheeld.core.setting import TableSetting
from wheeld.core.step import PendingStep, Reply
from wheeld.core.table_state import TableState
from wheeld.core.tracking.evidence import Evidence
from wheeld.core.tracking.observer import Observer


class CommandAnswers:
    """The commands of one table. The answers go into `pending`, the step at hand."""

    def __init__(
        self,
        setting: TableSetting,
        state: TableState,
        observer: Observer,
        adjudicator: Adjudicator,
        writer: MessageWriter,
        pending: PendingStep,
    ) -> None:
        self._state, self._observer, self._adjudicator = state, observer, adjudicator
        self._writer, self._pending = writer, pending
        self._profile = setting.profile

    def answer(self, command: Command, now_us: int) -> None:
        """Apply the law to a command and reply; one that can't be understood, or is for another coup, is refused."""
        coup = self._state.coup
        if command.coup is not None and command.coup != coup:
            why = f"it is for coup {command.coup}; coup {coup} is at hand"
            self._reply(command, now_us, done=False, why=why)
        elif lack := missing(command):
            self._reply(command, now_us, done=False, why=lack)
        else:
            self._apply(command, now_us)

    def _apply(self, command: Command, now_us: int) -> None:
        known = Known(self._state, self._observer, self._profile.pockets, now_us)
        fact = fact_of(command, known)
        by_word = rests_on_word(fact, known)
        row = self._adjudicator.apply(Evidence(fact, now_us), now_us, command)
        why = self._profile.cited(row.rules, row.text)
        self._reply(command, now_us, done=not row.refuse, why=f"{why}; {BY_WORD}" if by_word else why)
        if row.refuse and fact is Fact.CHEF_VOID and self._observer.launch_late_us:
            self._state.launches.void_asked = command
        if by_word and not row.refuse:
            self._notice(command, now_us, "chefs_word", BY_WORD)

    def _reply(self, command: Command, now_us: int, *, done: bool, why: str) -> None:
        """A button shows no reply, so that a command from one that is refused is published as a notice."""
        self._pending.replies.append(Reply(now_us, command.id, command.name, command.by, done, why))
        if command.id is None and not done:
            self._notice(command, now_us, "refused", f"{command.name} refused; {why}")

    def _notice(self, command: Command, now_us: int, kind: str, text: str) -> None:
        notice = self._writer.notice(now_us, kind, text, {}, (command.by, command.reason))
        self._pending.messages.append(notice)
