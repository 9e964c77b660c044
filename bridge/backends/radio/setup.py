"""Makes the state of the compiled loop from a scenario, with all that is random and does not depend on the agents.

Each purpose has its own generator, so that runs with one seed share placement, mobility and shadowing whatever the
agents do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.channel import HIGHEST_DB, NO_LIMIT_DBM, Cells, PathLoss, path_loss, recorded_ground
from roambus.bridge.backends.radio.energy import batteries_of, first_looks, tx_power_mw
from roambus.bridge.backends.radio.heap import NEVER, STREAMS, put_first
from roambus.bridge.backends.radio.hearers import DIGIT_BITS, occupants
from roambus.bridge.backends.radio.mac import PoissonSources, first_naps, frames_of, preambles_a_packet, preambles_of
from roambus.bridge.backends.radio.memory import LINKS_AT_FIRST, SIGNALS_AT_FIRST
from roambus.bridge.backends.radio.mobility import Path, cell_changes, path
from roambus.bridge.backends.radio.radio import NO_FRAME, PROCESSING_DELAY
from roambus.bridge.backends.radio.state import (
    ARRIVAL,
    DELIVERY,
    DONE,
    FRAME_TOO_LONG,
    LEVEL,
    LEVELS,
    LINK,
    MODELLED,
    MOVE,
    PACKET_TOO_LONG,
    RUN,
    SIGNAL,
    TAKEN,
    Measured,
    State,
    values_of,
    variation_of,
    zero_nodes,
)
from roambus.bridge.errors import UserError
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import Static
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SECOND, SimTime

ADDITIVE_INTERFERENCE = 2
EVENTS_PER_NODE = 5
"""At one time a node has traffic, its MAC's timer, its radio, a frame on the way up, and a look at its battery;
where radios sleep, what was overtaken besides, for which there is more room when it is needed."""


class Randomness(NamedTuple):
    """A seed for each purpose."""

    placement: np.random.SeedSequence
    mobility: np.random.SeedSequence
    shadowing: np.random.SeedSequence
    clocks: np.random.SeedSequence
    streams: np.random.SeedSequence


def randomness(seed: int) -> Randomness:
    """The seeds of a run."""
    return Randomness(*np.random.SeedSequence(seed).spawn(len(Randomness._fields)))


def check(scenario: Scenario) -> None:
    """Raises UserError for what this radio does not model."""
    if scenario.radio.collision_model != ADDITIVE_INTERFERENCE:
        raise UserError("the embedded radio knows additive interference only: set Radio.collisionModel = 2")
    if scenario.channel.only_static_nodes:
        for node, settings in enumerate(scenario.nodes):
            if not isinstance(settings.mobility, Static):
                raise UserError(f"node {node} moves: set SN.wirelessChannel.onlyStaticNodes = false")
    if airtime(scenario, 0) <= PROCESSING_DELAY:
        raise UserError("frames on the air for 10 us or less are not modelled: lower the data rate")
    for node, settings in enumerate(scenario.nodes):
        tx_power_mw(node, settings, scenario.radio)


def frame_bytes(scenario: Scenario, payload: int) -> int:
    """The bytes on the air for a message of `payload` bytes."""
    mac = scenario.mac
    return payload + mac.network_overhead_bytes + mac.packet_overhead_bytes + scenario.radio.frame_overhead_bytes


def airtime(scenario: Scenario, payload: int) -> SimTime:
    """The time that a message of `payload` bytes is on the air."""
    return frame_bytes(scenario, payload) * 8 * SECOND // scenario.radio.data_rate_bps


def refusal(scenario: Scenario, payload: int) -> int:
    """The reason why a message of `payload` bytes will not be sent at all, or TAKEN."""
    frame = frame_bytes(scenario, payload)
    if 0 < scenario.mac.max_packet_bytes < frame - scenario.radio.frame_overhead_bytes:
        return PACKET_TOO_LONG
    if 0 < scenario.radio.max_frame_bytes < frame:
        return FRAME_TOO_LONG
    return TAKEN


def place(scenario: Scenario, seeds: Randomness) -> NDArray[np.float64]:
    """The place metres[n, 2] of each node at time 0."""
    drawn = np.random.default_rng(seeds.placement).uniform(0, 1, (len(scenario.nodes), 2)) * scenario.field_m
    for node, settings in enumerate(scenario.nodes):
        if settings.position is not None:
            drawn[node] = settings.position
    return drawn


def paths_of(scenario: Scenario, seeds: Randomness) -> list[Path]:
    """The way-points of each node."""
    starts = place(scenario, seeds)
    node_seeds = seeds.mobility.spawn(len(scenario.nodes))
    return [
        path(settings.mobility, (x, y), scenario.field_m, scenario.time_limit, seed)
        for settings, (x, y), seed in zip(scenario.nodes, starts.tolist(), node_seeds, strict=True)
    ]


class Ground(NamedTuple):
    """What the channel needs to know of the nodes' places."""

    path_loss: PathLoss
    cells: NDArray[np.int64]
    moves: NDArray[Any]
    measured: Measured = MODELLED


def ground(scenario: Scenario, paths: Sequence[Path], seeds: Randomness) -> Ground:
    """The path loss between nodes if all are static, and between cells if they are not."""
    starts = np.array([[points[0].x, points[0].y] for points in paths])
    random = np.random.default_rng(seeds.shadowing)
    if scenario.measured is not None:
        losses, measured = recorded_ground(scenario.measured, len(starts), scenario.time_limit)
        return Ground(losses, np.arange(len(starts)), np.zeros(0, MOVE), measured)
    loudest = _loudest_dbm(scenario)
    if scenario.channel.only_static_nodes:
        losses = path_loss(starts, scenario.channel, loudest, random)
        return Ground(losses, np.arange(len(starts)), np.zeros(0, MOVE))
    cells = Cells(scenario.field_m, scenario.channel)
    losses = path_loss(cells.corners(), scenario.channel, loudest, random)
    moves = cell_changes([node.mobility for node in scenario.nodes], paths, cells, scenario.time_limit)
    return Ground(losses, cells.holding(starts), moves)


def _loudest_dbm(scenario: Scenario) -> float:
    """The power with which a way is tried: links that vary can have more than they have on average."""
    if scenario.temporal is not None:
        return scenario.channel.max_tx_power_dbm
    return max(node.tx_power_dbm for node in scenario.nodes)


def run_of(scenario: Scenario, seeds: Randomness, own_frames: int) -> NDArray[Any]:
    """The record RUN[1], before anything has happened."""
    radio = scenario.radio
    bandwidth_db = 10 * math.log10(radio.noise_bandwidth_hz / radio.data_rate_bps)
    fields = {
        "channel": values_of(scenario.channel),
        "radio": values_of(radio),
        "mac": values_of(scenario.mac),
        "bandwidth_db": bandwidth_db,
        "negligible_snr": HIGHEST_DB - bandwidth_db,
        "averaging_time": radio.symbols_for_rssi * radio.bits_per_symbol * SECOND // radio.data_rate_bps,
        "own_frames": own_frames,
        "varies": scenario.temporal is not None,
        "is_measured": scenario.measured is not None,
        "first_preamble": own_frames - preambles_of(scenario),
        "may_sleep": scenario.mac.may_sleep,
        "sleep_interval": scenario.mac.sleep_interval,
        "preambles": preambles_a_packet(scenario),
        "streams": seeds.streams.generate_state(STREAMS, np.uint64),
    }
    run = np.zeros(1, RUN)
    for name, value in fields.items():
        run[name] = value
    if scenario.measured is not None:
        run["radio"]["sensitivity_dbm"] = run["channel"]["signal_delivery_threshold_dbm"] = NO_LIMIT_DBM
    return run


def nodes_of(scenario: Scenario, seeds: Randomness, cells: NDArray[np.int64]) -> NDArray[Any]:
    """The records NODE[n], before anything has happened."""
    nodes = zero_nodes(len(scenario.nodes))
    random = np.random.default_rng(seeds.clocks)
    spread, drift = random.uniform(0, 1, len(nodes)), random.standard_normal(len(nodes))
    settings = scenario.nodes
    nodes["start"] = [round(one.start_offset + u * one.start_spread) for one, u in zip(settings, spread, strict=True)]
    nodes["clock_rate"] = 1 + np.clip(drift, -3, 3) * [one.clock_drift_sigma for one in settings]
    nodes["tx_power"] = [one.tx_power_dbm for one in settings]
    nodes["cell"] = cells
    nodes["total"] = scenario.radio.noise_floor_dbm
    nodes["remembered"] = 1  # in RX since time 0, and nothing heard
    nodes["moves_seen"] = -1
    nodes["timer"] = nodes["pending"] = NEVER
    nodes["on_air"] = nodes["arriving"] = NO_FRAME
    return nodes


def state_of(scenario: Scenario, paths: Sequence[Path], seeds: Randomness, own_frames: int, frames: int) -> State:
    """The state at time 0, with room for `frames` frames; `own_frames` are compiled traffic's and preambles."""
    count = len(scenario.nodes)
    where = ground(scenario, paths, seeds)
    ways = where.path_loss
    first_in, next_in = occupants(where.cells, len(ways.starts) - 1)
    levels = np.zeros((count, LEVELS), LEVEL)
    levels["total"] = scenario.radio.noise_floor_dbm
    run, nodes = run_of(scenario, seeds, own_frames), nodes_of(scenario, seeds, where.cells)
    batteries = batteries_of(scenario, nodes["start"])
    heap = np.zeros((EVENTS_PER_NODE * count + frames, 2), np.int64)
    put_first(heap, run[0], [*first_looks(batteries), *first_naps(nodes, scenario.mac)])
    return State(
        run=run,
        nodes=nodes,
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
        variation=variation_of(scenario.temporal, len(ways.loss_db)),
        measured=where.measured,
        batteries=batteries,
        frames=frames_of(scenario, own_frames, frames),
        heap=heap,
        inbox=np.zeros(frames, np.int64),
        deliveries=np.zeros(2 * LINKS_AT_FIRST, DELIVERY),
        done=np.zeros(frames, DONE),
    )


def start_sources(s: State, scenario: Scenario, sources: PoissonSources, seeds: Randomness) -> list[int]:
    """Gives each node its frame, at the time of its first packet; returns the frames of the nodes that send."""
    rates = np.broadcast_to(np.asarray(sources.rate_per_s, np.float64), len(s.nodes))
    first = np.random.default_rng(seeds.streams.spawn(1)[0]).uniform(0, 1, len(s.nodes))
    senders = np.flatnonzero(rates > 0)
    s.nodes["mean_gap"][senders] = gaps = SECOND / rates[senders]
    own = s.frames[: len(s.nodes)]
    own["at"][senders] = s.nodes["start"][senders] + first[senders] * gaps
    own["sender"] = np.arange(len(own))
    own["airtime"], own["destination"] = airtime(scenario, sources.payload_bytes), BROADCAST
    return senders.tolist()
