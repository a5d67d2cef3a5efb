"""What all pages have in common: headers, languages, files, and HTML with words in one language."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from string import Template

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from wheeld.core.catalogue import Catalogue, Language
from wheeld.page.words import in_words
from wheeld.screen.locale import LANGUAGES

NOBODY = "'none'"
TYPES: Mapping[str, str] = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
NAMES: Mapping[Language, str] = {"fr": "Français", "it": "Italiano", "en": "English"}
"""The name of each language in that language."""


def guard(frame_of: str | None = None) -> Middleware:
    """Put our headers on every answer, also on an error. `frame_of` is the origin whose page may show ours in a frame.
    If it is None, no page may."""
    headers = {
        # Only our own files run, and nothing is loaded from another host.
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        f"connect-src 'self'; frame-ancestors {frame_of or NOBODY}; base-uri 'none'; form-action 'self'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            response = await handler(request)
        except web.HTTPException as error:
            error.headers.update(headers)
            raise
        if not response.prepared:
            response.headers.update(headers)
        return response

    return guarded


def language_of(request: web.Request, default: Language) -> Language:
    """Return the language of `?lang=`, or else the browser's first language that we have, or else `default`."""
    wanted = [request.query.get("lang", "")]
    wanted += re.findall(r"[a-z]{2}", request.headers.get("Accept-Language", "").lower()[:200])
    return next((language for each in wanted for language in LANGUAGES if language == each), default)


@cache
def words(language: Language) -> Mapping[str, str]:
    """The words of the pages in one language."""
    return in_words(Catalogue(language))


def page(request: web.Request, name: str, language: Language, *, title: str = "", **values: str) -> web.Response:
    """Return the page `name` with its `$words` in one language and `values`. `title` is the key of its title."""
    texts = {key: html.escape(text) for key, text in words(language).items()}
    template = Template(_file("page.html"))
    content = Template(_file(f"{name}.html")).substitute(texts, lang=language, **values)
    # "</" would end the script element, also inside a string.
    data = json.dumps({"words": dict(words(language)), "language": language, **values}).replace("</", "<\\/")
    text = template.substitute(
        texts,
        lang=language,
        title=texts[title or name],
        name=name,
        content=content,
        data=data,
        languages=_languages(request, language),
    )
    return web.Response(text=text, content_type="text/html")


def add_files(app: web.Application) -> None:
    """Serve the scripts and styles that come with the program, and nothing else."""
    app.router.add_get(r"/files/{name:[a-z]+\.(?:js|css|svg)}", _serve_file)


async def _serve_file(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    try:
        text = _file(name)
    except FileNotFoundError:
        raise web.HTTPNotFound from None
    return web.Response(text=text, content_type=TYPES[name.rpartition(".")[2]])


@cache
def _file(name: str) -> str:
    return resources.files("wheeld.page").joinpath("static", name).read_text("utf-8")


def _languages(request: web.Request, language: Language) -> str:
    """Return links to the same page in all languages."""
    links = (
        f'<a href="{html.escape(request.path)}?lang={each}" lang="{each}" hreflang="{each}"'
        f"{' aria-current=true' if each == language else ''}>{name}</a>"
        for each, name in NAMES.items()
    )
    return " ".join(links)
