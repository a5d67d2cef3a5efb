"""A configuration with a wrong key: the error gives its place and the key, and nothing is started."""

from __future__ import annotations

from pathlib import Path

from tests.live.bench import wheeld, write_config
from tests.mosquitto import free_port
from wheeld.exits import Exit


def test_a_wrong_key_is_named_with_its_line_and_the_nearest_known_one(tmp_path: Path) -> None:
    config = write_config(tmp_path, free_port())
    lines = config.read_text().replace("silence_s_max", "silence_max_s").splitlines()
    config.write_text("\n".join(lines))
    number = next(n for n, line in enumerate(lines, start=1) if line.startswith("silence_max_s"))
    ended = wheeld("run", "-c", config)
    assert ended.returncode == Exit.BAD_CONFIG
    problem = f"{config}:{number}: sensors.silence_max_s: is not a known key; did you mean silence_s_max?"
    assert problem in ended.stderr.decode()
    assert [path.name for path in tmp_path.iterdir()] == ["wheel.toml"]
