"""Another PySpark than the installed one is refused by name, before anything is imported from it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from importlib.util import spec_from_file_location
from pathlib import Path
from zipimport import zipimporter

import pyspark
import pytest

from roambus.bridge.system.errors import UserError
from roambus.spark.engine import installed
from roambus.spark.engine.installed import check_installed

INSTALLED = version_of("pyspark")


def write_pyspark(folder: Path, version: str | None) -> Path:
    """A PySpark from which nothing can be imported."""
    (folder / "pyspark").mkdir(parents=True)
    (folder / "pyspark" / "__init__.py").write_text("raise RuntimeError('it was imported')\n")
    if version is not None:
        (folder / "pyspark" / "version.py").write_text(f"# licence\n__version__: str = '{version}'\n")
    return folder / "pyspark"


@pytest.mark.parametrize(
    ("version", "found"), [("3.5.1", "3.5.1"), ("4.3.0.dev0", "4.3.0.dev0"), (None, "of an unknown version")]
)
def test_another_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | None, found: str
) -> None:
    """Also one without a version."""
    folder = write_pyspark(tmp_path, version)
    spec = spec_from_file_location("pyspark", folder / "__init__.py")
    monkeypatch.setattr(installed, "find_spec", lambda _: spec)
    with pytest.raises(UserError) as refused:
        check_installed()
    assert str(refused.value) == (
        f"pyspark {found} in {folder} hides pyspark {INSTALLED}, which roambus was installed with: "
        "take its folder out of PYTHONPATH"
    )


def test_the_installed_release_may_lie_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where SPARK_HOME has the same release."""
    spec = spec_from_file_location("pyspark", write_pyspark(tmp_path, INSTALLED) / "__init__.py")
    monkeypatch.setattr(installed, "find_spec", lambda _: spec)
    check_installed()


def test_an_executors_archive_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that PySpark itself brings passes, another is refused."""
    archive = shutil.make_archive(
        str(tmp_path / "pyspark"), "zip", write_pyspark(tmp_path / "unpacked", "3.5.1").parent
    )
    own = next(Path(pyspark.__file__).parent.glob("python/lib/pyspark.zip"))
    spec_in(own, monkeypatch)
    check_installed()
    spec_in(Path(archive), monkeypatch)
    with pytest.raises(UserError, match=r"^pyspark 3\.5\.1 in "):
        check_installed()


def spec_in(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have PySpark found in the archive."""
    spec = zipimporter(str(archive)).find_spec("pyspark")
    monkeypatch.setattr(installed, "find_spec", lambda _: spec)


def test_an_executor_without_an_installation_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its PySpark is its cluster's."""

    def is_missing(name: str) -> str:
        raise PackageNotFoundError(name)

    spec = spec_from_file_location("pyspark", write_pyspark(tmp_path, "3.5.1") / "__init__.py")
    monkeypatch.setattr(installed, "find_spec", lambda _: spec)
    monkeypatch.setattr(installed, "version", is_missing)
    check_installed()


@pytest.mark.parametrize("command", [["aggregate", "results"], ["sweep", "field", "--spark", "spark://127.0.0.1:9"]])
def test_commands_refuse_it_in_one_line(tmp_path: Path, command: list[str]) -> None:
    """Those that need Spark, and none of its modules runs."""
    write_pyspark(tmp_path, "3.5.1")
    (tmp_path / "results").mkdir()
    done = _roambus(tmp_path, *command)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"error: pyspark 3.5.1 in {tmp_path / 'pyspark'} hides pyspark ")
    assert "Traceback" not in done.stderr


def test_the_doctor_names_it_and_runs_go_on(tmp_path: Path) -> None:
    """Runs need no Spark."""
    write_pyspark(tmp_path, "3.5.1")
    shown = _roambus(tmp_path, "doctor").stdout
    assert "to do for pyspark: take its folder out of PYTHONPATH" in shown
    assert "--backend radio: yes" in shown


def _roambus(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "roambus", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
