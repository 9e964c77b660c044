"""A user's place: an empty folder, and a Python of its own with roambus, in which packages can be installed.

Nothing is downloaded: what this Python has is seen there, and packages are built with what is there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """\
#!{python}
from roambus.command_line import main

if __name__ == "__main__":
    main()
"""


@dataclass(frozen=True, slots=True)
class Place:
    """`folder` is where commands run; `python` is the user's."""

    folder: Path
    python: Path

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """A line of a shell."""
        environment = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "PATH": f"{self.python.parent}{os.pathsep}{os.environ['PATH']}",
            "PIP_NO_BUILD_ISOLATION": "0",  # pip's way to say that it is not to isolate
            "PIP_NO_INDEX": "1",
        }
        shell = ["bash", "-e", "-o", "pipefail", "-c", command]
        return subprocess.run(shell, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def succeed(self, command: str) -> str:
        """What a command prints that must succeed."""
        done = self.run(command)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


def make_place(folder: Path) -> Place:
    """An empty folder, and beside it the user's Python, which sees roambus as it stands here."""
    place = make_empty_place(folder, sources=(ROOT,))
    script = place.python.with_name("roambus")
    script.write_text(SCRIPT.format(python=place.python))
    script.chmod(0o755)
    return place


def make_empty_place(folder: Path, sources: Sequence[Path] = ()) -> Place:
    """An empty folder, and beside it a Python that has what roambus needs, but not roambus.

    The folders of sources are looked in first: what is installed here could be others.
    """
    home, work = folder / "python", folder / "work"
    venv.create(home, with_pip=False, symlinks=True)
    (packages,) = (home / "lib").glob("python*/site-packages")
    # What hooks in here by .pth files, as an editable roambus does, does not hook in there.
    installed = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "ours.pth").write_text("".join(f"{path}\n" for path in (*sources, *installed)))
    work.mkdir()
    return Place(work, home / "bin" / "python")
