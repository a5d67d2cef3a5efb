"""The repository as a reader sees it, and what in it refers to nothing: links, paths, symbols, rules, sections.

Every check gives a list of complaints, one string each; empty is good. The rules are simple on purpose:

- A link leads to a file, and its anchor to a heading or an `<a id="…">` there.
- A path is a word in backticks that begins with a top directory, or the bare name of a page or a module. A bare name is
  one of the root, of the directory of the page that uses it, or of a directory that the page names.
- A symbol is a word in backticks that begins with one of our packages and a dot, a name in CamelCase with or without a
  member, or a function's name with `()`.
- A page that Python source names exists, by the same rule as a path.
- A rule (R1, N3, A6, R3b) has a row in the rulebook; a section that is cited by number is a heading of its page.
- Comments and docstrings name a page of docs/ by its path where they first mention it.
"""

from __future__ import annotations

import ast
import importlib
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

PACKAGES = ("wheeld", "firmware_protocol", "hw_sim", "tests", "wheeld_report")
WITH_SOURCE = (*PACKAGES, "house")
TOP = (*WITH_SOURCE, "docs", "systemd")

_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")
_ANCHOR = re.compile(r'<a id="([^"]+)">')
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_NUMBERED = re.compile(r"^#+ +(\d+(?:\.\d+)?)[. ]", re.MULTILINE)
_RULE_ROW = re.compile(r'^\| <a id="(\w+)"></a>([RNA]\d{1,2}b?) \|', re.MULTILINE)
_RULE = re.compile(r"\b[RNA]\d{1,2}b?\b")
_SECTIONS = r"(\d+(?:\.\d+)?(?:(?:, and |, | and | to |[-–])\d+(?:\.\d+)?)*)"
_CITED = re.compile(rf"docs/([\w-]+\.md)`?\s+{_SECTIONS}")
_RULEBOOK_CITED = re.compile(rf"\b[Rr]ulebook(?:\.md)?`? {_SECTIONS}")
_BARE_FILE = re.compile(r"[\w-]+\.(?:py|md)")
_PAGE = re.compile(r"""(?<!["'\w./-])(?:/usr/share/doc/wheeld/)?([\w./-]+\.md)\b(?!["'])""")
_DOTTED = re.compile(rf"(?:{'|'.join(PACKAGES)})(?:\.\w+)+")
_CAMEL = re.compile(r"([A-Z]\w*[a-z]\w*)(?:\.(\w+))?(?:\(.*\))?")
_CALL = re.compile(r"([a-z_]\w*)\(\)")
MENTIONS = {
    "docs/rulebook.md": re.compile(r"\b[Rr]ulebook\b(?!_)"),
    "docs/wheels.md": re.compile(r"\bwheels(?:\.md|(?= \d))"),
    "docs/interfaces.md": re.compile(r"(?<!virtual )\b[Ii]nterfaces\b"),
    "docs/observation-log.md": re.compile(r"\b[Oo]bservation logs?, format 1|observation-log"),
}
"""What counts as a mention of a page, in comments and docstrings."""


class Tree:
    """The files below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def documents(self) -> list[Path]:
        """Every page."""
        return [*sorted(self.root.glob("*.md")), *(p for top in TOP for p in sorted((self.root / top).rglob("*.md")))]

    @cached_property
    def sources(self) -> list[Path]:
        """Every Python file."""
        return [path for top in WITH_SOURCE for path in sorted((self.root / top).rglob("*.py"))]

    @cached_property
    def classes(self) -> dict[str, tuple[set[str], set[str]]]:
        """Classes and type aliases by name, each with its own members and its bases. Tests' own are not ours."""
        return self._defined[0]

    @cached_property
    def functions(self) -> set[str]:
        """Functions and methods by name."""
        return self._defined[1]

    @cached_property
    def _defined(self) -> tuple[dict[str, tuple[set[str], set[str]]], set[str]]:
        classes: dict[str, tuple[set[str], set[str]]] = {}
        functions = set()
        ours = [path for path in self.sources if not path.is_relative_to(self.root / "tests")]
        for node in (node for path in ours for node in _statements(ast.parse(path.read_text()))):
            match node:
                case ast.ClassDef(name=name, bases=of):
                    members, bases = classes.setdefault(name, (set(), set()))
                    members |= _members(node)
                    bases |= {base.id for base in of if isinstance(base, ast.Name)}
                case ast.AnnAssign(target=ast.Name(id=name)):
                    classes.setdefault(name, (set(), set()))
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    functions.add(name)
        return classes, functions

    @cached_property
    def rules(self) -> dict[str, str]:
        """The rules of the rulebook, each with its anchor."""
        return {rule: anchor for anchor, rule in _RULE_ROW.findall((self.root / "docs" / "rulebook.md").read_text())}

    # --- documents ----------------------------------------------------------------------------------------------------

    def dead_links(self, page: Path) -> list[str]:
        """Links and anchors that lead nowhere."""
        dead = []
        for link in _LINK.findall(_prose(page)):
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            if not target.exists() or (anchor and anchor not in _anchors(target)):
                dead.append(link)
        return dead

    def dead_paths(self, page: Path) -> list[str]:
        """Words in backticks that look like a path of the repository and are none."""
        words = [word.split("::")[0].rstrip(",;:") for code in _CODE.findall(_prose(page)) for word in code.split()]
        return [word for word in words if _is_path(word) and not self._exists(word, page, words)]

    def dead_symbols(self, page: Path) -> list[str]:
        """Words in backticks that look like a symbol of ours and are none."""
        return [code for code in _CODE.findall(_prose(page)) if not self._known(code)]

    def _known(self, code: str) -> bool:
        if _DOTTED.fullmatch(code):
            return _resolves(code)
        if found := _CALL.fullmatch(code):
            return found[1] in self.functions
        if _RULE.fullmatch(code) or not (found := _CAMEL.fullmatch(code)):
            return True
        name, member = found[1], found[2]
        return name in self.classes and (member is None or self._has(name, member))

    def _has(self, name: str, member: str) -> bool:
        members, bases = self.classes.get(name, (set(), set()))
        return member in members or any(self._has(base, member) for base in bases)

    def _exists(self, word: str, file: Path, named: list[str]) -> bool:
        pattern = re.sub(r"\{\w+\}", "*", word)
        if "*" in pattern:
            return any(self.root.glob(pattern))
        beside = [(self.root / other).parent for other in named if other.startswith(TOP) and "/" in other]
        folders = [self.root, file.parent, *(beside if "/" not in word else ())]
        return any((folder / word).exists() for folder in folders)

    # --- source -------------------------------------------------------------------------------------------------------

    def dead_pages(self, source: Path) -> list[str]:
        """Pages that Python source names and that are not there. A name in quotes by itself is code, which runs."""
        named = _PAGE.findall(source.read_text())
        return [page for page in named if not self._exists(page, source, named)]

    def vague_mentions(self, source: Path) -> list[str]:
        """Pages whose first mention in comments and docstrings is not their path."""
        whole = source.read_text()
        if not any(mention.search(whole) for mention in MENTIONS.values()):
            return []  # no token need be read, which takes most of the time
        text = "\n".join(remarks(whole))
        firsts = {page: mention.search(text) for page, mention in MENTIONS.items()}
        return [page for page, first in firsts.items() if first and not _named_by(page, first, text)]

    # --- both ---------------------------------------------------------------------------------------------------------

    def unknown_rules(self, file: Path) -> list[str]:
        """Rules that are cited and have no row in the rulebook."""
        return [rule for rule in _RULE.findall(file.read_text()) if rule not in self.rules]

    def unknown_sections(self, file: Path) -> list[str]:
        """Sections that are cited by number and are no heading of their page."""
        text = file.read_text()
        cited = [*_CITED.findall(text), *(("rulebook.md", numbers) for numbers in _RULEBOOK_CITED.findall(text))]
        return [
            f"{page} {number}"
            for page, numbers in cited
            for number in re.findall(r"\d+(?:\.\d+)?", numbers)
            if number not in self._numbered(page)
        ]

    def _numbered(self, page: str) -> set[str]:
        path = self.root / "docs" / page
        return set(_NUMBERED.findall(path.read_text())) if path.exists() else set()


def remarks(source: str) -> Iterator[str]:
    """The comments of Python source, and its strings that are statements, in order."""
    depth, begins = 0, True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and begins and not depth):
            yield token.string
        depth += (token.string in "([{") - (token.string in ")]}") if token.type == tokenize.OP else 0
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
            begins = token.type == tokenize.NEWLINE


def _prose(page: Path) -> str:
    return _FENCE.sub("", page.read_text())


def _anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings, and those that the page writes itself."""
    text = _prose(page)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in _HEADING.findall(text)}
    return slugs | set(_ANCHOR.findall(text))


def _is_path(word: str) -> bool:
    return word.startswith(tuple(f"{top}/" for top in TOP)) or _BARE_FILE.fullmatch(word) is not None


@cache
def _resolves(dotted: str) -> bool:
    """Whether a dotted name is a module, or what a module holds."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Every statement below the node, without the expressions, which are most of a tree."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child
            yield from _statements(child)


def _members(node: ast.ClassDef) -> set[str]:
    names = set()
    for child in node.body:
        match child:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Assign(targets=targets):
                names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def _named_by(page: str, first: re.Match[str], text: str) -> bool:
    """Whether the first mention is the page's path, or has it behind it in brackets."""
    return text.startswith(page, first.start() - len("docs/")) or text.startswith(f" ({page}", first.end())
