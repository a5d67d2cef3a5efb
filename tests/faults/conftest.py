"""How much a run of the tests tries, of injected faults and of random evenings, in two forms.

pytest and CI run the short form (`make faults evenings FORM=short`); the long one takes hours (`make faults evenings`).
The forms differ in how much they try and in nothing that they assert. The counts are printed at the end of the run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias, get_args

import pytest

Form: TypeAlias = Literal["short", "long"]
FORMS: tuple[Form, ...] = get_args(Form)
_ASKED = os.environ.get("WHEELD_FAULTS") or "short"
if _ASKED not in FORMS:
    raise pytest.UsageError(f"WHEELD_FAULTS={_ASKED}: there are {', '.join(FORMS)}")
FORM = next(form for form in FORMS if form == _ASKED)
SEED = os.environ.get("WHEELD_FAULTS_SEED", "1")
"""Of all random draws in these tests; the message of a failure names it."""
ALL = sys.maxsize
"""A size without a limit: as many as there are."""


class Size(NamedTuple):
    """How many of something each form tries."""

    short: int
    long: int


# How the sizes were chosen, unless a line below says more. Short: the test still finds what it is for, in seconds.
# Long: what the README promises; for the rest, what takes a core some minutes.
SIZES = {
    # Kills: a thousand are promised; one daemon runs for about 0.1 s.
    "kills": Size(15, 1_000),
    # Every step of the write path is promised. Every 300th step is enough to try each kind of step.
    "steps between kills": Size(300, 1),
    # Each takes a second or two, most of it waiting.
    "kills of a process": Size(2, 50),
    # Of seven steps at three moments: one each at least, and a third of all.
    "steps of the date": Size(3, ALL),
    # Power: 20,000 are promised, over three scripts in two processes; each is a journal to open, 10 ms.
    "states after a power cut": Size(300, 20_000),
    # Of each of four journals that are broken on purpose: more than one in five has to be found; 24 show that.
    "states of each broken journal": Size(24, 1_000),
    # A journal without a WAL loses one state in so many, so that it takes a thousand to see it; 0: it is not tried.
    "share of a rollback journal": Size(0, 50),
    # Each file call is promised, once for each of seven kinds of fault.
    "file calls of each kind": Size(20, ALL),
    # Every so many-th.
    "file calls of a broken journal": Size(8, 1),
    # Two hundred are promised. They take half a second each on any machine.
    "outages": Size(12, 200),
    # Each costs a coup in real time.
    "outages of a daemon": Size(1, 8),
    # Every other one waits for a time-out. With two there is one of either kind.
    "cables pulled": Size(2, 20),
    # The test needs both outcomes of the race; 20 are enough for that.
    "publications that race a cut": Size(20, 200),
    # Each needs a new connection; the coups are as many as are needed to lose one confirmation in ten that often.
    "confirmations lost": Size(4, 40),
    "coups while confirmations are lost": Size(12, 72),
    # A lost stop would be rare, so many are tried; each opens a journal and a connection.
    "stops under load": Size(10, 200),
    # Three days of a coup a minute are promised; twelve hours show the same order.
    "coups offline": Size(150, 4_320),
    # Starts of a daemon, to state a median; one shows that it starts.
    "starts": Size(1, 9),
    # In the long form it weighs 200 MB, which take longer to write than all starts.
    "messages of an old journal": Size(2_000, 100_000),
    "coups of an old journal": Size(20, 2_000),
    # As long as the silence after which a board counts as gone, and longer.
    "seconds frozen": Size(1, 3),
    # Ten million are promised, which take minutes; from a million on in two processes.
    "malformed frames": Size(40_000, 10_000_000),
    # Bytes that programs read: by what reading one costs, from 0.1 ms for a payload to 20 ms for a journal.
    "payloads of a hostile broker": Size(4_000, 400_000),
    "logs": Size(1_500, 100_000),
    "configurations": Size(1_200, 60_000),
    "log files": Size(150, 10_000),
    "commands": Size(350, 15_000),
    "damaged journals": Size(150, 8_000),
    "evenings with a damaged line": Size(8, 400),
    # Of a wheel's head, in tests/cammegh; the test needs every kind of coup, and 200 coups have them all.
    "coups of a head": Size(200, 2_000),
    # Evenings without faults, in tests/test_evenings.py, in batches of 20; campaigns draw thousands of others.
    "evenings": Size(40, 1_000),
    # With faults; one verdict in a hundred may differ, and it takes some 100 verdicts to check that.
    "evenings with faulty sensors": Size(10, 150),
    # For each number of readers, in tests/test_number_out.py; a coup takes 20 ms.
    "coups from rest to result": Size(20, 400),
    # Every so many-th of all orders of three happenings, in tests/core/test_order.py; there are 40,000, 3 ms each.
    "orders of three": Size(10, 1),
    # Of a hundred drawn histories each; 100,000 are promised.
    "batches of drawn orders": Size(6, 1_000),
    # Of hypothesis, in test_law_machine: 600 are about 17,000 events, in 29 s.
    "random evenings of the law": Size(150, 2_500),
}


def size_of(what: str) -> int:
    """How many of something this form tries."""
    size: dict[str, int] = SIZES[what]._asdict()
    return size[FORM]


@pytest.fixture
def how_many() -> Callable[[str], int]:
    """`how_many("kills")`: as many as this form of the suite tries."""
    return size_of


@pytest.fixture
def seed() -> str:
    return SEED


_COUNTED = "counted"
_LINES = list[str]()


@pytest.fixture
def counted(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Note a line of counts for the suite's report: `counted("1,000 kills: 0 lost, 0 doubled")`."""
    return lambda line: request.node.user_properties.append((_COUNTED, line))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collect the counts in the process that makes the report; a worker of xdist sends them with the test's result."""
    if report.when == "teardown":
        name = report.nodeid.rpartition("::")[2]
        _LINES.extend(f"{name}: {line}" for what, line in report.user_properties if what == _COUNTED)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _LINES:
        terminalreporter.section(f"faults injected (seed {SEED}, {FORM} form)")
        for line in _LINES:
            terminalreporter.write_line(line)
