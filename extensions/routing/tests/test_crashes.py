"""What each protocol remembers through a crash: whichever node of a chain reboots, packets arrive again afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.transcript.transcript import transcribe

CHAIN = """\
agent {agent} link_layer=false
field
  n1 at 0,0
  n2 at 20,0
  n3 at 40,0
range 25m
slot 20s
setup
  n3 subscribes f1
  wait 50s

> n1 publishes e1
> {node} crashes; {node} recovers
> n1 publishes e1
> {node} crashes; {node} recovers
> n1 publishes e1
"""


@pytest.mark.parametrize("node", ["n1", "n2", "n3"])
@pytest.mark.parametrize("agent", ["dsdv", "olsr", "dsr", "gpsr", "aodv"])
def test_packets_arrive_again_after_a_reboot(agent: str, node: str, tmp_path: Path) -> None:
    """20 s after it, as the page says of each; neighbours take no new request for one from before."""
    path = tmp_path / "chain.txt"
    path.write_text(CHAIN.format(agent=agent, node=node))
    delivered = [line for line in transcribe(path).splitlines() if line.startswith("n3 delivers")]
    assert delivered == ["n3 delivers e1", "n3 delivers e1#2", "n3 delivers e1#3"]
