"""A hook of MkDocs: the site has every page of the repository at its own path, and each file that a page links to.

So links work unchanged, both on a forge (GitHub, GitLab) and in the site. A link to a directory leads to a list of its
files. MkDocs checks all links and anchors. Its Markdown is older than CommonMark, which forges read. So this hook
indents lists as MkDocs needs them, and compares each page with what a forge shows.
"""

from __future__ import annotations

import logging
import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
WITH_PAGES = ("docs", "firmware_protocol", "house", "hw_sim", "wheeld")
"""Directories of the repository whose pages are all in the site."""

_LINK = re.compile(r"(?<=\]\()(?!https?:)([^)#\s]+)(?=[)#])")
_FENCED = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)
_ITEM = re.compile(r"(\d+\.|-) ")
_FENCE_OF_WORDS = re.compile(r"^```(\w+) .+$", re.MULTILINE)
_BLOCK = re.compile(r"<(h[1-6]|li|pre|table|td|th)[ >]")
_log = logging.getLogger("mkdocs.hooks.pages")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of the site: those of the theme, the repository's pages, and the files to which they link."""
    for file in list(files.documentation_pages()) + list(files.media_files()):
        files.remove(file)
    pages = [*sorted(ROOT.glob("*.md")), *(page for top in WITH_PAGES for page in sorted((ROOT / top).rglob("*.md")))]
    linked = {target for page in pages for target in _targets(page) if target.suffix != ".md"}
    for path in sorted(linked):
        if path.is_dir():
            listed = sorted(each for each in path.iterdir() if each.is_file())
            text = "\n".join([f"# {path.relative_to(ROOT)}", "", *(f"- [{each.name}]({each.name})" for each in listed)])
            files.append(File.generated(config, f"{path.relative_to(ROOT)}/index.md", content=text))
            linked = linked | {*listed}
    for path in (*pages, *sorted(each for each in linked if each.is_file())):
        files.append(File(str(path.relative_to(ROOT)), str(ROOT), config.site_dir, config.use_directory_urls))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Return the page as MkDocs must read it. Links to a directory lead to the page with the list of its files."""
    at = posixpath.dirname(page.file.src_uri)

    def page_of(found: re.Match[str]) -> str:
        is_directory = (ROOT / at / found[1]).is_dir()
        return f"{found[1].rstrip('/')}/index.md" if is_directory else found[1]

    parts = _FENCED.split(markdown)
    read = (part if part.startswith("```") else _indented(_LINK.sub(page_of, part)) for part in parts)
    return _FENCE_OF_WORDS.sub(r"```\1", "".join(read))


def on_page_content(html: str, page: Page, **_: object) -> None:
    """Warn if a page looks different on a forge. With --strict, a warning ends the build."""
    path = ROOT / page.file.src_uri
    source = path.read_text(encoding="utf-8") if path.exists() else page.markdown or ""
    there = Counter(_BLOCK.findall(MarkdownIt("commonmark").enable("table").render(source)))
    here = Counter(_BLOCK.findall(html))
    if differing := [f"<{tag}> {here[tag]} for {count}" for tag, count in there.items() if here[tag] != count]:
        what = ", ".join(differing)
        _log.warning("%s: looks different on a forge: %s", page.file.src_uri, what)


def _indented(markdown: str) -> str:
    """Indent what belongs to an item of a list by four blanks. In CommonMark it begins below the item's first word."""
    lines, shift = [], 0
    for line in markdown.split("\n"):
        if found := _ITEM.match(line):
            shift = max(0, 4 - len(found[0]))
        elif line and not line.startswith(" "):
            shift = 0
        lines.append(" " * shift + line if line.startswith(" ") else line)
    return "\n".join(lines)


def _targets(page: Path) -> Iterator[Path]:
    """Yield the files and directories of the repository to which a page links."""
    for link in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))):
        target = Path(posixpath.normpath(page.parent / link))  # unlike `resolve`, this follows no symbolic link
        if target.exists() and target.is_relative_to(ROOT):
            yield target
