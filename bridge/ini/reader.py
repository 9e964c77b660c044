"""Puts a Scenario together from a rendered ini. Everything unknown or not supported is a UserError with its line."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from roambus.bridge.ini.deployment import Place, place_nodes
from roambus.bridge.ini.links import read_absences, read_faults, read_ideal, read_sites, read_tree
from roambus.bridge.ini.lookup import Lookup
from roambus.bridge.ini.movements import Movements, is_given, movement_file_names
from roambus.bridge.ini.orders import ordered_commands, ordered_subscribers
from roambus.bridge.ini.radio_file import RadioFile, RxMode, read_radio_file
from roambus.bridge.ini.syntax import parse_ini
from roambus.bridge.scenario.absences import absence_commands
from roambus.bridge.scenario.scenario import (
    ChannelParameters,
    GivenWay,
    Line,
    MacParameters,
    Mobility,
    NodeSettings,
    Publications,
    RadioParameters,
    RandomWaypoint,
    Scenario,
    Static,
    Subscription,
    Workload,
)
from roambus.python_protocol.filters import Filter, addressed_to
from roambus.python_protocol.roles import NodeId, Role

_RADIO_FILE = "SN.node[0].Communication.Radio.RadioParametersFile"
_PUBLISH_INTERVAL = "Application.publishInterval"


def read_scenario(path: Path) -> Scenario:
    """Reads `path` and the radio parameters file that it names; raises UserError, or OSError."""
    return parse_scenario(path.read_text(encoding="utf-8"), path, path.parent)


def parse_scenario(text: str, path: Path, folder: Path, movements: Mapping[str, Path] | None = None) -> Scenario:
    """Reads the text of the ini file `path`, and the files in `folder` that it names; raises UserError, OSError.

    `movements` says where those movement files lie that are elsewhere.
    """
    keys = Lookup(parse_ini(text, path))
    keys.check_keys()
    keys.check_values()
    return ScenarioReader(keys, folder, Movements(keys, folder, movements or {})).scenario()


def movement_names(text: str, path: Path) -> list[str]:
    """The movement files that the text of the ini file `path` names; raises UserError."""
    return movement_file_names(Lookup(parse_ini(text, path)))


def radio_file_name(text: str, path: Path) -> str:
    """The radio parameters file that the text of the ini file `path` names; raises UserError."""
    name: str = Lookup(parse_ini(text, path)).shared("Communication.Radio.RadioParametersFile")
    return name


class ScenarioReader:
    """Asks for every key that a scenario consists of; `folder` is where the radio parameters file lies."""

    def __init__(self, keys: Lookup, folder: Path, movements: Movements) -> None:
        self._keys = keys
        self._folder = folder
        self._movements = movements
        self._field: tuple[float, float] = keys.network("field_x"), keys.network("field_y")

    def scenario(self) -> Scenario:
        """The whole scenario; raises UserError."""
        nodes = tuple(self._node(node) for node in self._keys.nodes)
        return Scenario(
            seed=self._keys.option("seed-set"),
            time_limit=self._keys.option("sim-time-limit"),
            field_m=self._field,
            channel=self._channel(),
            radio=self._radio(),
            mac=self._mac(),
            nodes=nodes,
            workload=self._workload(),
            processing_delay=self._keys.shared("Application.processingDelay"),
            agent=self._keys.shared("Application.agent"),
            agent_parameters=dict(self._keys.shared("Application.agentParameters")),
            tree=read_tree(self._keys, nodes, read_absences(self._keys)),
            sites=read_sites(self._keys, nodes),
            faults=read_faults(self._keys),
            ideal=read_ideal(self._keys),
        )

    def _channel(self) -> ChannelParameters:
        get = self._keys.channel
        return ChannelParameters(
            only_static_nodes=get("onlyStaticNodes"),
            path_loss_exponent=get("pathLossExponent"),
            pl_d0_db=get("PLd0"),
            d0_m=get("d0"),
            sigma_db=get("sigma"),
            bidirectional_sigma_db=get("bidirectionalSigma"),
            x_cell_m=get("xCellSize"),
            y_cell_m=get("yCellSize"),
            signal_delivery_threshold_dbm=get("signalDeliveryThreshold"),
        )

    def _radio(self) -> RadioParameters:
        mode = self._rx_mode()
        file = self._radio_file
        if file.powers["RX", "TX"] != file.powers["TX", "RX"]:
            raise self._keys.error(_RADIO_FILE, "the embedded radio knows one power for RX to TX and TX to RX")
        return RadioParameters(
            data_rate_bps=mode.data_rate_bps,
            bits_per_symbol=mode.bits_per_symbol,
            noise_bandwidth_hz=mode.noise_bandwidth_hz,
            noise_floor_dbm=mode.noise_floor_dbm,
            sensitivity_dbm=mode.sensitivity_dbm,
            rx_power_mw=mode.power_mw,
            tx_levels_mw=tuple(zip(file.tx_dbm, file.tx_mw, strict=True)),
            rx_to_tx=file.delays["RX", "TX"],
            tx_to_rx=file.delays["TX", "RX"],
            transition_power_mw=file.powers["RX", "TX"],
            cca_threshold_dbm=self._keys.shared("Communication.Radio.CCAthreshold"),
            symbols_for_rssi=self._keys.shared("Communication.Radio.symbolsForRSSI"),
            buffer_size=self._keys.shared("Communication.Radio.bufferSize"),
            max_frame_bytes=self._keys.shared("Communication.Radio.maxPhyFrameSize"),
            frame_overhead_bytes=self._keys.shared("Communication.Radio.phyFrameOverhead"),
            collision_model=self._keys.shared("Communication.Radio.collisionModel"),
        )

    @cached_property
    def _radio_file(self) -> RadioFile:
        path = self._folder / self._keys.shared("Communication.Radio.RadioParametersFile")
        if not path.is_file():
            raise self._keys.error(_RADIO_FILE, f"there is no file {path}")
        return read_radio_file(path)

    def _rx_mode(self) -> RxMode:
        name = self._keys.shared("Communication.Radio.mode")
        modes = {mode.name: mode for mode in self._radio_file.modes}
        if name and name not in modes:
            raise self._keys.error("SN.node[0].Communication.Radio.mode", f"{name}: there is {', '.join(modes)}")
        mode = modes[name] if name else self._radio_file.modes[0]
        if mode.modulation != "PSK":
            problem = f"mode {mode.name} has modulation {mode.modulation}; the embedded radio knows PSK"
            raise self._keys.error("SN.node[0].Communication.Radio.mode", problem)
        return mode

    def _mac(self) -> MacParameters:
        self._check_phy("phyDataRate", self._rx_mode().data_rate_bps / 1000)
        self._check_phy("phyFrameOverhead", self._keys.shared("Communication.Radio.phyFrameOverhead"))
        return MacParameters(
            buffer_size=self._keys.shared("Communication.MAC.macBufferSize"),
            packet_overhead_bytes=self._keys.shared("Communication.MAC.macPacketOverhead"),
            max_packet_bytes=self._keys.shared("Communication.MAC.macMaxPacketSize"),
            network_overhead_bytes=self._keys.shared("Communication.Routing.netDataFrameOverhead"),
            backoff_base=self._keys.shared("Communication.MAC.backoffBaseValue"),
            backoff_type=self._keys.shared("Communication.MAC.backoffType"),
            random_tx_offset=self._keys.shared("Communication.MAC.randomTxOffset"),
            valid_cs_delay=self._keys.shared("Communication.MAC.phyDelayForValidCS"),
        )

    def _check_phy(self, name: str, radio: float) -> None:
        value = self._keys.shared(f"Communication.MAC.{name}")
        if value != radio:
            raise self._keys.error(f"SN.node[0].Communication.MAC.{name}", f"{value:g} is not the radio's {radio:g}")

    @cached_property
    def _places(self) -> dict[NodeId, Place]:
        try:
            return place_nodes(self._keys.network("deployment"), len(self._keys.nodes), self._field)
        except ValueError as error:
            raise self._keys.error("SN.deployment", str(error)) from None

    def _node(self, node: NodeId) -> NodeSettings:
        mobility = self._mobility(node)
        return NodeSettings(
            position=mobility.points[0][1:] if isinstance(mobility, GivenWay) else self._position(node),
            mobility=mobility,
            tx_power_dbm=self._tx_power(node),
            roles=self._keys.node(node, "Application.roles"),
            start_offset=self._keys.node(node, "startupOffset"),
            start_spread=self._keys.node(node, "startupRandomization"),
            clock_drift_sigma=self._keys.node(node, "ResourceManager.sigmaCPUClockDrift"),
            baseline_power_mw=self._keys.node(node, "ResourceManager.baselineNodePower"),
        )

    def _position(self, node: NodeId) -> Place:
        if node in self._places:
            return self._places[node]
        return self._point(node, "xCoor", "yCoor")

    def _point(self, node: NodeId, x_name: str, y_name: str) -> tuple[float, float]:
        for name, limit in zip((x_name, y_name), self._field, strict=True):
            if not 0 <= self._keys.node(node, name) <= limit:
                raise self._keys.error(f"SN.node[{node}].{name}", f"node {node} is out of the field, 0 to {limit:g} m")
        return self._keys.node(node, x_name), self._keys.node(node, y_name)

    def _mobility(self, node: NodeId) -> Mobility:
        manager = self._keys.node(node, "MobilityManagerName")
        if manager == "NoMobilityManager":
            return Static()
        if self._keys.channel("onlyStaticNodes"):
            problem = f"node {node} moves: set SN.wirelessChannel.onlyStaticNodes = false"
            raise self._keys.error(f"SN.node[{node}].MobilityManagerName", problem)
        if is_given(self._keys, node):
            return self._movements.way(node)
        speed = self._keys.node(node, "MobilityManager.speed")
        interval = self._keys.node(node, "MobilityManager.updateInterval")
        if manager == "LineMobilityManager":
            x, y = self._point(node, "MobilityManager.xCoorDestination", "MobilityManager.yCoorDestination")
            return Line(x, y, speed, interval)
        return RandomWaypoint(speed, self._keys.node(node, "MobilityManager.pause"), interval)

    def _tx_power(self, node: NodeId) -> float:
        levels = self._radio_file.tx_dbm
        power: float | None = self._keys.node(node, "Communication.Radio.TxOutputPower")
        if power is not None and power not in levels:
            problem = f"{power:g} dBm is none of the radio's levels: {', '.join(f'{level:g}' for level in levels)}"
            raise self._keys.error(f"SN.node[{node}].Communication.Radio.TxOutputPower", problem)
        return levels[0] if power is None else power

    def _workload(self) -> Workload:
        orders, subscribing = ordered_commands(self._keys), ordered_subscribers(self._keys)
        unordered = [node for node in self._with_role(Role.SUBSCRIBER) if node not in subscribing]
        subscriptions = [one for node in unordered for one in self._subscriptions(node)]
        addressed = [node for node in self._keys.nodes if self._keys.node(node, "Application.unicast")]
        subscriptions += [self._subscription_to(addressed_to(node), node) for node in addressed]
        publishers = [node for node in self._with_role(Role.PUBLISHER) if self._keys.node(node, _PUBLISH_INTERVAL)]
        commands = (*orders, *absence_commands(read_absences(self._keys)))
        return Workload(tuple(subscriptions), tuple(map(self._publications, publishers)), commands)

    def _with_role(self, role: Role) -> list[NodeId]:
        return [node for node in self._keys.nodes if role in self._keys.node(node, "Application.roles")]

    def _subscriptions(self, node: NodeId) -> list[Subscription]:
        return [self._subscription_to(wanted, node) for wanted in self._keys.node(node, "Application.filter")]

    def _subscription_to(self, wanted: Filter, node: NodeId) -> Subscription:
        return Subscription(node, self._keys.node(node, "Application.subscribeAt"), wanted)

    def _publications(self, node: NodeId) -> Publications:
        return Publications(
            node=node,
            start=self._keys.node(node, "Application.publishStart"),
            until=self._keys.node(node, "Application.publishUntil"),
            interval=self._keys.node(node, _PUBLISH_INTERVAL),
            attributes=self._keys.node(node, "Application.attributes"),
            payload=self._keys.node(node, "Application.payload"),
        )
