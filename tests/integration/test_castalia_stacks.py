"""What Castalia has and the embedded radio has not: other MACs, other radios, other models of collisions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.backend import CastaliaFactory
from roambus.bridge.backends.castalia.installation import CASTALIA_ROOT, Program
from roambus.bridge.runs.layout import TRACE_FILE
from roambus.bridge.runs.run import execute
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.parquet import read_footer
from roambus.bridge.trace.schema import AIR
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep
from roambus.experiments.templates.template import Template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.simtime import MILLISECOND
from roambus.spark.metrics.run import Run
from tests.integration.castalia_runs import ScriptedHost, send, write_run

pytestmark = pytest.mark.castalia

WPAN = """\
SN.node[*].Communication.MAC.phyDataRate = 250
SN.node[*].Communication.MAC.phyBitsPerSymbol = 4
SN.node[0].Communication.MAC.isFFD = true
SN.node[0].Communication.MAC.isPANCoordinator = true
"""
BAN = """\
SN.node[*].Communication.MAC.phyDataRate = 250
SN.node[0].Communication.MAC.isHub = true
"""
SLOW = "SN.node[*].Communication.MAC.phyDataRate = 19.2\n"
FAST = "SN.node[*].Communication.MAC.phyDataRate = 1024\n"


def radio(name: str) -> str:
    """A radio parameters file of Castalia's own."""
    return f"{os.environ[CASTALIA_ROOT]}/Simulations/Parameters/Radio/{name}"


def template(folder: Path, keys: str) -> Template:
    """One of a user's own: the template `field`, and further keys."""
    file = folder / "mine.ini.j2"
    file.write_text(f'{{% include "field.ini.j2" %}}\n{keys}')
    return Template(file)


def run(folder: Path, keys: str = "", **variables: Scalar) -> Run:
    """A run of the agent `beacon` in a small field, and what metrics see of it."""
    fixed: dict[str, Scalar] = {"nodes": 5, "side": 5, "time_limit": 10, "sigma": 0, **variables}
    sweep = Sweep("test", template(folder, keys), (AgentChoice("beacon", "beacon"),), fixed=fixed)
    factory = CastaliaFactory()
    (plan,) = plan_runs(sweep, folder / "out", backend=factory)
    execute(plan, factory)
    return Run(plan.folder / TRACE_FILE)


@pytest.mark.parametrize(
    ("mac", "keys", "air"),
    [
        ("TMAC", "", (10 + 11 + 6, 250_000)),
        ("BypassMAC", "", (10 + 8 + 6, 250_000)),
        ("StaticGTS802154", WPAN, (10 + 14 + 6, 250_000)),
        ("BaselineBANMac", BAN, (10 + 7 + 6, 250_000)),
    ],
)
@pytest.mark.usefixtures("castalia")
def test_another_mac_carries_messages(tmp_path: Path, mac: str, keys: str, air: tuple[int, int]) -> None:
    """Its headers are those that Castalia tells, and metrics count them."""
    done = run(tmp_path, keys, mac=mac)
    assert done.air == air
    assert len(done.rows("send")) > 0
    counts = done.rows("radio").query("message_type == 'received'").detail.astype(int)
    assert counts.sum() > 0


@pytest.mark.parametrize(("name", "keys", "rate"), [("CC1000.txt", SLOW, 19_200), ("BANRadio.txt", FAST, 1_024_000)])
@pytest.mark.usefixtures("castalia")
def test_another_radio_carries_messages(tmp_path: Path, name: str, keys: str, rate: int) -> None:
    """Also one whose modulation the embedded radio does not know; the airtime goes by its rate."""
    assert run(tmp_path, keys, radio=radio(name)).air == (25, rate)


@pytest.mark.parametrize("model", [0, 1])
@pytest.mark.usefixtures("castalia")
def test_another_model_of_collisions_is_castalias(tmp_path: Path, model: int) -> None:
    """The usual stack, so that the trace says nothing of it."""
    done = run(tmp_path, collision_model=model)
    assert AIR not in read_footer(done.file).metadata


@pytest.mark.parametrize(
    ("mac", "keys", "problem"),
    [
        (
            "TMAC",
            "SN.node[*].Communication.MAC.listenTimeot = 15",
            "mine.ini.j2 .*listenTimeot: unknown key.* mean .*listenTimeout",
        ),
        ("TMAC", "SN.node[*].Communication.MAC.maxTxRetries = 1.5", "1.5 is not a whole number, as TMAC.ned"),
        ("TMAC", "SN.node[*].Communication.MAC.backoffType = 2", "a key of the MAC TunableMAC, .* is TMAC"),
        ("TMACC", "", "MACProtocolName: there is no iMac TMACC: there are .*TMAC, TunableMAC"),
        ("StaticGTS802154", "", "MAC.phyDataRate is not set, and has no default"),
        ("TMAC", "SN.node[*].Communication.MAC.phyDataRate = 19.2", "19.2 is not the radio's 250"),
    ],
)
@pytest.mark.usefixtures("castalia")
def test_what_castalia_does_not_declare_is_an_error(tmp_path: Path, mac: str, keys: str, problem: str) -> None:
    """Before anything is started, with file, line and key, and what was perhaps meant."""
    with pytest.raises(UserError, match=problem):
        run(tmp_path, keys, mac=mac)


@pytest.mark.usefixtures("castalia")
def test_another_back_end_refuses_what_only_castalia_has(tmp_path: Path) -> None:
    """Nothing is passed over."""
    sweep = Sweep("test", template(tmp_path, ""), (AgentChoice("beacon", "beacon"),), fixed={"mac": "TMAC"})
    with pytest.raises(UserError, match=r'"TMAC" is not known here: it must be 802\.15\.4.* or TunableMAC'):
        plan_runs(sweep, tmp_path)


@pytest.mark.parametrize("longest", [40, 60])
def test_what_the_routing_does_not_take_fails_at_once(castalia: Program, tmp_path: Path, longest: int) -> None:
    """Castalia says what a message may be long, and a longer one is refused with the reason."""
    more = (f"SN.node[*].Communication.Routing.maxNetFrameSize = {longest}",)
    with ScriptedHost(write_run(tmp_path, {"time_limit": 5}, more=more), castalia) as host:
        room = host.hello.most_bytes
        assert room == longest - 10
        steps = host.send_at([send(100 * MILLISECOND, 0, bytes(room)), send(200 * MILLISECOND, 0, bytes(room + 1))])
    reasons = [failure.reason for step in steps for failure in step.failures]
    assert reasons == ["packet longer than Routing.maxNetFrameSize"]
