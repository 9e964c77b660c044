"""MACs that a module brings: reasons of their own for refusals, and faults followed without acknowledgements."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roambus.bridge.backends.radio.mac.registry import mac_of
from roambus.bridge.scenario.mac import Ieee802154Settings, TunableMacSettings
from roambus.bridge.scenario.plans import Fault, FaultKind
from tests.bridge.backends.radio.runs import START, at_places, run, send
from tests.support.picky_mac import Picky


def test_a_mac_has_no_reasons_unless_it_names_some() -> None:
    """Ours have the radio's alone."""
    found = [mac_of(replace(at_places(0), mac=mac)).REASONS for mac in (TunableMacSettings(), Ieee802154Settings())]
    assert found == [(), ()]
    assert mac_of(replace(at_places(0), mac=Picky())).REASONS == ("too odd", "too even")


def test_faults_are_followed_with_acknowledgements_or_by_a_setting() -> None:
    """TunableMAC goes on, as in Castalia."""
    assert [mac.goes_down for mac in (TunableMacSettings(), Ieee802154Settings(), Picky())] == [False, True, True]


@pytest.mark.slow
def test_its_reasons_reach_the_agents_beside_the_radios() -> None:
    """By their texts, in the order of the module; a node that has crashed has the radio's reason."""
    scenario = replace(at_places(0, 5, 6), mac=Picky(), faults=(Fault(START - 1, 2, FaultKind.CRASH),))
    lines, totals = run(scenario, [send(node, "hello") for node in range(3)])
    assert sorted(line.partition(": ")[2] for line in lines) == [
        "0 cannot send: too even",
        "1 cannot send: too odd",
        "2 cannot send: crash",
    ]
    assert totals.counts["transmitted"] == [0, 0, 0]
