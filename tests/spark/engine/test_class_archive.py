"""Spark starts faster with an archive of its classes, and as well without one or with one that is damaged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from roambus.spark.engine.java import class_archive, find_java, options_to_read
from roambus.spark.engine.session import SPARK_HOME

JAVA = Path("/opt/java/bin/java")
SESSION = """
from roambus.spark.engine.session import spark_session
with spark_session("local[1]") as session:
    print(session.range(10).count())
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def _patient_java(folder: Path) -> Path:
    """One that takes whatever it is told."""
    java = folder / "java"
    java.write_text("#!/bin/sh\n", encoding="utf-8")
    java.chmod(0o700)
    return java


def _lay_archive(java: Path, content: bytes) -> None:
    archive = class_archive(java, SPARK_HOME)
    archive.java.parent.mkdir(parents=True)
    for file in archive:
        file.write_bytes(content)


def test_without_an_archive_java_has_no_options_for_it(cache: Path) -> None:
    """So a machine on which nobody wrote one starts Spark as ever."""
    assert options_to_read(JAVA, SPARK_HOME) == ""


def test_an_archive_is_read_by_the_java_that_wrote_it_alone(cache: Path) -> None:
    """Another Java has another folder for its own."""
    java = _patient_java(cache)
    _lay_archive(java, b"classes")
    assert str(cache / "roambus" / "spark") in options_to_read(java, SPARK_HOME)
    assert options_to_read(Path("/opt/other/bin/java"), SPARK_HOME) == ""


def test_a_path_that_would_be_several_options_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A blank or a colon in the name of the cache must not become options of Java."""
    java = _patient_java(tmp_path)
    for name in ("my cache", "a:b", "it's"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
        _lay_archive(java, b"classes")
        assert options_to_read(java, SPARK_HOME) == ""


@pytest.mark.slow
def test_a_damaged_archive_is_done_without(cache: Path) -> None:
    """Java sees that it is none, says nothing, and Spark works."""
    _lay_archive(find_java(), b"no classes at all")
    done = subprocess.run([sys.executable, "-c", SESSION], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "10\n", "")


@pytest.mark.slow
def test_it_is_written_once_and_read_from_then_on(cache: Path) -> None:
    """What is written is what a session reads, and a second call writes nothing."""
    write = [sys.executable, "-m", "roambus.spark.engine.class_archive"]
    assert subprocess.run(write, capture_output=True, text=True, check=True).stderr == ""
    archive = class_archive(find_java(), SPARK_HOME)
    written = archive.spark.stat().st_mtime_ns
    assert sorted(archive.java.parent.iterdir()) == sorted(archive)
    subprocess.run(write, check=True)
    assert archive.spark.stat().st_mtime_ns == written
    done = subprocess.run([sys.executable, "-c", SESSION], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "10\n", "")
