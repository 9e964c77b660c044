"""Sweeps over the runs of the trials."""

from __future__ import annotations

import subprocess

from benchmarks.failures.trial import AGENT, ROAMBUS, TEMPLATE, Stage
from roambus.bridge.backends.castalia.files import SIMULATOR_FOLDER
from roambus.bridge.process import BRIDGE, prefix_of
from roambus.bridge.runs.layout import TRACE_FILE


def sweep_command(stage: Stage, runs: int) -> list[str]:
    """How the runs with seeds below `runs` are swept into the stage's results."""
    file = stage.folder / "trials.toml"
    axes = "".join(f"{name} = [{value}]\n" for name, value in stage.settings.items())
    file.write_text(
        f'template = "{TEMPLATE}"\nseeds = {runs}\n[axes]\n{axes}[agents]\n{AGENT} = {{}}\n', encoding="utf-8"
    )
    return [*ROAMBUS, "sweep", str(file), "--backend", "castalia", "--retry-failed", "--out", str(stage.results)]


def sweep(stage: Stage, runs: int, *options: str) -> list[str]:
    """Sweeps them to the end; returns what is wrong then, nothing if all is well."""
    command = [*sweep_command(stage, runs), *options]
    done = subprocess.run(command, env=stage.surroundings("sweep"), capture_output=True, text=True, check=False)
    complaints = [] if done.returncode == 0 else [f"the sweep ends with {done.returncode}: {done.stderr.strip()}"]
    return complaints + what_is_wrong(stage, runs)


def what_is_wrong(stage: Stage, runs: int) -> list[str]:
    """With the runs when all should be complete: traces that are missing, files that are left."""
    folders = [stage.place(seed) for seed in range(runs)]
    complaints = [f"{folder} has no trace" for folder in folders if not (folder / TRACE_FILE).is_file()]
    patterns = (SIMULATOR_FOLDER, f".{TRACE_FILE}*")
    left = [path for folder in folders for pattern in patterns for path in folder.glob(pattern)]
    return complaints + [f"{path} is left" for path in (*left, *stage.temporary.glob(f"{prefix_of(BRIDGE)}*"))]
