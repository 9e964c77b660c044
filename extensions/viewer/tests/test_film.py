"""A film says what the trace says, and refuses what no run leaves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from roambus.bridge.host.positions import Receivers
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.scenario.radio import GivenLosses
from roambus.bridge.system.errors import UserError
from roambus.extensions.viewer.film import Film, make_film
from roambus.extensions.viewer.observations import find_source, read_rows
from roambus.extensions.viewer.scene import BELIEF_ORIGIN_M, Place, believed_places, drawn_links
from roambus.extensions.viewer.tests.films import Row, row, write_rows
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND
from tests.support.scenarios import scenario


def film_of(path: Path) -> Film:
    source = find_source(path)
    return make_film(source, read_rows(source.trace))


def test_every_happening_is_in_the_film(moving_run: Path) -> None:
    """In its order, at its time, with node, peer, type, notification and detail."""
    film, table = film_of(moving_run), read_rows(moving_run / "trace.parquet")
    rows = [
        trace_row for trace_row in table.to_pylist() if trace_row["event"] not in {"move", "role", "energy", "radio"}
    ]
    header, columns = film.header, film.columns
    times = np.cumsum(columns["wait"]) / 1e9
    assert len(rows) == len(times)
    for number, row_ in enumerate(rows):
        texts = {
            name: ([None, *header[texts]])[columns[column][number]]
            for name, column, texts in (
                ("message_type", "type", "types"),
                ("notification_id", "note", "notifications"),
                ("detail", "detail", "details"),
            )
        }
        assert texts == {name: row_[name] for name in texts}
        assert header["kinds"][columns["kind"][number]] == row_["event"]
        assert (columns["node"][number], columns["peer"][number] - 1) == (
            row_["node"],
            -1 if row_["peer"] is None else row_["peer"],
        )
        assert times[number] == pytest.approx(row_["time_s"], abs=1e-9)


def test_nodes_are_where_the_trace_moves_them(moving_run: Path) -> None:
    """To the millimetre, in the scenario's field."""
    film, table = film_of(moving_run), read_rows(moving_run / "trace.parquet")
    moves = [trace_row for trace_row in table.to_pylist() if trace_row["event"] == "move"]
    x, y = film.columns["placeX"], film.columns["placeY"]
    assert [f"{a / 1000:.3f} {b / 1000:.3f}" for a, b in zip(x, y, strict=True)] == [move["detail"] for move in moves]
    assert (film.header["field"], film.header["placed"]) == ([90.0, 90.0], True)
    assert film.header["links"]["kind"] == "distance"
    assert film.header["links"]["reach"][0] == pytest.approx(46.4, abs=0.1)


def test_a_path_loss_of_a_package_has_no_range_to_draw() -> None:
    """Walls may stand between."""

    class Walls(LogDistance):
        pass

    described = replace(scenario([Role.NONE]), propagation=Walls())
    assert drawn_links(described, over_radio=True).kind == "unknown"


def test_given_path_losses_stand_for_distances() -> None:
    """The worse direction counts; the rest is as far as it is."""
    nodes = tuple(NodeSettings((20.0 * node, 0.0)) for node in range(3))
    losses = GivenLosses((0, 1), (1, 0), (79.0, 88.0))
    described = replace(scenario([Role.NONE] * 3), nodes=nodes, losses=losses)
    links = drawn_links(described, over_radio=True)
    (way, back), far = links.given, 10 ** ((88 - LogDistance().pl_d0_db) / 24)
    assert (way[:2], back[:2]) == ((0, 1), (1, 0))
    assert way[2] == back[2] == pytest.approx(far)
    assert (links.cells, drawn_links(described, over_radio=False).given) == (None, ())


def test_believed_places_are_those_of_the_receivers() -> None:
    """Of each fix; a receiver without errors has none of its own."""
    wrong, right = NodeSettings((5, 5), position_noise_m=9.0, fix_interval=3 * SECOND), NodeSettings((9, 9))
    described = replace(scenario([Role.NONE] * 2, time_limit=8 * SECOND), nodes=(wrong, right))
    fixes = list(believed_places(described, [Place(0, 0, 5, 5), Place(0, 1, 9, 9)]))
    assert [(fix.time_s, fix.node) for fix in fixes] == [(0, 0), (3, 0), (6, 0)]
    believed = Receivers(described)._receivers[0].fix(3 * SECOND)[0]
    assert believed == pytest.approx((fixes[1].x - BELIEF_ORIGIN_M, fixes[1].y - BELIEF_ORIGIN_M))


def test_nodes_of_a_given_tree_are_drawn_by_level(tree_run: Path) -> None:
    """A parent is above its children, and above the middle of them; the film says that places are drawn."""
    film = film_of(tree_run)
    x, y = film.columns["placeX"], film.columns["placeY"]
    parents = {1: 0, 2: 0, 3: 1, 4: 1, 5: 2, 6: 2, 7: 3, 8: 4, 9: 6}
    assert all(y[parent] < y[child] for child, parent in parents.items())
    assert x[0] == pytest.approx((x[1] + x[2]) / 2, abs=1)
    assert len({*zip(x.tolist(), y.tolist(), strict=True)}) == 10
    assert not film.header["placed"]


def test_the_links_of_a_graph_come_and_go(tree_run: Path) -> None:
    """The edges of the tree at first; then the client's move, the cut and its mending."""
    film = film_of(tree_run)
    columns = [film.columns[name].tolist() for name in ("linkTime", "linkA", "linkB", "linkUp")]
    changes = [(time / 1e9, a, b, bool(up)) for time, a, b, up in zip(*columns, strict=True)]
    assert len([change for change in changes if change[0] == 0]) == 9
    assert changes[9:] == [(15, 5, 9, True), (15, 6, 9, False), (25, 0, 2, False), (35, 0, 2, True)]


BROKEN: list[tuple[list[Row], str]] = [
    ([row(0.0, -1, "publish")], "a row with node -1, which is not from 0 to 65535"),
    ([row(0.0, 0, "send", peer=5)], "names a node that is not in the run, 0 to 0"),
    ([row(float("nan"), 0, "publish")], "a row with time_s nan, which is not from 0 to 1e\\+09"),
    ([row(1e300, 0, "publish")], "a row with time_s 1e\\+300, which is not from 0"),
    ([row(-1.0, 0, "publish")], "a row with time_s -1.0, which is not from 0"),
    ([row(1.0, 0, "publish"), row(0.5, 0, "publish")], "not in the order of time"),
    ([row(0.0, 0, "move", detail="here")], "has node 0 move to 'here', which is not a place: x y"),
    ([row(0.0, 0, "move", detail="nan 1")], "a node out of any field"),
    ([row(0.0, 0, "move", detail="-5 1")], "a node out of any field"),
    ([row(0.0, -1, "move", detail="1 1"), row(0.0, 0, "publish")], "a row with node -1, which is not"),
    ([], "the trace is empty"),
]


@pytest.mark.parametrize(("rows", "message"), BROKEN)
def test_rows_that_no_run_leaves_are_refused(tmp_path: Path, rows: list[Row], message: str) -> None:
    """By one message."""
    with pytest.raises(UserError, match=message):
        film_of(write_rows(tmp_path, rows))


def test_the_drop_of_a_broadcast_names_nobody(tmp_path: Path) -> None:
    """Its row has the broadcast's address for a peer."""
    film = film_of(write_rows(tmp_path, [row(0.0, 0, "drop", peer=65535, message_type="HELLO")]))
    assert film.columns["peer"].tolist() == [0]
