"""A rendered ini becomes a Scenario, or one message with file, line and key."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from roambus.bridge.formats.ini import file_names, parse_scenario, read_scenario
from roambus.bridge.host.agents import make_agents
from roambus.bridge.mobility.line import Line
from roambus.bridge.mobility.random_waypoint import RandomWaypoint
from roambus.bridge.scenario.definition import Publications, Scenario, Subscription
from roambus.bridge.scenario.mac import Ieee802154Settings, TunableMacSettings
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.baselines import Beacon
from roambus.python_protocol.filters import Filter, parse_filter
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND

BASE = """\
[General]
network = SN
sim-time-limit = 30s
seed-set = 7
SN.field_x = 40
SN.field_y = 20
SN.numNodes = 4
SN.node[*].Communication.Radio.RadioParametersFile = "CC2420.txt"
SN.node[*].Communication.MACProtocolName = "TunableMAC"
SN.node[*].ApplicationName = "BridgeApplication"
"""
LINE = BASE.count("\n") + 1
"""The line on which a test's own keys begin."""


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the radio parameters file, entered so that messages name the ini shortly."""
    shutil.copy(TEMPLATES / "CC2420.txt", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scenario_of(text: str, base: str = BASE) -> Scenario:
    path = Path("run.ini")
    path.write_text(base + text)
    return read_scenario(path)


def refused(text: str, message: str, base: str = BASE) -> None:
    with pytest.raises(UserError, match=message):
        scenario_of(text, base)


pytestmark = pytest.mark.usefixtures("read")


def test_keys_left_out_mean_castalias_defaults() -> None:
    """Radio, MAC and channel have the values of the NED files; the back-off is constant there."""
    scenario = scenario_of("")
    assert (scenario.seed, scenario.time_limit, scenario.field_m) == (7, 30 * SECOND, (40.0, 20.0))
    assert (scenario.propagation, scenario.channel.only_static_nodes) == (LogDistance(sigma_db=4.0), True)
    assert (scenario.radio.data_rate_bps, scenario.radio.noise_bandwidth_hz) == (250_000, 194_000.0)
    assert (scenario.radio.rx_to_tx, scenario.radio.tx_levels_mw[0]) == (10_000, (0.0, 57.42))
    assert isinstance(scenario.mac, TunableMacSettings)
    assert (scenario.mac.backoff_type, scenario.mac.backoff_base) == (1, 16 * MILLISECOND)
    assert scenario.nodes == (NodeSettings(position=(0.0, 0.0)),) * 4


def test_every_group_of_keys_reaches_the_scenario() -> None:
    """One key of each module, in its own unit."""
    scenario = scenario_of(
        "SN.wirelessChannel.sigma = 0\n"
        "SN.node[*].Communication.Radio.CCAthreshold = -90\n"
        "SN.node[*].Communication.MAC.macBufferSize = 8\n"
        "SN.node[*].Communication.MAC.randomTxOffset = 2\n"
        "SN.node[*].Communication.Routing.netDataFrameOverhead = 12\n"
        "SN.node[*].ResourceManager.baselineNodePower = 0\n"
        "SN.node[*].startupRandomization = 0\n"
        'SN.node[*].Application.agent = "mft"\n'
        'SN.node[*].Application.agentParameters = "sticky_parent=false"\n'
        "SN.node[*].Application.processingDelay = 1ms\n"
    )
    assert scenario.propagation == LogDistance(sigma_db=0)
    assert scenario.radio.cca_threshold_dbm == -90
    mac = scenario.mac
    assert isinstance(mac, TunableMacSettings)
    assert (mac.buffer_size, mac.random_tx_offset, mac.network_overhead_bytes) == (8, 2 * MILLISECOND, 12)
    assert (scenario.nodes[3].baseline_power_mw, scenario.nodes[3].start_spread) == (0, 0)
    assert (scenario.agent, scenario.agent_parameters) == ("mft", {"sticky_parent": "false"})
    assert scenario.processing_delay == MILLISECOND


def test_the_agents_of_some_nodes_can_be_set_otherwise() -> None:
    """A mistake in the parameters of such a node names it."""
    scenario = scenario_of(
        'SN.node[1..2].Application.agentParameters = "rate=5"\nSN.node[*].Application.agentParameters = "rate=2"\n'
    )
    assert [agent.parameters.rate for agent in make_agents(scenario, Beacon)] == [2, 5, 5, 2]
    wrong = scenario_of('SN.node[2].Application.agentParameters = "raet=5"\n')
    with pytest.raises(UserError, match="agent Beacon, node 2: unknown parameter 'raet': did you mean 'rate'"):
        make_agents(wrong, Beacon)


def test_the_probability_of_a_try_can_be_set_in_every_template() -> None:
    """They all include the part that sets the radio and the MAC."""
    template = find_template("field")
    run: dict[str, Scalar] = {"seed": 0, "agent": "beacon", "agent_parameters": ""}
    for variables, probability in ((run, 1), ({**run, "prob_tx": 0.5}, 0.5)):
        rendered = template.render(variables)
        mac = parse_scenario(rendered, template.rendered, TEMPLATES).mac
        assert isinstance(mac, TunableMacSettings)
        assert mac.prob_tx == probability
    refused("SN.node[*].Communication.MAC.probTx = 1.5", rf"run.ini:{LINE}: .*probTx: 1.5 is .* from 0 to 1$")


def test_nodes_can_differ_in_place_power_and_role() -> None:
    """The first match wins, so exceptions stand before the rule."""
    scenario = scenario_of(
        "SN.node[1].xCoor = 10\nSN.node[*].yCoor = 5\n"
        'SN.node[2..3].Communication.Radio.TxOutputPower = "-5dBm"\n'
        'SN.node[0].Application.roles = "publisher broker"\nSN.node[*].Application.roles = "subscriber"\n'
    )
    assert [node.position for node in scenario.nodes] == [(0, 5), (10, 5), (0, 5), (0, 5)]
    assert [node.tx_power_dbm for node in scenario.nodes] == [0, 0, -5, -5]
    assert [node.roles for node in scenario.nodes] == [Role.PUBLISHER | Role.BROKER, *[Role.SUBSCRIBER] * 3]


@pytest.mark.parametrize(
    ("deployment", "places"),
    [
        ("uniform", [None] * 4),
        ("center", [(20, 10)] * 4),
        ("2x2", [(0, 0), (40, 0), (0, 20), (40, 20)]),
        ("[0]->center;[1..2]->uniform", [(20, 10), None, None, (1, 0)]),
        ("[0..1]->2x2;2x2", [(0, 0), (40, 0), (0, 20), (40, 20)]),
    ],
)
def test_deployments_place_nodes_as_castalia_does(deployment: str, places: list[object]) -> None:
    """By part, of which the first counts; a node in none of them starts at its coordinates."""
    scenario = scenario_of(f'SN.deployment = "{deployment}"\nSN.node[*].xCoor = 1')
    assert [node.position for node in scenario.nodes] == places


def test_nodes_move_by_their_mobility_manager() -> None:
    """Each manager has keys of its own, and defaults of its own."""
    scenario = scenario_of(
        "SN.wirelessChannel.onlyStaticNodes = false\n"
        'SN.node[0].MobilityManagerName = "LineMobilityManager"\n'
        "SN.node[0].MobilityManager.xCoorDestination = 30\n"
        'SN.node[1].MobilityManagerName = "RandomWaypointMobilityManager"\n'
        "SN.node[1].MobilityManager.pause = 2s\nSN.node[0..1].MobilityManager.speed = 8\n"
    )
    assert scenario.nodes[0].mobility == Line(30, 0, 8, SECOND)
    assert scenario.nodes[1].mobility == RandomWaypoint(8, 2 * SECOND, 100 * MILLISECOND)


MOVING = (
    'SN.wirelessChannel.onlyStaticNodes = false\nSN.node[*].MobilityManagerName = "RandomWaypointMobilityManager"\n'
)


def test_the_first_way_of_a_random_waypoint_can_be_given() -> None:
    """For one node, with a pause before it; the others draw theirs."""
    given = "SN.node[1].MobilityManager.firstX = 40\nSN.node[1].MobilityManager.firstY = 0\n"
    scenario = scenario_of(f"{MOVING}{given}SN.node[1].MobilityManager.firstPause = 250ms")
    first, second = (node.mobility for node in scenario.nodes[:2])
    assert isinstance(first, RandomWaypoint)
    assert isinstance(second, RandomWaypoint)
    assert (first.first, first.first_pause) == (None, 0)
    assert (second.first, second.first_pause) == ((40.0, 0.0), 250 * MILLISECOND)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("firstX = 3", "firstX: node 1: give firstX and firstY, or none"),
        ("firstY = 3", "firstX: node 1: give firstX and firstY, or none"),
        ("firstX = 41\nSN.node[1].MobilityManager.firstY = 3", "firstX: node 1 is out of the field, 0 to 40 m"),
        ("firstX = 4\nSN.node[1].MobilityManager.firstY = 20.5", "firstY: node 1 is out of the field, 0 to 20 m"),
        ("firstX = -0.5\nSN.node[1].MobilityManager.firstY = 3", "firstX: node 1 is out of the field, 0 to 40 m"),
        ("firstX = -2", "firstX: -2 is out of range: it must be at least -1 m"),
        ("firstPause = -1s", "firstPause: -1s is negative"),
    ],
)
def test_a_first_way_out_of_the_field_is_an_error_that_names_the_node(given: str, message: str) -> None:
    """Also half a destination, and a negative pause."""
    refused(f"{MOVING}SN.node[1].MobilityManager.{given}", message)


def test_the_warm_up_is_read() -> None:
    """OMNeT++'s own option; without it there is none."""
    assert scenario_of("warmup-period = 20s").warm_up == 20 * SECOND
    assert scenario_of("").warm_up == 0
    refused("warmup-period = -1s", "warmup-period: -1s is negative")


def test_drawn_coordinates_depend_on_seed_and_node_only() -> None:
    """uniform(a, b) differs from node to node, stays within its bounds, and repeats with the seed."""
    first, again = (scenario_of("SN.node[*].xCoor = uniform(5, 30)") for _ in range(2))
    other = scenario_of("SN.node[*].xCoor = uniform(5, 30)", BASE.replace("seed-set = 7", "seed-set = 8"))
    drawn = [node.position[0] for node in first.nodes if node.position]
    assert first == again != other
    assert len(set(drawn)) == 4
    assert all(5 <= x <= 30 for x in drawn)


def test_the_workload_follows_roles() -> None:
    """Subscribers subscribe, publishers publish, others do neither."""
    scenario = scenario_of(
        'SN.node[0].Application.roles = "publisher"\nSN.node[1].Application.roles = "subscriber"\n'
        "SN.node[*].Application.filter = \"topic = 'news'\"\nSN.node[*].Application.subscribeAt = 2s\n"
        "SN.node[*].Application.publishInterval = 500ms\nSN.node[*].Application.publishUntil = 20s\n"
        "SN.node[*].Application.attributes = \"topic = 'news'\"\nSN.node[*].Application.payload = 20\n"
    )
    assert scenario.workload.subscriptions == (Subscription(1, 2 * SECOND, parse_filter("topic = 'news'")),)
    published = Publications(0, 0, 20 * SECOND, 500 * MILLISECOND, (("topic", "news"),), 20)
    assert scenario.workload.publications == (published,)


def test_a_subscriber_can_have_several_filters() -> None:
    """It subscribes to each of them at the same time."""
    text = 'SN.node[0].Application.roles = "subscriber"\nSN.node[*].Application.filter = "price < 3; price > 9"'
    found = scenario_of(text).workload.subscriptions
    assert found == tuple(Subscription(0, 0, parse_filter(wanted)) for wanted in ("price < 3", "price > 9"))


def test_a_publisher_without_interval_publishes_nothing() -> None:
    """The default interval, 0s, means none; the default filter is all."""
    workload = scenario_of('SN.node[*].Application.roles = "publisher subscriber"').workload
    assert workload.publications == ()
    assert workload.subscriptions[0] == Subscription(0, 0, Filter())


def test_options_of_omnetpp_that_change_nothing_are_accepted() -> None:
    """Reporting and random streams are OMNeT++'s own business."""
    options = "cmdenv-express-mode = true\nnum-rngs = 11\n**.vector-recording = false\nSN.node[*].X.rng-0 = 3\n"
    assert scenario_of(options) == scenario_of("")


def test_the_files_are_known_before_anything_else() -> None:
    """So that they can be laid beside the ini."""
    assert file_names(BASE, Path("run.ini")) == ("CC2420.txt", [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "SN.wirelessChannel.sigmaa = 1",
            rf"run.ini:{LINE}: SN.wirelessChannel.sigmaa: unknown key.*did you mean SN.wir",
        ),
        ("SN.node[*].Communication.Radio.TxPower = 1", r"did you mean SN.node\[\*\].Communication.Radio.TxOutputPower"),
        ("SN.node[9].xCoor = 1", rf"run.ini:{LINE}: SN.node\[9\].xCoor: there is no node 9: SN.numNodes is \d, so"),
        ("SN.node[*].MobilityManager.speed = 1", "unknown key, or no node or module"),
        ("sim-time-limits = 1s", "did you mean sim-time-limit"),
        ("warm-up-period = 5s", "did you mean warmup-period"),
    ],
)
def test_an_unknown_key_is_an_error_with_its_line(text: str, message: str) -> None:
    """Also one that is known, but of a node or a module that is not there."""
    refused(text, message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'SN.node[*].Communication.RoutingProtocolName = "MultipathRings"',
            "is not known here: it must be BypassRouting$",
        ),
        ('SN.node[*].Communication.Radio.state = "SLEEP"', rf"run.ini:{LINE}: .*state: .*SLEEP.* is not known"),
        ("SN.node[*].Communication.MAC.dutyCycle = 1.5", rf"run.ini:{LINE}: .*dutyCycle"),
        ("SN.node[*].Communication.Radio.collisionModel = 1", "1 is not known here: it must be 2$"),
        ('SN.wirelessChannel.temporalModelParametersFile = "T.txt"', "temporalModelParametersFile"),
        ('SN.node[*].Communication.Radio.mode = "IDEAL"', "IDEAL: there is normal"),
        ('SN.node[*].Communication.Radio.TxOutputPower = "3dBm"', "3 dBm is not one of the radio's levels: 0, -1"),
        ("SN.node[*].Communication.MAC.phyDataRate = 100", "100 is not the radio's 250"),
        ("SN.node[*].Communication.MAC.phyFrameOverhead = 5", "5 is not the radio's 6"),
        ("SN.node[2].xCoor = 41", rf"run.ini:{LINE}: .*node 2 is out of the field, 0 to 40 m"),
        ('SN.deployment = "circle"', rf"run.ini:{LINE}: SN.deployment: 'circle' is not a deployment"),
        ('SN.deployment = "1x4"', "at least two nodes each way"),
        ('SN.deployment = "[3..9]->uniform"', "out of the 4 nodes"),
        ('SN.node[*].MobilityManagerName = "LineMobilityManager"', "set SN.wirelessChannel.onlyStaticNodes = false"),
        ("SN.node[*].Communication.MAC.backoffBaseValue = 16ms", "not a number without unit"),
        ('SN.node[*].Application.filter = "topic is news"', "is not a constraint such as"),
        ("SN.node[*].Application.subscribeAt = 3", "not a time with its unit"),
        (
            "SN.node[*].Communication.MAC.macBufferSize = 0",
            rf"run.ini:{LINE}: .*macBufferSize: 0 is out of range: it must be from 1 to 65535 packets",
        ),
        ("SN.wirelessChannel.sigma = -1", rf"run.ini:{LINE}: SN.wirelessChannel.sigma: -1 is .* from 0 to 100 dB"),
        ("SN.wirelessChannel.sigma = 1e999", rf"run.ini:{LINE}: .*sigma: 1e999 is too large"),
        ("SN.node[*].Communication.MAC.backoffBaseValue = 0", "0 is out of range: it must be above 0 ms"),
        ("SN.node[*].Communication.MAC.randomTxOffset = -1", "-1 is out of range: it must be at least 0 ms"),
        ("SN.node[1].Communication.MAC.macBufferSize = 8", rf"run.ini:{LINE}: .*must be the same for all nodes"),
        ('SN.node[1].Application.agent = "aodv"', "must be the same for all nodes as for node 0"),
    ],
)
def test_an_unknown_value_is_an_error_with_its_line(text: str, message: str) -> None:
    """Nothing falls back to a default silently."""
    refused(text, message)


COVERED = "SN.node[*].Application.publishInterval = 1s\nSN.node[{}].Application.publishInterval = 5s"


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        (COVERED.format("1"), r"SN.node\[1\].Application.publishInterval"),
        (COVERED.format("1..2"), r"SN.node\[1..2\].Application.publishInterval"),
        ("SN.node[0..2].xCoor = 3\nSN.node[1].xCoor = 5", r"SN.node\[1\].xCoor"),
    ],
)
def test_a_line_that_an_earlier_and_wider_one_covers_is_an_error(text: str, covered: str) -> None:
    """The first match counts, so that the narrower line below would be dropped."""
    earlier = text.split(" ", 1)[0].replace("[", r"\[").replace("*", r"\*").replace("]", r"\]")
    refused(text, rf"run.ini:{LINE + 1}: {covered}: this line has no effect: {earlier} in line {LINE} has all")


def test_a_wide_line_below_narrow_ones_is_a_default() -> None:
    """Also where the narrow ones leave nothing to it, as the last lines of a part that others include."""
    lines = ["SN.node[0..1].xCoor = 3", "SN.node[2..3].xCoor = 5", "SN.node[*].xCoor = 9"]
    described = scenario_of("\n".join(lines) + "\nSN.node[*].yCoor = 1\nSN.node[*].yCoor = 2")
    assert [node.position for node in described.nodes] == [(3, 1), (3, 1), (5, 1), (5, 1)]


def test_a_default_that_is_not_known_must_be_set() -> None:
    """Castalia's default MAC sends without sensing, which the embedded radio does not do."""
    lines = [line for line in BASE.splitlines() if "MACProtocolName" not in line]
    refused("", "MACProtocolName: the default .*BypassMAC.* is not known", "\n".join(lines))


def test_a_key_that_must_be_set_is_named_with_what_stands_for_it() -> None:
    """A misspelt numNodes is both missing and unknown: the message says so."""
    refused("", "SN.numNodes is not set .*did you mean it by SN.numNode", BASE.replace("numNodes", "numNode"))


def test_a_missing_radio_file_is_named() -> None:
    """The file lies beside the ini."""
    refused("", "run.ini:8: .*RadioParametersFile: there is no file CC1000.txt", BASE.replace("CC2420", "CC1000"))


IEEE = BASE.replace('"TunableMAC"', '"802.15.4"')


def test_the_ini_chooses_the_mac() -> None:
    """IEEE 802.15.4 has the standard's defaults, and frames of at most 127 bytes."""
    mac = scenario_of("SN.node[*].Communication.MAC.macMaxFrameRetries = 7\n", IEEE).mac
    assert mac == Ieee802154Settings(max_frame_retries=7)
    assert scenario_of("", IEEE).room_bytes == 127 - 11 - 10


def test_a_key_of_another_mac_is_refused_with_both_names() -> None:
    """Neither MAC would use it."""
    key = "SN.node[*].Communication.MAC."
    refused(f"{key}backoffType = 2\n", "backoffType: this is a key of the MAC TunableMAC, .* is 802.15.4", IEEE)
    refused(f"{key}macMinBE = 2\n", "macMinBE: this is a key of the MAC 802.15.4, .* of node 0 is TunableMAC")
    refused(f"{key}macMinBE = -1\n", "macMinBE", IEEE)
    refused(f"{key}macMinBE = 6\n", "macMinBE = 6 is above macMaxBE = 5", IEEE)


def test_a_frame_of_802_15_4_has_at_most_127_bytes() -> None:
    """The length in the PHY's header has seven bits; no limit at all is refused, too, and TunableMAC takes both."""
    key = "SN.node[*].Communication.MAC.macMaxPacketSize"
    assert scenario_of(f"{key} = 127\n", IEEE).mac.max_packet_bytes == 127
    for size in (0, 128):
        message = rf"run\.ini:\d+: SN\.node\[\*\]\.Communication\.MAC\.macMaxPacketSize: .*{size} .*127"
        refused(f"{key} = {size}\n", message, IEEE)
        assert scenario_of(f"{key} = {size}\n").mac.max_packet_bytes == size


PUBLISHED = """\
include ../Parameters/Castalia.ini
[General]
sim-time-limit = 600s
SN.numNodes = ${nodes=36,49}
SN.deployment = "randomized_6x6"
SN.node[*].Communication.Radio.RadioParametersFile = "../Parameters/Radio/CC2420.txt"
SN.node[*].Communication.MACProtocolName = "TMAC"
SN.node[*].Communication.MAC.listenTimeout = 61
SN.node[*].Communication.RoutingProtocolName = "MultipathRingsRouting"
SN.node[*].MobilityManagerName = "CowMobilityManager"
SN.node[*].MobilityManager.updateInterval = 100
SN.node[*].ApplicationName = "ValueReporting"
SN.node[3].Application.isSink = true
SN.node[3].Application.maxSampleInterval = 60000
SN.node[3].Application.minSampleInterval = 20000
[Config slow]
SN.numNodes = 9
"""


def test_all_that_an_ini_of_castalias_needs_is_reported_at_once() -> None:
    """It takes one edit: lines, keys, values and files; keys that a refused manager may have are no mistakes."""
    with pytest.raises(UserError) as error:
        scenario_of(PUBLISHED, base="")
    messages = [line.split(": ")[:2] for line in str(error.value).split("\n")]
    node = "SN.node[*]."
    assert sorted(messages) == sorted(
        [
            ["run.ini:1", "include ../Parameters/Castalia.ini"],
            ["run.ini:4", "SN.numNodes"],
            ["run.ini:5", "SN.deployment"],
            ["run.ini:16", "section [Config slow]"],
            ["run.ini:13", "SN.node[3].Application.isSink"],
            ["run.ini", "network is not set (the network of Castalia)"],
            ["run.ini:7", f"{node}Communication.MACProtocolName"],
            ["run.ini:8", f"{node}Communication.MAC.listenTimeout"],
            ["run.ini:9", f"{node}Communication.RoutingProtocolName"],
            ["run.ini:10", f"{node}MobilityManagerName"],
            ["run.ini:12", f"{node}ApplicationName"],
            ["run.ini:6", f"{node}Communication.Radio.RadioParametersFile"],
        ]
    ), messages
    assert "network is not set (the network of Castalia): write network = SN" in str(error.value)
    assert "so are maxSampleInterval (line 14), minSampleInterval (line 15)" in str(error.value)


def test_an_irregular_grid_is_refused_with_the_other_deployments() -> None:
    """Castalia's randomized grids are drawn by its own generator."""
    refused('SN.deployment = "randomized_6x6"\n', r"run.ini:11: SN.deployment: .*uniform")
