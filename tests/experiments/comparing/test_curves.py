"""Figures of single deliveries: what they are made of, and that they are drawn."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import SWEEP_FILE
from roambus.experiments.comparing.observations import DELAYS, DELIVERIES, distribution, draw_curves, observe, over_time
from roambus.experiments.figures.style import USUAL
from roambus.spark.aggregation.traces import list_traces
from tests.support.films import row, write_rows


def write_run(folder: Path, agent: str, seed: int, speed: str = "2") -> Path:
    """A run in which one notification is for nodes 1 and 2 and reaches 1 twice, another is for 2 and gets lost."""
    place = folder / "traces" / f"agent={agent}" / f"speed={speed}" / f"seed={seed}"
    place.mkdir(parents=True)
    rows = [
        row(1.0, 0, "publish", notification_id="0.0", detail="1 2"),
        row(1.5, 1, "deliver", notification_id="0.0", hops=1),
        row(2.0, 0, "publish", notification_id="0.1", detail="2"),
        row(2.5, 1, "deliver", notification_id="0.0", hops=2),
        row(3.0, 2, "deliver", notification_id="0.0", hops=1),
        row(4.0, 5, "deliver", notification_id="0.1", hops=1),
        row(30.0, 0, "energy", detail="1.0"),
    ]
    return write_rows(place, rows)


def test_a_delay_is_that_of_the_first_delivery_to_who_was_to_get_it(tmp_path: Path) -> None:
    """Duplicates, and what reaches others, do not count; what is lost keeps the curve below 1."""
    observed = observe(list_traces([write_run(tmp_path, "mft", 0)])[0][0])
    assert observed.delay_s.tolist() == [0.5, 2.0]
    assert (observed.expected, observed.end_s) == (3, 30.0)
    delays, shares = distribution([observed, observed])
    assert delays.tolist() == [0.5, 0.5, 2.0, 2.0]
    assert shares[-1] == pytest.approx(2 / 3)
    times, rates = over_time([observed])
    assert (times[1] - times[0]) * np.sum(rates) == pytest.approx(2)


def test_each_agent_has_a_line(tmp_path: Path) -> None:
    """Of all its seeds, at the values that are left."""
    for agent in ("mft", "aodv"):
        for speed in ("2", "8"):
            write_run(tmp_path, agent, 0, speed)
            write_run(tmp_path, agent, 1, speed)
    files = draw_curves(tmp_path, [DELAYS, DELIVERIES], {"speed": ("8",)}, USUAL)
    assert [file.name for file in files] == [
        f"{kind}.{end}" for kind in (DELAYS, DELIVERIES) for end in ("png", "svg", "txt")
    ]
    drawn = files[1].read_text()
    assert all(f">{label}</text>" in drawn for label in ("mft", "aodv"))
    assert "all deliveries of 2 seeds" in files[2].read_text()


def test_lines_are_in_the_order_of_the_sweep(tmp_path: Path) -> None:
    """An agent that lacks the parameter of the axis is named without it, and is there at each of its values."""
    for agent, speed in (("mft", "2"), ("mft", "8"), ("aodv", "2"), ("flooding", "-")):
        write_run(tmp_path, agent, 0, speed)
    (tmp_path / SWEEP_FILE).write_text(
        json.dumps({"agents": {"mft": ["mft", {}], "flooding": ["flooding", {}]}, "titles": {"mft": "MFT-PubSub"}})
    )
    _, picture, _ = draw_curves(tmp_path, [DELAYS], {"speed": ("2",)}, USUAL)
    labels = [label for label in re.findall(r">([^<]+)</text>", picture.read_text()) if label[0].isalpha()]
    assert labels[-3:] == ["MFT-PubSub, speed 2", "flooding", "aodv, speed 2"]


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    """No runs there, or more lines than anybody can tell apart."""
    for speed in range(13):
        write_run(tmp_path, "mft", 0, str(speed))
    with pytest.raises(UserError, match="13 lines are too many for a figure: narrow speed"):
        draw_curves(tmp_path, [DELAYS], {}, USUAL)
    with pytest.raises(UserError, match="there is no run there"):
        draw_curves(tmp_path, [DELAYS], {"speed": ("99",)}, USUAL)
