"""The parts of a cluster listen where they were asked to, or are not started."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from roambus.bridge.system.errors import UserError
from roambus.extensions.cluster import standalone


def test_a_port_that_is_taken_is_an_error(tmp_path: Path) -> None:
    """Spark would take the next one in silence, and workers would join whoever has the one that they were given."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = started(tmp_path, "master", "--port", port)
    assert done.returncode == UserError.exit_code
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert f"127.0.0.1:{port}: Address already in use: " in line
    assert "--port" in line
    assert not list(tmp_path.iterdir())


def test_an_address_of_another_machine_is_an_error(tmp_path: Path) -> None:
    """192.0.2.1 is nobody's: RFC 5737 keeps it for documents."""
    done = started(tmp_path, "master", "--host", "192.0.2.1")
    assert done.returncode == UserError.exit_code
    assert "192.0.2.1:7077" in done.stderr
    assert "--host" in done.stderr


def test_the_master_prints_its_url(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Workers and drivers are given it; a free port has a number by then."""
    monkeypatch.setattr(standalone, "_become", lambda *_: None)
    done = CliRunner().invoke(standalone.commands, ["master", "--port", "0", "--work", str(tmp_path)])
    assert re.fullmatch(r"spark://127\.0\.0\.1:[1-9]\d+\n", done.output)


def test_the_settings_of_its_log_are_there() -> None:
    """Spark would print an error, and then everything."""
    assert standalone._LOGGING.is_file()


def started(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What came of a part that should not start; one that does is ended, and the test fails."""
    command = [sys.executable, "-m", "roambus.extensions.cluster.standalone", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=40)
