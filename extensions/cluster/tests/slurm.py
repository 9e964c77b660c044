"""A SLURM of one node on this machine, of Debian's packages, for the time of a test."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

STARTS_S = 300.0
_CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


@contextmanager
def slurm(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """SLURM answers in the block, to whatever the environment calls; skips where it cannot be started."""
    programs = [
        shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in ("munged", "slurmctld", "slurmd")
    ]
    munged, slurmctld, slurmd = programs
    if not (munged and slurmctld and slurmd):
        pytest.skip("SLURM is not installed (Debian's packages slurmctld, slurmd and munge)")
    if os.geteuid() != 0:
        pytest.skip("only root can start SLURM's daemons")
    (folder / "key").write_bytes(secrets.token_bytes(128))
    (folder / "key").chmod(0o600)
    conf = folder / "slurm.conf"
    conf.write_text(_CONF.format(host=socket.gethostname().partition(".")[0], folder=folder, ports=_free_ports()))
    patch.setenv("SLURM_CONF", str(conf))
    files = [f"--{name}-file={folder}/munge.{name}" for name in ("pid", "log", "seed")]
    munge = [munged, "--foreground", "--force", f"--key-file={folder}/key", f"--socket={folder}/munge.socket", *files]
    with ExitStack() as started:
        for command in (munge, [slurmctld, "-D", "-c"], [slurmd, "-D", "-c"]):
            process = started.enter_context(subprocess.Popen(command, stderr=subprocess.DEVNULL))
            started.callback(process.terminate)
            if command is munge:
                wait_until((folder / "munge.socket").exists)
        wait_until(lambda: "idle" in asked("sinfo", "-h"))
        yield


def asked(*command: str) -> str:
    """What a command prints; empty while SLURM does not answer yet."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def submitted(script: Path) -> None:
    """Submits a job array, and waits until it has ended."""
    number = asked("sbatch", "--parsable", str(script)).strip()
    assert number
    wait_until(lambda: not asked("squeue", "-h", "-j", number))


def wait_until(holds: Callable[[], object]) -> None:
    """Looks four times a second."""
    deadline = time.monotonic() + STARTS_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.25)


def _free_ports() -> list[int]:
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        return [first.getsockname()[1], second.getsockname()[1]]
