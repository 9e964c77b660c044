"""The set-up of a run: the state of the compiled loop from a scenario, with all randomness outside the agents.

Each purpose has a generator spawned from the run's seed: placement and mobility (`roambus.bridge.mobility`), shadowing,
clocks, and the streams of the loop. They are spawned in a fixed order, a new purpose last, and draws are made for all
nodes, so that a seed keeps its meaning. Path losses are drawn (`channel`) between static nodes or between cells; or a
testbed recorded them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.channel import (
    NO_LIMIT_DBM,
    Cells,
    Ground,
    PathLoss,
    cell_changes,
    path_loss,
    recorded_ground,
)
from roambus.bridge.backends.radio.energy import batteries_of, first_looks, switch_power_mw, tx_power_mw
from roambus.bridge.backends.radio.engine import NEVER, STREAMS, put_first
from roambus.bridge.backends.radio.mac.registry import mac_of
from roambus.bridge.backends.radio.medium import DIGIT_BITS, occupants
from roambus.bridge.backends.radio.outages import first_outages
from roambus.bridge.backends.radio.propagation import temporal
from roambus.bridge.backends.radio.propagation.registry import fading_of, loudest_dbm, varies
from roambus.bridge.backends.radio.propagation.temporal import variation_of
from roambus.bridge.backends.radio.radio import NO_FRAME, PROCESSING_DELAY
from roambus.bridge.backends.radio.reception import bit_errors
from roambus.bridge.backends.radio.reception.bit_errors import HIGHEST_DB
from roambus.bridge.backends.radio.reception.registry import reception_of
from roambus.bridge.backends.radio.state import (
    ARRIVAL,
    DELIVERY,
    DONE,
    FRAME,
    FRAME_TOO_LONG,
    LEVEL,
    LEVELS,
    LINK,
    LINKS_AT_FIRST,
    LISTENING,
    MODELLED,
    MOVE,
    OTHERS,
    PACKET_TOO_LONG,
    SENDING,
    SIGNAL,
    SIGNALS_AT_FIRST,
    SLEEPING,
    TAKEN,
    Measured,
    State,
    record_with,
    run_of,
    zero_nodes,
)
from roambus.bridge.mobility.paths import FIRST_OF_OTHERS, Path
from roambus.bridge.mobility.static import Static
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.models import RADIOS
from roambus.bridge.scenario.radio import RadioSettings
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.simtime import SECOND, SimTime

ADDITIVE_INTERFERENCE = 2
EVENTS_PER_NODE = 5
"""Of one node at one time: a request, MAC timer, radio, a frame on the way up, a look at its battery."""


class Seeds(NamedTuple):
    """A seed for each purpose of the radio's own."""

    shadowing: np.random.SeedSequence
    clocks: np.random.SeedSequence
    """of boot times and clock rates"""
    streams: np.random.SeedSequence
    """of the loop's draws"""


def seeds_of(seed: int) -> Seeds:
    """Return the seeds of a run, which come after those of its mobility."""
    return Seeds(*np.random.SeedSequence(seed).spawn(FIRST_OF_OTHERS + len(Seeds._fields))[FIRST_OF_OTHERS:])


def check(scenario: Scenario) -> None:
    """Raise UserError for a scenario that this radio does not model, such as frames shorter than the way to the MAC."""
    if scenario.radio.collision_model != ADDITIVE_INTERFERENCE:
        raise UserError("the embedded radio knows additive interference only: set Radio.collisionModel = 2")
    if scenario.channel.only_static_nodes:
        for node, settings in enumerate(scenario.nodes):
            if not isinstance(settings.mobility, Static):
                raise UserError(f"node {node} moves: set SN.wirelessChannel.onlyStaticNodes = false")
    if min(airtime(scenario, kind, 0) for kind in set(reception_of(scenario).kinds(scenario))) <= PROCESSING_DELAY:
        raise UserError("frames on the air for 10 us or less are not modelled: lower the data rate")
    for node, settings in enumerate(scenario.nodes):
        tx_power_mw(node, settings, scenario.radio)


def frame_bytes(scenario: Scenario, payload: int) -> int:
    """Return the bytes on the air of a message of `payload` bytes."""
    return payload + scenario.header_bytes


def airtime(scenario: Scenario, kind: int, payload: int) -> SimTime:
    """Return how long a message of `payload` bytes of a node of this kind is on the air."""
    return int(reception_of(scenario).airtime(scenario, kind, frame_bytes(scenario, payload)))


def refusal(scenario: Scenario, payload: int) -> int:
    """Return the reason to refuse a message of `payload` bytes, or TAKEN. A limit of 0 is none."""
    frame = frame_bytes(scenario, payload)
    if 0 < scenario.mac.max_packet_bytes < frame - scenario.radio.frame_overhead_bytes:
        return PACKET_TOO_LONG
    if 0 < scenario.radio.max_frame_bytes < frame:
        return FRAME_TOO_LONG
    return TAKEN


class Placed(NamedTuple):
    """The places of the nodes, and the losses between them."""

    path_loss: PathLoss
    cells: NDArray[np.int64]
    """place[node] at time 0: its cell, or the node itself"""
    moves: NDArray[Any]
    """MOVE[m]: when which node is seen in another cell"""
    measured: Measured = MODELLED


def ground(scenario: Scenario, paths: Sequence[Path], seeds: Seeds) -> Placed:
    """Draw the path loss between static nodes, or between cells.

    A key of the ini decides, as on Castalia: losses between cells differ from those between nodes even if nothing
    moves.
    """
    starts = np.array([[points[0].x, points[0].y] for points in paths])
    random = np.random.default_rng(seeds.shadowing)
    if scenario.measured is not None:
        losses, measured = recorded_ground(scenario.measured, len(starts), scenario.time_limit)
        return Placed(losses, np.arange(len(starts)), np.zeros(0, MOVE), measured)
    law, channel = scenario.propagation, scenario.channel
    limits = loudest_dbm(scenario), channel.signal_delivery_threshold_dbm
    if channel.only_static_nodes:
        losses = path_loss(law, Ground(starts, *limits), random, scenario.losses)
        return Placed(losses, np.arange(len(starts)), np.zeros(0, MOVE))
    cells = Cells(scenario.field_m, channel)
    losses = path_loss(law, Ground(cells.corners(), *limits, cells.middle_m), random, scenario.losses)
    moves = cell_changes([node.mobility for node in scenario.nodes], paths, cells, scenario.time_limit)
    return Placed(losses, cells.holding(starts), moves)


def initial_run(scenario: Scenario, seeds: Seeds, own_frames: int) -> NDArray[Any]:
    """Return RUN[1] before anything has happened. Measured links have no threshold."""
    radio = scenario.radio
    run = run_of(
        channel=record_with(scenario.channel),
        **_records(scenario),
        radio=record_with(radio),
        mac=mac_of(scenario).record(scenario),
        outside=record_with(scenario.interference),
    )
    fields = {
        # The event at the start counts as the end of a burst, so that a pause comes first.
        "is_disturbed": scenario.interference.rate_per_s > 0,
        "switch_time": switch_times(radio),
        "switch_power": switch_power_mw(radio),
        "bandwidth_db": radio.bandwidth_db,
        "negligible_snr": HIGHEST_DB - radio.bandwidth_db,
        "averaging_time": radio.symbols_for_rssi * radio.bits_per_symbol * SECOND // radio.data_rate_bps,
        "own_frames": own_frames,
        "warm_up": scenario.warm_up,
        "varies": varies(scenario),
        "is_measured": scenario.measured is not None,
        "streams": seeds.streams.generate_state(STREAMS, np.uint64),
    }
    for name, value in fields.items():
        run[name] = value
    if scenario.measured is not None:
        run["radio"]["sensitivity_dbm"] = run["channel"]["signal_delivery_threshold_dbm"] = NO_LIMIT_DBM
    return run


def _records(scenario: Scenario) -> dict[str, np.void]:
    """Return the settings of models with compiled code of their own: others need no loop of their own."""
    own = {"propagation": fading_of(scenario) is not temporal, "reception": reception_of(scenario) is not bit_errors}
    return {name: record_with(getattr(scenario, name)) for name, is_compiled in own.items() if is_compiled}


def switch_times(radio: RadioSettings) -> NDArray[np.int64]:
    """Ns[origin, target] of each change of the radio's state; a change back to the origin takes no time."""
    times = np.zeros((4, 4), np.int64)
    times[LISTENING, SENDING], times[SENDING, LISTENING] = radio.rx_to_tx, radio.tx_to_rx
    times[LISTENING, SLEEPING], times[SENDING, SLEEPING] = radio.rx_to_sleep, radio.tx_to_sleep
    times[SLEEPING, LISTENING] = radio.sleep_to_rx
    return times


def boots_and_clocks(scenario: Scenario, seeds: Seeds) -> tuple[list[SimTime], NDArray[np.float64]]:
    """Draw each node's boot time, and the rate of its clock within three standard deviations."""
    nodes, random = scenario.nodes, np.random.default_rng(seeds.clocks)
    spread, drift = random.uniform(0, 1, len(nodes)), random.standard_normal(len(nodes))
    boots = [round(node.start_offset + u * node.start_spread) for node, u in zip(nodes, spread, strict=True)]
    return boots, 1 + np.clip(drift, -3, 3) * [node.clock_drift_sigma for node in nodes]


def nodes_of(scenario: Scenario, seeds: Seeds, cells: NDArray[np.int64]) -> NDArray[Any]:
    """Return NODE[n] before anything has happened. Before its boot a node's radio hears nothing, though in RX."""
    nodes = zero_nodes(len(scenario.nodes))
    nodes["start"], nodes["clock_rate"] = boots_and_clocks(scenario, seeds)
    nodes["tx_power"] = [node.tx_power_dbm for node in scenario.nodes]
    nodes["cell"] = cells
    nodes["kind"] = reception_of(scenario).kinds(scenario)
    nodes["total"] = scenario.radio.noise_floor_dbm
    nodes["remembered"] = 1  # in RX since time 0, and nothing heard
    nodes["moves_seen"] = -1
    nodes["timer"] = nodes["pending"] = NEVER
    nodes["on_air"] = nodes["arriving"] = NO_FRAME
    return nodes


def state_of(scenario: Scenario, paths: Sequence[Path], seeds: Seeds, room: int) -> State:
    """Return the state at time 0: the frames of the MAC, and room for those of Python."""
    mac, count = mac_of(scenario), len(scenario.nodes)
    where = ground(scenario, paths, seeds)
    ways = where.path_loss
    first_in, next_in = occupants(where.cells, len(ways.starts) - 1)
    levels = np.zeros((count, LEVELS), LEVEL)
    levels["total"] = scenario.radio.noise_floor_dbm
    control, nodes = mac.control_frames(scenario), nodes_of(scenario, seeds, where.cells)
    made = np.concatenate([control, np.zeros(room, FRAME)])
    if len(control) and reception_of(scenario) is not bit_errors:
        name = RADIOS.name_of(scenario.reception)
        raise UserError(f"{RADIOS.key.name}: the MAC has frames of its own, whose airtime with {name} it does not know")
    run, frames = initial_run(scenario, seeds, len(control)), len(made)
    batteries = batteries_of(scenario, nodes["start"])
    faults = first_outages(scenario)
    heap = np.zeros((EVENTS_PER_NODE * count + frames + len(faults), 2), np.int64)
    others = [(0, OTHERS, 0)] if scenario.interference.rate_per_s else []
    put_first(heap, run[0], [*first_looks(batteries), *mac.first_events(nodes, scenario), *others, *faults])
    return State(
        run=run,
        nodes=nodes,
        macs=np.zeros(count, mac.COLUMNS),
        levels=levels,
        queues=np.zeros((count, scenario.mac.buffer_size), np.int64),
        buffers=np.zeros((count, scenario.radio.buffer_size), np.int64),
        signals=np.zeros((count, SIGNALS_AT_FIRST), SIGNAL),
        links=np.zeros((count, LINKS_AT_FIRST), LINK),
        arrivals=np.zeros((count, LINKS_AT_FIRST), ARRIVAL),
        found=np.zeros(count, LINK),
        occupied=np.zeros(count + 1, np.int64),
        sorting=np.zeros(count, LINK),
        places=np.zeros(1 << DIGIT_BITS, np.int64),
        way_starts=ways.starts,
        towards=ways.towards,
        loss_db=ways.loss_db,
        first_in=first_in,
        next_in=next_in,
        moves=where.moves,
        variation=variation_of(scenario.temporal, len(ways.loss_db) if varies(scenario) else 0),
        measured=where.measured,
        batteries=batteries,
        frames=made,
        heap=heap,
        inbox=np.zeros(frames, np.int64),
        deliveries=np.zeros(2 * LINKS_AT_FIRST, DELIVERY),
        done=np.zeros(frames, DONE),
    )
