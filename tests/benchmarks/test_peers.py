"""The beacon scenario on other simulators: the same load for all, and what is told of those that are missing."""

from importlib.util import find_spec

import pytest

from benchmarks import peers
from benchmarks.ns3_aodv import Case
from benchmarks.peers import (
    GRADYS,
    Load,
    Peer,
    main,
    measure,
    peers_here,
    run_gradys,
    run_ideal,
    run_radio,
    scenario_of,
)
from benchmarks.peers_routing import routing_table

SMALL = Load(nodes=12, side_m=40, rate_per_s=5, seconds=10)
DENSE = Load(nodes=5, side_m=10, rate_per_s=5, seconds=10)
needs_gradys = pytest.mark.skipif(find_spec("gradysim") is None, reason=f"needs pip install '{GRADYS}'")


def test_all_simulators_get_the_same_places() -> None:
    """They stand in the ini, where Castalia reads them, too; another seed has others."""
    places = [node.position for node in scenario_of(SMALL).nodes]
    assert places == [node.position for node in scenario_of(SMALL).nodes]
    assert None not in places
    assert len(set(places)) == SMALL.nodes
    other = Load(SMALL.nodes, SMALL.side_m, SMALL.rate_per_s, SMALL.seconds, seed=2)
    assert places != [node.position for node in scenario_of(other).nodes]


@pytest.mark.parametrize("run", [run_ideal, run_radio, pytest.param(run_gradys, marks=needs_gradys)])
def test_each_beacon_reaches_everybody_in_range(run: object) -> None:
    """On 10 m x 10 m all hear all: four receivers for each of some 250 beacons, within four standard deviations."""
    assert callable(run)
    assert run(DENSE) == pytest.approx(4 * 250, abs=4 * 4 * 250**0.5)


def test_a_row_has_the_medians(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of interleaved repetitions."""
    monkeypatch.setattr(peers, "_cpu_now", lambda: 0.0)
    heard = iter([0, 0, 5, 1, 9, 2, 6, 3])
    order: list[str] = []

    def told(name: str) -> Peer:
        def run(_: Load) -> int:
            order.append(name)
            return next(heard)

        return Peer(name, "none", run)

    first, second = measure([told("a"), told("b")], SMALL, 3)
    assert (first.deliveries, second.deliveries) == (6, 2)
    assert order == ["a", "b"] * 4


def test_what_is_missing_is_named_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own rows remain."""
    monkeypatch.setattr(peers, "find_spec", lambda _: None)
    monkeypatch.delenv("OMNETPP_ROOT", raising=False)
    here, missing = peers_here()
    assert [peer.run for peer in here] == [run_ideal, run_radio]
    assert f'pip install "{GRADYS}"' in missing[0]
    assert "OMNETPP_ROOT" in missing[1]


def test_the_table_has_a_row_for_each(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """And says that a unit disk is no radio."""
    monkeypatch.delenv("OMNETPP_ROOT", raising=False)
    assert main(["--nodes", "12", "--side", "40", "--seconds", "5", "--repeats", "1", "--only-beacons"]) == 0
    printed = capsys.readouterr().out
    for name in ("roambus, ideal links | unit disk", "roambus, embedded radio | radio"):
        assert f"| {name} | " in printed
    assert ("| GrADyS-SIM NextGen | unit disk | " in printed) == (find_spec("gradysim") is not None)
    assert "A unit disk has no collisions" in printed


@pytest.mark.parametrize("option", ["--nodes", "--side", "--rate", "--seconds", "--repeats"])
def test_a_mistake_is_one_line(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing runs."""
    assert main([option, "0"]) == 2
    assert capsys.readouterr().err == f"peers: {option}: 0 is not above 0\n"


def test_the_routing_table_names_what_is_not_here() -> None:
    """And has a row for our radio, with what it simulates; here of a small network for five packets."""
    case = Case("C4, 8 m/s", 45, 2, 4, 5, None, nodes=10, speed=8)
    table = routing_table(1, "no-such-python", [case])
    assert "| C4 | roambus, embedded radio | CC2420" in table
    assert "ns-3 is left out: no-such-python has no package ns3" in table
