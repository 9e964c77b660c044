"""Writes docs/reproduction.md and its pictures: the thesis' evaluation, what it lacks, and why numbers are as they are.

python -m roambus.experiments.studies.thesis.reproduction results/thesis results/flooding results/explain-mft --out docs

Each folder holds the aggregated results of a sweep of ours. Results that name no sweep are of the one that their folder
is called like. Only those of `thesis` must be there; the document says what was not run.
Its numbers and verdicts come from the results. Its explanations come from `reproduction_notes.md`; each is printed only
while the verdicts that it explains stand.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import jinja2

from roambus.bridge.errors import RoambusError, UserError
from roambus.bridge.runs.layout import SWEEP
from roambus.experiments.evidence.claim import Claim, check
from roambus.experiments.measurements.measurements import Measurements, read_measurements
from roambus.experiments.shipped import SWEEP_SUFFIX, shipped_files
from roambus.experiments.studies.thesis.claims import THESIS_CLAIMS
from roambus.experiments.studies.thesis.explanations import check_suppositions
from roambus.experiments.studies.thesis.further_claims import check_further_claims
from roambus.experiments.studies.thesis.gallery import BARE, THESIS, Gallery
from roambus.experiments.studies.thesis.rerun_command import rerun_command
from roambus.python_protocol.settings import unknown
from roambus.spark.aggregation.tables import replace_file

DOCUMENT, PICTURES = "reproduction.md", "reproduction"
_TEMPLATE, NOTES = (Path(__file__).with_name(f"reproduction{end}") for end in (".md.j2", "_notes.md"))


@dataclass(frozen=True, slots=True)
class Note:
    """A text written by hand, below the first of the claims whose verdicts it explains."""

    verdicts: Mapping[str, str]
    text: str

    def stands(self, verdicts: Mapping[str, str]) -> bool:
        """Whether all of these verdicts are still the ones that were explained."""
        return all(verdicts.get(label) == verdict for label, verdict in self.verdicts.items())


def write_reproduction(results: Sequence[Path], out: Path) -> Path:
    """Writes OUT/reproduction.md and its pictures; returns it. Raises UserError, OSError."""
    sweeps = _read_sweeps(results)
    folder = out / PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    text = _render(_content(sweeps, Gallery(sweeps, folder)))
    document = out / DOCUMENT
    replace_file(document, lambda path: path.write_text(text, encoding="utf-8"))
    return document


def _read_sweeps(results: Sequence[Path]) -> dict[str, Measurements]:
    known = shipped_files(SWEEP_SUFFIX)
    sweeps = {}
    for folder in results:
        measured = read_measurements(folder)
        name = measured.sweep.get(SWEEP, folder.name)
        if name not in known:
            raise UserError(f"{folder}: {unknown('sweep', name, known)}")
        sweeps[name] = measured
    if THESIS not in sweeps:
        raise UserError("results/thesis is missing: run `roambus reproduce thesis`, and give its folder, too")
    return sweeps


def _render(content: Mapping[str, Any]) -> str:
    undefined = jinja2.StrictUndefined
    environment = jinja2.Environment(undefined=undefined, trim_blocks=True, keep_trailing_newline=True)  # noqa: S701  # Markdown needs no HTML escapes
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(content)


def _content(sweeps: Mapping[str, Measurements], gallery: Gallery) -> dict[str, Any]:
    claims = _labelled("", check(THESIS_CLAIMS, sweeps[THESIS]))
    further = _labelled("", check_further_claims(sweeps[THESIS]))
    suppositions = _labelled("S", check_suppositions(sweeps))
    bare = (
        _labelled("", [*check(THESIS_CLAIMS, sweeps[BARE]), *check_further_claims(sweeps[BARE])])
        if BARE in sweeps
        else {}
    )
    return {
        "sweeps": [(name, rerun_command(name, one), one.runs_there(), one.seeds) for name, one in sweeps.items()],
        "claims": claims,
        "further": further,
        "suppositions": suppositions,
        "bare": bare,
        "notes": _standing_notes({**claims, **further, **suppositions}),
        "gallery": gallery,
    }


def read_notes(text: str) -> list[Note]:
    """The notes below headings such as `## 9: does not hold; S1: holds`, which say what each explains."""
    notes = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        pairs = (entry.split(": ") for entry in heading.split("; "))
        notes.append(Note(dict(tuple(pair) for pair in pairs), body.strip()))
    return notes


def _labelled(prefix: str, claims: Sequence[Claim]) -> dict[str, Claim]:
    return {f"{prefix}{claim.number}": claim for claim in claims}


def _standing_notes(claims: Mapping[str, Claim]) -> dict[str, list[str]]:
    """The notes that explain the verdicts that there are, by the label of the claim below which they stand."""
    verdicts = {label: claim.verdict.value for label, claim in claims.items()}
    standing: dict[str, list[str]] = {label: [] for label in claims}
    for note in read_notes(NOTES.read_text(encoding="utf-8")):
        if note.stands(verdicts):
            standing[next(iter(note.verdicts))].append(note.text)
    return standing


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m roambus.experiments.studies.thesis.reproduction", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("results", nargs="+", type=Path, help="aggregated results of sweeps of ours")
    parser.add_argument("--out", type=Path, default=Path("docs"), help="where the document goes [docs]")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the document; returns the exit code."""
    options = _parse(sys.argv[1:] if arguments is None else arguments)
    try:
        click.echo(write_reproduction(options.results, options.out))
    except RoambusError as error:
        click.echo(f"error: {error}", err=True)
        return error.exit_code
    except OSError as error:
        click.echo(f"error: {error.filename}: {error.strerror}", err=True)
        return UserError.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
