"""Agents that a checker with a home-made copy or shifted times takes for right, or for wrong.

Each file in `deceiving` says at its head what its agent does.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from roambus.bridge.system.errors import RoambusError, UserError
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import Overrides, follow
from roambus.command_line import commands
from roambus.extensions.exploring.checker import Bounds
from roambus.extensions.exploring.exploration import Exploration, search
from roambus.extensions.exploring.scenario_file import parse_question, variants
from roambus.extensions.exploring.verdicts import Report

FOLDER = Path(__file__).parent / "deceiving"
LINE = "links n1-n2\nsetup\n  n2 subscribes f1\n"
TOPICS = "links n1-n2\nfilter f1: topic < 11\nevent e0: topic = 0\nevent e8: topic = 8\nsetup\n  n2 subscribes f1\n"
ONE_WAY = "links n1-n2 n1-n3 n2-n3\nsetup\n  n2 subscribes f1\n  link n2->n3 down\n"
PING_PONG = "links n1-n2 n1-n4 n3-n4\nsetup\n  n3 subscribes f1\n  link n1->n4 down\n  link n3->n4 down\n"
ONCE, TWICE, THRICE = "may n1 publishes e1\n", "may 2 times n1 publishes e1\n", "may 3 times n1 publishes e1\n"
TWO_TOPICS = "may n1 publishes e0\nmay n1 publishes e8\n"
DELIVERED, NOT_TWICE, ORDER = "everything delivered", "nothing twice", "order kept"
MOMENTS = "commands and arrivals at the moments of other events, and commands halfway between them"


def explored(agent: str, rest: str, *must: str, keep_on: bool = False) -> Report:
    """The report on one network."""
    text = f"agent {agent}\n{rest}" + "".join(f"must {line}\n" for line in must)
    ((name, question),) = variants(parse_question(FOLDER / "question.txt", text))
    exploration = Exploration(question, Overrides(), keep_on)
    exploration.run()
    return exploration.report(name)


@pytest.mark.parametrize(
    ("agent", "rest", "violated"),
    [
        ("one_way", ONE_WAY + ONCE, DELIVERED),
        ("ignored", PING_PONG + "may n4 publishes e1\n", DELIVERED),
        ("subclass", LINE + THRICE, NOT_TWICE),
        ("instant", LINE + THRICE, NOT_TWICE),
        ("set_order", TOPICS + TWO_TOPICS, NOT_TWICE),
        ("warm_up", LINE + ONCE, DELIVERED),
        ("integer_of_now", LINE + ONCE, NOT_TWICE),
        ("moment_in_key", LINE + ONCE, NOT_TWICE),
        ("moment_in_message", LINE + ONCE, NOT_TWICE),
        ("window", LINE + TWICE, DELIVERED),
        ("two_timers", LINE + ONCE, DELIVERED),
        ("other_content", LINE + ONCE, "nothing unwanted"),
        ("other_content", LINE + ONCE, DELIVERED),
        ("overtaken", "links n1-n2 n2-n3\nsetup\n  n2 subscribes f1\n" + TWICE + "may n3 publishes e1\n", ORDER),
        ("timeout", LINE + TWICE, DELIVERED),
        ("jobs_in_set.py:Lifo", TOPICS + TWO_TOPICS, ORDER),
    ],
)
def test_a_fault_is_found(agent: str, rest: str, violated: str) -> None:
    """The counterexample is a transcript that repeats itself line by line."""
    found = explored(str(FOLDER / agent) + ("" if ":" in agent else ".py"), rest, violated)
    assert found.verdicts[violated].startswith("does not hold: ")
    (shown,) = found.counterexamples
    assert follow(parse_document(FOLDER / "found.txt", shown.transcript)) == shown.transcript


@pytest.mark.parametrize("agent", ["warm_up", "integer_of_now", "moment_in_key", "moment_in_message"])
def test_relative_time_refuses_what_depends_on_the_clock(agent: str) -> None:
    """With the line, and in no case with a verdict."""
    with pytest.raises(UserError, match=r"cannot be explored at \w+.py:\d+ in \w+: with relative time it "):
        explored(str(FOLDER / f"{agent}.py"), f"relative time\n{LINE}{ONCE}", NOT_TWICE)


LATE = "links n1-n2\nsetup\n  n2 subscribes f1\n  link n2->n1 down\n"


def test_an_arrival_can_come_before_the_report_of_a_failed_send() -> None:
    """At one instant a run handles arrivals first, and the counterexample says that they arrive at once."""
    found = explored(str(FOLDER / "late_failure.py"), LATE + TWICE, NOT_TWICE)
    (shown,) = found.counterexamples
    assert "> n1 -> n2 arrives; at once n1 -> n2 arrives\n" in shown.transcript
    assert shown.transcript.count("n2 delivers e1#2") == 2
    run = follow(
        parse_document(
            FOLDER / "run.txt", f"agent {FOLDER / 'late_failure.py'}\n{LATE}\n> n1 publishes e1; n1 publishes e1\n"
        )
    )
    assert run.count("n2 delivers e1#2") == 2


RING = "links n1-n2 n2-n3 n1-n3\n"


def test_a_probe_is_followed_in_every_order() -> None:
    """As the publication itself is: over another node it can come before."""
    probed = explored(f"{FOLDER / 'repeats_later.py'}:Wrong", RING + "may n3 subscribes f1\n", "probes arrive")
    published = explored(f"{FOLDER / 'repeats_later.py'}:Wrong", RING + "setup\n  n3 subscribes f1\n" + ONCE, NOT_TWICE)
    assert probed.verdicts["probes arrive"].startswith("does not hold: what n1 publishes comes 2 times to n3")
    assert published.verdicts[NOT_TWICE].startswith("does not hold: ")


@pytest.mark.parametrize("head", ["", "relative time\nmessages fast\n"])
def test_a_probe_waits_for_the_timers_that_it_sets(head: str) -> None:
    """A right flood that repeats after a millisecond is not accused."""
    line = "links n1-n2 n2-n3\nmay n3 subscribes f1\n"
    found = explored(f"{FOLDER / 'repeats_later.py'}:Flood", head + line, "probes arrive")
    assert found.verdicts["probes arrive"].startswith("holds within: ")


def test_a_caught_refusal_of_relative_time_is_refused(tmp_path: Path) -> None:
    """And a moment has no text."""
    for number, line in enumerate(("int(now)", "str([now])", "f'{now}'")):
        text = (FOLDER / "integer_of_now.py").read_text()
        body = f"try:\n            {line}\n        except Exception:\n            pass\n        "
        (tmp_path / f"catches{number}.py").write_text(re.sub(r"(\(self, event, now\):\n        )", rf"\1{body}", text))
        with pytest.raises(UserError, match="and catches the error"):
            explored(str(tmp_path / f"catches{number}.py"), f"relative time\n{LINE}{ONCE}", NOT_TWICE)


def test_right_agents_pass() -> None:
    """Objects that lie in a set and a list stay the same objects, and a `partial` is copied."""
    jobs = explored(str(FOLDER / "jobs_in_set.py:A"), TOPICS + TWO_TOPICS, ORDER, DELIVERED)
    assert set(jobs.verdicts.values()) == {f"holds within: {MOMENTS}"}
    kept = explored(str(FOLDER / "keeps_partial.py"), LINE + ONCE, NOT_TWICE, DELIVERED)
    assert set(kept.verdicts.values()) == {f"holds within: {MOMENTS}"}


def test_a_time_is_an_integer_for_c_code_and_checks_of_its_type() -> None:
    """A right agent is not accused of the error that only a stand-in of the time raises."""
    found = explored(str(FOLDER / "integer_type.py"), LINE + ONCE, NOT_TWICE, DELIVERED)
    assert set(found.verdicts.values()) == {f"holds within: {MOMENTS}"}


@pytest.mark.parametrize(("agent", "head"), [("own_address", ""), ("integer_type", "relative time\n")])
def test_an_error_that_no_run_raises_is_told_as_a_difference(agent: str, head: str) -> None:
    """A copy, or a moment in place of the time, has raised it."""
    found = explored(str(FOLDER / f"{agent}.py"), head + LINE + ONCE, NOT_TWICE)
    (shown,) = found.counterexamples
    assert shown.name == "agents repeat what they did"
    assert shown.text.startswith("a fresh run does not raise the error of the search: ")
    assert "n2 delivers e1" in shown.transcript


def test_a_function_without_a_name_is_refused_by_its_path() -> None:
    """Its defaults hold the agent of the setup, which would be handled in place of the copy."""
    with pytest.raises(UserError, match=r"self.how\['deliver'\] is the function .*lambda.*, which cannot be copied"):
        explored(str(FOLDER / "lambda_table.py"), LINE + TWICE, NOT_TWICE)


def test_the_shared_generator_is_refused() -> None:
    """As in a run."""
    with pytest.raises(RoambusError, match="drawn from Python's shared generator"):
        explored(str(FOLDER / "shared_random.py"), LINE + ONCE, NOT_TWICE)


KEEPER = '''"""Keeps {what}."""
from roambus import Agent, Publish, Subscribe, on
import array, re, struct, threading, weakref


class A(Agent):
    """Keeps it from its first event on."""

    @on(Publish)
    def publish(self, event, now):
        self.kept = {what}
        self.deliver(event.notification)
'''


@pytest.mark.parametrize(
    ("what", "refused"),
    [
        ("array.array('i', [1])", ""),
        ("re.compile('a')", ""),
        ("threading.Lock()", "self.kept is a lock"),
        ("struct.Struct('!H')", "self.kept is a Struct"),
        ("(one for one in 'ab')", "self.kept is a generator"),
        ("{'f': lambda: 1}", r"self.kept\['f'\] is the function"),
        ("weakref.proxy(lambda: None)", "self.kept is a CallableProxyType"),
    ],
)
def test_an_attribute_is_copied_or_refused_by_its_name(tmp_path: Path, what: str, refused: str) -> None:
    """No attribute ends in a traceback."""
    (tmp_path / "keeper.py").write_text(KEEPER.format(what=what))
    rest = "links n1-n2\nsetup\n  n1 subscribes f1\n" + ONCE
    if refused:
        with pytest.raises(UserError, match=refused):
            explored(str(tmp_path / "keeper.py"), rest, NOT_TWICE)
    else:
        assert explored(str(tmp_path / "keeper.py"), rest, NOT_TWICE).verdicts[NOT_TWICE].startswith("holds in all")


@pytest.mark.parametrize("returned", ["False", "0", "''", "[]", "True", "view.agents[0].missing"])
def test_a_property_returns_a_text_or_nothing(tmp_path: Path, returned: str) -> None:
    """All else is an error of its author, and never a verdict."""
    (tmp_path / "mine.py").write_text(
        "from roambus.extensions.exploring.properties import once_quiet\n\n\n"
        f"@once_quiet\ndef mine(view):\n    return {returned}\n"
    )
    with pytest.raises(UserError, match=r"property 'mine' (returned|raised AttributeError.* at mine\.py:6)"):
        explored("flooding", LINE + ONCE, f"{tmp_path / 'mine.py'}:mine")


def run(folder: Path, agent: str) -> subprocess.Popen[str]:
    """Start `roambus explore` in a process of its own."""
    (folder / "q.txt").write_text(f"agent {FOLDER / agent}.py\n{LINE}{ONCE}must {NOT_TWICE}\n")
    command = [sys.executable, "-m", "roambus", "explore", "q.txt"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_an_agent_that_exits_is_found(tmp_path: Path) -> None:
    """`sys.exit(0)` in a handler is an error of the agent, and exit code 1."""
    out, _ = run(tmp_path, "exits").communicate(timeout=120)
    assert "agents raise no errors: does not hold: " in out
    assert "nothing twice: not decided: an agent raised an error" in out


def test_an_agent_that_ends_the_process_is_reported(tmp_path: Path) -> None:
    """`os._exit(0)` ends the child process that searches, and not with exit code 0."""
    (tmp_path / "gone.py").write_text(
        (FOLDER / "exits.py").read_text().replace("sys.exit(0)", "__import__('os')._exit(0)")
    )
    (tmp_path / "q.txt").write_text(f"agent gone.py\n{LINE}{ONCE}must {NOT_TWICE}\n")
    command = [sys.executable, "-m", "roambus", "explore", "q.txt"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, "ended the process of its run, with exit code 0" in ended.stderr) == (4, True)


def child_seconds(parent: int) -> float:
    """The time of the processor that the child of a process has had; its setup takes less than a second."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    stat = Path(f"/proc/{children[0]}/stat").read_text().rpartition(")")[2].split() if children else ["0"] * 13
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_endless_loop_is_ended_by_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    """The handler is interrupted wherever it is, and the report says so."""
    running = run(tmp_path, "endless")
    assert running.stderr is not None
    assert "runs agent" in running.stderr.readline()
    while child_seconds(running.pid) < 1.5 and running.poll() is None:
        time.sleep(0.1)
    os.kill(running.pid, number)
    out, _ = running.communicate(timeout=120)
    assert running.returncode == 130
    assert "not decided: the search was cut at Ctrl-C" in out


def test_exit_codes_tell_the_four_verdicts_apart(tmp_path: Path) -> None:
    """0 in all states, 6 within bounds, 1 violated, 5 undecided."""
    codes = []
    for agent, rest in (("order kept", ""), ("order kept", "for 1s\n"), ("probes arrive", "may link n1-n2 down\n")):
        (tmp_path / "q.txt").write_text(f"agent flooding\n{LINE}{ONCE}{rest}must {agent}\n")
        codes.append(CliRunner().invoke(commands, ["explore", str(tmp_path / "q.txt")]).exit_code)
    (tmp_path / "q.txt").write_text(f"agent {FOLDER / 'subclass.py'}\n{LINE}{TWICE}must {NOT_TWICE}\n")
    codes.append(CliRunner().invoke(commands, ["explore", str(tmp_path / "q.txt")]).exit_code)
    codes.append(CliRunner().invoke(commands, ["explore", str(tmp_path / "q.txt"), "--states", "1"]).exit_code)
    codes.append(CliRunner().invoke(commands, ["explore", str(tmp_path / "q.txt"), "--keep", "kept"]).exit_code)
    assert codes[3:] == [1, 5, 2]


def test_a_counter_that_grows_for_ever_is_named(tmp_path: Path) -> None:
    """With the attribute, the node, and what to do."""
    text = f"agent roambus.extensions.exploring.tests.small_agents:Counting\nrelative time\n{LINE}must {NOT_TWICE}\n"
    (tmp_path / "q.txt").write_text(text)
    ((name, question),) = variants(parse_question(tmp_path / "q.txt", text))
    found = search(question, Overrides(), Bounds(states=60)).report(name)
    assert "attribute `beats` of node n" in found.verdicts[NOT_TWICE]
