"""The commands `roambus verify`, which makes runs again, and `roambus crate`, which packs results for other people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from roambus.bridge.backends.registry import backend_names, make_factory
from roambus.console.options import DEADLINE, FILE, FOLDER
from roambus.console.output import answer, bar, remark, report_problems, summary


@click.command()
@click.argument("results", type=FOLDER)
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    metavar="N",
    help="The number of runs to make again, or all if there are fewer; the same N always chooses the same runs.",
)
@click.option("--trust", is_flag=True, help="Also runs agents that are not installed.")
@DEADLINE
def verify(results: Path, sample: int, trust: bool, deadline: float | None) -> None:
    """Verifies RESULTS: makes a sample of their runs again, and compares the traces byte for byte.

    RESULTS is the folder of a run, a sweep or a study, or an unpacked crate, whose checksums are also compared. Each
    run is made from its ini, in a temporary folder; nothing in RESULTS changes. The command names runs whose trace
    differs, with the first row that differs, and runs that cannot be repeated, such as one of another version of its
    agent.

    Verifying runs the agents' code. An agent in a file or a module that no installed package declares is run only with
    --trust, because the author of the results chose it. The exit code is 0 if all traces are the same, and 1 if any is
    not.

    Example: roambus verify results/small --sample 3
    """
    from roambus.bridge.runs.layout import unlinked
    from roambus.bridge.system.imports import look_in
    from roambus.experiments.studies.study import existing_folder, sweep_folders
    from roambus.extensions.provenance.unpacked import crate_in
    from roambus.extensions.provenance.verification import Verifier, sample_of

    existing_folder(results)
    unpacked = crate_in(results)
    traces = sample_of([folder if folder == results else unlinked(folder) for folder in sweep_folders(results)], sample)
    factories = [make_factory(name, deadline) for name in backend_names()]
    wrong, files = (list(unpacked.wrong_files()), unpacked.agent_files()) if unpacked else ([], None)
    if unpacked and trust:
        look_in(unpacked.modules)
    verifier = Verifier(factories, trust, remark, files)
    with bar("verifying", len(traces)) as one_more:
        problems = list(verifier.problems(traces, one_more))
    same = len(traces) - len(problems)
    summary(f"{results}: runs made again {len(traces)}, the same {same}", made_again=len(traces), the_same=same)
    report_problems([*wrong, *problems])


@click.command()
@click.argument("results", type=FOLDER)
@click.option("--out", type=FILE, help="The file.  [default: RESULTS.crate.zip]")
@click.option("--title", help="The title of the results.  [default: the name of their folder]")
@click.option("--author", "authors", multiple=True, metavar="NAME", help="An author; give the option again for more.")
@click.option(
    "--license", "license_", default="", metavar="URL", help="The licence under which others may use the results."
)
@click.option("--trust", is_flag=True, help="Also loads agents that are not installed.")
def crate(
    results: Path, out: Path | None, title: str | None, authors: Sequence[str], license_: str, trust: bool
) -> None:
    """Packs RESULTS so that others can cite them, and repeat their runs byte for byte.

    RESULTS is the folder of a sweep or a study. The crate is a zip file: an RO-Crate with the results, the code of
    roambus and of your own agents, the versions of all libraries, and a checksum of each file. In the unpacked crate,
    sh reproduce.sh installs all this and makes runs again; roambus verify does the same with the installed roambus.

    The command refuses results of another version of roambus or of an agent, because this version cannot repeat them.

    Example: roambus crate results/small --author "Ada Lovelace" --license https://spdx.org/licenses/CC-BY-4.0
    """
    from roambus.experiments.studies.study import existing_folder, sweep_folders
    from roambus.extensions.provenance.crate import Packing, write_crate
    from roambus.extensions.provenance.metadata import About
    from roambus.extensions.provenance.verification import Verifier

    folder = existing_folder(results)
    name = folder.absolute().name
    factories = [make_factory(name) for name in backend_names()]
    packing = Packing(folder, sweep_folders(folder), Verifier(factories, trust, remark))
    file = out or folder.absolute().with_name(f"{name}.crate.zip")
    with bar("packing", None) as one_more:
        runs = write_crate(packing, About(title or name, authors, license_), file, one_more)
    answer(file, crate=file, runs=runs)
