"""Whether a change of the code has changed what agents do: hashes of the traces and frames of all our agents.

    python -m benchmarks.trace_hashes write FILE.json    runs every agent and writes the hashes
    python -m benchmarks.trace_hashes check FILE.json    runs them again, and prints each hash that differs
    python -m benchmarks.trace_hashes check FILE.json mft aodv    does so for these agents only

Each run is made by the command line in a process of its own. Of its trace the rows are hashed, all columns of them, and
not the file, which also holds the run's key. Of its record the frames are hashed that simulator and host exchanged
after they had greeted each other: they hold the bytes of every message on the air. Exit code 1 says that something
differs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from struct import Struct
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq
from rich.progress import track

USAGE = "usage: python -m benchmarks.trace_hashes write FILE.json | check FILE.json [AGENT ...]"
BARE = ("tree=given", "link_layer=false")
BROKER_FAMILY = ("simple", "resubscribing", "phoenix", "first-approach", "mft", "caching")
SIZES = {
    "C4": {"subscribers": 4, "brokers": 4, "side": 45, "time_limit": 60, "publish_until": 40},
    "C16": {"subscribers": 16, "brokers": 16, "side": 80, "time_limit": 25, "publish_until": 15},
}
_RECORD_HEAD = Struct("!BII")


@dataclass(frozen=True, slots=True)
class Job:
    """One run: what follows `roambus run` on the command line."""

    template: str
    agent: str
    backend: str = "radio"
    parameters: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the run in the file of hashes."""
        return " ".join((self.template, self.agent, self.backend, *self.parameters, *self.settings))

    def arguments(self, out: Path) -> list[str]:
        """The words after `roambus`."""
        words = ["run", self.template, "--agent", self.agent, "--backend", self.backend, "--seed", "1"]
        words += [word for parameter in self.parameters for word in ("--param", parameter)]
        words += [word for setting in self.settings for word in ("--set", setting)]
        return [*words, "--level", "full", "--record", "--out", str(out)]


def jobs() -> Iterator[Job]:
    """Every agent on C4 and C16 over the radio, and over ideal links; published variants of the protocols as well."""
    for size in SIZES.values():
        settings = tuple(f"{name}={value}" for name, value in {**size, "speed": 8}.items())
        for agent in (*BROKER_FAMILY, "beacon", "flooding", "gossip", "gossip-repair", "mft-lean", "aodv"):
            yield Job("thesis", agent, settings=settings)
        yield Job("thesis", "mft", parameters=("link_layer=false",), settings=settings)
        supervisor = f"supervisor={2 + size['subscribers']}"
        yield Job("thesis", "skip-ring", parameters=(supervisor,), settings=settings)
        derived = ("profile=derived", "hello_always=on", "destination_only=true")
        for parameters in (("profile=thesis",), derived):
            yield Job("thesis", "aodv", parameters=parameters, settings=settings)
    for agent in ("dsdv", "olsr", "dsr", "gpsr"):
        yield Job("flows", agent, settings=("flows=3", "speed=5", "noise=3", "publish_until=40", "time_limit=45"))
    for agent in ("epidemic", "spray", "prophet"):
        yield Job("apart", agent, settings=("side=150", "publish_interval=5", "time_limit=60"))
    for agent in ("ferry-fixed", "ferry-need"):
        yield Job("islands", agent, settings=("ferries=2", "time_limit=60"))
    lora = ("lora-flooding", "lora-gossip", "lora-gossip-repair", "lora-mft", "lora-mft-lean", "managed-flooding")
    for agent, mac in (*((agent, "LoRaCad") for agent in lora), ("lora-gossip", "LoRaAloha")):
        yield Job("lora", agent, settings=(f"mac={mac}", "publish_interval=60", "time_limit=300"))
    area = ("nodes=20", "side=80", "mobility=waypoint", "speed=5", "placed=true", "filter=within 30 of (40, 40)")
    yield Job("field", "geocast", settings=(*area, "time_limit=20"))
    yield Job("replicated", "replicated", settings=("sites=3", "publish_until=4"))
    yield from _ideal_jobs()


def _ideal_jobs() -> Iterator[Job]:
    for agent in BROKER_FAMILY:
        yield Job("tree", agent, "ideal", BARE)
        yield Job("migrations", agent, "ideal", BARE, ("moving=clients",))
    silent = ("publish_interval=0s",)
    for agent in ("beacon", "flooding", "gossip"):
        yield Job("field", agent, "ideal", settings=silent)
    yield Job("field", "aodv", "ideal", ("link_layer=false",), silent)
    yield Job("skip-ring", "skip-ring", "ideal")
    yield Job("caching-move", "caching", "ideal", BARE)
    published = ("home_decides", "correct_old", "forget_ways", "replay_always", "greet_back", "tell_turns", "ask_gaps")
    yield Job("migrations", "mft", "ideal", (*BARE, *(f"{name}=false" for name in published)))
    for routing in ("flooding", "filtering"):
        for order in ("none", "fifo", "total"):
            fault = ("fault=leader-crash", "sites=5")
            yield Job("replicated", "replicated", "ideal", (f"routing={routing}", f"order={order}"), fault)


def measure(job: Job) -> dict[str, str]:
    """The hashes of one run; raises RuntimeError with what the command line says if it fails."""
    with TemporaryDirectory() as folder:
        command = [str(Path(sys.executable).with_name("roambus")), *job.arguments(Path(folder))]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONHASHSEED": "0"}
        )
        if done.returncode:
            raise RuntimeError(f"{job.name}: {done.stderr}")
        run = Path(done.stdout.strip())
        return {"trace": trace_hash(run / "trace.parquet"), "frames": frames_hash(run / "frames.roambus")}


def trace_hash(path: Path) -> str:
    """sha256 over the rows of a trace."""
    table = pq.read_table(path).replace_schema_metadata().combine_chunks()
    digest = sha256()
    for column in table.columns:
        digest.update(str(column.to_pylist()).encode())
    return digest.hexdigest()


def frames_hash(path: Path) -> str:
    """sha256 over the frames of a record, less its header and the greetings."""
    data = path.read_bytes()
    offset, number, digest = data.index(b"\n") + 1, 0, sha256()
    while offset < len(data):
        _, length, _ = _RECORD_HEAD.unpack_from(data, offset)
        offset += _RECORD_HEAD.size
        if number > 2:
            digest.update(data[offset : offset + length])
        offset, number = offset + length, number + 1
    return digest.hexdigest()


def main(arguments: list[str]) -> int:
    """Writes or checks; see the head of this file."""
    match arguments:
        case ["write", file]:
            Path(file).write_text(json.dumps(_measure(list(jobs())), indent=1) + "\n", encoding="utf-8")
            return 0
        case ["check", file, *agents]:
            return _check(json.loads(Path(file).read_text(encoding="utf-8")), agents)
    print(USAGE, file=sys.stderr)
    return 2


def _measure(listed: list[Job]) -> dict[str, dict[str, str]]:
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return dict(
            zip((job.name for job in listed), track(pool.map(measure, listed), "runs", len(listed)), strict=True)
        )


def _check(recorded: dict[str, dict[str, str]], agents: list[str]) -> int:
    found = _measure([job for job in jobs() if not agents or job.agent in agents])
    differing = [
        f"{name}: the {kind} differ"
        for name, hashes in found.items()
        for kind in ("trace", "frames")
        if recorded.get(name, {}).get(kind) != hashes[kind]
    ]
    differing += [f"{name}: there is no such run any more" for name in recorded if not agents and name not in found]
    print("\n".join(differing) or f"all {len(found)} runs are as recorded")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
