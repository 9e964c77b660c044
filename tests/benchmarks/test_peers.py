"""roambus beside other simulators: what is counted, what is left out, and how growth is fitted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.peers import beside
from benchmarks.peers import growth as growths
from benchmarks.peers.__main__ import main
from benchmarks.peers.beside import (
    DISK,
    GRADYS,
    RADIO,
    REFERENCE,
    Cost,
    Peer,
    aodv_peers,
    beacon_peers,
    cost,
    rows_of,
)
from benchmarks.peers.field import Field
from benchmarks.peers.growth import Point, exponent
from roambus.bridge.mobility.paths import places_of

HERE = frozenset({""})
SMALL = Field(nodes=4)


def test_the_short_run_is_taken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start of three seconds and half a second of CPU for each simulated one: half a second is the cost."""
    clock = [0.0]
    monkeypatch.setattr(beside, "cpu_now_s", lambda: clock[0])

    def run(seconds: int) -> float:
        clock[0] += 3 + seconds / 2
        return 7.0 * seconds

    assert cost(run, 10) == Cost(0.5, 7.0)


@pytest.mark.parametrize("peer", [*beacon_peers(HERE, SMALL), *aodv_peers(HERE, Path())], ids=lambda peer: peer.name)
def test_ours_carry_more_in_more_time(peer: Peer) -> None:
    """Beacons and AODV, over ideal links and over the radio."""
    assert 0 < peer.run(2) < peer.run(6)


def test_ours_are_there_without_any_other() -> None:
    """Two for each load; GrADyS joins where it is."""
    assert [peer.channel for peer in beacon_peers(HERE, SMALL)] == [RADIO, DISK]
    assert [peer.name for peer in beacon_peers(HERE | {GRADYS}, SMALL)][2].startswith(GRADYS)


def test_other_simulators_have_the_places_of_ours() -> None:
    """The lines for them give each node's place to the millimetre."""
    lines = SMALL.place_lines()
    found = dict(line.split(" = ") for line in lines)
    for node, (x, y) in enumerate(places_of(SMALL.scenario(1))):
        assert float(found[f"SN.node[{node}].xCoor"]) == pytest.approx(x, abs=0.001)
        assert float(found[f"SN.node[{node}].yCoor"]) == pytest.approx(y, abs=0.001)


def test_ratios_are_medians_of_rounds() -> None:
    """Each round is compared with the radio's cost in that round."""
    two = [Peer(REFERENCE, RADIO, float), Peer("other", DISK, float)]
    found = [[Cost(1, 10), Cost(2, 10), Cost(4, 10)], [Cost(3, 20), Cost(4, 20), Cost(4, 20)]]
    ours, other = rows_of("load", two, found)
    assert ours == ("load", REFERENCE, RADIO, "10", "2e+03", "1e+03 to 4e+03", "1.00")
    assert other[-1] == "2.00"


def test_a_power_law_is_found() -> None:
    """Whose exponent is 1.2, without an error."""
    points = [Point("kind", nodes, 0.01 * nodes**1.2, 0, 0, 0) for nodes in (66, 260, 1040, 2600)]
    assert exponent(points) == pytest.approx((1.2, 0), abs=1e-6)


def test_growth_prints_a_row_for_each_network(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As CSV, with a picture."""
    monkeypatch.setattr(growths, "point", lambda kind, nodes: Point(kind, nodes, nodes / 100, 1, 2, 3))
    assert main(["growth", "--sizes", "4,8,16,32", "--csv", "--picture", str(tmp_path / "growth.png")]) == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 1 + 3 * 4
    assert printed.err.count("exponent over nodes 1.00") == 3
    assert (tmp_path / "growth.png").stat().st_size > 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["growth", "--sizes", "66,66,130,260"], "four sizes"),
        (["growth", "--sizes", "66,x"], "x: not a whole number above 1"),
        (["beside", "--rounds", "0"], "0: not a whole number above 0"),
    ],
)
def test_mistakes_are_named(capsys: pytest.CaptureFixture[str], arguments: list[str], why: str) -> None:
    """Nothing runs, and the exit code is 2."""
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert why in capsys.readouterr().err
