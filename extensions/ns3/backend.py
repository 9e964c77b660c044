"""The `ns3` back-end: the network simulator ns-3 carries the messages.

ns-3 comes as a Python package (`pip install ns3`), used for its libraries and headers only. Our C++ adapter in
`omnet/ns3`, compiled by one command, plays ns-3 as a simulator of the bridge. Host and connection are Castalia's
(`roambus.bridge.backends.castalia`).
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from roambus.bridge.backends.castalia.backend import BridgedFactory, CastaliaBackend, check_radio_alone
from roambus.bridge.backends.castalia.installation import Program, build_modules, find_modules, other_release
from roambus.bridge.backends.castalia.simulators import Ways
from roambus.bridge.backends.radio.setup import boots_and_clocks, seeds_of
from roambus.bridge.keys import path_of
from roambus.bridge.mobility.paths import paths_of, steered
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.ideal import LINKS_FILE
from roambus.bridge.scenario.mac import Ieee802154Settings, TunableMacSettings
from roambus.bridge.scenario.macs import PROTOCOL, name_of
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.scenario.radio import LOSSES_FILE, RADIO, TEMPORAL_FILE, RadioSettings
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.settings import settings_of

NS3_ROOT = "NS3_ROOT"
"""Names the folder `ns3` of an installed package outside this Python."""

PROGRAM = "roambus-ns3"

SETTINGS_FILE = "ns3"
"""The adapter reads it in `.roambus`."""

LR_WPAN_BPS = 250_000
LEAST_SENSITIVE_DBM = -85
"""ns-3 aborts above this sensitivity, which 802.15.4 requires."""
MOST_CCA_DBM = LEAST_SENSITIVE_DBM + 10

WITHOUT_COUNTERPART = (
    "prob_tx",
    "tries",
    "retransmission_interval",
    "persistence",
    "duty_cycle",
    "sleeps_in_backoff",
    "random_tx_offset",
    "sends_all",
)
"""Fields of TunableMAC, without counterpart in ns-3's MACs, that must keep their defaults."""

FIXED = ("max_packet_bytes", "ack_wait_symbols")
"""Those of IEEE 802.15.4: ns-3 computes them."""

HEADER_BYTES = 11
"""The header and FCS of ns-3's 802.15.4."""

_BATTERY = "initial_energy_j"

SIMULATOR = "ns-3"

_CORE = re.compile(r"libns([\w.]+)-core\.so")


def find_ns3() -> Path:
    """Return ns-3's folder of headers and libraries; raise UserError with advice."""
    named = os.environ.get(NS3_ROOT)
    spec = None if named else importlib.util.find_spec("ns3")
    places = [Path(named)] if named else [Path(place) for place in (spec and spec.submodule_search_locations) or ()]
    for place in places:
        if (place / "include" / "ns3" / "lr-wpan-mac.h").is_file():
            return place.resolve()
    where = f"{NS3_ROOT}={named} holds no ns-3" if named else "the package ns3 is not installed"
    raise UserError(f"{where}: pip install --no-deps ns3, or let {NS3_ROOT} name its folder in another Python")


def find_adapter() -> Path:
    """Return the adapter's program; raise UserError if ns-3 or its build is missing."""
    root, program = find_ns3(), find_modules().build / PROGRAM
    if not program.is_file():
        raise UserError(f"{program} is not there: build it with roambus doctor --build ns3")
    # The adapter would load the ns-3 that it was built with, as long as that is still in its place.
    if wrong := other_release(program, SIMULATOR, NS3_ROOT, release_in(root)):
        raise UserError(f"{wrong}: build it again with roambus doctor --build ns3")
    return program


def release_in(root: Path) -> str:
    """Return the ns-3 release in the folder from its library names, or ""."""
    cores = (_CORE.match(library.name) for library in (root / "lib64").glob("libns3*-core.so"))
    return next((core[1] for core in cores if core), "")


def build_adapter() -> Path:
    """Compile changes (make writes to stderr); raise UserError, or RoambusError if make fails."""
    modules = find_modules()
    build_modules(modules, "ns3", NS3_ROOT=find_ns3())
    return modules.build / PROGRAM


def check(scenario: Scenario) -> None:
    """Raise UserError for a key without an ns-3 counterpart."""
    _check_mac(scenario)
    check_radio_alone(scenario, "ns-3")
    battery = settings_of(NodeSettings)[_BATTERY]
    radio, is_lr_wpan = scenario.radio, scenario.ns3.stack == "lr-wpan"
    for is_wrong, problem in (
        (scenario.measured, f"{LINKS_FILE.name}: ns-3 plays no recorded links: use --backend radio"),
        (
            scenario.temporal,
            f"{TEMPORAL_FILE.name}: links do not vary by Castalia's model on ns-3: use --backend radio",
        ),
        (scenario.losses, f"{LOSSES_FILE.name}: ns-3 draws its own path losses: use --backend radio"),
        (
            any(node.initial_energy_j != battery.read(battery.default or "") for node in scenario.nodes),
            f"{path_of(NodeSettings, _BATTERY)}: nodes have no batteries on ns-3: leave it out",
        ),
        (
            is_lr_wpan and radio.sensitivity_dbm >= LEAST_SENSITIVE_DBM,
            f"{RADIO}RadioParametersFile: ns-3's 802.15.4 takes a sensitivity below {LEAST_SENSITIVE_DBM} dBm, and the "
            f"file has {radio.sensitivity_dbm:g} dBm",
        ),
        (
            is_lr_wpan and radio.data_rate_bps != LR_WPAN_BPS,
            f"{RADIO}mode: 802.15.4 at 2.4 GHz has 250 kbit/s: take such a mode, or SN.ns3.stack = wifi",
        ),
    ):
        if is_wrong:
            raise UserError(problem)


def _check_mac(scenario: Scenario) -> None:
    """Raise UserError for a MAC or MAC key that ns-3 lacks."""
    mac = scenario.mac
    is_ieee = isinstance(mac, Ieee802154Settings)
    if not isinstance(mac, TunableMacSettings) and not (is_ieee and scenario.ns3.stack == "lr-wpan"):
        raise UserError(f"{PROTOCOL.name}: {name_of(mac)}: ns-3's {scenario.ns3.stack} has a MAC of its own")
    if is_ieee and mac.network_overhead_bytes + mac.packet_overhead_bytes < HEADER_BYTES:
        raise UserError(f"{name_of(mac)}: ns-3's header has {HEADER_BYTES} bytes: network and MAC need as many")
    if is_ieee and scenario.radio.cca_threshold_dbm > MOST_CCA_DBM:
        raise UserError(f"{path_of(RadioSettings, 'cca_threshold_dbm')}: ns-3 takes {MOST_CCA_DBM} dBm at most")
    for field in FIXED if is_ieee else WITHOUT_COUNTERPART:
        declared = settings_of(type(mac))[field]
        if getattr(mac, field) != declared.read(declared.default or ""):
            raise UserError(f"{declared.name}: ns-3's MACs have nothing like it: leave it at {declared.default}")


def settings_text(scenario: Scenario) -> str:
    """Return the adapter's input, a line per setting and node (omnet/ns3/settings.h)."""
    return "".join(f"{name}={value}\n" for name, value in _settings(scenario))


def _settings(scenario: Scenario) -> Iterator[tuple[str, object]]:
    channel, law, radio, mac = scenario.channel, scenario.propagation, scenario.radio, scenario.mac
    assert isinstance(law, LogDistance)  # noqa: S101  # `check` has refused all others
    yield "stack", scenario.ns3.stack
    yield "seed", scenario.seed
    yield "time_limit_ns", scenario.time_limit
    yield "processing_delay_ns", scenario.processing_delay
    yield "path_loss_exponent", law.path_loss_exponent
    yield "reference_m", law.d0_m
    yield "reference_loss_db", law.pl_d0_db
    yield "shadowing_db", law.sigma_db
    yield "asymmetry_db", law.bidirectional_sigma_db
    yield "cell_x_m", 0 if channel.only_static_nodes else channel.x_cell_m
    yield "cell_y_m", 0 if channel.only_static_nodes else channel.y_cell_m
    yield "noise_floor_dbm", radio.noise_floor_dbm
    yield "sensitivity_dbm", radio.sensitivity_dbm
    yield "queue", mac.buffer_size
    if isinstance(mac, Ieee802154Settings):
        padding = mac.network_overhead_bytes + mac.packet_overhead_bytes - HEADER_BYTES
        exponents = f"{mac.min_be} {mac.max_be} {mac.max_csma_backoffs} {mac.max_frame_retries}"
        yield "csma", f"{exponents} {radio.cca_threshold_dbm} {padding}"
    boots, rates = boots_and_clocks(scenario, seeds_of(scenario.seed))
    own = steered(scenario)
    for node, (boot, rate) in enumerate(zip(boots, rates.tolist(), strict=True)):
        yield "node", f"{boot} {rate!r} {scenario.nodes[node].tx_power_dbm!r} {int(node in own)}"


def ways_of(scenario: Scenario) -> Ways:
    """Return every node's way until the run's end, in ns-3's strictly growing times."""
    return {
        node: (*(point for point, after in pairwise(points) if point.time_s < after.time_s), points[-1])
        for node, points in enumerate(paths_of(scenario))
    }


@dataclass(frozen=True, slots=True)
class Ns3Factory(BridgedFactory):
    """Starts ns-3 for each run."""

    name: str = "ns3"
    asks_for_moves = False

    def prepare(self, scenario: Scenario) -> None:
        """Raise UserError if ns-3, the adapter, or a feature is missing."""
        check(scenario)
        find_adapter()

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> CastaliaBackend:
        """Return a run's back-end; nothing starts before `open`."""
        check(scenario)
        program = Program((str(find_adapter()),), files={SETTINGS_FILE: settings_text(scenario)})
        return self.started(scenario, agent, folder, program, ways_of(scenario))
