"""Real Castalia runs the very ini files that the embedded radio runs."""

import os
import subprocess
from pathlib import Path

import pytest

from bridge.run import write_inputs
from experiments.render import find_template
from experiments.runner import plan_runs
from experiments.sweep import AgentChoice, Sweep, plain_axis

pytestmark = pytest.mark.castalia


@pytest.fixture
def castalia() -> list[str]:
    roots = [os.environ.get(name) for name in ("OMNETPP_ROOT", "CASTALIA_ROOT")]
    if not all(roots):
        pytest.skip("OMNETPP_ROOT and CASTALIA_ROOT do not say where OMNeT++ and Castalia are")
    sources = Path(str(roots[1])) / "src"
    return [str(sources / "CastaliaBin"), "-u", "Cmdenv", "-n", str(sources)]


@pytest.mark.parametrize("template", ["field", "thesis"])
def test_castalia_accepts_a_rendered_ini(template: str, castalia: list[str], tmp_path: Path) -> None:
    """It knows every key and value, and every node sends; only the modules that are ours have stand-ins here."""
    axes = (plain_axis("time_limit", [5]), plain_axis("publish_until", [5])) if template == "thesis" else ()
    sweep = Sweep("test", find_template(template), (AgentChoice("beacon", "beacon"),), axes)
    (plan,) = plan_runs(sweep, tmp_path)
    write_inputs(plan, tmp_path)
    stand_ins = [
        '--SN.node[*].ApplicationName="ThroughputTest"',
        "--SN.node[*].Application.packet_rate=5",
        '--SN.node[*].MobilityManagerName="NoMobilityManager"',
    ]
    command = [*castalia, "-f", "run.ini", *stand_ins]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(Path(os.environ["OMNETPP_ROOT"]) / "lib")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "TX pkts" in done.stdout
