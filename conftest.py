"""Settings of all tests."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.support import omnet
from tests.support.transcripts import FOLDER, TranscriptFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from roambus.bridge.backends.castalia.installation import Program

COMPILED = Path(__file__).parent / ".pytest_cache" / "compiled"
"""Where compiled modules are kept if they are not to be kept beside their sources."""


def keep_compiled_modules() -> None:
    """Has this process, and the hundreds that tests start, read modules that are compiled already.

    Where PYTHONDONTWRITEBYTECODE is set each would compile all of ours anew, and pytest would rewrite all tests anew.
    """
    if sys.dont_write_bytecode:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # it may be the option -B instead
        sys.dont_write_bytecode = False
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix or str(COMPILED)


keep_compiled_modules()

# How long an example takes says something of the machine, not of the behaviour that a test states. The examples are the
# same in every run, so that a change is judged by what it changed; `--hypothesis-profile=searching` looks for new ones.
settings.register_profile("roambus", deadline=None, derandomize=True)
settings.register_profile("searching", deadline=None)
settings.load_profile("roambus")

LONGEST = (
    "test_reproduce.py",
    "test_readme.py",
    "test_programs.py",
    "test_stand_in.py",  # made of the same objects, by one process
    "test_conformance.py",
    "test_sweep.py",
)
"""Files with tests of ten seconds and more."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--rewrite`: see tests/support/transcripts.py."""
    parser.addoption("--rewrite", action="store_true", help="write what follows into the transcripts, scenarios/*.txt")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> TranscriptFile | None:
    """Each transcript of a folder `scenarios` is a test, of the core and of extensions."""
    if file_path.suffix == ".txt" and file_path.parent.name == FOLDER:
        return TranscriptFile.from_parent(parent, path=file_path)
    return None


def pytest_configure() -> None:
    """What tests start is to hear Ctrl-C, even if a shell runs the suite in the background, where it is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spark's tests come first and together: one process starts a session for them. Then what takes longest.

    So no process is left alone with a long test in the end.
    """
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    if "session" in getattr(item, "fixturenames", ()):
        return -1
    return LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are named by their argument: a gzip archive holds its time, so that processes would differ in its name."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def castalia() -> Program:
    """Castalia with our modules; skips where they are not."""
    return omnet.castalia()


@pytest.fixture(scope="session")
def stand_in() -> Path:
    """The scripted simulator; skips where it cannot be built."""
    return omnet.stand_in()


@pytest.fixture(scope="session")
def session() -> Iterator[SparkSession]:
    """One for all tests of a process: to start it takes longer than most of them. What needs Spark finds it."""
    from roambus.spark.engine.session import spark_session  # noqa: PLC0415  # Spark, for those who ask for it

    with spark_session("local[2]") as started:
        yield started
