"""The words of the pages: the key that a page names them by, and the English text, which the catalogue translates."""

from __future__ import annotations

from collections.abc import Mapping

from wheeld.core.catalogue import Catalogue, translatable
from wheeld.core.facts import Case, StateName

RITUAL: Mapping[StateName, str] = {
    "closed": translatable("table closed"),
    "faites_vos_jeux": "Faites vos jeux",
    "ball_running": "Faites vos jeux",
    "rien_ne_va_plus": "Rien ne va plus",
    "ball_on_obstacle": "Rien ne va plus",
    "awaiting_chef": "Rien ne va plus",
    "operations": "",
    "rien_va": "{void}",
    "suspended": translatable("play suspended"),
}
"""What players read in each state. The words that are said at the table are said in no other language."""

WORDS = {
    "wheel": translatable("The wheel"),
    "display": translatable("The players' display"),
    "chef": translatable("The chef's panel"),
    "skip": translatable("Skip to the content"),
    "language": translatable("Language"),
    "lost": translatable("The wheel is not seen. What stands here is old."),
    "never": translatable(
        "Nothing has been heard of this table yet. Check its name in the options of this page, and its wheel."
    ),
    "lost_page": translatable("This page has lost its server. What stands here is old."),
    "lost_sensors": translatable("The sensors are not seen here: speed, laps and beams are not drawn."),
    "out_of_service": translatable("out of service"),
    "last_bets": translatable("last bets"),
    "bench": translatable("BENCH TABLE: nothing here is paid"),
    "state": translatable("State"),
    "bets": translatable("Bets"),
    "coup": translatable("Coup"),
    "bouler": translatable("Bouler"),
    "laps": translatable("Laps proven"),
    "speed": translatable("Rotor"),
    "rpm": translatable("{value} turns a minute"),
    "stands": translatable("stands"),
    "unknown": translatable("not known"),
    "waits": translatable("The table waits for"),
    "numbers": translatable("The last numbers"),
    "none_yet": translatable("none yet"),
    "hot": translatable("Hot"),
    "cold": translatable("Cold"),
    "of_last": translatable("of the last {count}"),
    "times": translatable("{number}: {count} times"),
    "last_void": translatable("The last void coup"),
    "no_void": translatable("No void coup is known here."),
    "evidence": translatable("What the sensors saw of it"),
    "no_evidence": translatable("Its evidence is in the journal; this page was not there when it was decided."),
    "seconds": translatable("seconds"),
    "health": translatable("The wheel's health"),
    "sensors": translatable("Sensors"),
    "all_work": translatable("all work"),
    "works": translatable("works"),
    "fails": translatable("fails"),
    "broker": translatable("Broker"),
    "reached": translatable("reached"),
    "not_reached": translatable("not reached"),
    "outbox": translatable("Messages owed"),
    "journal": translatable("Journal"),
    "head_of": translatable("message {seq}, {hash}"),
    "clock": translatable("Clock"),
    "synchronised": translatable("synchronised"),
    "not_synchronised": translatable("not synchronised"),
    "clock_error": translatable("error {error} ms"),
    "temperature": translatable("Temperature"),
    "reported": translatable("Reported"),
    "ago": translatable("{count} s ago"),
    "beam": translatable("beam {number}"),
    "reader": translatable("reader {number}"),
    "object": translatable("object"),
    "rotor": translatable("rotor"),
    "words": translatable("words"),
    "drawn": translatable("The wheel, drawn from its sensors"),
    "ball_at_rest": translatable("the ball lies in {number}"),
    "ball_on_track": translatable("the ball runs"),
    "ball_falling": translatable("the ball falls"),
    "ball_unseen": translatable("the ball is not seen"),
    "last_coup": translatable("la dernière"),
    "full_screen": translatable("Full screen"),
    "who": translatable("Who acts"),
    "who_hint": translatable("Your name. It stands in the journal beside each command."),
    "act_as": translatable("Act as"),
    "change_person": translatable("Somebody else acts"),
    "token": translatable("Token"),
    "enter": translatable("Enter"),
    "wrong_token": translatable("That is not the token of this panel. Ask the technician."),
    "wait_token": translatable("Too many attempts. Wait a minute."),
    "possible": translatable("What can be done now"),
    "nothing_possible": translatable("Nothing can be done now."),
    "reason": translatable("Reason"),
    "reason_default": translatable("as usual"),
    "number": translatable("Number"),
    "case": translatable("Which case"),
    "no_case": translatable("not said"),
    "launches": translatable("Who launches from now on"),
    "do_nothing": translatable("Do nothing"),
    "why_rien_va_1": translatable("the chef saw it"),
    "why_rien_va_2": translatable("the croupier saw it"),
    "why_suspend_1": translatable("a dispute at the table"),
    "why_suspend_2": translatable("work at the wheel"),
    "why_suspend_3": translatable("by order of the direction"),
    "why_close_1": translatable("the evening ends"),
    "why_close_2": translatable("nobody plays"),
    "sent": translatable("Sent, not answered yet"),
    "done": translatable("Done"),
    "refused": translatable("Refused"),
    "unanswered": translatable(
        "Not answered. It may be done or not: look at the state of the table before you say it again."
    ),
    "unsent": translatable("Not sent: {why}"),
    "broker_away": translatable("the broker is not reached; call the technician"),
    "too_old": translatable("what this panel showed was more than {count} s old; look at it again"),
    "again": translatable("This panel asks for its token again. What was pressed last was not sent."),
    "mute": translatable(
        "This panel does not reach the broker: nothing can be said to the wheel. Call the technician."
    ),
    "answers": translatable("Answers"),
    **{f"case_{case.value}": case.text for case in Case},
}


def in_words(catalogue: Catalogue) -> dict[str, str]:
    """All of them in one language; their parts stay in braces, for the page to fill."""
    places = {name: f"{{{name}}}" for name in ("value", "count", "number", "seq", "hash", "error", "why")}
    return {key: catalogue.say(text, **places) for key, text in WORDS.items()}
