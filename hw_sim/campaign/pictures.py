"""Draws with Matplotlib. This package is optional, and it is imported only when something is drawn. The same figure
gives the same SVG text."""

from __future__ import annotations

from importlib.util import find_spec
from io import StringIO
from typing import TYPE_CHECKING

from hw_sim.exits import UnavailableError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, FAINT, RIGHT, WRONG = "#22313f", "#c8d0d8", "#2e7d5b", "#b3392f"
"""The colours of all pictures."""


def require(*packages: str) -> None:
    """Check that the packages are installed, which are optional. Raises UnavailableError."""
    if missing := [name for name in packages if find_spec(name) is None]:
        hint = "in the source tree: pip install './hw_sim[campaign]'"
        raise UnavailableError(f"{' and '.join(missing)} not installed: {hint}")


def blank(width_in: float, height_in: float) -> Figure:
    """Return an empty figure of the given size. Raises UnavailableError."""
    require("matplotlib")
    from matplotlib.figure import Figure  # noqa: PLC0415  matplotlib is optional, and slow to import

    return Figure(figsize=(width_in, height_in), layout="constrained")


def svg(figure: Figure, name: str) -> str:
    """Return the figure as an `<svg>` element. It has no date, so that the same figure gives the same text. Its ids are
    made from `name`, so that two figures can be on one page."""
    from matplotlib import rc_context  # noqa: PLC0415

    text = StringIO()
    with rc_context({"svg.hashsalt": name, "svg.id": name, "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    whole = text.getvalue()
    return whole[whole.index("<svg") :]
