"""Sets models beside testbeds: `python -m benchmarks.hardware DIR [--backends radio,castalia] [--figures FOLDER]`.

DIR holds the reference's tables `pdr_vs_rssi.csv` and `links.csv`, recordings (`*.k7`, `*.k7.gz`), or both. Of
recordings the quantities have intervals, and each is fitted on the first half of its time and tried on the second. The
models are fields of 50 static nodes, which send as the testbeds' nodes did; `--backends` says on what.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.hardware.bursts import FACTORIES, Plan, record
from benchmarks.hardware.figures import draw_curves, draw_shares
from benchmarks.hardware.fitting import error_of, fit_receiver, temporal_model, with_own_air
from benchmarks.hardware.report import error_line, print_quantities, print_tables
from benchmarks.hardware.statistics import Curve, Estimate, Sample, curve_of, halves_in_time, quantities, sample_of
from benchmarks.hardware.tables import CURVES, LINKS, read_curves, read_links
from benchmarks.hardware.temporal_files import write_temporal_model
from roambus.bridge.formats.recordings import Recording, read_k7
from roambus.bridge.system.errors import RoambusError, UserError

NODES, ROUNDS, PAUSE_S = 50, 3, 60.0
LEARNT_FROM = "grenoble"
"""The temporal model and the receiver are fitted to the recording of this name, and tried on the others."""

Found = Mapping[str, Mapping[str, Estimate]]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hardware", description=__doc__)
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder with tables or recordings of testbeds")
    parser.add_argument("--backends", default="radio", help="radio, castalia, or both with a comma between")
    parser.add_argument("--sides", default="30,40,60", help="sides of the fields in metres")
    parser.add_argument("--seeds", type=int, default=2, help="fields of each side")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="bursts of each node")
    parser.add_argument("--nodes", type=int, default=NODES, help="nodes of each field")
    parser.add_argument("--temporal", type=Path, action="append", default=[], help="a temporal model's parameters file")
    parser.add_argument("--figures", type=Path, help="draw figures to this folder")
    try:
        compare(parser.parse_args(arguments))
    except (RoambusError, OSError, ValueError) as error:
        print(f"hardware: {error}", file=sys.stderr)
        return 2
    return 0


def compare(chosen: argparse.Namespace) -> None:
    """Reads, measures, prints and draws; raises RoambusError, OSError."""
    tables, recordings = read_folder(chosen.folder)
    samples = {name: sample_of(recording) for name, recording in recordings.items()}
    curves = {**tables[0], **{name: curve_of(sample) for name, sample in samples.items()}}
    print_tables(tables[1])
    found: dict[str, Mapping[str, Estimate]] = {name: quantities(sample) for name, sample in samples.items()}
    if found:
        print_quantities("testbeds, from their recordings", found)
    with tempfile.TemporaryDirectory() as folder:
        files = [*chosen.temporal, *learnt(samples, Path(folder))]
        models = dict(measure_models(chosen, files))
        modelled = {name: quantities(sample) for name, sample in models.items()}
    print_quantities(f"models, {chosen.nodes} nodes, {chosen.seeds} fields each", modelled)
    try_fits(curves, recordings)
    if chosen.figures:
        chosen.figures.mkdir(parents=True, exist_ok=True)
        draw_curves(
            curves, {name: curve_of(model) for name, model in models.items()}, chosen.figures / "hardware-curves.png"
        )
        draw_shares(
            {name: found[name] for name in curves if name in found}, modelled, chosen.figures / "hardware-shares.png"
        )


def read_folder(folder: Path) -> tuple[tuple[dict[str, Curve], dict[str, dict[str, float]]], dict[str, Recording]]:
    """The tables and the recordings that there are; raises UserError if there are none."""
    files = sorted([*folder.glob("*.k7"), *folder.glob("*.k7.gz")])
    recordings = {file.name.split(".")[0]: read_k7(file) for file in files}
    with_tables = (folder / CURVES).is_file() and (folder / LINKS).is_file()
    if not with_tables and not recordings:
        raise UserError(f"{folder}: there are neither {CURVES} and {LINKS} nor recordings (*.k7)")
    return ((read_curves(folder), read_links(folder)) if with_tables else ({}, {})), recordings


def learnt(samples: Mapping[str, Sample], folder: Path) -> list[Path]:
    """The parameters file of a temporal model that is made of a recording, if that is there."""
    source = next((name for name in samples if name.startswith(LEARNT_FROM)), None)
    if source is None:
        return []
    file = folder / f"from-{source}.txt"
    file.write_text(write_temporal_model(temporal_model(samples[source]), f"made of {source}"), encoding="utf-8")
    return [file]


def measure_models(chosen: argparse.Namespace, temporal: Sequence[Path]) -> list[tuple[str, Sample]]:
    """A sample for each back-end, side and temporal model."""
    found = []
    for backend in chosen.backends.split(","):
        for side in map(float, chosen.sides.split(",")):
            for file in (None, *temporal):
                name = f"{backend} {side:g} m{f' {file.stem}' if file else ''}"
                print(name, file=sys.stderr)
                plan = Plan(chosen.nodes, side, chosen.rounds, PAUSE_S, str(file) if file else "")
                made = [record(FACTORIES[backend], plan, seed) for seed in range(chosen.seeds)]
                found.append((name, sample_of(*made)))
    return found


def try_fits(curves: Mapping[str, Curve], recordings: Mapping[str, Recording]) -> None:
    """Prints how near a receiver that is fitted to one recording comes to the others."""
    halves = {name: tuple(map(curve_of, halves_in_time(recording))) for name, recording in recordings.items()}
    source = next((name for name in curves if name.startswith(LEARNT_FROM)), None)
    if source is not None:
        fitted = fit_receiver(curves[source])
        print(f"\nreceiver fitted to {source}: {fitted}")
        for name, curve in curves.items():
            print(error_line(f"tried on {name}", error_of(fitted, curve)))
        for name, (first, second) in halves.items():
            there = with_own_air(fitted, first)
            print(f"the same, but busy for {there.busy:.2f} of the time, as in the first half of {name}")
            print(error_line("tried on the second half", error_of(there, second)))
    for name, (first, second) in halves.items():
        own = fit_receiver(first)
        print(f"receiver fitted to the first half of {name}: {own}")
        print(error_line("tried on the second half", error_of(own, second)))


if __name__ == "__main__":
    sys.exit(main())
