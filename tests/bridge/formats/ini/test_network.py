"""Links, tree and faults in an ini: read as they stand there, or refused with file, line and key."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.formats.ini import read_scenario
from roambus.bridge.scenario.definition import Command, Publication, Scenario, Subscription
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange, LinkDelay, LinkLoss, ParentChange, Partition
from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import TEMPLATES
from roambus.python_protocol.events import Attach, Detach, Subscribe, Unsubscribe
from roambus.python_protocol.filters import addressed_to, parse_filter
from roambus.python_protocol.simtime import MILLISECOND, SECOND

BASE = """\
[General]
network = SN
sim-time-limit = 30s
SN.numNodes = 5
SN.node[*].Communication.Radio.RadioParametersFile = "CC2420.txt"
SN.node[*].Communication.MACProtocolName = "TunableMAC"
SN.node[*].ApplicationName = "BridgeApplication"
SN.node[0..3].Application.roles = "broker"
"""
LINE = BASE.count("\n") + 1


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(TEMPLATES / "CC2420.txt", tmp_path)
    monkeypatch.chdir(tmp_path)


def read(text: str, brokers: str = "0..3") -> Scenario:
    Path("run.ini").write_text(BASE.replace("0..3", brokers) + text)
    return read_scenario(Path("run.ini"))


def test_without_keys_there_are_neither_tree_nor_faults_and_links_are_a_unit_disk() -> None:
    """All of these keys are optional."""
    scenario = read("")
    assert (scenario.tree, scenario.faults, scenario.ideal) == ((), (), IdealLinks())


def test_a_complete_graph_links_every_pair() -> None:
    """Without listing them."""
    assert read("SN.ideal.complete = true\n").ideal.links == tuple(combinations(range(5), 2))
    assert read("SN.ideal.complete = false\n").ideal.links == ()


@pytest.mark.parametrize("other", ['SN.ideal.links = "0-1"', 'SN.tree = "1:0"'])
def test_a_complete_graph_and_other_links_exclude_each_other(other: str) -> None:
    """The error names the key to leave out."""
    with pytest.raises(UserError, match=r"SN\.ideal\.complete.*other links are given too"):
        read(f"{other}\nSN.ideal.complete = true\n")


def test_links_lose_and_go_down_one_way() -> None:
    """Where a > stands in place of the -."""
    ideal = read(
        'SN.ideal.links = "0-1 1-2"\n'
        'SN.ideal.changes = "12s 0>1 down"\n'
        "SN.ideal.loss = 0.1\n"
        'SN.ideal.losses = "0-1 0.2, 1>2 1"\n'
    ).ideal
    assert ideal.changes == (LinkChange(12 * SECOND, 0, 1, up=False, one_way=True),)
    assert (ideal.loss, ideal.losses) == (0.1, (LinkLoss(0, 1, 0.2), LinkLoss(1, 0, 0.2), LinkLoss(1, 2, 1.0)))


def test_a_given_graph_has_links_changes_delays_and_partitions() -> None:
    """Each in its own key."""
    ideal = read(
        'SN.ideal.links = "0-1 1-2"\n'
        'SN.ideal.changes = "12s 0-1 1-2 down, 12s 2-3 up, 15.5s 1-2 up"\n'
        "SN.ideal.delay = 2ms\n"
        'SN.ideal.delays = "0-1 1-2 5ms, 2-3 20ms"\n'
        'SN.ideal.partitions = "12s 0..2 | 4, 20s merge"\n'
    ).ideal
    assert ideal == IdealLinks(
        delay=2 * MILLISECOND,
        delays=(
            LinkDelay(0, 1, 5 * MILLISECOND),
            LinkDelay(1, 2, 5 * MILLISECOND),
            LinkDelay(2, 3, 20 * MILLISECOND),
        ),
        links=((0, 1), (1, 2)),
        changes=(
            LinkChange(12 * SECOND, 0, 1, up=False),
            LinkChange(12 * SECOND, 1, 2, up=False),
            LinkChange(12 * SECOND, 2, 3, up=True),
            LinkChange(15500 * MILLISECOND, 1, 2, up=True),
        ),
        partitions=(Partition(12 * SECOND, (frozenset({0, 1, 2}), frozenset({4}))), Partition(20 * SECOND)),
    )


def test_a_tree_has_parents_from_the_start_and_changes() -> None:
    """What stands before the first time is there from the start."""
    assert read('SN.tree = "1:0 4:1, 12s 4:2 2:0, 15s 4:-"').tree == (
        ParentChange(0, 1, 0),
        ParentChange(0, 4, 1),
        ParentChange(12 * SECOND, 4, 2),
        ParentChange(12 * SECOND, 2, 0),
        ParentChange(15 * SECOND, 4, None),
    )


def test_faults_of_all_nodes_are_put_in_the_order_of_time() -> None:
    """Each node has its own list."""
    scenario = read('SN.node[0].faults = "12s crash, 20s recover"\nSN.node[1..2].faults = "5s freeze"\n')
    assert scenario.faults == (
        Fault(5 * SECOND, 1, FaultKind.FREEZE),
        Fault(5 * SECOND, 2, FaultKind.FREEZE),
        Fault(12 * SECOND, 0, FaultKind.CRASH),
        Fault(20 * SECOND, 0, FaultKind.RECOVER),
    )


def test_absences_are_commands_and_changes_of_the_tree() -> None:
    """The link goes once the departure is over, and comes back where the client does."""
    scenario = read(
        'SN.tree = "1:0 4:1"\nSN.departure = 20ms\n'
        'SN.node[4].Application.absences = "5s detach, 8s attach 0, 9s detach"\n'
    )
    assert scenario.workload.commands == (
        Command(5 * SECOND, 4, Detach()),
        Command(8 * SECOND, 4, Attach()),
        Command(9 * SECOND, 4, Detach()),
    )
    assert scenario.tree[2:] == (
        ParentChange(5020 * MILLISECOND, 4, None),
        ParentChange(8 * SECOND, 4, 0),
        ParentChange(9020 * MILLISECOND, 4, None),
    )


def test_absences_without_a_tree_are_commands_alone() -> None:
    """Of as many nodes as have any."""
    scenario = read('SN.node[0..1].Application.absences = "5s detach, 8s attach"\n')
    assert [(command.at // SECOND, command.node) for command in scenario.workload.commands] == [
        (5, 0),
        (8, 0),
        (5, 1),
        (8, 1),
    ]
    assert scenario.tree == ()


def test_commands_are_of_any_node_at_any_time() -> None:
    """With the node's own filters and attributes; who subscribes when it is told does not do so at the start."""
    scenario = read(
        'SN.tree = "1:0 4:1"\nSN.node[4].Application.roles = "publisher subscriber"\n'
        'SN.node[4].Application.filter = "x = 1; y = 2"\n'
        'SN.node[4].Application.attributes = "x = 1"\nSN.node[4].Application.payload = 5\n'
        'SN.commands = "2s 4 subscribe, 3s 4 publish, 5s 4 detach, 8s 4 attach 0, 9s 4 unsubscribe"\n'
    )
    x, y = (parse_filter(text) for text in ("x = 1", "y = 2"))
    assert scenario.workload.subscriptions == ()
    assert scenario.workload.commands == (
        Command(2 * SECOND, 4, Subscribe(x)),
        Command(2 * SECOND, 4, Subscribe(y)),
        Command(3 * SECOND, 4, Publication((("x", 1),), 5)),
        Command(9 * SECOND, 4, Unsubscribe(x)),
        Command(9 * SECOND, 4, Unsubscribe(y)),
        Command(5 * SECOND, 4, Detach()),
        Command(8 * SECOND, 4, Attach()),
    )
    assert scenario.tree[-1] == ParentChange(8 * SECOND, 4, 0)


def test_a_node_without_a_command_to_subscribe_does_so_at_its_time() -> None:
    """Whatever else it is told."""
    scenario = read('SN.node[4].Application.roles = "publisher subscriber"\nSN.commands = "2s 4 publish"\n')
    assert [subscription.node for subscription in scenario.workload.subscriptions] == [4]


def test_unicast_is_a_subscription_to_ones_own_identifier() -> None:
    """Whatever the roles; beside what a subscriber subscribes to."""
    scenario = read("SN.node[4].Application.unicast = true\nSN.node[4].Application.subscribeAt = 2s\n")
    assert scenario.workload.subscriptions == (Subscription(4, 2 * SECOND, addressed_to(4)),)


def test_the_radio_does_not_mind_the_keys_of_ideal_links() -> None:
    """One ini runs on every back-end: the radio has the same nodes with and without them."""
    keys = 'SN.ideal.links = "0-1"\nSN.ideal.delay = 2ms\nSN.ideal.partitions = "3s 0"\n'
    # Each has a method of its own with which the host asks for reports.
    hellos = (RadioBackend(read(text)).open() for text in (keys, ""))
    with_keys, without = (replace(hello, report_sent=None, overhear=None, steer=None) for hello in hellos)
    assert with_keys == without


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("SN.tree", '"3:3"', "at 0s the parents make a circle: 3 3"),
        ("SN.tree", '"1:2 2:1"', "at 0s the parents make a circle: 1 2 1"),
        ("SN.tree", '"1:0 2:1, 12s 0:3 3:2"', "at 12s the parents make a circle: 1 0 3 2 1"),
        ("SN.tree", '"1:4"', "node 4 is not a broker, so it cannot be the parent of node 1"),
        ("SN.tree", '"5:0"', "there is no node 5; they are 0 to 4"),
        ("SN.tree", '"1-0"', "1-0 is not a time"),
        ("SN.tree", '"1:0 2-0"', "'2-0' is not a node with its parent such as 3:1"),
        ("SN.tree", '"1:0, 12s"', "'12s' does not say what happens then"),
        ("SN.tree", '"1:0, 12s 1:-, 11s 1:0"', "11s comes after 12s; put them in the order of time"),
        ("SN.tree", "1:0", "1:0 is not a string in double quotes"),
        ("SN.ideal.links", '"0-1 2"', "'2' is not a link such as 0-1"),
        ("SN.ideal.links", '"0-1 3-3"', "3-3 links node 3 to itself"),
        ("SN.ideal.links", '"0-1 3-7"', "there is no node 7; they are 0 to 4"),
        ("SN.ideal.changes", '"12s 0-9 up"', "there is no node 9"),
        ("SN.ideal.changes", '"12s 0-1"', "'0-1' is not a change of links such as 0-1 1-2 down"),
        ("SN.ideal.changes", '"0-1 down"', "0-1 is not a time"),
        ("SN.ideal.changes", '"12 0-1 down"', "12 is not a time with its unit"),
        ("SN.ideal.changes", '"12s 0-1 up, 3s 0-1 down"', "3s comes after 12s"),
        ("SN.ideal.delays", '"0-1 5"', "5 is not a time with its unit"),
        ("SN.ideal.delays", '"0-8 5ms"', "there is no node 8"),
        ("SN.ideal.delays", '"0-1 5ms, 1-0 3ms"', "gives a link two delays"),
        ("SN.ideal.losses", '"0-1"', "'0-1' names no link; write 0-1 0.1, or 0>1 0.1 for one way only"),
        ("SN.ideal.losses", '"0-1 1.5"', "'1.5' is not a share from 0 to 1, such as 0.25"),
        ("SN.ideal.losses", '"0-1 0.5, 1>0 0.1"', "gives the link from 1 to 0 two losses"),
        ("SN.ideal.losses", '"0>8 0.5"', "there is no node 8"),
        ("SN.ideal.loss", "2", "2 is out of range: it must be from 0 to 1"),
        ("SN.ideal.links", '"0>1"', "'0>1' is not a link such as 0-1"),
        ("SN.ideal.delay", "0s", "0s is out of range: it must be above 0s"),
        ("SN.ideal.partitions", '"12s 0 1 | 1 2"', "has a node in two groups"),
        ("SN.ideal.partitions", '"12s 0..5"', "there is no node 5"),
        ("SN.ideal.partitions", '"12s part"', "'part' is not a node"),
        ("SN.ideal.range", "-3", "-3 is out of range: it must be from 0 to 1000000 m"),
        ("SN.node[3].faults", '"12s crsh"', "'crsh' is not a fault; there is crash, freeze, recover"),
        ("SN.node[3].faults", '"12s recover"', "node 3 cannot recover at 12s: it is up"),
        ("SN.node[3].faults", '"12s crash, 13s freeze"', "node 3 cannot freeze at 13s: it has crashed"),
        ("SN.node[3].faults", '"12s crash, 12s recover"', "two faults at 12s"),
        ("SN.node[3].faults", '"12s crash, 11s recover"', "11s comes after 12s"),
        ("SN.departure", "0s", "0s is out of range: it must be above 0s"),
        ("SN.node[4].Application.absences", '"5s attach"', "'attach' at 5s is out of place: write '15s detach"),
        ("SN.node[4].Application.absences", '"5s detach 2"', "'detach 2' at 5s is out of place: write '15s detach"),
        (
            "SN.node[4].Application.absences",
            '"5s detach, 6s detach"',
            "'detach' at 6s is out of place: write '20s attach",
        ),
        ("SN.node[4].Application.absences", '"5s detach, 6s attach 1 2"', "'attach 1 2' at 6s is out of place"),
        ("SN.node[4].Application.absences", '"5s detach, 6s attach x"', "x is not a whole number"),
        ("SN.node[4].Application.absences", '"5s detach, 4s attach"', "4s comes after 5s"),
        (
            "SN.node[4].Application.absences",
            '"5s detach, 6s attach 1"',
            "without SN.tree there is no place",
        ),
        ("SN.commands", '"5s 4"', "'4' is not a command such as '7 subscribe'"),
        ("SN.commands", '"5s 4 attach 1 2"', "'4 attach 1 2' is not a command"),
        ("SN.commands", '"5s x detach"', "x is not a whole number"),
        ("SN.commands", '"5s 5 detach"', "node 5 is not one of the 5 nodes"),
        ("SN.commands", '"5s 4 subscribe"', "node 4 is not a subscriber: give it that role"),
        ("SN.commands", '"5s 4 publish"', "node 4 is not a publisher: give it that role"),
        ("SN.commands", '"5s 4 attach"', "node 4: 'attach' at 5s is out of place: write '15s detach"),
        ("SN.node[*].Application.unicast", "7", "7 is neither true nor false"),
    ],
)
def test_mistakes_are_named(key: str, value: str, problem: str) -> None:
    """By file, line, key and what is wrong."""
    with pytest.raises(UserError) as caught:
        read(f"{key} = {value}\n")
    message = str(caught.value)
    assert message.startswith(f"run.ini:{LINE}: {key}: ")
    assert problem in message


@pytest.mark.parametrize(
    ("key", "value"),
    [("SN.ideal.partitions", "1s 0..3000000000 | 1"),
     ("SN.ideal.partitions", ", ".join(f"{n}s 0..9999" for n in range(101)))],
)  # fmt: skip
def test_ranges_without_end_take_no_memory(key: str, value: str) -> None:
    """Two dozen characters could ask for more nodes than fit in memory: they are counted first."""
    with pytest.raises(UserError, match=f"{key}: its ranges .* and no plan names more than 1,000,000"):
        read(f'{key} = "{value}"\n')


def test_a_complete_network_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its links grow with the square of the nodes, and are counted before they are made."""
    monkeypatch.setenv("ROAMBUS_MAX_IDEAL_LINKS", "9")
    with pytest.raises(UserError, match=r"SN.ideal.complete: the number of ideal links is 10, above the limit of 9"):
        read("SN.ideal.complete = true\n")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('SN.tree = "1:0"\nSN.ideal.links = "0-1"\n', "SN.ideal.links: the edges of SN.tree are the links"),
        ('SN.tree = "1:0"\nSN.ideal.range = 10\n', "SN.ideal.range: the edges of SN.tree are the links"),
        ('SN.tree = "1:0"\nSN.ideal.partitions = "3s 0"\n', "SN.ideal.partitions: with SN.tree write"),
        ('SN.ideal.links = "0-1"\nSN.ideal.range = 10\n', "SN.ideal.range: the links are given"),
        (
            'SN.tree = "4:0"\nSN.node[4].Application.absences = "5s detach, 9s attach 4"\n',
            r"SN.node\[4\].Application.absences: node 4 is not a broker",
        ),
    ],
)
def test_one_thing_says_what_the_graph_is(text: str, key: str) -> None:
    """Two that contradict each other are not silently settled."""
    with pytest.raises(UserError, match=rf"^run.ini:{LINE + 1}: {key}"):
        read(text, brokers="0..2")
