"""How far nodes travel: further metrics of any sweep, as `--measure travel` asks for them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roambus.bridge.trace import schema
from roambus.spark.metrics.catalogue import greatest, mean
from roambus.spark.metrics.metric import metric
from roambus.spark.metrics.run import Run, once


@metric("distance per node", "m")
def metres_per_node(run: Run) -> float:
    """Metres that a node travelled in the whole run, mean over the nodes whose places the trace has."""
    return mean(travelled_m(run), smallest=1e-3)


@metric("longest distance of a node", "m")
def metres_max(run: Run) -> float:
    """The most metres that a node travelled in the whole run."""
    return greatest(travelled_m(run))


@once
def travelled_m(run: Run) -> npt.NDArray[np.float64]:
    """Metres[node] along straight lines between the rows of a node's movement; a jump takes no time, and no metres."""
    rows = run.rows(schema.MOVE)
    places = np.array([text.split() for text in rows[schema.DETAIL]], float).reshape(-1, 2)
    nodes, times = rows[schema.NODE].to_numpy(), rows[schema.TIME_S].to_numpy()
    order = np.lexsort((np.arange(len(nodes)), nodes))
    nodes, times, places = nodes[order], times[order], places[order]
    is_leg = (nodes[1:] == nodes[:-1]) & (times[1:] > times[:-1])
    legs_m = np.hypot(*(places[1:] - places[:-1]).T) * is_leg
    _, place = np.unique(nodes, return_inverse=True)
    metres: npt.NDArray[np.float64] = np.bincount(place[1:], legs_m, place.max(initial=-1) + 1).astype(float)
    return metres
