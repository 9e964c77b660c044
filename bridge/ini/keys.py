"""Every key that a rendered ini may hold: the one place that says which there are, and what they mean.

A key has the default of the module that Castalia would run, so that a key left out means the same to both. Where the
embedded radio knows fewer values than Castalia, `only` lists them, and any other is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from roambus.bridge.ini import plans, values
from roambus.bridge.ini.values import Reader
from roambus.bridge.scenario.absences import DEPARTURE
from roambus.python_protocol.simtime import format_time


@dataclass(frozen=True, slots=True)
class Key:
    """A parameter below its module: how to read it, the default (None: it must be set), the values known."""

    name: str
    read: Reader
    default: str | None
    doc: str
    only: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Group:
    """The keys of one module; `module` is the path as a user writes it, `node[*]` standing for every node."""

    module: str
    keys: tuple[Key, ...]

    @cached_property
    def by_name(self) -> dict[str, Key]:
        """The keys, by their names."""
        return {key.name: key for key in self.keys}


OPTIONS = Group(
    "",
    (
        Key("network", values.word, None, "the network, Castalia's SN", only=("SN",)),
        Key("sim-time-limit", values.duration, None, "how long a run lasts"),
        Key("seed-set", values.integer, "0", "the run's seed"),
        Key("simtime-resolution", values.word, "ps", "OMNeT++'s step of time; the bridge to it needs ns"),
        Key("num-rngs", values.count, "1", "streams of random numbers in OMNeT++; no effect here"),
    ),
)

IGNORED_OPTIONS = frozenset(
    {
        "cmdenv-autoflush",
        "cmdenv-event-banners",
        "cmdenv-express-mode",
        "cmdenv-interactive",
        "cmdenv-log-prefix",
        "cmdenv-output-file",
        "cmdenv-performance-display",
        "cmdenv-redirect-output",
        "cmdenv-status-frequency",
        "cmdenv-stop-batch-on-error",
        "debug-on-errors",
        "description",
        "eventlog-file",
        "experiment-label",
        "fname-append-host",
        "load-libs",
        "measurement-label",
        "ned-path",
        "output-scalar-file",
        "output-scalar-file-append",
        "output-scalar-precision",
        "output-vector-file",
        "output-vector-file-append",
        "output-vector-precision",
        "print-undisposed",
        "record-eventlog",
        "replication-label",
        "result-dir",
        "user-interface",
        "warnings",
    }
)
"""Options of OMNeT++ that say how it reports, not what happens."""

IGNORED_OBJECT_OPTIONS = frozenset(
    {
        "bin-recording",
        "cmdenv-log-level",
        "module-eventlog-recording",
        "param-record-as-scalar",
        "result-recording-modes",
        "scalar-recording",
        "statistic-recording",
        "vector-buffer",
        "vector-record-eventnumbers",
        "vector-recording",
        "vector-recording-intervals",
    }
)
"""Options of OMNeT++ that end a path (`**.vector-recording`), likewise; `rng-N` mappings belong to them too."""

NETWORK = Group(
    "SN.",
    (
        Key("field_x", values.positive, "30", "width of the field, m"),
        Key("field_y", values.positive, "30", "height of the field, m"),
        Key("field_z", values.number, "0", "depth of the field", only=(0.0,)),
        Key("numNodes", values.count, None, "number of nodes"),
        Key("deployment", values.string, '""', "where nodes start: uniform, center, NxM, [0..3]->5x5"),
        Key("wirelessChannelName", values.string, '"WirelessChannel"', "the channel", only=("WirelessChannel",)),
        Key("numPhysicalProcesses", values.integer, "1", "what sensors sense; no effect here"),
        Key("physicalProcessName", values.string, '"CustomizablePhysicalProcess"', "likewise"),
        Key("debugInfoFileName", values.string, '"Castalia-Trace.txt"', "Castalia's own trace; no effect here"),
        Key("sites", plans.sites, '""', 'ours: brokers | clients of each site, "a: 0 1 2 | 6, b < a: 3..5 | 7"'),
        Key("tree", plans.tree, '""', 'ours: parents in a given tree, "1:0 2:0 3:1, 12s 2:1, 15s 2:-"'),
        Key(
            "commands",
            plans.commands,
            '""',
            'ours: what applications do when, "12s 7 subscribe, 20s 9 publish, 30s 7 detach"',
        ),
        Key("departure", plans.latency, format_time(DEPARTURE), "ours: until who detaches leaves the tree, with unit"),
    ),
)

IDEAL = Group(
    "SN.ideal.",
    (
        Key("delay", plans.latency, "1ms", "from sender to receiver, with unit"),
        Key("delays", plans.link_delays, '""', 'of links that have others: "0-1 1-2 5ms, 2-3 20ms"'),
        Key("links", plans.links, '""', 'a given graph: "0-1 1-2"'),
        Key("complete", values.boolean, "false", "every pair of nodes is linked, as over the Internet"),
        Key("changes", plans.link_changes, '""', 'of a given graph: "12s 0-1 1-2 down, 15s 0-1 up"'),
        Key("partitions", plans.partitions, '""', 'groups without links between them: "12s 0..2 | 3 4, 20s merge"'),
        Key("range", values.not_negative, "0", "nodes within it are linked, m; 0: where sensitivity is reached"),
    ),
)
"""The links of the back-end `ideal`; the others have a channel. Castalia never asks for them."""

CHANNEL = Group(
    "SN.wirelessChannel.",
    (
        Key("collectTraceInfo", values.boolean, "false", "Castalia's own trace; no effect here"),
        Key("onlyStaticNodes", values.boolean, "true", "path loss drawn per pair of nodes, else of cells"),
        Key("xCellSize", values.positive, "5", "width of a cell, m"),
        Key("yCellSize", values.positive, "5", "height of a cell, m"),
        Key("zCellSize", values.positive, "1", "depth of a cell; no effect in a flat field"),
        Key("pathLossExponent", values.positive, "2.4", "path loss exponent"),
        Key("PLd0", values.number, "55", "path loss at d0, dB"),
        Key("d0", values.positive, "1.0", "reference distance, m"),
        Key("sigma", values.not_negative, "4.0", "standard deviation of the shadowing, dB"),
        Key("bidirectionalSigma", values.not_negative, "1.0", "of the two directions' difference, dB"),
        Key("pathLossMapFile", values.string, '""', "given path losses", only=("",)),
        Key("temporalModelParametersFile", values.string, '""', "variation in time", only=("",)),
        Key("signalDeliveryThreshold", values.number, "-100", "weakest signal that reaches a radio, dBm"),
    ),
)

PLACE = (
    Key("xCoor", values.coordinate, "0", "start, m; uniform(a, b) draws it per node"),
    Key("yCoor", values.coordinate, "0", "likewise"),
    Key("zCoor", values.number, "0", "height of a node", only=(0.0,)),
    Key("phi", values.number, "0", "orientation; no effect"),
    Key("theta", values.number, "0", "likewise"),
    Key("startupOffset", values.seconds, "0", "when the node boots, s"),
    Key("startupRandomization", values.seconds, "0.05", "random part of it, s"),
    Key("faults", plans.faults, '""', 'ours: "12s crash, 20s recover, 25s freeze"; Castalia never asks for it'),
)

RADIO = (
    Key("Communication.Radio.collectTraceInfo", values.boolean, "false", "Castalia's own trace; no effect here"),
    Key("Communication.Radio.RadioParametersFile", values.string, None, "modes and levels, a file beside the ini"),
    Key("Communication.Radio.mode", values.string, '""', "receive mode; the file's first if empty"),
    Key("Communication.Radio.state", values.string, '"RX"', "state at boot", only=("RX",)),
    Key("Communication.Radio.TxOutputPower", values.power, '""', '"-5dBm"; the file\'s first if empty'),
    Key("Communication.Radio.sleepLevel", values.string, '""', "no effect: the radio never sleeps"),
    Key("Communication.Radio.carrierFreq", values.positive, "2400.0", "MHz", only=(2400.0,)),
    Key("Communication.Radio.collisionModel", values.integer, "2", "2: additive interference", only=(2,)),
    Key("Communication.Radio.CCAthreshold", values.number, "-95.0", "channel clear below, dBm"),
    Key("Communication.Radio.symbolsForRSSI", values.count, "8", "symbols that an RSSI reading averages"),
    Key("Communication.Radio.carrierSenseInterruptEnabled", values.boolean, "false", "interrupts", only=(False,)),
    Key("Communication.Radio.bufferSize", values.count, "16", "frames"),
    Key("Communication.Radio.maxPhyFrameSize", values.integer, "1024", "bytes"),
    Key("Communication.Radio.phyFrameOverhead", values.integer, "6", "bytes"),
)

MAC = (
    Key("Communication.MACProtocolName", values.string, '"BypassMAC"', "the MAC", only=("TunableMAC",)),
    Key("Communication.MAC.collectTraceInfo", values.boolean, "false", "Castalia's own trace; no effect here"),
    Key("Communication.MAC.printStateTransitions", values.boolean, "false", "likewise"),
    Key("Communication.MAC.dutyCycle", values.number, "1.0", "1: never sleeps (CSMA)", only=(1.0,)),
    Key("Communication.MAC.listenInterval", values.number, "10", "ms; no effect at duty cycle 1"),
    Key("Communication.MAC.beaconIntervalFraction", values.number, "1.0", "likewise"),
    Key("Communication.MAC.beaconFrameSize", values.integer, "125", "likewise"),
    Key("Communication.MAC.probTx", values.number, "1.0", "probability to try at all", only=(1.0,)),
    Key("Communication.MAC.numTx", values.integer, "1", "tries", only=(1,)),
    Key("Communication.MAC.randomTxOffset", values.milliseconds, "0.0", "random wait before sensing, ms"),
    Key("Communication.MAC.reTxInterval", values.milliseconds, "0.0", "ms; no effect with one try"),
    Key(
        "Communication.MAC.backoffType",
        values.integer,
        "1",
        "1 constant, 2 times busy results, 3 doubled",
        only=(0, 1, 2, 3),
    ),
    Key("Communication.MAC.backoffBaseValue", values.interval, "16", "ms"),
    Key("Communication.MAC.CSMApersistance", values.number, "0", "0: not persistent", only=(0.0,)),
    Key("Communication.MAC.txAllPacketsInFreeChannel", values.boolean, "true", "send all queued", only=(True,)),
    Key("Communication.MAC.sleepDuringBackoff", values.boolean, "false", "sleep when backing off", only=(False,)),
    Key("Communication.MAC.macMaxPacketSize", values.integer, "0", "bytes, 0: no limit"),
    Key("Communication.MAC.macPacketOverhead", values.integer, "9", "bytes"),
    Key("Communication.MAC.macBufferSize", values.count, "32", "packets"),
    Key("Communication.MAC.phyDataRate", values.positive, "250.0", "kbit/s, as the radio's mode"),
    Key("Communication.MAC.phyDelayForValidCS", values.milliseconds, "0.128", "until sensing is valid, ms"),
    Key("Communication.MAC.phyFrameOverhead", values.integer, "6", "bytes, as the radio's"),
)

ROUTING = (
    Key("Communication.RoutingProtocolName", values.string, '"BypassRouting"', "the network", only=("BypassRouting",)),
    Key("Communication.Routing.collectTraceInfo", values.boolean, "false", "Castalia's own trace; no effect here"),
    Key("Communication.Routing.maxNetFrameSize", values.integer, "0", "bytes, 0: no limit", only=(0,)),
    Key("Communication.Routing.netDataFrameOverhead", values.integer, "10", "bytes"),
    Key("Communication.Routing.netBufferSize", values.integer, "32", "no effect: packets pass straight through"),
)

RESOURCES = (
    Key("ResourceManager.collectTraceInfo", values.boolean, "false", "Castalia's own trace; no effect here"),
    Key("ResourceManager.sigmaCPUClockDrift", values.not_negative, "0.00003", "of the node's clock"),
    Key("ResourceManager.baselineNodePower", values.not_negative, "6", "mW besides the radio"),
    Key("ResourceManager.initialEnergy", values.positive, "18720", "J; energy is not limited here", only=(18720.0,)),
    Key("ResourceManager.periodicEnergyCalculationInterval", values.positive, "1000", "ms; no effect here"),
)

MOVEMENT_FILE_MANAGER = "MovementFileMobilityManager"
MOVEMENT_FILE = "MobilityManager.file"

MOBILITY_MANAGERS: dict[str, Group] = {
    "NoMobilityManager": Group("SN.node[*].", ()),
    "LineMobilityManager": Group(
        "SN.node[*].",
        (
            Key("MobilityManager.updateInterval", values.interval, "1000", "between steps, ms"),
            Key("MobilityManager.xCoorDestination", values.coordinate, "0", "the other end, m; uniform(a, b)"),
            Key("MobilityManager.yCoorDestination", values.coordinate, "0", "likewise"),
            Key("MobilityManager.zCoorDestination", values.number, "0", "height", only=(0.0,)),
            Key("MobilityManager.speed", values.positive, "1", "m/s"),
        ),
    ),
    "RandomWaypointMobilityManager": Group(
        "SN.node[*].",
        (
            Key("MobilityManager.updateInterval", values.interval, "100", "between steps, ms"),
            Key("MobilityManager.speed", values.positive, "1", "m/s"),
            Key("MobilityManager.pause", values.duration, "0s", "at each destination, with unit"),
        ),
    ),
    MOVEMENT_FILE_MANAGER: Group(
        "SN.node[*].",
        (
            Key("MobilityManager.updateInterval", values.interval, "100", "between steps, ms"),
            Key(MOVEMENT_FILE, values.file_beside, None, "a file of BonnMotion or setdest, beside the ini"),
        ),
    ),
}
"""What each MobilityManagerName adds. The last two are ours: uniform destinations at constant speed, given ways."""

MOBILITY = (
    Key("MobilityManagerName", values.string, '"NoMobilityManager"', "how nodes move", only=tuple(MOBILITY_MANAGERS)),
    Key("MobilityManager.collectTraceInfo", values.boolean, "false", "Castalia's own trace; no effect here"),
)

APPLICATION = (
    Key("ApplicationName", values.string, None, "our module", only=("BridgeApplication",)),
    Key("Application.applicationID", values.string, '"bridge"', "Castalia's; no effect"),
    Key("Application.collectTraceInfo", values.boolean, "false", "Castalia's own trace; no effect here"),
    Key("Application.priority", values.integer, "1", "Castalia's; no effect"),
    Key("Application.packetHeaderOverhead", values.integer, "0", "a message's bytes are all", only=(0,)),
    Key("Application.constantDataPayload", values.integer, "0", "likewise", only=(0,)),
    Key("Application.agent", values.string, '""', "the protocol: entry point, module:Class or file.py[:Class]"),
    Key("Application.agentParameters", values.assignments, '""', '"name=value name=value", the agent\'s own'),
    Key("Application.processingDelay", values.duration, "0s", "from an input to its outputs, with unit"),
    Key("Application.roles", values.roles, '""', "any of publisher, subscriber, broker"),
    Key("Application.filter", values.filters, '"all"', "what a subscriber subscribes to; several with ; between them"),
    Key("Application.unicast", values.boolean, "false", "subscribe to what has the attribute destination = own id"),
    Key("Application.subscribeAt", values.duration, "0s", "when a subscriber subscribes, with unit"),
    Key("Application.publishInterval", values.duration, "0s", "of a publisher, with unit; 0s: publishes nothing"),
    Key("Application.publishStart", values.duration, "0s", "first interval's begin, with unit"),
    Key("Application.publishUntil", values.duration, "1000000s", "no publication from here on, with unit"),
    Key(
        "Application.absences",
        plans.absences,
        '""',
        'announced ones: "15s detach, 20s attach 5" (5: the broker in SN.tree; left out: as before)',
    ),
    Key("Application.attributes", values.attributes, '""', "of each notification: \"topic = 'news' and price = 3\""),
    Key("Application.payload", values.integer, "0", "bytes in each notification beside its attributes"),
)
"""Parameters of BridgeApplication, the module of ours that hands a node over to its agent."""

NODE = Group("SN.node[*].", PLACE + RADIO + MAC + ROUTING + RESOURCES + MOBILITY + APPLICATION)
