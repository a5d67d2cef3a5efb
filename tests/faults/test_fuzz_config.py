"""Damaged configurations: each is accepted whole or refused with a message."""

from __future__ import annotations

import math
import stat
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.faults.fuzz_mutate import drawn, kept
from wheeld.cli.main import main
from wheeld.config.problems import ConfigError
from wheeld.config.reading import parse
from wheeld.config.sections import Config
from wheeld.core.catalogue import Catalogue
from wheeld.exits import Exit
from wheeld.screen.locale import LANGUAGES

TOKENS = (
    b"[table]", b"[wheel]", b"[[table]]", b"[table.id]", b'house = "venezia"\n', b'game = "fair"\n', b"1979-05-27",
    b"1979-05-27T07:32:00Z", b"07:32:00", b"{ a = 1 }", b'"""', b"'''", b"0xff", b"0b1", b"1e9", b"+inf", b"-nan",
    b'"credential:x"', b'"credential:../x"', b'"ca.crt"', b"[0, nan]", b"[0, 1e308]", b'password = "hunter2"\n', b".",
    b"a" * 300 + b" = 1\n", b'"\\u0000"', b'"\\UFFFFFFFF"',
)  # fmt: skip


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "ca.crt").write_text("a certificate")
    (tmp_path / "mqtt").write_text("a password")
    (tmp_path / "mqtt").chmod(stat.S_IRUSR)
    return tmp_path


def test_a_configuration_is_good_or_refused_with_its_problems(
    directory: Path, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    outcomes: Counter[str] = Counter()
    for where, data in drawn("config", seed, how_many("configurations"), TOKENS):
        try:
            outcomes[_outcome(data.decode(errors="replace"), directory)] += 1
        except Exception as error:
            error.add_note(f"{where}: {data[:2000]!r}")
            raise
    counted(f"{outcomes.total():,} configurations: {dict(outcomes)}, 0 tracebacks")
    assert outcomes["good"]
    assert outcomes["refused"] > outcomes["good"]


def _outcome(text: str, directory: Path) -> str:
    config, wrong = _parsed(text, directory)
    if wrong is not None:
        assert str(wrong)
        for said in (str(wrong), *(wrong.said(Catalogue(language)) for language in LANGUAGES)):
            assert all(line.strip() for line in said.split("\n"))
            assert "hunter2" not in said
        return "refused"
    assert config is not None
    _check_figures(config)
    assert config.table.check() == []
    return "good"


def _parsed(text: str, directory: Path) -> tuple[Config | None, ConfigError | None]:
    try:
        return parse(text, name="f.toml", directory=directory, credentials=directory.joinpath), None
    except ConfigError as wrong:
        return None, wrong


def _check_figures(config: Config) -> None:
    """No figure is nan or infinite: a time-out of nan seconds would never come."""
    sections = msgspec.to_builtins(config, enc_hook=str)
    assert sections.pop("file") == "f.toml"
    for section in sections.values():
        for key, value in (section or {}).items():
            figures = value if isinstance(value, list) else [value]
            assert all(math.isfinite(figure) for figure in figures if isinstance(figure, float)), key


@pytest.mark.parametrize("name", sorted(kept("config")))
def test_check_config_ends_with_its_exit_code_and_a_message(
    directory: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = directory / "f.toml"
    path.write_bytes(kept("config")[name])
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(directory))
    assert main(["check-config", str(path)]) in (Exit.OK, Exit.LOOK, Exit.BAD_CONFIG)
    printed = capsys.readouterr()
    assert printed.out or printed.err
