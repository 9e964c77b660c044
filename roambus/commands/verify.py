"""`roambus verify` makes runs of results again, and says whether the same comes out."""

from __future__ import annotations

from pathlib import Path

import click

from roambus.bridge.backends import BACKENDS
from roambus.commands.backend import make_factory
from roambus.commands.options import DEADLINE, FOLDER
from roambus.commands.sweeping import report_problems
from roambus.commands.telling import console, remark, summary


@click.command()
@click.argument("results", type=FOLDER)
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    metavar="N",
    help="How many runs to make again, or all if there are no more; the same N are always the same runs.",
)
@click.option("--trust", is_flag=True, help="Runs agents that the results name also if they are not installed.")
@DEADLINE
def verify(results: Path, sample: int, trust: bool, deadline: float | None) -> None:
    """Verifies RESULTS: makes a sample of their runs again, and compares the traces byte for byte.

    RESULTS is the folder of a run, a sweep or a study, or a crate that was unpacked, whose checksums are compared, too.
    Each run is made from the ini in its own folder, in a folder
    that is gone afterwards; nothing in RESULTS changes. A run that comes out otherwise is named, with the first row
    that differs. So is one that cannot be made again, such as one of another version of its agent.

    Verifying runs the agents' code. An agent that is a file or a module, and that no installed package brings, is run
    with --trust only, for whoever made the results chose it. The exit code is 0 if all traces are the same, and 1 if
    any is not.

    Example: roambus verify results/small --sample 3
    """
    from rich.progress import Progress

    from roambus.experiments.provenance.unpacked import agent_files, is_crate, wrong_files
    from roambus.experiments.studies.reading import existing_folder, sweep_folders
    from roambus.experiments.verifying.verification import Verifier, sample_of

    shown = console()
    traces = sample_of(sweep_folders(existing_folder(results)), sample)
    factories = [make_factory(name, deadline) for name in BACKENDS]
    wrong = list(wrong_files(results)) if is_crate(results) else []
    verifier = Verifier(factories, trust, remark, agent_files(results) if is_crate(results) else {})
    with Progress(console=shown, transient=True, disable=not shown.is_terminal) as progress:
        task = progress.add_task("verifying", total=len(traces))
        problems = list(verifier.problems(traces, lambda: progress.advance(task)))
    same = len(traces) - len(problems)
    summary(f"{results}: runs made again {len(traces)}, the same {same}", made_again=len(traces), the_same=same)
    report_problems([*wrong, *problems])
