"""Makes a results folder of a stranger's, in which everything that results can name is code that leaves a canary.

The run in it is a whole one with a record. Its agent's file, and whatever else a command could be led to run from there
or from the working folder, has been replaced since by code that makes a file, the canary.
"""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

from roambus.bridge.runs.layout import SWEEP_FILE
from roambus.command_line import commands
from tests.support.removed import REMOVED

CANARY = "canary"
AGENT = '''
from roambus import SECOND, U8, BROADCAST, Agent, Message, Started, on, on_timer


class Told(Message, tag=1):
    """A number."""

    number: U8


class Stranger(Agent):
    """Tells a number every second."""

    @on(Started)
    def start(self, event, now):
        self.set_timer("tell", SECOND)

    @on_timer("tell")
    def tell_all(self, key, now):
        self.send(BROADCAST, Told(7))
        self.set_timer("tell", SECOND)

    @on(Told)
    def hear(self, told, sender, now):
        self.note("heard")
'''
MODULES = (
    *("claims.py", "conftest.py", "metrics.py", "pandas.py", "pyarrow/__init__.py", "pyspark/__init__.py"),
    *("scipy/__init__.py", "sitecustomize.py", "stranger.py", "stranger_module.py", "study.py", "usercustomize.py"),
    *("jinja2/__init__.py", "matplotlib/__init__.py", "numba/__init__.py", "numpy/__init__.py", "rich/__init__.py"),
    *("bottleneck.py", "numexpr.py", "IPython.py", "sqlalchemy.py", "xlrd.py", "yaml.py", "roambus_plugin.py"),
)
"""Modules that a process could import if it looked for any in the working folder; some are optional to libraries."""
SETTINGS = {
    "matplotlibrc": "text.usetex: True\nbackend: module://stranger_module\n",
    ".numba_config.yaml": "cache_dir: numba_cache\n",
    ".pdbrc": "import stranger_module\n",
    "stranger.pth": "import stranger_module\n",
    "spark-defaults.conf": "spark.driver.extraJavaOptions -javaagent:stranger.jar\n",
    "conf/spark-defaults.conf": "spark.driver.extraJavaOptions -javaagent:stranger.jar\n",
    "core-site.xml": "<configuration/>",
    "log4j2.properties": "status = error\n",
    "pyproject.toml": "[tool.roambus]\nplugins = ['roambus_plugin']\n",
    "roambus-9.dist-info/METADATA": "Metadata-Version: 2.1\nName: roambus-plugin\nVersion: 9\n",
    "roambus-9.dist-info/entry_points.txt": "[roambus.agents]\nstranger.py = stranger_module:Stranger\n",
    "report.html.j2": "{{ cycler.__init__.__globals__.os.system('touch canary') }}",
    "stranger.ini.j2": "{{ cycler.__init__.__globals__.os.system('touch canary') }}",
}
"""Settings that somebody's process could read from the working folder."""


def lay(folder: Path) -> Path:
    """Makes the results in `folder`, the working folder, and puts the traps there; returns the run's folder."""
    agent = folder / "stranger.py"
    agent.write_text(AGENT)
    arguments = ["field", "--agent", "stranger.py", "--backend", "ideal", "--set", "nodes=2", "--set", "time_limit=5"]
    kept = [] if "rerun" in REMOVED else ["--record"]
    for seed in ("0", "1"):
        commands(["run", *arguments, "--seed", seed, *kept, "--out", "."], standalone_mode=False)
    code = f"open({str(folder / CANARY)!r}, 'w').close()\n"
    run = next(folder.glob("traces/*/**/seed=0"))
    for place in (folder, run):
        for name in MODULES:
            _write(place / name, code)
        for name, text in SETTINGS.items():
            _write(place / name, text)
    _write(folder / "metrics" / "runs.pkl", "cos\nsystem\n(S'touch canary'\ntR.")
    (folder / SWEEP_FILE).write_text(json.dumps(_named(json.loads((folder / SWEEP_FILE).read_text()))))
    return run


def _named(sweep: dict[str, object]) -> dict[str, object]:
    """The sweep with everything in it that can be a name of code."""
    return {**sweep, "study": "study.py", "sweep": "stranger.py", "template": "stranger.ini.j2"}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text))
