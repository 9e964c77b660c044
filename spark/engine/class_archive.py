"""Writes the archive of Spark's classes into the user's cache; make install does it.

python -m roambus.spark.engine.class_archive

It takes some twenty seconds, once for each Java and Spark. Without it everything works, but each start of Spark takes
2.5 s longer: `aggregate` of 30 small runs 7.9 s in place of 5.4 s. Java loads classes from the archive instead of
checking and linking them again (class data sharing). roambus.spark.engine.java reads it.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import click
from pyspark.sql import SparkSession

from roambus.bridge.system.errors import RoambusError
from roambus.spark.engine.java import ClassArchive, class_archive, find_java, options_to_write
from roambus.spark.engine.session import SPARK_HOME, end_java, spark_session


def write_class_archive() -> ClassArchive:
    """Write the archive unless present; raise OSError, or RoambusError without Java or Spark."""
    java = find_java()
    archive = class_archive(java, SPARK_HOME)
    if not archive.are_there():
        archive.java.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=archive.java.parent) as folder:
            written = Path(folder, "java.jsa")
            subprocess.run(  # noqa: S603  # the user's own Java, without a shell
                [java, f"-XX:SharedArchiveFile={written}", "-Xshare:dump"], capture_output=True, check=True
            )
            written.replace(archive.java)
            _write_sparks(Path(folder), archive)
    return archive


def _write_sparks(folder: Path, archive: ClassArchive) -> None:
    written = folder / "spark.jsa"
    with spark_session("local[2]", java_options=options_to_write(archive, written)) as session:
        _use(session)
    end_java()
    written.replace(archive.spark)


def _use(session: SparkSession) -> None:
    session.range(0, 2, 1, 2).mapInArrow(lambda batches: batches, "id long").toArrow()


def main() -> None:
    """Write it and print its place; a failure is no error, since everything works without."""
    try:
        click.echo(write_class_archive().spark)
    except (RoambusError, OSError, subprocess.SubprocessError) as error:
        click.echo(f"Spark starts without an archive of its classes, which takes longer: {error}", err=True)


if __name__ == "__main__":
    main()
