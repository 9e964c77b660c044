"""What a transcript shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from roambus.bridge.system.errors import UserError
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import Overrides, follow, transcribe
from tests.bridge.transcript.conftest import Run
from tests.support.transcripts import difference


def test_messages_and_deliveries_stand_below_their_command(run: Run) -> None:
    """In the order of time, with contents, under the names of the drawing."""
    assert run("> s3 subscribes f7\n> p1 publishes e7\n") == dedent("""\
        > s3 subscribes f7
        s3 -> b3  SUB f7 s3 t=1 h=0
        b3 -> b1  SUB f7 s3 t=1 h=1
        b1 -> b2  SUB f7 s3 t=1 h=2
        > p1 publishes e7
        p1 -> b1  PUB e7 hops=1
        b1 -> b3  PUB e7 hops=2
        b3 -> s3  PUB e7 hops=3
        s3 delivers e7
        """)


def test_a_transcript_of_a_transcript_changes_nothing(write: Callable[[str], Path], run: Run) -> None:
    """Comments and blank lines stay; outputs, also wrong ones, are those of this run."""
    commands = "# One.\n\n> s3 subscribes f7\n\n# Two.\n> p1 publishes e7\n\n# The end.\n"
    first = run(commands)
    assert run(first) == first
    assert run(first.replace("h=1", "h=9").replace("s3 delivers e7\n", "")) == first
    assert "\n".join(line for line in first.splitlines() if line[:1] in {"", "#", ">"}) + "\n" == commands


def test_a_wrong_line_is_shown_with_its_command(run: Run) -> None:
    """File, line and command; then a unified diff."""
    right = run("> s3 subscribes f7\n> p1 publishes e7\n")
    wrong = right.replace("b3 -> s3  PUB e7 hops=3", "b3 -> s3  PUB e7 hops=4")
    assert difference("mine.txt", right, right) == ""
    lines = difference("mine.txt", wrong, right).splitlines()
    assert lines[0] == "mine.txt:8: below '> p1 publishes e7' something else happens:"
    assert "-b3 -> s3  PUB e7 hops=4" in lines
    assert "+b3 -> s3  PUB e7 hops=3" in lines


def test_a_client_on_a_brokers_node_sends_nothing_on_the_air(run: Run) -> None:
    """Messages to other nodes are the broker's, deliveries the client's."""
    assert run("> s2 subscribes f2\n> p1 publishes e2\n").splitlines() == [
        "> s2 subscribes f2",
        "b2 -> b1  SUB f2 s2 t=1 h=1",
        "b1 -> b3  SUB f2 s2 t=1 h=2",
        "> p1 publishes e2",
        "p1 -> b1  PUB e2 hops=1",
        "b1 -> b2  PUB e2 hops=2",
        "s2 delivers e2",
    ]


def test_what_a_broken_link_loses_is_shown_where_it_is_lost(run: Run) -> None:
    """On its way, it has been sent before; at once, the failure stands alone."""
    on_its_way = run("> s3 subscribes f3\n> p1 publishes e3; after 1500us b3 is cut off\n").splitlines()
    assert on_its_way[-3:] == [
        "b1 -> b3  PUB e3 hops=2",
        "b1 -x b3  PUB e3 hops=2 (no link)",
        "b1 stores e3 for s3",
    ]


def test_only_what_was_not_sent_is_shown_as_a_failure(run: Run) -> None:
    """b1 does not know yet that b3 has gone, and floods to it and to b4."""
    head = "agent mft\ntree\n  b1\n    b2/s2\n    b3\n    b4\n"
    assert run("> s2 subscribes f2; after 1ms b3 is cut off\n", head=head).splitlines()[1:] == [
        "b2 -> b1  SUB f2 s2 t=1 h=1",
        "b1 -> b4  SUB f2 s2 t=1 h=2",
        "b1 -x b3  SUB f2 s2 t=1 h=2 (no link)",
    ]


def test_commands_can_follow_before_all_is_quiet(run: Run) -> None:
    """In a line of their own, what follows from the command before is cut short there."""
    lines = run("> s3 subscribes f3\n> after 2ms s3 unsubscribes f3\n").splitlines()
    assert lines == [
        "> s3 subscribes f3",
        "s3 -> b3  SUB f3 s3 t=1 h=0",
        "b3 -> b1  SUB f3 s3 t=1 h=1",
        "> after 2ms s3 unsubscribes f3",
        "b1 -> b2  SUB f3 s3 t=1 h=2",
        "s3 -> b3  UNS f3 s3 t=2 h=0",
        "b3 -> b1  UNS f3 s3 t=2 h=1",
        "b1 -> b2  UNS f3 s3 t=2 h=2",
    ]


def test_who_detaches_leaves_a_moment_later_and_comes_back_elsewhere(run: Run) -> None:
    """Unannounced it is the same to this protocol, which follows the tree."""
    announced = run("> s3 subscribes f3\n> s3 detaches\n> p1 publishes e3\n> s3 attaches to b1\n").splitlines()
    cut_off = run("> s3 subscribes f3\n> s3 is cut off\n> p1 publishes e3\n> s3 joins b1\n").splitlines()
    assert [line for line in announced if line[0] != ">"] == [line for line in cut_off if line[0] != ">"]
    assert announced[-1] == "s3 delivers e3"


def test_the_link_of_who_detaches_stands_for_a_moment(run: Run) -> None:
    """What is on its way arrives; what comes later does not."""
    lines = run("> s3 subscribes f3\n> s3 detaches; p1 publishes e3; after 100ms p1 publishes e3\n").splitlines()
    assert "s3 delivers e3" in lines
    assert "s3 delivers e3#2" not in lines


def test_a_client_without_a_tree_or_on_a_brokers_node_goes_nowhere(run: Run) -> None:
    """Its agent is told, and no more."""
    assert run("> s2 subscribes f2\n> s2 detaches\n> b2 moves to b3\n> s2 attaches\n").splitlines()[-1] == "(nothing)"
    head = "agent flooding\nlinks n1-n2\n"
    text = run("> n2 subscribes f1\n> n2 detaches\n> n1 publishes e1\n> n2 attaches\n", head=head).splitlines()
    assert "n2 delivers e1" in text


def test_a_complete_network_links_any_two(run: Run) -> None:
    """So a flooded event takes one hop to everybody."""
    lines = run("> n3 publishes e1\n", head="agent flooding\ncomplete b1 n2..n4\nhide FLOOD\n").splitlines()
    assert lines[-1] == "(nothing)"
    text = run("> n2 subscribes f1; n4 subscribes f1\n> n3 publishes e1\n", head="agent flooding\ncomplete n2..n4\n")
    assert {"n2 delivers e1", "n4 delivers e1"} <= set(text.splitlines())


def test_what_is_not_quiet_in_time_is_said(run: Run) -> None:
    """With the number of messages under way; then there is nothing, and that is said, too."""
    lines = run("slot 2ms\n> s3 subscribes f3\n> wait 1s\n> wait 1s\n").splitlines()
    assert lines[1:] == [
        "> s3 subscribes f3",
        "s3 -> b3  SUB f3 s3 t=1 h=0",
        "b3 -> b1  SUB f3 s3 t=1 h=1",
        "(not quiet: 1 under way)",
        "> wait 1s",
        "b1 -> b2  SUB f3 s3 t=1 h=2",
        "> wait 1s",
        "(nothing)",
    ]


def test_times_count_from_the_command(run: Run) -> None:
    """By option, or by a line of the file; links take the time that the file says."""
    commands = "delay 2500us\n> s3 subscribes f3\n"
    timed = run(commands, Overrides(times=True))
    assert timed.splitlines()[2:] == [
        "    0ms s3 -> b3  SUB f3 s3 t=1 h=0",
        "  2.5ms b3 -> b1  SUB f3 s3 t=1 h=1",
        "    5ms b1 -> b2  SUB f3 s3 t=1 h=2",
    ]
    assert run(f"times\n{commands}") == f"times\n{timed}"


def test_the_setup_is_not_shown(run: Run) -> None:
    """It has happened nevertheless."""
    text = run("setup\n  s3 subscribes f3\n  s2 subscribes f3\n> p1 publishes e3\n")
    assert "SUB" not in text
    assert "s2 delivers e3\n" in text
    assert "s3 delivers e3\n" in text


def test_the_start_is_shown_if_it_is_asked_for(run: Run) -> None:
    """As the first command."""
    assert "b2 -> b1  BMIG C=[] O=[] h=0\n" in run("> start\n")
    assert "BMIG" not in run("> wait 1s\n")


def test_tables_are_shown_as_they_are_at_that_time(run: Run) -> None:
    """Before anything else of that instant, sorted by filter as in the thesis; empty ones only where asked for."""
    text = run("""\
        > show tables
        > s3 subscribes f10; s2 subscribes f2
        > show table b1 b3; s3 unsubscribes f10
        > show table b1
        """)
    assert text.splitlines()[:2] == ["> show tables", "(nothing)"]
    assert text.splitlines()[8:] == [
        "> show table b1 b3; s3 unsubscribes f10",
        "b1",
        "  Filter  Interface  Subscriber  T",
        "  f2      b2         s2          (1,2)",
        "  f10     b3         s3          (1,2)",
        "b3",
        "  Filter  Interface  Subscriber  T",
        "  f2      b1         s2          (1,3)",
        "  f10     s3         s3          (1,1)",
        "s3 -> b3  UNS f10 s3 t=2 h=0",
        "b3 -> b1  UNS f10 s3 t=2 h=1",
        "b1 -> b2  UNS f10 s3 t=2 h=2",
        "> show table b1",
        "b1",
        "  Filter  Interface  Subscriber  T",
        "  -       b3         s3          (2,2)",
        "  f2      b2         s2          (1,2)",
    ]


def test_a_listing_whose_name_ends_in_s_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its own name; the plural of others is understood all the same."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hills.py").write_text(HILLS)
    (tmp_path / "s.txt").write_text("agent hills.py\nlinks n1-n2\n\n> show gradients n1\n> show slopes n1\n")
    lines = transcribe(tmp_path / "s.txt").splitlines()
    assert lines[-8:] == [
        "> show gradients n1", "n1", "  to", "  n2", "> show slopes n1", "n1", "  to", "  n3"
    ]  # fmt: skip


HILLS = """
from roambus import Agent, Listing, Started, on


class Hills(Agent):
    @on(Started)
    def start(self, event, now):
        pass

    def listings(self, names):
        return {"gradients": Listing(("to",), (("n2",),)), "slope": Listing(("to",), (("n3",),))}
"""


def test_stored_notifications_are_shown(run: Run) -> None:
    """Each under its name, a second one of that name with its number."""
    text = run("> s3 subscribes f3\n> s3 is cut off\n> p1 publishes e3; p1 publishes e3\n> show stored\n")
    assert text.splitlines()[-3:] == ["b3", "  Subscriber  Notifications", "  s3          [e3 e3#2]"]


def test_filters_and_events_can_be_written_out_or_named(run: Run) -> None:
    """What has no name stands in braces."""
    text = run("""\
        filter cheap: price < 10
        event offer: price = 5, name = 'a, b'
        > s3 subscribes cheap
        > s2 subscribes price < 10 and name exists
        > s2 subscribes price > 99
        > p1 publishes offer
        > p1 publishes price = 100
        """)
    assert "b3 -> b1  SUB cheap s3 t=1 h=1\n" in text
    assert "b1 -> b3  SUB {price < 10 and name exists} s2 t=1 h=2\n" in text
    assert text.count("delivers offer\n") == 2
    assert "s2 delivers price = 100\n" in text


def test_messages_can_be_hidden(run: Run) -> None:
    """By their type; so can what brokers note."""
    commands = "> s3 subscribes f3\n> s3 is cut off\n> p1 publishes e3\n"
    assert "PUB" in run(commands)
    hidden = run(f"hide PUB store\n{commands}").removeprefix("hide PUB store\n")
    assert "PUB" not in hidden
    assert "stores" not in hidden


def test_a_client_that_is_drawn_without_a_broker_joins_later(run: Run) -> None:
    """With the subscriptions that it has by then."""
    assert run("> s9 subscribes f9\n> s9 joins b2\n").splitlines()[:3] == [
        "> s9 subscribes f9",
        "(nothing)",
        "> s9 joins b2",
    ]


LINKS = """\
agent flooding
links n1-n2 n2-n3
"""


def test_a_graph_can_change(run: Run) -> None:
    """For agents that find their own ways; a broadcast goes to all."""
    commands = ("n3 subscribes f1", "link n2-n3 down", "n1 publishes e1", "link n2-n3 up", "n1 publishes e1")
    text = run("".join(f"> {command}\n" for command in commands), head=LINKS)
    assert text.splitlines()[:6] == [
        "> n3 subscribes f1",
        "(nothing)",
        "> link n2-n3 down",
        "(nothing)",
        "> n1 publishes e1",
        "n1 -> *  FLOOD ttl=35 hop_count=0 notification=e1",
    ]
    assert "n3 delivers e1\n" not in text
    assert "n3 delivers e1#2\n" in text


def test_another_agent_can_be_looked_at(run: Run) -> None:
    """Without the parameters and hidden messages of the file's own."""
    head = "agent mft storage_limit=3\nhide BMIG\ntree\n  b1\n    b2/s2\nclients p1@b1\n"
    text = run("> s2 subscribes f1\n> show table\n> p1 publishes e1\n", Overrides(agent="flooding"), head)
    assert "> show table\n(nothing)\n" in text
    assert "p1 -> *  FLOOD ttl=35 hop_count=0 notification=e1\n" in text
    assert "s2 delivers e1\n" in text


def test_parameters_can_be_given_beside_the_files(run: Run) -> None:
    """Theirs wins."""
    commands = "> s3 subscribes f3\n> s3 is cut off\n> p1 publishes e3; p1 publishes e3\n"
    assert run(commands).count("stores") == 2
    limited = run(commands, Overrides(parameters={"storage_limit": "1"}))
    assert "b3 drops e3#2 (storage full)\n" in limited


def test_the_same_file_gives_the_same_text(write: Callable[[str], Path]) -> None:
    """Also where agents draw from their generators: the seed is in the file."""
    text = "agent aodv\nhide HELLO\nslot 5s\nlinks n1-n2 n2-n3\n> n3 subscribes f1\n> n1 publishes e1\n"
    assert transcribe(write(text)) == transcribe(write(text))
    assert "n3 delivers e1\n" in transcribe(write(text))
    assert transcribe(write(f"seed 5\n{text}")) != f"seed 5\n{transcribe(write(text))}"


def test_links_are_slow_and_lose_and_go_down_one_way() -> None:
    """A delay and a loss of one link, the loss one way, and a link that is down one way only."""
    text = "agent flooding\ntimes\nlinks n1-n2\ndelay n1-n2 7ms\nloss n2->n1 1\n\n"
    text += "> n2 subscribes f1\n> n1 subscribes f2\n> n1 publishes e1\n> n2 publishes e2\n> link n1->n2 down\n"
    text += "> n1 publishes e1\n"
    lines = follow(parse_document(Path("links.txt"), text)).splitlines()
    assert [line.strip() for line in lines if "delivers" in line] == ["7ms n2 delivers e1"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("loss 2", r"links.txt:3: '2' is not a share from 0 to 1"),
        ("loss n1-n9 0.5", r"unknown node 'n9'"),
        ("loss n1 0.5", r"'n1' is not a link such as n1-n2"),
        ("delay n1-n2 0s", r"links.txt:3: 0s is not a time greater than 0"),
    ],
)
def test_links_that_are_not_there_have_no_loss(line: str, message: str) -> None:
    """With the line that is wrong, as far as it alone is."""
    text = f"agent flooding\nlinks n1-n2\n{line}\n> n1 publishes e1\n"
    with pytest.raises(UserError, match=message):
        follow(parse_document(Path("links.txt"), text))


def test_a_node_without_links(tmp_path: Path) -> None:
    """It hears nothing until a link to it comes up; in a tree every node has a place already."""
    file = tmp_path / "lonely.txt"
    head = "agent flooding jitter=0s\nlinks n1-n2\nnodes n3..n4\nsetup\n  n3 subscribes f1\n"
    file.write_text(f"{head}\n> n1 publishes e1\n\n> link n2-n3 up; n1 publishes e1\n")
    heard = transcribe(file)
    assert "n3 delivers e1\n" not in heard
    assert "n3 delivers e1#2\n" in heard
    file.write_text("agent flooding\ntree\n  b1\nnodes n3\n\n> n3 publishes e1\n")
    with pytest.raises(UserError, match="nodes without links stand beside links"):
        transcribe(file)
