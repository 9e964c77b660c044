"""What ns-3's lr-wpan does otherwise, one by one on the embedded radio, until both agree on a mobile field.

    python -m benchmarks.ns3_departures DIR    compares each variant with DIR/lr_wpan.csv

A variant changes the text of a module of the radio as it is loaded, in a process of its own with a cache of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.mutants import ROOT, Mutant

GROUP = ("mobile, frames/s", 4.0)
RADIO = "bridge/backends/radio/"

CARRIER = [
    (
        "mac/csma_ca.py",
        "import measured_power\n",
        "import _is_synchronised, measured_power\n",
    ),
    (
        "mac/csma_ca.py",
        "power < run.radio.cca_threshold_dbm:",
        "power < run.radio.cca_threshold_dbm and not _is_synchronised(s, sender):",
    ),
]
"""The channel is busy while the radio is at a frame, however weak: ns-3 reports so in every CCA mode."""

FORGETS = [
    (
        "receiver.py",
        "        reception.settle(s, receiver, now)\n    signal = s.signals[receiver, place]\n",
        "        is_own = s.signals[receiver, place].fate == RECEIVABLE\n"
        "        if is_own:\n            reception.settle(s, receiver, now)\n"
        "    signal = s.signals[receiver, place]\n",
    ),
    (
        "receiver.py",
        "        node.changed = now\n        if _judge(",
        "        if is_own:\n            node.changed = now\n        if _judge(",
    ),
]
"""A signal that ends during another frame leaves no bit errors."""

MISSES = [
    (
        "receiver.py",
        "        power = add_dbm(level.total + SHARE_DB[int((until - since) * SHARES / window)], power)\n",
        "        if age == 0 or level.since > now - window:\n            power = max(power, level.total)\n",
    )
]
"""A signal that ends during the CCA does not count."""

VARIANTS: dict[str, list[tuple[str, str, str]]] = {
    "as it is": [],
    "carrier": CARRIER,
    "forgets": FORGETS,
    "misses": MISSES,
    "all three": CARRIER + FORGETS + MISSES,
}


def changed(variant: str) -> dict[str, str]:
    """The texts of the changed modules; raises ValueError if one does not have what is to be changed once."""
    texts: dict[str, str] = {}
    for file, sound, other in VARIANTS[variant]:
        text = texts.get(file) or (ROOT / RADIO / file).read_text(encoding="utf-8")
        if text.count(sound) != 1:
            raise ValueError(f"{file} has {text.count(sound)} times: {sound}")
        texts[file] = text.replace(sound, other)
    return texts


def activate(variant: str) -> None:
    """Have this process load the changed modules."""
    for file, text in changed(variant).items():
        sound = (ROOT / RADIO / file).read_text(encoding="utf-8")
        Mutant("", variant, RADIO + file, sound, text, (), ()).activate()


def compared(variant: str, folder: Path, seeds: int) -> Iterator[str]:
    """A line for each metric."""
    activate(variant)
    from benchmarks.mac_fidelity import FILE, METRICS, SCENARIOS, agreement, on_radio, read_groups  # noqa: PLC0415

    groups = read_groups(folder / FILE)
    ours = [on_radio(*GROUP, seed) for seed in range(seeds)]
    tests = len(METRICS) * sum(len(values) for _, values in SCENARIOS.values())
    for name, comparison in agreement(groups[GROUP], ours, tests).items():
        mark = "inside" if comparison.inside else "OUTSIDE"
        yield f"{variant},{name},{comparison.castalia:.4g},{comparison.ours:.4g},{mark}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; a variant is measured by this command in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ns3_departures", description=__doc__)
    parser.add_argument("folder", metavar="DIR", type=Path)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--variant", choices=VARIANTS)
    asked = parser.parse_args(arguments)
    if asked.variant:
        with tempfile.TemporaryDirectory() as cache:
            os.environ["NUMBA_CACHE_DIR"] = cache  # Numba is not loaded yet
            print("\n".join(compared(asked.variant, asked.folder, asked.seeds)), flush=True)
        return 0
    for variant in VARIANTS:
        command = [sys.executable, "-m", "benchmarks.ns3_departures", *sys.argv[1:], "--variant", variant]
        subprocess.run(command, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
