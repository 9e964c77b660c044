"""In a folder of a user's own, modules called like the folders of this repository are the user's, and all works.

The user has a package `experiments`, a package `bridge`, modules `spark` and `python_protocol`, and tests in `tests`.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.distributions import build_here, install
from tests.support.places import ROOT, Place

AGENT = '''\
"""An agent that writes into its trace as often as the user's own modules say."""

from bridge import BYTES
from experiments.mine import EVERY_S
from python_protocol import NAME
from roambus import SECOND, Agent, Started, on, on_timer
from spark import FIRST_S


class Mine(Agent):
    """Writes at first after FIRST_S seconds, then every EVERY_S seconds."""

    @on(Started)
    def start(self, event, now):
        self.set_timer(NAME, FIRST_S * SECOND)

    @on_timer(NAME)
    def write(self, key, now):
        self.note(NAME, bytes=BYTES)
        self.set_timer(NAME, EVERY_S * SECOND)
'''

TEST = '''\
"""The user's own test of the user's own agent."""

import roambus
from experiments.mine import EVERY_S
from own import Mine


def test_it_waits_first():
    agent = Mine(1, roambus.Role.NONE, None, None)
    assert agent.handle(roambus.Started(), 0) == [roambus.SetTimer("mine", 2 * roambus.SECOND)]
    assert EVERY_S == 3
'''

SWEEP = """\
template = "field"
seeds = 2
backend = "ideal"
[set]
time_limit = 10
[axes]
nodes = [2]
[agents]
mine = { use = "own.py" }
also = { use = "own:Mine" }
"""

FILES = {
    "own.py": AGENT,
    "mine.toml": SWEEP,
    "experiments/__init__.py": "",
    "experiments/mine.py": "EVERY_S = 3\n",
    "bridge/__init__.py": "BYTES = 7\n",
    "python_protocol.py": "NAME = 'mine'\n",
    "spark.py": "FIRST_S = 2\n",
    "tests/__init__.py": "",
    "tests/test_own.py": TEST,
}


@pytest.fixture(scope="module", params=["wheel", "editable"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The user's folder; roambus is installed from its wheel, or as developers have it."""
    folder = tmp_path_factory.mktemp(request.param)
    what = f"--editable {ROOT}" if request.param == "editable" else build_here(folder / "dist").wheel
    place = install(what, folder)
    for name, text in FILES.items():
        write(place.folder / name, text)
    return place


def write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def test_roambus_can_be_imported(place: Place) -> None:
    """With what an agent needs and with what reads results; the user's modules are not in its way."""
    place.succeed("python -c 'from roambus import Agent, results; import bridge; assert bridge.BYTES == 7'")


def test_a_run_of_the_users_agent_takes_the_users_modules(place: Place) -> None:
    """In 10 s each of two nodes writes after 2, 5 and 8 s."""
    what = "--agent own.py --backend ideal --set nodes=2 --set time_limit=10 --out results"
    folder = place.folder / place.succeed(f"roambus run field {what}").strip()
    rows = pq.read_table(folder / "trace.parquet", partitioning=None).to_pylist()
    assert [row["event"] for row in rows if row["bytes"] == 7] == ["mine"] * 6


@pytest.mark.slow
def test_a_sweep_of_the_users_agent_takes_the_users_modules(place: Place) -> None:
    """In worker processes as well, by both ways of naming an agent."""
    assert "runs done 4, already there 0, failed 0" in place.succeed("roambus sweep mine.toml --workers 2 --out swept")
    assert len([*(place.folder / "swept").rglob("trace.parquet")]) == 4


def test_the_users_tests_pass(place: Place) -> None:
    """Collected from the folder `tests`, as usual."""
    assert "1 passed" in place.succeed("python -m pytest -p no:cacheprovider")
