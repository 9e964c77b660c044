"""The agents of a record do again what they did; a changed agent is told where it first differs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from roambus.bridge.system.errors import AgentError, BackendError, UserError
from roambus.bridge.trace.parquet import TraceLevel
from roambus.bridge.wire.wire_pb2 import FromSimulator
from roambus.extensions.recording.record_file import RecordWriter, open_record
from roambus.extensions.recording.replay import DifferenceError, rerun
from roambus.extensions.recording.tests.records import failing, record, write_counting
from roambus.python_protocol.simtime import MILLISECOND
from roambus.testing.backend_case import Factory
from tests.bridge.backends.conformance import SUBJECTS

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-c", "import sys; sys.argv[0] = 'roambus'; from roambus.command_line import main; main()"]


def length(path: Path) -> int:
    with open_record(path) as opened:
        return sum(1 for _ in opened.frames())


@pytest.mark.parametrize("factory", SUBJECTS)
@pytest.mark.parametrize(("agent", "parameters"), [("beacon", "rate=5"), ("flooding", ""), ("mft", ""), ("aodv", "")])
def test_the_same_agent_agrees(tmp_path: Path, factory: Factory, agent: str, parameters: str) -> None:
    """In every frame, over every back-end, with a processing delay and without."""
    for delay in (0, MILLISECOND):
        path = record(tmp_path, agent, factory, parameters, level=TraceLevel.FULL, processing_delay=delay)
        done = rerun(path)
        assert (done.frames, done.ending) == (length(path), "the run ended at its time limit")
        assert done.frames > 20


def test_a_changed_agent_is_reported_where_it_first_differs(tmp_path: Path) -> None:
    """The frame, the time, and both messages, decoded."""
    path = record(tmp_path, write_counting(tmp_path, "agent"))
    changed = write_counting(tmp_path, "changed", "def number(self, count):\n    return count if count < 2 else 7")
    with pytest.raises(DifferenceError) as caught:
        rerun(path, changed)
    first, recorded, now = str(caught.value).splitlines()
    assert first == f"{path}: frame {caught.value.frame}, simulation time 3s: the agents differ"
    assert recorded == "  recorded: node 0 sends to all at 3s: Marker(number=2)"
    assert now == "  now:      node 0 sends to all at 3s: Marker(number=7)"
    with open_record(path) as opened:
        step = [frame.message for frame in opened.frames()][caught.value.frame - 2]
    assert isinstance(step, FromSimulator)
    assert step.step.now == 3_000_000_000


@pytest.mark.parametrize(
    ("changes", "recorded", "now"),
    [
        ("def hear(self, number):\n    return [Send(2, Marker(9))] if self.node == 1 else []",
         "nothing more is sent", "node 1 sends to node 2 at 1.001s: Marker(number=9)"),
        ("def hear(self, number):\n    return [SetTimer('x', 5)] if self.node == 1 else []",
         "something is due next at 1.262131448s", "something is due next at 1.001000005s"),
    ],
)  # fmt: skip
def test_anything_that_is_different_is_reported(tmp_path: Path, changes: str, recorded: str, now: str) -> None:
    """A message too many, and a timer before the next publication."""
    path = record(tmp_path, write_counting(tmp_path, "agent"))
    with pytest.raises(DifferenceError, match=r"simulation time 1\.001s") as caught:
        rerun(path, write_counting(tmp_path, "changed", changes))
    assert str(caught.value).endswith(f"\n  recorded: {recorded}\n  now:      {now}")


def test_another_protocol_differs_from_the_start(tmp_path: Path) -> None:
    """Its messages are not decoded with the record's."""
    path = record(tmp_path, "beacon")
    with pytest.raises(DifferenceError, match="something is due next"):
        rerun(path, write_counting(tmp_path, "changed"))


RAISING = "def hear(self, number):\n    if number == 2: raise KeyError(number)\n    return []"


def test_an_agent_that_raised_raises_again(tmp_path: Path) -> None:
    """In the same frame."""
    with pytest.raises(AgentError) as recorded:
        record(tmp_path, write_counting(tmp_path, "agent", RAISING))
    path = tmp_path / "frames.roambus"
    with pytest.raises(AgentError) as again:
        rerun(path)
    assert str(again.value) == f"{path}: frame {length(path)}, as recorded: {recorded.value}"


def test_an_agent_that_no_longer_raises_differs_there(tmp_path: Path) -> None:
    """The record says that it did."""
    with pytest.raises(AgentError):
        record(tmp_path, write_counting(tmp_path, "agent", RAISING))
    with pytest.raises(
        DifferenceError, match=r"recorded: the agent raised: agent Counting, node 1,.*\n  now:      it did not raise"
    ):
        rerun(tmp_path / "frames.roambus", write_counting(tmp_path, "repaired"))


def test_an_agent_that_raises_where_the_record_goes_on_is_reported(tmp_path: Path) -> None:
    """With the frame that it had to answer."""
    path = record(tmp_path, write_counting(tmp_path, "agent"))
    with pytest.raises(AgentError, match=r"frame \d+, though not in the record: agent Counting, node 1, .*KeyError: 2"):
        rerun(path, write_counting(tmp_path, "changed", RAISING))


def test_a_record_that_the_simulator_ended_is_good_up_to_there(tmp_path: Path) -> None:
    """The agents agree, and the end is told."""
    with pytest.raises(BackendError):
        record(tmp_path, "beacon", failing(BackendError("out of memory")))
    done = rerun(tmp_path / "frames.roambus")
    assert (done.frames, done.ending) == (23, "there the simulator had failed: out of memory")


def test_a_record_of_another_schema_is_refused(tmp_path: Path) -> None:
    """With the version that wrote it."""
    path = record(tmp_path, "beacon")
    with open_record(path) as opened:
        header, messages = opened.header, [frame.message for frame in opened.frames()]
    header.roambus_version = "0.0.9"
    writer = RecordWriter(tmp_path / "old", header)
    assert isinstance(messages[0], FromSimulator)
    messages[0].hello.schema_hash = bytes(32)
    for message in messages:
        writer.write(message)
    writer.finish()
    with pytest.raises(UserError, match=r"written by roambus 0\.0\.9 with another wire\.proto"):
        rerun(tmp_path / "old")


def roambus(*arguments: object, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input=typed,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_command_tells_agreement_and_difference(tmp_path: Path) -> None:
    """Exit codes 0 and 1; a file that is not there is the user's mistake."""
    path = record(tmp_path, write_counting(tmp_path, "agent"))
    done = roambus("rerun", path)
    assert done.returncode == 0
    assert done.stderr.endswith("unchanged since the run)\n")
    assert done.stdout == f"{path}: {length(path)} frames agree; the run ended at its time limit\n"
    changed = write_counting(tmp_path, "changed", "def number(self, count):\n    return 5")
    done = roambus("rerun", path, "--agent", changed)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"\nerror: {path}: frame " in done.stderr
    assert done.stderr.endswith("  now:      node 0 sends to all at 1s: Marker(number=5)\n")
    done = roambus("rerun", tmp_path / "nothing")
    assert (done.returncode, done.stderr) == (2, f"error: {tmp_path / 'nothing'}: No such file or directory\n")


def test_the_debugger_opens_where_an_agent_raised(tmp_path: Path) -> None:
    """With the agent's own variables; the exit code is that of the agent's mistake."""
    with pytest.raises(AgentError):
        record(tmp_path, write_counting(tmp_path, "agent", RAISING))
    done = roambus("rerun", tmp_path / "frames.roambus", "--pdb", typed="p self.node, number\nq\n")
    assert "-> if number == 2: raise KeyError(number)" in done.stdout
    assert "(1, 2)" in done.stdout
    assert done.returncode == 4
    assert "as recorded: agent Counting, node 1" in done.stderr


def test_the_debugger_opens_before_the_first_difference(tmp_path: Path) -> None:
    """It stops in the agent's own file, where the step is handled; then the difference is told as without it."""
    path = record(tmp_path, write_counting(tmp_path, "agent"))
    changed = write_counting(tmp_path, "changed", "def number(self, count):\n    return count if count < 2 else 7")
    line = Path(changed).read_text().splitlines().index("        return count if count < 2 else 7") + 1
    typed = f"p now\nb {changed}:{line}\nc\np count\nq\n"
    done = roambus("rerun", path, "--agent", changed, "--pdb", typed=typed)
    assert done.stdout.startswith(f"> {changed}(")
    assert "(Pdb) 3000000000\n" in done.stdout
    assert "(Pdb) 2\n" in done.stdout
    assert done.returncode == 1
    assert done.stderr.endswith("  now:      node 0 sends to all at 3s: Marker(number=7)\n")


def test_the_debugger_opens_at_a_time(tmp_path: Path) -> None:
    """Where an agent is next called; then the run goes on, or ends where the debugger is left."""
    path = record(tmp_path, write_counting(tmp_path, "agent"))
    done = roambus("rerun", path, "--pdb", "--at", "1500ms", typed="p now\nc\n")
    assert (done.returncode, done.stdout.count("(Pdb) ")) == (0, 2)
    assert "(Pdb) 2000000000\n" in done.stdout
    done = roambus("rerun", path, "--pdb", "--at", "1500ms", typed="q\n")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (130, f"error: {path}: the debugger was left")
    for options, message in (
        (["--at", "1s"], "--at requires --pdb"),
        (["--pdb", "--at", "noon"], "--at: 'noon' is not a time such as 1.5s, 20ms or 100us"),
    ):
        done = roambus("rerun", path, *options)
        assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"error: {message}")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("level", "all", "damaged at byte 0: 'all' is not a valid TraceLevel"),
        ("radio_file_name", "", "damaged at byte 0: .* is not a path of a file"),
        ("radio_file_name", "..", "damaged at byte 0: .* is not a path of a file"),
        ("radio_file_name", "a\0b", "damaged at byte 0: .* is not a path of a file"),
        ("radio_file_name", "a" * 5000, "its file 'a{80}' cannot be written: File name too long"),
    ],
)
def test_a_record_of_a_strangers_is_refused_with_one_message(
    tmp_path: Path, field: str, value: str, message: str
) -> None:
    """Its header can say anything, with a checksum that is right."""
    with open_record(record(tmp_path, "beacon", cast("Factory", SUBJECTS[0].values[0]), "rate=5")) as good:
        header = good.header
    setattr(header, field, value)
    with RecordWriter(tmp_path / "forged", header) as forged:
        forged.finish()
    with pytest.raises(UserError, match=f"forged: {message}"):
        rerun(tmp_path / "forged")
