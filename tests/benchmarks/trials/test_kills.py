"""Commands that are hit at random moments end as if nobody had hit them; `benchmarks.trials kills` does it often."""

from pathlib import Path
from random import Random

import pytest

from benchmarks.trials.kills import set_stage, subjects, trials
from benchmarks.trials.processes import adopt_orphans

TRIALS = {"run": 1, "sweep": 8, "stand-in": 8, "aggregate": 4, "reproduce": 6}


@pytest.mark.parametrize(
    "name", ["run", *(pytest.param(name, marks=pytest.mark.slow) for name in TRIALS if name != "run")]
)
def test_a_command_that_is_hit_ends_and_the_next_one_completes_it(name: str, tmp_path: Path, stand_in: Path) -> None:
    """By any signal, in any of its processes: same bytes in the end, and nothing is left."""
    assert stand_in.is_file()
    adopt_orphans()
    stage = set_stage(subjects(tmp_path)[name], tmp_path / name)
    done = list(trials(stage, TRIALS[name], Random(3)))
    assert len(done) == TRIALS[name]
    assert [(trial.harm, trial.complaints, trial.said) for trial in done if trial.complaints] == []
