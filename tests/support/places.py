"""A user's place: an empty folder, and a Python of its own with roambus, in which packages can be installed.

Nothing is downloaded: what this Python has is seen there, and packages are built with what is there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
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
    """An empty folder, and the user's Python beside it."""
    home = folder / "python"
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    (packages,) = (home / "lib").glob("python*/site-packages")
    # Sources first: what is installed here could be others.
    (packages / "ours.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    script = home / "bin" / "roambus"
    script.write_text(SCRIPT.format(python=python))
    script.chmod(0o755)
    work = folder / "work"
    work.mkdir()
    assert sys.version_info[:2] == tuple(int(part) for part in packages.parent.name.removeprefix("python").split("."))
    return Place(work, python)
