"""A record holds everything that simulator and host said, or it is not there; damage is told with its place."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge.backend import Backend, Hello, Step, Totals, Transmission
from roambus.bridge.system.errors import AgentError, BackendError, UserError
from roambus.bridge.trace.parquet import TraceLevel
from roambus.bridge.wire.wire_pb2 import FromSimulator, Goodbye, ToSimulator
from roambus.extensions.recording.record_file import RecordWriter, open_record
from roambus.extensions.recording.record_pb2 import Header
from roambus.extensions.recording.replay import rerun
from roambus.extensions.recording.tests import records
from roambus.extensions.recording.tests.records import failing, record, write_counting
from roambus.python_protocol.simtime import SimTime
from roambus.testing.backend_case import Case, Factory
from tests.bridge.backends.conformance import make_given_graph, make_radio

ROOT = Path(__file__).parents[3]


def kinds(path: Path) -> list[str]:
    """What was said, in order."""
    with open_record(path) as opened:
        return [frame.kind for frame in opened.frames()]


def left_in(folder: Path) -> set[str]:
    """What a run has left beside its inputs."""
    return {path.name for path in folder.iterdir()} - {"run.ini", "CC2420.txt", "agent.py", "__pycache__"}


def test_a_record_holds_the_whole_exchange(tmp_path: Path) -> None:
    """Hello and Welcome, Steps and Replies in turns, Finished and Goodbye."""
    said = kinds(record(tmp_path, write_counting(tmp_path, "agent")))
    assert said[:2] == ["hello", "welcome"]
    assert said[-2:] == ["finished", "goodbye"]
    assert set(said[2:-2:2]) == {"step"}
    assert set(said[3:-2:2]) == {"reply"}
    assert len(said) > 20


def test_the_header_holds_what_the_run_depends_on(tmp_path: Path) -> None:
    """Ini, radio parameters file, agent and level, and who wrote it."""
    with open_record(record(tmp_path, "beacon", level=TraceLevel.FULL)) as opened:
        header = opened.header
    assert header.ini == (tmp_path / "run.ini").read_text()
    assert (header.radio_file_name, header.radio_file) == ("CC2420.txt", (tmp_path / "CC2420.txt").read_bytes())
    assert (header.agent, header.level, header.roambus_version) == ("beacon", "full", "0.1.0")


@pytest.mark.parametrize("factory", [make_given_graph, make_radio])
def test_the_same_run_has_the_same_record(tmp_path: Path, factory: Factory) -> None:
    """Byte for byte."""
    first = record(tmp_path, "beacon", factory).read_bytes()
    assert record(tmp_path, "beacon", factory).read_bytes() == first


def test_a_run_whose_agent_raised_has_a_record_up_to_there(tmp_path: Path) -> None:
    """It ends with the Step that the agent raised on, and why."""
    agent = write_counting(tmp_path, "agent", "def hear(self, number):\n    raise KeyError(number)")
    with pytest.raises(AgentError):
        record(tmp_path, agent)
    assert kinds(tmp_path / "frames.roambus")[-2:] == ["step", "failed"]
    with open_record(tmp_path / "frames.roambus") as opened:
        *_, last = opened.frames()
    assert isinstance(last.message, ToSimulator)
    assert (last.message.failed.node, last.message.failed.time) == (1, 1_001_000_000)
    assert "KeyError: 0" in last.message.failed.reason


def test_a_run_whose_simulator_failed_has_a_record_up_to_there(tmp_path: Path) -> None:
    """It ends with the simulator's reason."""
    with pytest.raises(BackendError):
        record(tmp_path, "beacon", failing(BackendError("out of memory")))
    assert kinds(tmp_path / "frames.roambus")[-2:] == ["reply", "failed"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device"), RuntimeError("ours")])
def test_a_run_that_ended_otherwise_has_none(tmp_path: Path, error: BaseException) -> None:
    """Nor a part of one under another name."""
    with pytest.raises(type(error)):
        record(tmp_path, write_counting(tmp_path, "agent"), failing(error))
    assert left_in(tmp_path) == set()


def test_a_killed_run_has_none(tmp_path: Path) -> None:
    """What it leaves is hidden, and has another name."""
    agent = write_counting(
        tmp_path, "agent", "def hear(self, number):\n    import time\n    return time.sleep(1) or []"
    )
    code = f"import sys, pathlib; import {records.__name__} as r; r.record(pathlib.Path(sys.argv[1]), sys.argv[2])"
    with subprocess.Popen([sys.executable, "-c", code, tmp_path, agent], cwd=ROOT) as running:
        deadline = time.monotonic() + 40
        while not list(tmp_path.glob(".frames.roambus.*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        running.kill()
    assert running.returncode == -signal.SIGKILL
    assert [name[:16] for name in left_in(tmp_path) if "frames" in name] == [".frames.roambus."]


class Divided:
    """Tells every delivery in a Step of its own."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._parts: list[Step] = []
        self._kept: list[Transmission] = []

    def open(self) -> Hello:
        return self._backend.open()

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        self._kept += transmissions
        if self._parts:
            return self._parts.pop(0)
        step = self._backend.advance(self._kept, wake_up)
        self._kept.clear()
        if step is None or not step.deliveries:
            return step
        self._parts = [Step(step.now, [delivery], more=True) for delivery in step.deliveries]
        self._parts[-1] = self._parts[-1]._replace(more=False)
        return self._parts.pop(0)

    def fail(self, error: BaseException) -> None:
        self._backend.fail(error)

    def close(self) -> Totals:
        return self._backend.close()


def test_an_instant_in_parts_is_recorded_in_parts(tmp_path: Path) -> None:
    """Parts that announce more have answers without a wake-up; the agents agree when they are run again."""

    def divided(case: Case) -> Backend:
        return Divided(make_given_graph(case))

    path = record(tmp_path, "flooding", divided)
    with open_record(path) as opened:
        messages = [frame.message for frame in opened.frames()]
    announcing = [k for k, message in enumerate(messages) if isinstance(message, FromSimulator) and message.step.more]
    assert announcing
    answers = [messages[k + 1] for k in announcing]
    assert not any(isinstance(answer, ToSimulator) and answer.reply.HasField("wake_up") for answer in answers)
    assert rerun(path).frames == len(messages)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record to damage."""
    folder = tmp_path_factory.mktemp("good")
    return record(folder, write_counting(folder, "agent"))


@given(data=st.data())
def test_a_damaged_record_is_reported(good: Path, data: st.DataObject) -> None:
    """Whichever byte is not what it was."""
    content = bytearray(good.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path = good.with_name("damaged")
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"damaged: (damaged|cut off) at byte \d+|this is not a record"):
        rerun(path)


@given(data=st.data())
def test_a_record_that_is_cut_off_is_reported(good: Path, data: st.DataObject) -> None:
    """Wherever; also between two frames."""
    content = good.read_bytes()
    path = good.with_name("short")
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(
        UserError, match=r"short: cut off at byte \d+|damaged at byte 17: the header|this is not a record"
    ):
        rerun(path)


def test_the_frames_before_the_damage_are_good(good: Path) -> None:
    """And the place is that of the frame, not of the byte."""
    with open_record(good) as opened:
        whole = list(opened.frames())
    content = bytearray(good.read_bytes())
    content[whole[-2].offset + 12] ^= 1
    path = good.with_name("late")
    path.write_bytes(content)
    with open_record(path) as opened, pytest.raises(UserError, match=f"at byte {whole[-2].offset}: its checksum"):
        list(opened.frames())
    with open_record(path) as opened:
        frames = opened.frames()
        assert [next(frames) for _ in whole[:-2]] == whole[:-2]


def write_record(path: Path, header: Header, *messages: FromSimulator | ToSimulator) -> Path:
    writer = RecordWriter(path, header)
    for message in messages:
        writer.write(message)
    writer.finish()
    return path


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    """Another file, and records that nobody wrote: with an end before the end, or a radio file elsewhere."""
    other = tmp_path / "other"
    other.write_bytes(b"PAR1")
    with pytest.raises(UserError, match="other: this is not a record of a run"):
        rerun(other)
    goodbye = ToSimulator(goodbye=Goodbye())
    twice = write_record(tmp_path / "twice", Header(agent="beacon"), goodbye, goodbye)
    with pytest.raises(UserError, match="nothing can follow the end of the run"):
        kinds(twice)
    outside = write_record(tmp_path / "outside", Header(agent="beacon", radio_file_name="../other"), goodbye)
    with pytest.raises(UserError, match=r"'\.\./other' is not a name of a radio parameters file"):
        rerun(outside)
    assert other.read_bytes() == b"PAR1"
