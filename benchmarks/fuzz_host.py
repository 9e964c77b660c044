"""Feeds the host's side of the bridge a million mutated frames.

python -m benchmarks.fuzz_host --frames 1000000 --seed 1

Real conversations with the stand-in are cut into short valid ones, which are mutated: in the bytes of a frame, in the
fields of a message, in the order of frames. The host must handle what is still valid, reject the rest with a reason,
and neither raise anything else, nor hang, nor take much memory. Every 300th conversation goes through a real socket.
"""

from __future__ import annotations

import argparse
import faulthandler
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from random import Random

from rich.console import Console
from rich.progress import track

from benchmarks.fuzz.feeding import Feeder, FramesInMemory, FramesOnSocket, Result, feed
from benchmarks.fuzz.mutations import mutate
from benchmarks.fuzz.recordings import Conversation, record
from roambus.bridge.errors import RoambusError
from roambus.python_protocol.simtime import MILLISECOND

SOCKET_EVERY = 300
STDERR = 2
WATCHED = 1000
HANG_S = 120
"""If so many conversations take longer, the program ends with a traceback of where it hangs."""
MEMORY_MIB = 200
"""How much more memory the host may have taken at any time than before the first mutated frame."""


@dataclass(slots=True)
class Findings:
    """What came of all conversations; `faults` are what must not happen."""

    results: Counter[Result] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    on_socket: int = 0
    slowest_s: float = 0.0
    memory_mib: float = 0.0


def recordings() -> list[Conversation]:
    """One of each kind: with and without processing delay and batching, of two agents; raises UserError."""
    kinds = (("mft", 0, True), ("mft", MILLISECOND, True), ("aodv", MILLISECOND, False), ("aodv", 0, False))
    with tempfile.TemporaryDirectory() as folder:
        return [record(agent, Path(folder), delay, batching=batching) for agent, delay, batching in kinds]


def fuzz(conversations: Sequence[Conversation], frames: int, seed: int) -> Iterator[Findings]:
    """Feeds so many conversations with a mutated frame each; gives the findings so far after each of them."""
    random, findings = Random(seed), Findings()
    others = list(chain.from_iterable(conversation.frames for conversation in conversations))
    memory = _peak_mib()
    for number in range(frames):
        if number % WATCHED == 0:
            faulthandler.dump_traceback_later(HANG_S, exit=True, file=STDERR)
        conversation = random.choice(conversations).cut(random)
        mutated = mutate(conversation.frames, others, random)
        feeder: Feeder = FramesInMemory if number % SOCKET_EVERY else FramesOnSocket
        findings.on_socket += feeder is FramesOnSocket
        _feed(conversation, mutated, feeder, findings)
        findings.memory_mib = _peak_mib() - memory
        yield findings
    faulthandler.cancel_dump_traceback_later()


def _feed(conversation: Conversation, frames: Sequence[bytes], feeder: Feeder, findings: Findings) -> None:
    start = time.perf_counter()
    try:
        findings.results[feed(conversation, frames, feeder)] += 1
    except Exception as error:  # whatever it is, it should not have come
        findings.faults.append(f"{type(error).__name__}: {error}: {[frame.hex() for frame in frames]}")
    findings.slowest_s = max(findings.slowest_s, time.perf_counter() - start)


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(findings: Findings, seconds: float) -> int:
    """Prints all of it; returns the exit code: 0, or 1 if something happened that must not."""
    if findings.memory_mib > MEMORY_MIB:
        findings.faults.append(f"the host took {findings.memory_mib:.0f} MiB, more than {MEMORY_MIB} MiB")
    for fault in findings.faults:
        print(fault[:2000])
    for result in Result:
        print(f"{findings.results[result]:10,}  {result.value}")
    print(f"{len(findings.faults):10,}  faults")
    print(
        f"{sum(findings.results.values()):,} frames, {findings.on_socket:,} of them through a socket, {seconds:.0f} s;"
    )
    print(f"slowest conversation {findings.slowest_s * 1000:.0f} ms, at most {findings.memory_mib:.0f} MiB more memory")
    return 1 if findings.faults else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, 1 for faults, or 2 for a user's error."""
    asked = _parser().parse_args(arguments)
    findings, start = Findings(), time.monotonic()
    try:
        steps = fuzz(recordings(), asked.frames, asked.seed)
        for now in track(steps, "frames", asked.frames, console=Console(stderr=True)):
            findings = now
    except (RoambusError, OSError) as error:
        print(f"fuzz_host: {error}", file=sys.stderr)
        return 2
    return report(findings, time.monotonic() - start)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.fuzz_host",
        description="Feeds mutated frames to the host's side of the bridge.",
        epilog="example: python -m benchmarks.fuzz_host --frames 20000 --seed 7",
    )
    parser.add_argument("--frames", type=int, default=1_000_000, help="mutated ones (default: 1000000)")
    parser.add_argument("--seed", type=int, default=0, help="of the mutations (default: 0)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
