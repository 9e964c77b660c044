"""`import roambus` gives everything that an author of agents or a reader of results needs, and takes what is needed."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import roambus
from roambus.dataframes import Results
from roambus.python_protocol import actions, events

SLOW = ("matplotlib", "numba", "numpy", "pandas", "pyarrow", "pyspark", "rich", "scipy", "zmq")
"""Packages whose import takes long; what only some commands need is imported by those."""


def loaded_by(program: str) -> set[str]:
    """The packages that a fresh process has imported when it has executed the program."""
    code = f"{program}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


RUN = """
import sys
from roambus.command_line import main
sys.argv = "roambus -q run thesis --agent aodv --set time_limit=2 --set publish_until=1".split()
try:
    main()
except SystemExit as ended:
    assert not ended.code
"""


@pytest.mark.slow
@pytest.mark.parametrize(("program", "most"), [("import roambus.python_protocol.aodv", 23), (RUN, 116)])
def test_an_agent_and_a_run_load_few_modules(program: str, most: int, tmp_path: Path) -> None:
    """Of roambus' own, packages not counted: a run on the radio needs no metrics, figures or exports."""
    code = f"{program}\nprint(*(name for name, one in sys.modules.items() if not hasattr(one, '__path__')))"
    command = [sys.executable, "-c", f"import sys\n{code}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    own = {name for name in done.stdout.split() if name.startswith("roambus.")}
    assert 15 < len(own) <= most


def test_every_public_name_is_there() -> None:
    """Also those that are imported when they are first used."""
    assert len(set(roambus.__all__)) == len(roambus.__all__)
    for name in roambus.__all__:
        assert getattr(roambus, name) is not None
    assert set(roambus.__all__) <= set(dir(roambus))


def test_all_events_and_actions_are_public() -> None:
    """An agent is told nothing, and can do nothing, that it cannot name by this one import."""
    kinds = [*events.Event.__args__, *actions.Action.__args__]
    assert [kind for kind in kinds if getattr(roambus, kind.__name__, None) is not kind] == []
    assert {kind.__name__ for kind in kinds} <= set(roambus.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    """As from any module, so that `hasattr` and a misspelt import say what they always say."""
    with pytest.raises(AttributeError, match="module 'roambus' has no attribute 'reslts'"):
        getattr(roambus, "reslts")  # noqa: B009  # mypy knows that it is not there
    assert not hasattr(roambus, "nothing")


def test_results_are_those_of_their_module() -> None:
    """The name that is imported late is the same class everywhere."""
    assert roambus.Results is Results


def test_the_version_is_that_of_the_distribution() -> None:
    """It is written in pyproject.toml and nowhere else."""
    assert roambus.__version__ == version("roambus")


@pytest.mark.parametrize("program", ["import roambus", "from roambus import Agent, Message", "import roambus.__main__"])
def test_what_is_slow_is_not_imported_for_an_agent_or_for_help(program: str) -> None:
    """An agent and `roambus --help` come at once: neither pandas nor Spark nor a compiler is imported for them."""
    assert loaded_by(program).isdisjoint(SLOW)


def test_results_bring_what_they_need() -> None:
    """The check above can see packages: reading results imports pandas."""
    assert "pandas" in loaded_by("from roambus import results")


def test_python_can_run_the_command_line() -> None:
    """`python -m roambus` is `roambus`, and calls itself so."""
    command = [sys.executable, "-m", "roambus", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"roambus, version {roambus.__version__}\n"
