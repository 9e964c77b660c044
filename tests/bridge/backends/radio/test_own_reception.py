"""Receptions that a module brings: airtimes by kind, signals that begin and end, and what is refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import ClassVar

import pytest

from roambus.bridge.backend import Transmission
from roambus.bridge.backends.castalia.backend import check_radio_alone
from roambus.bridge.backends.radio import setup
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.backends.radio.kernel import Parts
from roambus.bridge.backends.radio.reception import bit_errors, registry
from roambus.bridge.backends.radio.reception.registry import reception_of
from roambus.bridge.mobility.paths import paths_of
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.mac import Ieee802154Settings
from roambus.bridge.scenario.models import RADIOS
from roambus.bridge.scenario.radio import InterferenceSettings
from roambus.bridge.scenario.reception import Reception
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.schema import AIR_NS
from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND, SECOND, SimTime
from tests.bridge.backends.radio.runs import START, Text, at_places, send
from tests.support.timed_reception import Timed


@dataclass(frozen=True, slots=True)
class Deaf(Reception):
    """A reception of the tests."""

    MODULE: ClassVar[str] = "deaf"


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Its module."""
    made = ModuleType(Deaf.MODULE)
    vars(made)["begin"] = bit_errors.begin
    monkeypatch.setitem(sys.modules, Deaf.MODULE, made)
    monkeypatch.setitem(RADIOS.settings, "deaf", Deaf)
    registry._complete.cache_clear()
    yield made
    registry._complete.cache_clear()


DEAF = replace(at_places(0, 5), reception=Deaf())


@pytest.mark.usefixtures("deaf")
def test_a_beginning_is_all_that_a_module_needs() -> None:
    """Then all nodes are of one kind, and send at the data rate."""
    assert reception_of(DEAF).kinds(DEAF) == (0, 0)
    assert setup.airtime(DEAF, 0, 40) == setup.airtime(at_places(0), 0, 40) == 2_080_000


def test_a_module_without_it_is_refused(deaf: ModuleType) -> None:
    """By its name."""
    del vars(deaf)["begin"]
    with pytest.raises(UserError, match="the reception deaf has no begin"):
        reception_of(DEAF)


@pytest.mark.parametrize(("shorter", "is_refused"), [(10 * MICROSECOND, True), (11 * MICROSECOND, False)])
def test_frames_of_every_kind_are_longer_than_the_way_to_the_mac(
    deaf: ModuleType, shorter: SimTime, *, is_refused: bool
) -> None:
    """As they are at any data rate."""
    vars(deaf).update(kinds=lambda _: (0, 1), airtime=lambda _, kind, __: shorter if kind else SECOND)
    if is_refused:
        with pytest.raises(UserError, match="frames on the air for 10 us or less are not modelled"):
            setup.check(DEAF)
    else:
        setup.check(DEAF)


@pytest.mark.usefixtures("deaf")
def test_a_mac_with_frames_of_its_own_is_refused() -> None:
    """For it computes their airtime by the data rate; with ours it may."""
    acknowledged = replace(DEAF, mac=Ieee802154Settings())
    with pytest.raises(UserError, match=r"SN\.radio\.model: the MAC has frames of its own, .* with deaf it does not"):
        setup.state_of(acknowledged, paths_of(acknowledged), setup.seeds_of(1), 1)
    ours = replace(acknowledged, reception=at_places(0).reception)
    setup.state_of(ours, paths_of(ours), setup.seeds_of(1), 1)


@pytest.mark.usefixtures("deaf")
def test_only_the_radio_has_it() -> None:
    """Others say so by its name."""
    with pytest.raises(UserError, match=r"SN\.radio\.model: Castalia does not have the reception deaf: use --backend"):
        check_radio_alone(DEAF, "Castalia")


@pytest.mark.usefixtures("deaf")
def test_its_loop_is_another_one() -> None:
    """By its name, and by the record of its settings, which others do not have."""
    assert Parts.of(DEAF).name != Parts.of(at_places(0)).name
    names = [
        setup.initial_run(scenario, setup.seeds_of(1), 0).dtype.names or () for scenario in (DEAF, at_places(0, 5))
    ]
    assert ["reception" in found for found in names] == [True, False]


TIMED = replace(at_places(0, 1, 2, 3, 4), reception=Timed())


@pytest.mark.usefixtures("deaf")
def test_it_may_adapt_the_radio(deaf: ModuleType) -> None:
    """Before the MAC sees it; without a function for it the scenario stays as it is."""
    assert reception_of(DEAF).adapt(DEAF) is DEAF
    seen = []

    def louder(scenario: Scenario) -> Scenario:
        seen.append(scenario)
        return replace(scenario, radio=replace(scenario.radio, noise_floor_dbm=-90.0))

    vars(deaf)["adapt"] = louder
    registry._complete.cache_clear()
    state = RadioBackend(DEAF)._state
    assert seen == [DEAF]
    assert state.run["radio"]["noise_floor_dbm"][0] == state.nodes["total"][0] == -90


def heard(scenario: Scenario, *frames: tuple[int, SimTime]) -> list[tuple[int, int, SimTime]]:
    """Sender, receiver and the time after the first send of each reception."""
    backend = RadioBackend(scenario)
    backend.open()
    transmissions: list[Transmission] = [send(node, str(node), START + at) for node, at in frames]
    found = []
    while (step := backend.advance(transmissions, None)) is not None:
        transmissions = []
        for delivery in step.deliveries:
            assert isinstance(delivery.message, Text)
            found.append((delivery.sender, delivery.receiver, (step.now - START) // MILLISECOND))
    backend.close()
    return found


@pytest.mark.slow
def test_compiled_functions_decide_on_signals() -> None:
    """By the kinds of senders, by the beginnings of their frames, and against bursts."""
    deaf = replace(TIMED, radio=replace(TIMED.radio, cca_threshold_dbm=200.0))
    assert {sender for sender, *_ in heard(deaf, (0, 0))} == {0}
    assert heard(deaf, (3, 0)) == heard(deaf, (4, 0)) == []
    # The second one begins within a millisecond of the first, and then beyond it.
    near, far = (heard(deaf, (0, 0), (1, at)) for at in (MILLISECOND // 2, 3 * MILLISECOND))
    assert {(sender, receiver) for sender, receiver, _ in near} >= {(0, 4), (1, 4)}
    assert {(sender, receiver) for sender, receiver, _ in far} & {(0, 4), (1, 4)} == {(1, 4)}
    bursts = InterferenceSettings(rate_per_s=1000, length=MILLISECOND, power_dbm=-60, spread_db=0)
    assert heard(replace(deaf, interference=bursts), (0, 0)) == []


@pytest.mark.slow
def test_each_kind_has_its_airtime() -> None:
    """Of one size, kind 0 has 10 ms and kind 2 has 14."""
    first, second = heard(TIMED, (0, 0))[0], heard(TIMED, (2, 0))[0]
    assert second[2] - first[2] == 4


@pytest.mark.slow
def test_it_counts_how_long_it_was_on_the_air() -> None:
    """For no rate says it; with ours the rate does, and there is no count."""
    backend = RadioBackend(TIMED)
    backend.open()
    assert backend.advance([send(0, "0", START), send(2, "2", START + SECOND)], None)
    while backend.advance((), None) is not None:
        pass
    lasting = backend.close().counts[AIR_NS]
    assert lasting[2] - lasting[0] == 4 * MILLISECOND
    assert lasting[1] == 0
    assert AIR_NS not in RadioBackend(at_places(0, 1)).close().counts
