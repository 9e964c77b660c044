"""Refuses a PySpark that is not the installed one, such as the one of another Spark on PYTHONPATH.

PySpark is found, not imported: what another release imports may not even be there.
"""

from __future__ import annotations

import re
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from zipimport import zipimporter

from roambus.bridge.system.errors import UserError

_VERSION = re.compile(r"^__version__\b[^=]*=\s*['\"](?P<version>[^'\"]+)", re.MULTILINE)
UNKNOWN = "of an unknown version"


def check_installed() -> None:
    """Raise UserError if Python would import another release of PySpark than the installed one."""
    try:
        installed = version("pyspark")
    except PackageNotFoundError:  # on an executor, whose Spark its driver has compared
        return
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        return
    folder = Path(spec.origin).parent
    if (found := _version_in(folder, spec)) != installed:
        raise UserError(
            f"pyspark {found} in {folder} hides pyspark {installed}, which roambus was installed with: "
            "take its folder out of PYTHONPATH"
        )


def _version_in(folder: Path, spec: ModuleSpec) -> str:
    """Return what its version.py says, which on an executor lies in an archive."""
    if not isinstance(spec.loader, SourceFileLoader | zipimporter):
        return UNKNOWN
    try:
        text = spec.loader.get_data(str(folder / "version.py"))
    except OSError:
        return UNKNOWN
    found = _VERSION.search(text.decode(errors="replace"))
    return found["version"] if found else UNKNOWN
