"""The cost of one run: a small one is measured, and mistakes are told in one line."""

from pathlib import Path

import pytest

from benchmarks.run_cost import LIBRARY, ROOT, component_of, main


def test_a_small_run_is_measured_and_profiled(capsys: pytest.CaptureFixture[str]) -> None:
    """Times, memory and counts, then the shares of the components, all of them those of a run with traffic."""
    assert main(["--agent", "mft", "--config", "C2", "--seconds", "10", "--profile"]) == 0
    lines = capsys.readouterr().out.splitlines()
    counts = {name: int(number.replace(",", "")) for name, number in map(str.split, lines[4:8])}
    assert list(counts) == ["steps", "deliveries", "sends", "rows"]
    assert counts["steps"] > counts["sends"] > 10
    assert counts["rows"] > counts["sends"]
    assert {"agent", "host", "back-end", "codec", "trace", "radio kernel"} <= {line.split("%  ")[-1] for line in lines}


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [
        ("--config", "C9", "unknown value 'C9'"),
        ("--agent", "mfd", "did you mean 'mft'?"),
        ("--speed", "2,8", "one value each"),
        ("--seconds", "-3", "time_limit: -3s is negative"),
    ],
)
def test_a_mistake_is_one_line(capsys: pytest.CaptureFixture[str], option: str, value: str, why: str) -> None:
    """Nothing runs, and the exit code is 2."""
    assert main([option, value]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert why in error


@pytest.mark.parametrize(
    ("file", "component"),
    [
        ("bridge/host/event_loop.py", "host"),
        ("bridge/trace/parquet.py", "trace"),
        ("bridge/backends/radio/backend.py", "back-end"),
        ("python_protocol/messages/layout.py", "codec"),
        ("python_protocol/aodv/messages.py", "codec"),
        ("python_protocol/aodv/routing_table.py", "agent"),
        ("python_protocol/parts/link.py", "agent"),
    ],
)
def test_a_file_belongs_to_a_component(file: str, component: str) -> None:
    """The nearest entry decides; what is not ours is a library's."""
    assert component_of((str(ROOT / file), 1, "f")) == component
    assert component_of((str(Path("/elsewhere", file)), 1, "f")) == LIBRARY
