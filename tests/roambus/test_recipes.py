"""The recipes for tuners and learners do what their pages say, with fewer runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs/guide"
MEASURED = re.compile(r"(\w+): (\d\.\d+) delivered, (\d+) messages a node")


def _blocks(page: str) -> list[str]:
    return re.findall(r"```py(?:thon)?\n(.*?)```", (GUIDE / page).read_text(encoding="utf-8"), re.DOTALL)


def _run(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, name], cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_recipe_for_tuning_tunes(tmp_path: Path) -> None:
    """With three proposals of two seeds each it prints what the default and the best cost."""
    (recipe,) = _blocks("tuning.md")
    assert recipe.count("\n") <= 100
    for text, other in (("(2, 4, 6)", "(1, 2)"), ("FRESH = 12", "FRESH = 2"), ("n_trials=8", "n_trials=3")):
        assert text in recipe
        recipe = recipe.replace(text, other)
    measured = {name: float(rate) for name, rate, _ in MEASURED.findall(_run(tmp_path, "tune.py", recipe))}
    assert set(measured) == {"default", "tuned"}
    assert min(measured.values()) > 0.5
    assert len(list((tmp_path / "results/tuning").iterdir())) == 5


@pytest.mark.slow
def test_the_environment_is_one_of_pettingzoo(tmp_path: Path) -> None:
    """PettingZoo's own test accepts it, an episode has a step a second, and a seed repeats its rewards."""
    first, environment = _blocks("learning.md")
    assert environment.count("\n") <= 100
    assert "GossipParameters" in _run(tmp_path, "first.py", first)
    (tmp_path / "mesh.py").write_text(environment, encoding="utf-8")
    assert _run(tmp_path, "use.py", USE).split("\n")[-3:] == ["29 29", "True", ""]


USE = """
import numpy as np
from mesh import Mesh
from pettingzoo.test import parallel_api_test

def episode():
    mesh.reset(seed=1)
    rewards = []
    while mesh.agents:
        _, gained, _, _, _ = mesh.step({name: np.array([0.3], dtype=np.float32) for name in mesh.agents})
        rewards.append(sum(gained.values()))
    return rewards

mesh = Mesh()
parallel_api_test(mesh, num_cycles=5)
one, other = episode(), episode()
mesh.close()
print(len(one), len(other))
print(one == other and any(one))
"""
