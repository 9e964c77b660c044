"""Real Castalia runs the very ini files that the embedded radio runs."""

from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.installation import Program
from roambus.python_protocol.simtime import MILLISECOND
from tests.integration.castalia_runs import ScriptedHost, Variables, send, write_run

pytestmark = pytest.mark.castalia


def test_castalia_ignores_the_keys_that_are_only_ours(castalia: Program, tmp_path: Path) -> None:
    """Given tree, faults, ideal links and unicast: no module of Castalia's asks for them."""
    more = (
        'SN.tree = "1:0, 12s 1:-"',
        'SN.node[1].faults = "12s crash, 20s recover"',
        "SN.ideal.range = 20",
        "SN.ideal.delay = 2ms",
        'SN.ideal.partitions = "12s 0..2 | 3, 20s merge"',
        "SN.node[*].Application.unicast = true",
    )
    with ScriptedHost(write_run(tmp_path, {"time_limit": 5}, more=more), castalia) as host:
        host.send_at([send(100 * MILLISECOND, 0, b"x")])
    assert host.finished.deliveries > 0


@pytest.mark.parametrize(
    ("template", "variables"), [("field", {"time_limit": 5}), ("thesis", {"time_limit": 5, "publish_until": 5})]
)
def test_castalia_accepts_a_rendered_ini(
    template: str, variables: Variables, castalia: Program, tmp_path: Path
) -> None:
    """Plain `CastaliaBin -f run.ini` knows every key and value, and every node sends."""
    with ScriptedHost(write_run(tmp_path, variables, template=template), castalia) as host:
        nodes = len(host.hello.nodes)
        host.send_at([send((100 + 10 * node) * MILLISECOND, node, b"x") for node in range(nodes)])
    counts = {count.name: list(count.values) for count in host.finished.counts}
    assert counts["offered"] == [1] * nodes
    assert host.finished.deliveries > 0
