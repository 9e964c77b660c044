"""Metrics on a Spark Connect server, and what a user is told who has none."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import METRICS_FOLDER
from roambus.spark.engine.session import spark_session
from tests.spark.synthetic import random_trace, write_trace
from tests.support.commands import environment
from tests.support.slurm import wait_until


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The URL of a server of PySpark's own Spark, in a process of its own."""
    pytest.importorskip("grpc_status", reason="grpcio-status is not installed: it is in the extra connect")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "roambus.spark.standalone", "connect", "--port", str(port), "--master", "local[2]"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: process.poll() is not None or _answers(port))
            yield f"sc://127.0.0.1:{port}"
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


@pytest.mark.slow
def test_a_server_computes_the_same_metrics(server: str, tmp_path: Path) -> None:
    """Byte for byte, and the session that computed them is released."""
    for folder in ("here", "there"):
        for seed in range(3):
            write_trace(tmp_path / folder, f"agent=mft/seed={seed}", random_trace(seed))
    for folder, options in (("here", []), ("there", ["--spark", server])):
        command = [sys.executable, "-m", "roambus", "aggregate", folder, *options]
        subprocess.run(command, cwd=tmp_path, env=environment(), check=True, capture_output=True)
    for name in ("runs.csv", "points.csv"):
        here, there = (tmp_path / folder / METRICS_FOLDER / name for folder in ("here", "there"))
        assert here.read_bytes() == there.read_bytes()


@pytest.mark.parametrize(
    ("url", "problem"),
    [("sc://127.0.0.1:1", "no Spark Connect server answers"), ("sc://somewhere", "write sc://HOST:PORT")],
)
def test_a_server_that_is_not_there_is_told(url: str, problem: str) -> None:
    """With what to do."""
    with pytest.raises(UserError, match=problem), spark_session(url):
        pass
