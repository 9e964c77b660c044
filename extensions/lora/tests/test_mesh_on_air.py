"""Managed flooding on LoRa's radio and MAC: the node far away repeats first, and silences the one that is near."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.trace.parquet import TraceWriter
from roambus.extensions.lora.flooding import ManagedFlooding
from roambus.extensions.lora.mac.settings import LoRaCad
from roambus.extensions.lora.tests.mac.scenes import scene
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND
from tests.support.runs import of, publishing

NEAR, FAR, FARTHEST = 60, 1700, 3500
"""In metres from the publisher, whose range is 1920 m: SNRs of 27 and -6 dB."""
PUBLISHED = 40


def sent_by(*xs: float, role: str = "client") -> tuple[Counter[int], list[dict[str, Any]]]:
    """The frames of each node, and all rows, of a run in which the first node publishes each 30 s."""
    mac = LoRaCad(first_wait=False, tries=1)
    workload = publishing(0, range(1, len(xs)), start=0, until=PUBLISHED * 30 * SECOND, interval=30 * SECOND)
    on_line = scene(*xs, mac=mac)
    nodes: tuple[NodeSettings, ...] = tuple(replace(node, roles=Role.NONE) for node in on_line.nodes)
    parameters = {"preset": "ShortFast", "role": role}
    described = replace(on_line, nodes=nodes, workload=workload, agent_parameters=parameters)
    trace = TraceWriter()
    Host(described, ManagedFlooding, RadioBackend(described), trace).run()
    rows: list[dict[str, Any]] = trace.table().to_pylist()
    return Counter(row["node"] for row in of(rows, "send")), rows


def test_the_far_node_mostly_repeats_first_and_silences_the_near_one() -> None:
    """Their windows have 32 and 256 slots, so that the near one draws less once in sixteen."""
    sent, rows = sent_by(0, NEAR, FAR)
    assert sent[0] == len(of(rows, "publish")) >= PUBLISHED - 1
    assert sent[2] > 4 * sent[1]
    assert sent[1] + sent[2] < 1.2 * sent[0]


def test_a_node_behind_the_far_one_is_reached_by_it() -> None:
    """Over two hops, which the receiver counts."""
    _, rows = sent_by(0, NEAR, FAR, FARTHEST)
    hops = Counter(row["hops"] for row in of(rows, "deliver") if row["node"] == 3)
    assert set(hops) == {2}
    assert hops[2] > 0.7 * PUBLISHED


def test_routers_are_not_silenced_on_the_air() -> None:
    """Both repeat each packet, though the channel is busy for one of them now and then."""
    sent, _ = sent_by(0, NEAR, FAR, role="router")
    assert sent[1] >= sent[0]
    assert sent[2] >= sent[0]
