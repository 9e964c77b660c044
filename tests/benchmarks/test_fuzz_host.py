"""The host withstands mutated frames; `python -m benchmarks.trials fuzz` feeds it a million."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from benchmarks.trials.__main__ import main
from benchmarks.trials.fuzz import GONE, HANDLED, REJECTED, Conversation, FramesInMemory, FramesOnSocket, feed, record
from roambus.bridge.wire.wire_pb2 import FromSimulator
from roambus.python_protocol.vocabulary import MILLISECOND

pytestmark = pytest.mark.usefixtures("stand_in")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory, stand_in: Path) -> Conversation:  # is built
    return record("mft", tmp_path_factory.mktemp("recorded"), MILLISECOND)


def test_mutated_frames_are_handled_or_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing else is raised, nothing hangs, and memory stays bounded, for a thousand of them."""
    assert main(["fuzz", "--trials", "1000", "--seed", "11"]) == 0
    head, _, *rows = [line.strip("|").split("|") for line in capsys.readouterr().out.splitlines() if "|" in line]
    of_frames = [dict(zip(map(str.strip, head), map(str.strip, row), strict=True)) for row in rows]
    counts = {end: sum(int(row[end]) for row in of_frames) for end in (HANDLED, REJECTED, GONE, "broken")}
    assert counts[HANDLED] + counts[REJECTED] + counts[GONE] == 1000
    assert min(counts[HANDLED], counts[REJECTED], counts[GONE]) > 0
    assert counts["broken"] == 0


@pytest.mark.parametrize("feeder", [FramesInMemory, FramesOnSocket])
def test_what_is_not_mutated_is_handled_to_the_end(
    recording: Conversation, feeder: type[FramesInMemory | FramesOnSocket]
) -> None:
    """The short conversations are valid, so that a rejection is the mutation's doing."""
    for seed in range(20):
        short = recording.cut(Random(seed))
        assert feed(short, short.frames, feeder) == HANDLED


def test_a_code_that_lets_something_else_through_is_found(
    recording: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fuzzer does not swallow what the host should not raise."""
    short = recording.cut(Random(1))

    def raising(*_: object) -> FromSimulator:
        raise ZeroDivisionError

    monkeypatch.setattr("roambus.bridge.wire.conversion.parse", raising)
    with pytest.raises(ZeroDivisionError):
        feed(short, short.frames, FramesInMemory)


def test_a_mistake_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the stand-in there is nothing to record."""
    monkeypatch.setattr("benchmarks.trials.processes.STAND_IN", Path("/nowhere/stand-in"))
    assert main(["fuzz", "--trials", "1"]) == 2
    assert capsys.readouterr().err == (
        "trials fuzz: /nowhere/stand-in is not there: build it with make -C omnet stand-in\n"
    )
