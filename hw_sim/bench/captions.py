"""What stands on the bench page beside its buttons."""

from __future__ import annotations

from collections.abc import Mapping

from hw_sim.words import Say


def captions(say: Say) -> Mapping[str, str]:
    """By the key that the page names it by."""
    return {
        "title": say("The bench"),
        "skip": say("Skip to the buttons"),
        "heading": say("The bench: a simulated wheel and the real daemon"),
        "other_pages": say("Pages of this wheel"),
        "live_page": say("Live page"),
        "display": say("Players’ display"),
        "ended": say("The bench has ended. What stands here is old."),
        "live": say("The wheel, as its daemon sees it"),
        "frame": say("The live page of the wheel"),
        "acts": say("What happens at the wheel"),
        "by_hand": say("By hand"),
        "by_itself": say("Play by itself"),
        "messages": say("What the daemon says"),
        "truth": say("What is true"),
        "no_answer": say("Nothing was done: the bench does not answer."),
    }
