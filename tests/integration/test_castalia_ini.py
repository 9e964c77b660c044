"""Real Castalia runs the very ini files that the embedded radio runs."""

from pathlib import Path

import pytest

from bridge.backends.castalia.installation import Program
from python_protocol.simtime import MILLISECOND
from tests.integration.castalia_runs import ScriptedHost, Variables, send, write_run

pytestmark = pytest.mark.castalia


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
