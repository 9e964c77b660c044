"""Where Java keeps Spark's classes as it has read and checked them once, which halves the time of its next starts.

Java calls this class data sharing. An archive has two files: the classes of Java's own, of which the packaged Java
brings no archive, and on top of them those of Spark that a session has used. Java itself sees whether they fit it and
Spark's files, and does without them, silently, where they do not. Files that are damaged would end it, so that it is
asked for its version with them first.
"""

from __future__ import annotations

import subprocess
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pyspark

from roambus.bridge.user_cache import user_cache

CHECK_S = 30.0
"""Java tells its version within this."""
_SILENT = "-Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off"


class ClassArchive(NamedTuple):
    """The two files, whether they are there or not."""

    java: Path
    spark: Path

    def are_there(self) -> bool:
        """Whether a session can read them."""
        return self.java.is_file() and self.spark.is_file()


def class_archive(java: Path, spark_home: Path) -> ClassArchive:
    """The archive in the user's cache for this Java and this Spark."""
    key = sha256(f"{java.resolve()}\0{spark_home.resolve()}".encode()).hexdigest()[:12]
    folder = user_cache() / "spark" / f"{pyspark.__version__}-{key}"
    return ClassArchive(folder / "java.jsa", folder / "spark.jsa")


def options_to_read(java: Path, spark_home: Path) -> str:
    """Java's options to take classes from the archive; none if there is none, or none that can be named and read."""
    archive = class_archive(java, spark_home)
    options = f"{_SILENT} {_shared(archive.java, archive.spark)}"
    return options if archive.are_there() and _is_plain(archive) and _starts(java, options) else ""


def options_to_write(archive: ClassArchive, written: Path) -> str:
    """Java's options to write what Spark uses to `written` when it ends, on top of the archive of Java's own."""
    return f"{_SILENT} {_shared(archive.java)} -XX:ArchiveClassesAtExit={written}"


def _shared(*files: Path) -> str:
    return f"-XX:SharedArchiveFile={':'.join(map(str, files))}"


def _starts(java: Path, options: str) -> bool:
    command: list[str | Path] = [java, *options.split(), "-XX:ErrorFile=/dev/null", "-version"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=CHECK_S, check=False)  # noqa: S603  # the user's own Java, without a shell
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def _is_plain(archive: ClassArchive) -> bool:
    """Options are separated by blanks, and files by colons."""
    return not any(character.isspace() or character in ":\"'" for character in str(archive.java))
