"""Hunts: random histories that are repeated by their seed, judged as explorations are, and made small."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from roambus.bridge.system.child_process import run_in_child
from roambus.bridge.system.errors import UserError
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import Overrides, follow
from roambus.command_line import commands
from roambus.extensions.exploring import hunt as hunt_module
from roambus.extensions.exploring.histories import History, TimedCommand, shrink
from roambus.extensions.exploring.hunt import HistoryRunner, HuntRequest, HuntResult, hunt
from roambus.extensions.exploring.networks import Sketch
from roambus.extensions.exploring.scenario_file import parse_question, read_question
from roambus.extensions.exploring.tests.exploring import AGENTS
from roambus.python_protocol.simtime import MILLISECOND, SECOND

QUESTIONS = Path(__file__).parents[3] / "benchmarks" / "explorations"
GRAPHS = "agent {}\ngraphs 3..9\nmay 2 subscriptions to f1\nmay 2 publications of e1\nmay 2 link changes\nmust {}\n"
SMALL = GRAPHS.replace("graphs 3..9", "graphs 3..4\nslot 200ms")
FAMILIES = ("trees 2..8", "graphs 2..8", "fields 5..20", "brokers 3..9")
ENDLESS = """from roambus import Agent, Started, on


class A(Agent):
    @on(Started)
    def start(self, event, now):
        {}
"""
SHIPPED = sorted(path.stem for path in QUESTIONS.glob("hunt_*.txt"))

UNCORRECTED = {"hunt_first_approach_crossing": {"probes arrive"}}
"""Violations that long hunts find; the protocol's page says when it happens."""


def runner_of(text: str, **parameters: str) -> HistoryRunner:
    return HistoryRunner(parse_question(Path("hunt.txt"), text), Overrides(parameters=parameters))


def shipped(name: str, **parameters: str) -> HistoryRunner:
    return HistoryRunner(read_question(QUESTIONS / f"{name}.txt"), Overrides(parameters=parameters))


def hunted(text: str, seconds: float = 60, seed: int = 0) -> HuntResult:
    """What one process of its own finds."""
    return hunt(HuntRequest(Path("hunt.txt"), text, Overrides(), seconds, seed))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_has_one_history_and_others_have_others(family: str) -> None:
    """Of each family of networks; every history can be run."""
    text = (
        f"agent flooding\n{family}\nslot 2s\nmay 3 subscriptions to f1\nmay 3 publications of e1\nmust nothing twice\n"
    )
    text += "may 3 walks\n" if family.startswith(("fields", "brokers")) else "may 2 freezes\nmay 2 departures\n"
    own, again = runner_of(text), runner_of(text)
    texts = [own.generator.text(own.generator.draw(seed)) for seed in range(8)]
    assert texts == [again.generator.text(again.generator.draw(seed)) for seed in range(8)]
    assert len(set(texts)) > 4
    assert not [wrong for seed in range(8) if (wrong := own.wrong(own.generator.draw(seed)))]


@pytest.mark.slow
@pytest.mark.parametrize(("most", "cpu_s"), [(40, 0.4), pytest.param(4000, 10.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SHIPPED)
def test_what_protocols_promise_holds_in_first_histories(name: str, most: int, cpu_s: float) -> None:
    """A hunt in each shipped file finds nothing at once; the page on explore says how many more histories were run."""
    own, until = shipped(name), time.process_time() + cpu_s
    for seed in range(most):
        assert own.wrong(own.generator.draw(seed)).keys() <= UNCORRECTED.get(name, set())
        if time.process_time() > until:
            break


@pytest.mark.parametrize(
    ("name", "switch", "wrong", "seed"),
    [
        ("hunt_caching", "follow_client", "everything delivered in the end", 24),
        ("hunt_caching", "deliver_once", "nothing twice", 13),
        ("hunt_phoenix", "number_migrations", "probes arrive", 2),
        ("hunt_phoenix", "number_commands", "no phantoms", 81),
        ("hunt_first_approach", "break_circles", "nothing lost", 60),
    ],
)
def test_what_a_correction_corrects_is_found(name: str, switch: str, wrong: str, seed: int) -> None:
    """In the history of a seed, with the switch off, and not with it on."""
    off, on = shipped(name, **{switch: "false"}), shipped(name)
    assert wrong in off.wrong(off.generator.draw(seed))
    assert on.wrong(on.generator.draw(seed)) == {}


def test_who_freezes_leaves_or_is_cut_off_is_back_in_the_end() -> None:
    """A client that is cut off comes back to the same broker, one that detaches to any."""
    text = "agent simple\ntrees 2..5\nmay 3 freezes\nmay 3 {}\nmay 2 publications of e1\nmust nothing twice\n"
    absent, departed = runner_of(text.format("absences")), runner_of(text.format("departures"))
    for seed in range(20):
        homes = {name: at for name, at in absent.generator.draw(seed).sketch.nodes if name.startswith("s")}
        timed = [deed.text.split(" ") for deed in absent.generator.draw(seed).timed]
        moves = [(words[0], words[-1]) for words in timed if words[1] == "moves"]
        assert set(moves) <= set(homes.items())
        assert len(moves) == sum(words[1:] == ["is", "cut", "off"] for words in timed)
        assert sum(words[1] == "freezes" for words in timed) == sum(words[1] == "recovers" for words in timed)
        assert not departed.generator.draw(seed).unfinished
    assert any("attaches to" in deed.text for seed in range(20) for deed in departed.generator.draw(seed).timed)


def test_what_is_published_before_a_subscription_has_settled_is_not_due() -> None:
    """Simple Routing has to tell all brokers of it first; a slot later it has, and then everything is due."""
    text = "agent simple\ntree\n  b1/s1\n    b2/p2\nslot 1s\nmay s1 subscribes f1\nmust everything delivered\n"
    own = runner_of(text)
    history = History(Sketch("drawn"), (("", MILLISECOND),), SECOND, (TimedCommand("s1 subscribes f1"),), ())
    at_once, later = TimedCommand("p2 publishes e1", 0), TimedCommand("p2 publishes e1")
    assert own.wrong(replace(history, timed=(*history.timed, at_once))) == {}
    announcing = runner_of(text.replace("agent simple", f"agent {AGENTS}:Announcing"))
    assert "everything delivered" not in announcing.wrong(replace(history, timed=(*history.timed, at_once)))
    assert "everything delivered" in announcing.wrong(replace(history, timed=(*history.timed, later)))


def test_a_site_that_stops_is_found_among_few() -> None:
    """Without `tell_empty` about every other history ends so; with it nothing is wrong with the same ones."""
    off, on = shipped("hunt_replicated", tell_empty="false"), shipped("hunt_replicated")
    histories = [off.generator.draw(seed) for seed in range(20)]
    found = [history for history in histories if "probes arrive" in off.wrong(history)]
    assert found
    assert not [history for history in found if on.wrong(history)]


def test_what_is_wrong_is_made_small_and_repeated() -> None:
    """Nobody delivers anything: two nodes at most are left, a subscription, and a probe; the transcript follows."""
    text = SMALL.replace("may 2", "may 1").format(f"{AGENTS}:Announcing", "probes arrive")
    found = hunted(text)
    (wrong,) = found.counterexamples
    assert "comes 0 times to" in wrong.text
    lines = wrong.transcript.splitlines()
    assert sum(line.startswith(">") for line in lines) == 2
    assert len(next(line for line in lines if line.startswith("links")).split()) == 2
    assert follow(parse_document(Path("found.txt"), wrong.transcript)) == wrong.transcript


@pytest.mark.parametrize(
    ("agent", "line", "said"),
    [
        ("Echo", "eventually quiet", "messages such as WORD are sent when all is over"),
        ("Liar", "nothing unwanted", "nobody has published it"),
        ("Pushy", "nothing unwanted", "which does not want it"),
        ("Announcing", "everything delivered", "was not delivered to"),
        ("Echo", "at most 9 messages a command", "messages were sent for"),
    ],
)
def test_histories_are_judged_by_the_properties_of_explorations(agent: str, line: str, said: str) -> None:
    """Those that follow from commands and deliveries, silence, and load."""
    text = SMALL.format(f"{AGENTS}:{agent}", line)
    own = runner_of(text)
    found = next(wrong for seed in range(30) if (wrong := own.wrong(own.generator.draw(seed))))
    assert said in found[line]


def test_an_error_of_an_agent_is_found() -> None:
    """With the node and the place, as from any run."""
    own = runner_of(GRAPHS.format(f"{AGENTS}:Careless", "nothing twice"))
    found = next(wrong for seed in range(30) if (wrong := own.wrong(own.generator.draw(seed))))
    assert "two words are too many" in found["agents raise no errors"]


def test_beats_that_were_there_before_are_no_noise() -> None:
    """A herald repeats all that it knows with every beat, from its first notification on: that is noise."""
    beating = runner_of(SMALL.replace("slot 200ms", "slot 2s").format(f"{AGENTS}:Beating", "eventually quiet"))
    assert not [wrong for seed in range(4) if (wrong := beating.wrong(beating.generator.draw(seed)))]


def test_a_history_becomes_as_small_as_it_can_be() -> None:
    """If anything is wrong as long as a node is cut off, that alone is left, in a network of one link."""
    own = shipped("hunt_mft")
    history = next(
        history for history in map(own.generator.draw, range(20)) if any("cut off" in it.text for it in history.timed)
    )
    *_, small = shrink(history, lambda smaller: any("cut off" in deed.text for deed in smaller.timed))
    assert [deed.text.split(" ", 1)[1] for deed in small.timed] == ["is cut off"]
    assert (len(small.sketch.nodes), small.timed[0].after, small.delays) == (1, None, (("", MILLISECOND),))


def test_nobody_is_left_crashed_who_was_back() -> None:
    """What is wrong while a broker is down is not what was found."""
    timed = (
        TimedCommand("b1 crashes"),
        TimedCommand("b1 recovers", 5 * MILLISECOND),
        TimedCommand("s1 subscribes f1", 0),
    )
    history = History(Sketch("drawn"), (("", MILLISECOND),), SECOND, timed, ())
    *_, small = shrink(history, lambda smaller: any("crashes" in deed.text for deed in smaller.timed))
    assert [(deed.text, deed.after) for deed in small.timed] == [("b1 crashes", None), ("b1 recovers", None)]


def test_a_hunt_goes_on_with_the_next_seed() -> None:
    """It says which it has run, and that nothing is proved."""
    text = GRAPHS.format("flooding", "nothing twice")
    first = hunted(text, seconds=2)
    assert not first.counterexamples
    begin, last = map(int, first.seeds.split(".."))
    assert (begin, last + 1) == (0, first.histories)
    assert next(iter(hunted(text, seconds=1, seed=last + 1).seeds.split(".."))) == str(last + 1)
    assert "proves nothing" in "\n".join(first.lines())


def test_a_process_with_too_much_memory_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that exceeds the bound ends after its history, and another goes on with the next seed."""
    starts = list[object]()

    def count(make: Callable[[], object]) -> object:
        starts.append(make)
        if len(starts) > 2:
            raise KeyboardInterrupt
        return run_in_child(make)

    monkeypatch.setattr(hunt_module, "run_in_child", count)
    text = GRAPHS.format("flooding", "nothing twice")
    found = hunt(HuntRequest(Path("hunt.txt"), text, Overrides(), 60, memory_mib=1))
    assert (found.histories, found.seeds, found.is_interrupted) == (2, "0..1", True)


def test_a_hunt_ends_in_time_whatever_an_agent_does() -> None:
    """A handler that never ends is interrupted, and its history is not judged. Time of the processor is no more."""
    text = GRAPHS.format(f"{AGENTS}:Hanging", "nothing twice")
    before = sum(os.times()[2:4])
    found = hunted(text, seconds=1)
    assert (sum(os.times()[2:4]) - before < 1 + 2, found.counterexamples) == (True, ())


@pytest.mark.slow  # a quarter of a minute of hunting
def test_a_hunt_that_keeps_on_counts_what_is_wrong() -> None:
    """Each property with the number of histories in which it does not hold, and a transcript for its first one."""
    text = GRAPHS.format(f"{AGENTS}:Announcing", "probes arrive") + "must everything delivered\n"
    found = hunt(HuntRequest(Path("hunt.txt"), text, Overrides(), 15, keep_on=True))
    assert sorted(counterexample.name for counterexample in found.counterexamples) == [
        "everything delivered",
        "probes arrive",
    ]
    assert all(1 < count <= found.histories for count in found.counts)
    assert f", in {found.counts[0]} of them: " in "\n".join(found.lines())


def test_ctrl_c_ends_a_hunt_and_says_where_it_stood(tmp_path: Path) -> None:
    """With exit code 130; a hunt from the seed after the last one goes on."""
    (tmp_path / "hunt.txt").write_text(GRAPHS.format("flooding", "nothing twice"))
    command = [sys.executable, "-m", "roambus", "explore", "hunt.txt", "--hunt", "60", "--seed", "7"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
    while not children.read_text().split() and running.poll() is None:
        time.sleep(0.1)
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=30)
    assert (running.returncode, "the hunt was interrupted by a signal" in said) == (130, True)
    histories, first, last = map(int, re.findall(r"hunt: (\d+) histories in \d+ s, seeds (\d+)\.\.(\d+)", said)[0])
    assert (first, last) == (7, 7 + histories - 1)


def test_on_the_command_line_a_hunt_has_exit_codes_of_its_own(tmp_path: Path) -> None:
    """1 for what is wrong, whose transcript is written; 5 if nothing was found, for nothing is decided then."""
    (tmp_path / "hunt.txt").write_text(SMALL.format(f"{AGENTS}:Announcing", "probes arrive"))
    arguments = ["explore", str(tmp_path / "hunt.txt"), "--hunt", "30", "--out", str(tmp_path / "wrong")]
    assert CliRunner().invoke(commands, arguments, catch_exceptions=False).exit_code == 1
    assert (tmp_path / "wrong" / "hunt_probes_arrive.txt").exists()
    (tmp_path / "hunt.txt").write_text(GRAPHS.format("flooding", "nothing twice"))
    result = CliRunner().invoke(
        commands, ["explore", str(tmp_path / "hunt.txt"), "--hunt", "1"], catch_exceptions=False
    )
    assert (result.exit_code, "not decided" in result.output) == (5, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trees 9..3", "trees of 9..3 nodes: there can be 2 to 60 to be hunted in"),
        ("graphs 2..900", "graphs of 2..900 nodes: there can be 2 to 60"),
        ("fields 3", "fields of '3' nodes: there can be 2 to 6, or for a hunt 2..60"),
    ],
)
def test_a_family_that_cannot_be_is_named(text: str, message: str) -> None:
    """With its line."""
    with pytest.raises(UserError, match=f"hunt.txt:2: {message}"):
        runner_of(f"agent flooding\n{text}\nmust nothing twice\n")


def test_random_networks_are_not_explored(tmp_path: Path) -> None:
    """The error names the option of a hunt."""
    (tmp_path / "hunt.txt").write_text(GRAPHS.format("flooding", "nothing twice"))
    result = CliRunner().invoke(commands, ["explore", str(tmp_path / "hunt.txt")])
    assert isinstance(result.exception, UserError)
    assert "hunt in them: --hunt 60" in str(result.exception)


@pytest.mark.parametrize("body", ["while True: pass", "__import__('time').sleep(1e6)"])
def test_a_history_that_never_ends_is_reported(tmp_path: Path, body: str) -> None:
    """With its seed and the line, and not as a hunt that has found nothing wrong."""
    (tmp_path / "endless.py").write_text(ENDLESS.format(body))
    found = hunted(f"agent {tmp_path / 'endless.py'}\nlinks n1-n2\nmay 2 crashes\nmust nothing twice\n", seconds=1.5)
    assert re.fullmatch(r"the history of seed 0 had not ended(|.* at endless.py:.*): it may loop, .*", found.problem)
    assert list(found.lines()) == [f"hunt: 0 histories in {found.seconds:.0f} s", f"  not decided: {found.problem}"]


def test_a_line_of_which_nothing_can_happen_is_named() -> None:
    """A client that has never wanted anything cannot unsubscribe; what did happen is not named."""
    text = "agent flooding\nlinks n1-n2\nmay n1 publishes e1\nmay n2 unsubscribes f1\nmust nothing unwanted\n"
    said = "\n".join(hunted(text, seconds=1).lines())
    assert "  may n2 unsubscribes f1: says nothing: nothing of it happened in any history" in said
    assert "may n1" not in said


def test_a_full_disk_hides_no_counterexample(tmp_path: Path) -> None:
    """The transcript that does not fit in its file is printed after the verdict."""
    (tmp_path / "hunt.txt").write_text(SMALL.format(f"{AGENTS}:Announcing", "probes arrive"))
    (tmp_path / "hunt_probes_arrive.txt").symlink_to("/dev/full")
    arguments = ["explore", str(tmp_path / "hunt.txt"), "--hunt", "30", "--out", str(tmp_path)]
    result = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert result.exit_code == 1
    assert "probes arrive: does not hold: " in result.stdout
    assert "\n# Found by roambus explore --hunt, in the history of seed " in result.stdout
    assert "hunt_probes_arrive.txt: No space left on device: the transcript is printed" in result.stderr
