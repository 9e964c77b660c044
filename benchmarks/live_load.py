"""Measures live nodes: CPU and memory of each, datagrams a second, and how late timers are, over the number of nodes.

python -m benchmarks.live_load 4 8 16 32 64

Each number of nodes makes one live run: nodes of the template `field` that stand still, so close that all hear each
other, and send a beacon a second. So n nodes receive n (n - 1) datagrams a second, and a processor that is full shows
in timers that are late. A node's CPU time, its start included, is divided by the datagrams that it received. The
machine's load before each run is printed, because other processes disturb the measurement: compare runs of one machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from roambus.bridge.trace.parquet import read_trace

HEAD = "nodes  datagrams/s  CPU/node  us/datagram   MiB  late, median       p99  load"


def measure(nodes: int, seconds: int) -> str:
    """A row of the table."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        settings = ["--set", f"nodes={nodes}", "--set", f"time_limit={seconds}", "--set", "side=20"]
        command = [sys.executable, "-m", "roambus", "-q", "live", "field", "--agent", "beacon", *settings]
        subprocess.run([*command, "--out", folder], check=True, stdout=subprocess.DEVNULL)
        (trace,) = Path(folder).rglob("trace.parquet")
        rows = read_trace(trace).to_pandas()
    counts = rows[rows.event == "radio"].assign(value=lambda table: table.detail.astype(float))
    of = {name: group.value.to_numpy() for name, group in counts.groupby("message_type")}
    received = of["frames_received"].sum()
    return (
        f"{nodes:>5} {received / seconds:>12.0f} {of['cpu_ms'].mean() / 10 / seconds:>8.2f}% "
        f"{1000 * of['cpu_ms'].sum() / received:>12.0f} {of['memory_mib'].mean():>5.0f} "
        f"{np.median(of['late_p50_us']) / 1000:>10.2f} ms {of['late_p99_us'].max() / 1000:>6.2f} ms  {load:.1f}"
    )


def main() -> None:
    """Prints a row for each number of nodes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int, nargs="+")
    parser.add_argument("--seconds", type=int, default=10, help="how long each run lasts (10)")
    asked = parser.parse_args()
    print(HEAD)
    for number in asked.nodes:
        print(measure(number, asked.seconds), flush=True)


if __name__ == "__main__":
    main()
