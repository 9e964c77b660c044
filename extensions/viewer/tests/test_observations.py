"""What a run's agents send, hear and know is found again, and only if they are those of the run."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from roambus.bridge.system.errors import UserError
from roambus.extensions.viewer.film import Film, make_film
from roambus.extensions.viewer.observations import carried, find_source, observe, read_rows
from roambus.extensions.viewer.tests.films import run_moving
from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.mft.messages import Rep
from roambus.python_protocol.parts.link import LinkData


def film_of(path: Path) -> Film:
    source = find_source(path)
    return make_film(source, *observe(source, read_rows(source.trace)))


def sent(film: Film) -> list[tuple[str, str]]:
    """Type and text of each send."""
    columns, header = film.columns, film.header
    sends = columns["kind"] == header["kinds"].index("send")
    pairs = zip(columns["type"][sends], columns["content"][sends], strict=True)
    return [(header["types"][kind - 1], header["texts"][content - 1]) for kind, content in pairs]


def test_a_record_tells_what_each_message_holds(tree_run: Path) -> None:
    """The text of each send begins with its type, and every receive of ideal links has its send."""
    film = film_of(tree_run)
    texts = sent(film)
    assert len(texts) > 100
    assert all(text.split()[0] == kind for kind, text in texts)
    receives = film.columns["kind"] == film.header["kinds"].index("receive")
    assert receives.any()
    assert (film.columns["origin"][receives] > 0).all()


def test_a_run_without_a_record_can_be_made_again(moving_run: Path, tmp_path: Path) -> None:
    """It shows what a record of it shows."""
    film, recorded = film_of(moving_run), film_of(run_moving(tmp_path, "mft", "--record"))
    assert sent(film) == sent(recorded)
    assert film.packed() == recorded.packed()


def test_routing_tables_are_looked_at_as_time_passes(tree_run: Path) -> None:
    """The last look at the root has both subscribers, as the protocol's own listing."""
    film = film_of(tree_run)
    tables, columns = film.header["tables"], film.columns
    snapshots = zip(columns["lookNode"].tolist(), columns["lookListing"].tolist(), strict=True)
    last = [listing for node, listing in snapshots if node == 0 and tables["listings"][listing][0] == "table"][-1]
    end = int(columns["lists"][: last + 1].sum())
    rows = columns["listed"][end - columns["lists"][last] : end]
    assert tables["heads"][tables["listings"][last][1]] == ("Filter", "Interface", "Subscriber", "T")
    assert [tables["rows"][number][:3] for number in rows] == [
        ("{topic = 'news'}", "n1", "n8"),
        ("{topic = 'news'}", "n2", "n9"),
    ]
    assert (np.diff(columns["lookTime"]) >= 0).all()


def test_agents_that_have_changed_are_not_shown(moving_run: Path, tmp_path: Path) -> None:
    """What they do now is not what the trace has."""
    folder = tmp_path / "changed"
    shutil.copytree(moving_run, folder)
    ini = folder / "run.ini"
    ini.write_text(ini.read_text().replace('agentParameters = ""', 'agentParameters = "heartbeat_interval=3s"'))
    with pytest.raises(UserError, match=r"the agents behave differently now: .* make the run again with roambus run"):
        film_of(folder)


def test_a_message_carries_what_lies_anywhere_in_it() -> None:
    """Also in the frame of a link, each notification once."""
    first, second = (Notification(NotificationId(1, number), ()) for number in (4, 5))
    assert carried(LinkData(1, 2, Pub(0, first))) == [first.id]
    assert carried(Rep(3, 0, (first, second, first))) == [first.id, second.id]
    assert carried(second.id) == [second.id]
