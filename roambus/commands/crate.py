"""`roambus crate` packs results for others, and `roambus audit` says what of them is not stated."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from roambus.bridge.backends import BACKENDS
from roambus.commands.backend import make_factory
from roambus.commands.options import FOLDER
from roambus.commands.telling import answer, console, remark, summary

EXIT_MISSING = 1


@click.command()
@click.argument("results", type=FOLDER)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The file.  [default: RESULTS.crate.zip]")
@click.option("--title", help="What the results are called.  [default: the name of their folder]")
@click.option("--author", "authors", multiple=True, metavar="NAME", help="An author; give the option again for more.")
@click.option("--license", "license_", default="", metavar="URL", help="The licence under which others may use them.")
@click.option("--trust", is_flag=True, help="Loads agents that the results name also if they are not installed.")
def crate(
    results: Path, out: Path | None, title: str | None, authors: Sequence[str], license_: str, trust: bool
) -> None:
    """Packs RESULTS so that a stranger can cite them, and make their runs again byte for byte.

    RESULTS is the folder of a sweep or a study. The crate is a zip file: an RO-Crate with the results, the code of
    roambus and of your own agents, the versions of all libraries, and a checksum of each file. Unpacked, sh
    reproduce.sh installs all that and makes runs again; roambus verify does so with the roambus that is installed.

    Results of another version of roambus or of an agent are refused, for this version does not make them again.

    Example: roambus crate results/small --author "Ada Lovelace" --license https://spdx.org/licenses/CC-BY-4.0
    """
    from rich.progress import Progress

    from roambus.experiments.provenance.crate import Packing, write_crate
    from roambus.experiments.provenance.metadata import About
    from roambus.experiments.studies.reading import existing_folder, sweep_folders
    from roambus.experiments.verifying.verification import Verifier

    folder, shown = existing_folder(results), console()
    name = folder.absolute().name
    factories = [make_factory(one, None, batching=True) for one in BACKENDS]
    packing = Packing(folder, sweep_folders(folder), Verifier(factories, trust, remark))
    file = out or folder.absolute().with_name(f"{name}.crate.zip")
    with Progress(console=shown, transient=True, disable=not shown.is_terminal) as progress:
        task = progress.add_task("packing", total=None)
        runs = write_crate(packing, About(title or name, authors, license_), file, lambda: progress.advance(task))
    answer(file, crate=file, runs=runs)


@click.command()
@click.argument("results", type=FOLDER)
def audit(results: Path) -> None:
    """Says what RESULTS state, and what they leave out, of what simulation studies should tell.

    RESULTS is the folder of a sweep or a study, or an unpacked crate. The items are those of Kurkowski, Camp and
    Colagrosso (MANET Simulation Studies: The Incredibles, 2005), which ask whether a study is repeatable, unbiased,
    rigorous and statistically sound, and those by which artifacts of papers are evaluated (ACM, version 1.1). For each
    there is what is stated, or what is missing and how to state it. No code is run.

    The exit code is 0 if everything is stated, and 1 if anything is missing.

    Example: roambus audit results/small
    """
    from roambus.experiments.provenance.audit import audit as audit_results
    from roambus.experiments.studies.reading import existing_folder

    found = audit_results(existing_folder(results))
    for one in found:
        answer(f"{'stated ' if one.is_stated else 'MISSING'}  {one.item}: {one.words}")
    missing = sum(not one.is_stated for one in found)
    items = [{"item": one.item, "source": one.source, "stated": one.is_stated, "words": one.words} for one in found]
    summary(f"{results}: stated {len(found) - missing}, missing {missing}", items=items, missing=missing)
    if missing:
        sys.exit(EXIT_MISSING)
