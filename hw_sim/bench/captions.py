"""What stands on the bench page beside its buttons: the key that the page names it by, and the English text."""

from __future__ import annotations

from collections.abc import Mapping

CAPTIONS: Mapping[str, str] = {
    "title": "The bench",
    "skip": "Skip to the buttons",
    "heading": "The bench: a simulated wheel and the real daemon",
    "other_pages": "Pages of this wheel",
    "live_page": "Live page",
    "display": "Players’ display",
    "ended": "The bench has ended. What stands here is old.",
    "live": "The wheel, as its daemon sees it",
    "frame": "The live page of the wheel",
    "acts": "What happens at the wheel",
    "by_hand": "By hand",
    "by_itself": "Play by itself",
    "messages": "What the daemon says",
    "truth": "What is true",
    "no_answer": "Nothing was done: the bench does not answer.",
}
