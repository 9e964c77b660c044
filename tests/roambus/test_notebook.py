"""Runs made from Python: by an agent's name or its class, which may be in a cell or in the script that is running."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import roambus
from roambus import notebook
from roambus.bridge.agents import load_agent
from roambus.bridge.system.errors import InterruptionError, UserError
from roambus.dataframes import Values
from roambus.experiments.sweeps.class_files import reference_of

ROOT = Path(__file__).parents[2]
CELL = '''\
from __future__ import annotations

import math
import roambus
from roambus import *
from roambus import SECOND as ONE

UNUSED = 1 / 3
PERIOD, LIMIT = ONE // 2, 3


def delay(count: int) -> int:
    return math.ceil(PERIOD) * count


class Hello(Message, tag=1):
    """A notification."""

    notification: Notification


class Gossip(Agent):
    """Tells its neighbours."""

    @on(Publish)
    def publish(self, event, now):
        self.set_timer("tell", delay(LIMIT))
        self.send(BROADCAST, Hello(event.notification))

    @on(Hello)
    def hear(self, hello, sender, now):
        math = hello.notification
        self.deliver(math, 1)

'''
SETTINGS = {"nodes": 4, "time_limit": 2, "publish_interval": 1}


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """A script that is running, with the agent in it."""
    return running(CELL, monkeypatch, tmp_path)


def running(text: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> ModuleType:
    """The module of a script with that text."""
    script = folder / "script.py"
    script.write_text(text)
    module = ModuleType("__main__")
    module.__file__ = str(script)
    monkeypatch.setitem(sys.modules, "__main__", module)
    exec(compile(text, script, "exec"), vars(module))  # noqa: S102  # as Python does with a script
    return module


def test_a_script_makes_runs_with_an_agent_of_its_own(tmp_path: Path) -> None:
    """It needs no `if __name__ == "__main__"`, makes no run twice, and has the rows of the trace as a DataFrame."""
    script = f"""{CELL}
for _ in range(2):
    run = roambus.run("field", Gossip, settings={SETTINGS}, seed=7, out="out", backend="ideal")
print(*run.trace["event"].unique())
"""
    (tmp_path / "script.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made, there, events = done.stdout.splitlines()
    assert made == "out: runs done 1, already there 0, failed 0"
    assert there == "out: runs done 0, already there 1, failed 0"
    assert {"publish", "send", "deliver"} <= set(events.split())
    place = "out/traces/agent=Gossip/nodes=4/publish_interval=1/time_limit=2/seed=7/trace.parquet"
    assert (tmp_path / place).is_file()


THREADS = """
import multiprocessing
from concurrent.futures import ThreadPoolExecutor
import roambus

def make(seed):
    settings = {"nodes": 2, "time_limit": 1}
    return roambus.run("field", "gossip", settings=settings, seed=seed, out=f"out{seed}", backend="ideal")

def answer(queue):
    queue.put(len(make(2).trace))

with ThreadPoolExecutor(2) as pool:
    assert all(len(run.trace) for run in pool.map(make, range(2)))
queue = multiprocessing.Queue()
multiprocessing.Process(target=answer, args=(queue,), daemon=True).start()
assert queue.get(timeout=60)
"""


def test_threads_and_daemonic_processes_make_runs(tmp_path: Path) -> None:
    """As a thread pool, a web application and a pool of processes do."""
    subprocess.run([sys.executable, "-c", THREADS], cwd=tmp_path, check=True, capture_output=True, timeout=120)


def test_the_file_of_a_class_has_what_it_refers_to(main: ModuleType, tmp_path: Path) -> None:
    """In the order of the script, without the rest; a name that is local to a method is not looked up."""
    reference = reference_of(main.Gossip, tmp_path / "agents")
    assert reference == f"{tmp_path}/agents/Gossip.py:Gossip"
    text = (tmp_path / "agents" / "Gossip.py").read_text()
    parts = ("annotations", "import math", "import *", "SECOND as ONE", "PERIOD, LIMIT", "def delay", "class Hello")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "UNUSED" not in text
    assert load_agent(reference).__doc__ == main.Gossip.__doc__


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{CELL}PERIOD += 1", "PERIOD is 500000001, but 500000000 where it is assigned: assign it once"),
        (CELL.replace("def delay", "for delay in (int,): pass\ndef other"), "the source of delay is not there: define"),
        (f"{CELL}Gossip, Wanted = None, Gossip", "agent Gossip: define it at the top of a cell or of the script"),
        (f"{CELL}def make():\n    class Other(Gossip): ...\n    return Other\nWanted = make()", "define it at the top"),
    ],
)
def test_a_class_whose_source_is_not_what_runs_is_refused(
    text: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One clear error, for a run with another agent than the one that was given would be worse."""
    names = vars(running(text, monkeypatch, tmp_path))
    with pytest.raises(roambus.UserError) as raised:
        reference_of(names.get("Wanted") or names["Gossip"], tmp_path / "agents")
    assert message in str(raised.value)


def test_an_imported_class_is_called_by_its_name(tmp_path: Path) -> None:
    """By that of the installed agent that it is, or by its module; no file is written."""
    assert reference_of(load_agent("mft"), tmp_path / "agents") == "mft"
    assert reference_of(Imported, tmp_path / "agents") == f"{__name__}:Imported"
    assert not (tmp_path / "agents").exists()


class Imported(roambus.Agent):
    """An agent of a module."""


def test_a_sweep_is_a_table_of_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings with several values are axes, also those of parameters; each agent has its rows."""
    asked: list[pd.DataFrame] = []
    monkeypatch.setattr("roambus.notebook.results", asked.append)  # it starts Spark, which is tested elsewhere
    settings: dict[str, Values] = {"nodes": [3, 4], "time_limit": 1, "beacon.rate": [1, 2]}
    roambus.sweep("field", ["beacon", "flooding"], settings=settings, seeds=1, out=tmp_path, backend="ideal", workers=1)
    assert asked == [tmp_path]
    places = sorted(str(file.parent.relative_to(tmp_path / "traces")) for file in tmp_path.glob("traces/**/*.parquet"))
    assert places == [
        f"agent={agent}/nodes={nodes}/time_limit=1/rate={rate}/seed=0"
        for agent, rates in (("beacon", (1, 2)), ("flooding", ("-",)))
        for nodes in (3, 4)
        for rate in rates
    ]


def test_the_seeds_of_a_sweep_can_be_a_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same runs as of the single seeds; NumPy's numbers are numbers."""
    monkeypatch.setattr("roambus.notebook.results", lambda folder: folder)
    settings: dict[str, Values] = {"nodes": 3, "time_limit": 1}
    for seeds, out in (("3..5", "range"), (np.int64(2), "number")):
        any_sweep("field", ["beacon"], settings=settings, seeds=seeds, out=tmp_path / out, backend="ideal", workers=1)
    for seed in (3, 4, 5):
        roambus.run("field", "beacon", settings=settings, seed=seed, out=tmp_path / "single", backend="ideal")
    made = {out: _traces(tmp_path / out) for out in ("range", "number", "single")}
    assert len(made["range"]) == 3
    assert made["range"] == made["single"]
    assert [place[-1] for place in made["number"]] == ["0", "1"]


def _traces(results: Path) -> dict[str, bytes]:
    files = sorted(results.rglob("trace.parquet"))
    return {str(file.parent.relative_to(results)): file.read_bytes() for file in files}


def test_a_run_that_fails_raises_what_went_wrong(main: ModuleType, tmp_path: Path) -> None:
    """With its folder and the agent's line."""
    text = Path(str(main.__file__)).read_text().replace("self.deliver(math, 1)", "raise ValueError('no')")
    Path(str(main.__file__)).write_text(text)
    with pytest.raises(roambus.RoambusError, match=r"seed=0: .*ValueError: no"):
        roambus.run("field", main.Gossip, settings=SETTINGS, out=tmp_path / "out", backend="ideal")


any_run: Any = roambus.run
any_sweep: Any = roambus.sweep
"""Without their types, which refuse most of these."""


@pytest.mark.parametrize(
    ("made", "named"),
    [
        (lambda: any_run(None, "flooding"), "template=None"),
        (lambda: any_run("field", ["flooding"]), r"agent=\['flooding'\]"),
        (lambda: any_run("field", int), "agent=<class 'int'>"),
        (lambda: any_run("field", "flooding", seed=[1, 2]), r"seed=\[1, 2\]"),
        (lambda: any_run("field", "flooding", seed=-1), "seed=-1"),
        (lambda: any_run("field", "flooding", settings={"nodes": [4, 8]}), "one value of 'nodes'.*roambus.sweep"),
        (lambda: any_run("field", "flooding", settings={"nodes": None}), "settings="),
        (lambda: any_run("field", "flooding", out=None), "out=None"),
        (lambda: any_run("field", "flooding", level="ap"), "level='ap': expected one of app or full"),
        (lambda: any_sweep(["field"]), r"name=\['field'\]"),
        (lambda: any_sweep("field", "flooding"), "agents='flooding': expected a list"),
        (lambda: any_sweep("field", [None]), "agent=None"),
        (lambda: any_sweep("field", settings=["nodes=4"]), "settings="),
        (lambda: any_sweep("field", seeds=0), "seeds=0"),
        (lambda: any_sweep("field", seeds=[3, 12]), r"seeds=\[3, 12\]: expected how many seeds, .* or a range"),
        (lambda: any_sweep("field", ["flooding"], seeds="12..3"), "--seeds: '12..3' is neither"),
        (lambda: any_sweep("field", workers="2"), "workers='2'"),
    ],
)
def test_an_argument_of_another_kind_is_named(
    made: Callable[[], object], named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything runs or is written."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(roambus.UserError, match=named):
        made()
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_sweep_raises_keyboard_interrupt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script's `except Exception` must not swallow Ctrl-C."""

    def interrupted(*_: object) -> None:
        raise InterruptionError("interrupted; the same command makes the missing runs")

    monkeypatch.setattr(notebook, "run_sweep", interrupted)
    with pytest.raises(KeyboardInterrupt, match="makes the missing runs"):
        notebook.sweep("field", ["flooding"], seeds=1, out=tmp_path / "r")
    with pytest.raises(KeyboardInterrupt):
        notebook.run("field", "flooding", out=tmp_path / "r")


def test_a_film_without_the_viewer_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is an extension; with it the function of its entry point makes the page of the run."""
    run = notebook.FinishedRun(tmp_path / "run", tmp_path)
    monkeypatch.setattr(notebook, "brought", lambda *_: None)
    with pytest.raises(UserError, match="this installation has no viewer"):
        run.film()
    monkeypatch.setattr(notebook, "brought", lambda *asked: {("roambus.pages", "film"): lambda run: run.name}[asked])
    assert run.film() == notebook.Film("run")
