"""Whole runs of the template, static and mobile: their traces keep the rules of the radio."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from roambus.bridge.agents import load_agent
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.backends.radio.radio import PROCESSING_DELAY
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.extensions.lora.radio.airtime import airtime_ns, symbol_ns
from roambus.extensions.lora.radio.modems import PRESETS
from roambus.python_protocol.simtime import SECOND

NODES, PRESET = 12, "MediumFast"
MODEM = PRESETS[PRESET]
RECEIVED, FAILED = ("rx_no_interf", "rx_despite"), ("fail_no_interf", "fail_interf", "fail_sens", "fail_nonrx")


def rows_of(**variables: Scalar) -> list[dict[str, object]]:
    """Return the rows of a run of flooding."""
    template = find_template("lora")
    values: dict[str, Scalar] = {"seed": 3, "agent": "flooding", "agent_parameters": "", "nodes": NODES}
    values |= {"preset": PRESET, "publish_interval": 30, "time_limit": 300, "side": 8000, **variables}
    described = parse_scenario(template.render(values), template.file, template.file.parent)
    trace = TraceWriter(TraceLevel.FULL)
    Host(described, load_agent("flooding"), RadioBackend(described), trace).run()
    found: list[dict[str, object]] = trace.table().to_pylist()
    return found


@pytest.mark.parametrize("mobility", ["static", "waypoint"])
def test_a_trace_keeps_the_rules_of_the_radio(mobility: str) -> None:
    """One frame at a time, none while the node sends, and every reception is counted."""
    rows = rows_of(mobility=mobility)
    counts = {(row["node"], row["message_type"]): int(str(row["detail"])) for row in rows if row["event"] == "radio"}
    heard: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in rows:
        if row["event"] == "receive":
            end = round(float(str(row["time_s"])) * SECOND) - PROCESSING_DELAY
            heard[int(str(row["node"]))].append((end, int(str(row["peer"]))))
    assert {node: sum(counts[node, name] for name in RECEIVED) for node in heard} == {
        node: len(ends) for node, ends in heard.items()
    }
    assert sum(map(len, heard.values())) > 500
    assert sum(counts[node, "fail_interf"] for node in range(NODES)) > 100
    (lasting,) = sizes(rows)
    needed = lasting - (MODEM.preamble - 5) * symbol_ns(MODEM.factor, MODEM.bandwidth_khz)
    on_air = {(peer, end) for ends in heard.values() for end, peer in ends}
    for node, ends in heard.items():
        assert all(later - earlier >= needed - 1 for (earlier, _), (later, _) in pairwise(sorted(ends)))
        own = [end for peer, end in on_air if peer == node]
        assert all(abs(end - mine) >= lasting for end, _ in ends for mine in own)


def sizes(rows: list[dict[str, object]]) -> set[int]:
    """Return the airtimes of the frames, which have the MAC's 8 bytes."""
    return {airtime_ns(MODEM, int(str(row["bytes"])) + 8) for row in rows if row["event"] == "send"}


def test_every_signal_has_one_fate() -> None:
    """Where all nodes hear each other, each frame is a signal at each other node."""
    rows = rows_of(sigma=0, bidirectional_sigma=0, side=3000)
    totals: Counter[str] = Counter()
    for row in rows:
        if row["event"] == "radio":
            totals[str(row["message_type"])] += int(str(row["detail"]))
    ended = sum(totals[name] for name in (*RECEIVED, *FAILED))
    assert 0 <= totals["transmitted"] * (NODES - 1) - ended <= 2 * NODES  # frames under way at the end have none yet
    assert min(totals["rx_despite"], totals["fail_interf"], totals["fail_nonrx"]) > 100
