"""The houses, as data: what the game of each house requires, its words, and the articles of its regulation.

For a new jurisdiction, add a `Profile` and its `Announcements`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from wheeld.core.catalogue import Catalogue, Language, translatable
from wheeld.core.messages.phrases import IN_ENGLISH, IN_FRENCH, Announcements
from wheeld.core.pockets import DOUBLE_ZERO, SINGLE_ZERO, PocketLayout

WheelType: TypeAlias = Literal["french", "fair"]
"""The rotor of a `french` wheel, and of an American one, may turn either way in each coup. The rotor of a `fair` wheel
always turns in one configured direction (A7)."""
VoidWords: TypeAlias = Literal["rien va", "nulla vale", "no spin"]
"""The words with which the chef declares a coup void. The first two are in C11, the third is in the rules of South
Dakota. The Venezia texts have no such words."""
TOUT_VA: Mapping[VoidWords, str] = {"rien va": "tout va", "nulla vale": "tutto vale", "no spin": "spin again"}
"""The words after which the game continues (C11), in the language of the words that declared the coup void. South
Dakota prescribes no such words: "spin again" is ours."""


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The game of one house.

    `articles`: the house's article for each rule of docs/rulebook.md that has one. The key is a rule, "N2", or a
    section, "3". `min_laps`: the fewest full laps of a valid coup. A table may require more (R2). `language` (of the
    messages) and `void_words` apply if the table's configuration chooses no others. `announcements`: how the numbers
    are announced (R4). `late_bets`: whether the chef may accept a late bet (A3).
    """

    house: str
    game: str
    wheel: WheelType
    pockets: PocketLayout
    min_laps: int
    articles: Mapping[str, str]
    language: Language
    void_words: VoidWords
    announcements: Announcements
    late_bets: bool = True

    def cited(self, rules: tuple[str, ...], text: str, catalogue: Catalogue) -> str:
        """Return `text` with its rules in front, each with the house's article: "N2, Art. 11: …". `text` must already
        be in the catalogue's language."""
        if not rules:
            return text
        cited = catalogue.joined(
            (catalogue.say("rulebook {section}", section=rule) if rule.isdecimal() else rule)
            + (f", {self.articles[rule]}" if rule in self.articles else "")
            for rule in rules
        )
        return catalogue.say("{first}: {second}", first=cited, second=text)

    def void_cited(self, rules: tuple[str, ...], text: str, catalogue: Catalogue) -> str:
        """Return `cited` for a void coup. The first rule is the one that makes it void. If the house has no article for
        that rule, the custom is added: "N8: a sensor failed; by custom, a coup that …"."""
        why = self.cited(rules, text, catalogue)
        if rules[0] in self.articles:
            return why
        custom = catalogue.say("by custom, {custom}", custom=catalogue.say(CUSTOMS[rules[0]]))
        return catalogue.joined((why, custom))


CUSTOMS: Mapping[str, str] = {
    "N1": translatable("a coup whose ball runs in the same direction as the rotor is void"),
    "N2": translatable("a coup that is launched before the operations are done is void"),
    "N3": translatable("a coup whose ball runs too few laps is void"),
    "N4": translatable("a coup whose rotor stops while the ball runs is void"),
    "N5": translatable("a coup whose rotor stops before the ball falls into a pocket is void"),
    "N6": translatable("a coup is void when a foreign object falls into the cylinder before the number is out"),
    "N7": translatable("the chef may declare a coup void until its number is out"),
    "N8": translatable("a coup that was not observed to its end is void"),
}
"""For each rule that makes a coup void: the custom in words, for houses that have no article for the rule."""

_ARTICLES = {
    **dict.fromkeys(("R1", "R2"), "Art. 10"),
    **dict.fromkeys(("R3", "R3b"), "Art. 11"),
    **dict.fromkeys(("N1", "N2", "N3", "N4", "N5", "N6", "N7"), "Art. 11"),
    "3": "Art. 11",
    "A2": "Art. 12",
    "A3": "Art. 9",
    "A4": "Art. 13",
    "A5": "Art. 14",
    "A6": "Art. 15",
}
"""The articles of Campione's roulette. The texts of Fair roulette and of Venezia do not number their articles. There is
no article for N8: Art. 15 lets the direction suspend play, but does not say that the coup is void."""

_ROULETTE = Profile(
    house="campione",
    game="roulette",
    wheel="french",
    pockets=SINGLE_ZERO,
    min_laps=3,
    articles=_ARTICLES,
    language="fr",
    void_words="rien va",
    announcements=IN_FRENCH,
)
_AMERICAN = Profile(
    house="south-dakota",
    game="american",
    wheel="french",
    pockets=DOUBLE_ZERO,
    min_laps=4,
    articles=dict.fromkeys(("R1", "R2", "N1", "N3", "N6"), "ARSD 20:18:34:05–06"),  # see docs/standards.md
    language="en",
    void_words="no spin",
    announcements=IN_ENGLISH,
)
_FAIR = msgspec.structs.replace(_ROULETTE, game="fair", wheel="fair", articles={}, language="it", late_bets=False)
_ALL = (
    _ROULETTE,
    _FAIR,
    msgspec.structs.replace(_ROULETTE, house="venezia", game="roulette-francese", articles={}),
    msgspec.structs.replace(_FAIR, house="venezia", late_bets=True),
    _AMERICAN,
)

PROFILES: dict[tuple[str, str], Profile] = {(profile.house, profile.game): profile for profile in _ALL}
