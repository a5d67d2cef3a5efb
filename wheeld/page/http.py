"""What all pages of a wheel have in common: languages, and HTML with words in one language."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Collection, Mapping
from functools import cache
from importlib import resources
from string import Template

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from wheeld import serving
from wheeld.core.catalogue import Catalogue, Language, Text
from wheeld.page.words import in_words
from wheeld.screen.locale import LANGUAGES

NAMES: Mapping[Language, str] = {"fr": "Français", "it": "Italiano", "en": "English"}
"""The name of each language in that language."""
FILES = resources.files("wheeld.page") / "static"


def language_of(request: web.Request, default: Language) -> Language:
    """Return the language of `?lang=`, or else the browser's first language that we have, or else `default`."""
    wanted = [request.query.get("lang", "")]
    wanted += re.findall(r"[a-z]{2}", request.headers.get("Accept-Language", "").lower()[:200])
    return next((language for each in wanted for language in LANGUAGES if language == each), default)


def named(more: Collection[str]) -> Middleware:
    """Return a check that refuses a request whose `Host` is not a name of this computer, and not in `more`."""

    def refusal(request: web.Request, name: str) -> str:
        text = Text(
            "{name} is not a name of this computer. Open the page with the computer's address. If your "
            "network gives the computer this name, add --name={name} to the options of wheeld page.",
            {"name": name},
        )
        return Catalogue(language_of(request, "en")).say_text(text)

    return serving.named(more, refusal)


@cache
def words(language: Language) -> Mapping[str, str]:
    """Return the words of the pages in one language."""
    return in_words(Catalogue(language))


def page(request: web.Request, name: str, language: Language, *, title: str = "", **values: str) -> web.Response:
    """Return the page `name`, with the words of one language and the `values` in its `$` places. `title` is the key of
    its title, if that is not `name`."""
    texts = {key: html.escape(text) for key, text in words(language).items()}
    template = Template(_file("page.html"))
    content = Template(_file(f"{name}.html")).substitute(texts, lang=language, **values)
    # "</" would end the script element, also inside a string.
    data = json.dumps({"words": dict(words(language)), "language": language, **values}).replace("</", "<\\/")
    links = (
        f'<a href="{html.escape(request.path)}?lang={each}" lang="{each}" hreflang="{each}"'
        f"{' aria-current=true' if each == language else ''}>{name}</a>"
        for each, name in NAMES.items()
    )
    text = template.substitute(
        texts,
        lang=language,
        title=texts[title or name],
        name=name,
        content=content,
        data=data,
        languages=" ".join(links),
    )
    return web.Response(text=text, content_type="text/html")


def redirect(to: str) -> Handler:
    """Return a handler that sends the browser to another page."""

    async def redirected(_: web.Request) -> web.StreamResponse:
        raise web.HTTPFound(to)

    return redirected


@cache
def _file(name: str) -> str:
    return (FILES / name).read_text("utf-8")
