"""`roambus export` writes results for other programs; `crate` packs them for other people, and `verify` checks them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from roambus.bridge.backends import BACKENDS
from roambus.bridge.errors import UserError
from roambus.commands.options import AGENT_NAME, DEADLINE, FILE, FOLDER, Simulator
from roambus.commands.output import EXIT_PROBLEMS, answer, bar, remark, report_problems, summary
from roambus.commands.runs import make_factory

FORMATS = ("sca", "vec", "jsonl", "pcapng", "pcapng-nodes", "dissector", "perfetto", "graphml")


def _formats(context: click.Context, parameter: click.Parameter, value: str) -> list[str]:
    chosen = list(dict.fromkeys(value.split(",")))
    for name in chosen:
        if name not in FORMATS:
            raise click.BadParameter(f"{name!r} is none of {', '.join(FORMATS)}", context, parameter)
    return chosen


@click.command()
@click.argument("path", metavar="[RESULTS|RUN]", type=FOLDER, required=False)
@click.option(
    "--format",
    "formats",
    default="sca,vec",
    show_default=True,
    callback=_formats,
    metavar="FORMAT,...",
    help=f"The formats to write, with commas between them: {', '.join(FORMATS)}.",
)
@click.option(
    "--out",
    type=FOLDER,
    help="The folder for the files; a study gets a folder for each sweep in it.  [default: RESULTS/export]",
)
@click.option(
    "--agents", type=AGENT_NAME, metavar="A,B,...", help="The agents of the dissector.  [default: those of the results]"
)
@click.option(
    "--at",
    "at_s",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="The simulated time of what graphml holds.  [default: the end of the run]",
)
def export(path: Path | None, formats: list[str], out: Path | None, agents: str | None, at_s: float | None) -> None:
    """Writes results for other programs, a file for each run.

    The results are those of a study, a sweep or a single run. The format sca holds the run's metrics, and vec holds
    what happens at each node over time. Both are as OMNeT++ writes them, and opp_scavetool, omnetpp.scave and the
    Analysis Tool read them. The format jsonl holds every row of the trace as a JSON object.

    The format pcapng is a capture of all that was sent and received; pcapng-nodes is one for each node. Both need a run
    that was made with --record. The format dissector is roambus.lua, by which Wireshark and tshark read the messages in
    captures. It is generated from what the agents of the results declare, or those that --agents names, whose code is
    loaded; then it needs no results, and is written to the working folder. The format perfetto is a timeline for
    ui.perfetto.dev, and graphml the tree of brokers and the routes in use at a time, for networkx or Gephi. roambus
    docs in-and-out tells more of each.

    A run whose trace is damaged is named and left out; then the exit code is 1.

    \b
    Example: roambus export results/small --format sca,vec
    For Wireshark: roambus export results/small --format pcapng,dissector
    Before any run: roambus export --format dissector --agents mft,aodv
    """  # noqa: D301  # click wants the character itself
    from roambus.bridge.agents import announce_code
    from roambus.experiments.export.exporter import DISSECTOR, Asked, export_results, write_dissector

    named = agents.split(",") if agents else []
    for agent in named:
        announce_code(agent, remark)
    if path is None and (formats != [DISSECTOR] or not named):
        raise UserError("give RESULTS: only --format dissector with --agents needs none")
    asked = Asked(formats, out, at_s, named)
    written = [write_dissector(Path(), named, out or Path())] if path is None else export_results(path, asked)
    answer(files=[])
    problems: list[str] = []
    for file, problem in written:
        if file is not None:
            answer(file, files=[file])
        elif problem is not None and problem not in problems:
            problems.append(problem)
    report_problems(problems)


@click.command()
@click.argument("results", type=FOLDER)
@click.option("--out", type=FILE, help="The file.  [default: RESULTS.crate.zip]")
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

    Results of another version of roambus or of an agent are refused, for this version does not make them again. What
    the results leave out of what simulation studies should tell is named, as by roambus verify --checklist.

    Example: roambus crate results/small --author "Ada Lovelace" --license https://spdx.org/licenses/CC-BY-4.0
    """
    from roambus.experiments.provenance.checklist import audit
    from roambus.experiments.provenance.crate import Packing, write_crate
    from roambus.experiments.provenance.metadata import About
    from roambus.experiments.studies.study import existing_folder, sweep_folders
    from roambus.experiments.verification import Verifier

    folder = existing_folder(results)
    name = folder.absolute().name
    factories = [make_factory(one, Simulator()) for one in BACKENDS]
    packing = Packing(folder, sweep_folders(folder), Verifier(factories, trust, remark))
    file = out or folder.absolute().with_name(f"{name}.crate.zip")
    with bar("packing", None) as one_more:
        runs = write_crate(packing, About(title or name, authors, license_), file, one_more)
    answer(file, crate=file, runs=runs)
    for one in audit(folder):
        if not one.is_stated:
            remark(f"MISSING  {one.item}: {one.words}")


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
@click.option("--checklist", is_flag=True, help="Makes no run: says what RESULTS state, and what they leave out.")
@click.option("--trust", is_flag=True, help="Runs agents that the results name also if they are not installed.")
@DEADLINE
def verify(results: Path, sample: int, checklist: bool, trust: bool, deadline: float | None) -> None:
    """Verifies RESULTS: makes a sample of their runs again, and compares the traces byte for byte.

    RESULTS is the folder of a run, a sweep or a study, or a crate that was unpacked, whose checksums are compared, too.
    Each run is made from the ini in its own folder, in a folder that is gone afterwards; nothing in RESULTS changes. A
    run that comes out otherwise is named, with the first row that differs. So is one that cannot be made again, such as
    one of another version of its agent.

    Verifying runs the agents' code. An agent that is a file or a module, and that no installed package brings, is run
    with --trust only, for whoever made the results chose it. The exit code is 0 if all traces are the same, and 1 if
    any is not.

    With --checklist, no code is run. The items are those of Kurkowski, Camp and Colagrosso (MANET Simulation Studies:
    The Incredibles, 2005), which ask whether a study is repeatable, unbiased, rigorous and statistically sound, and
    those by which artifacts of papers are evaluated (ACM, version 1.1). For each there is what is stated, or what is
    missing and how to state it. Then the exit code is 0 if everything is stated, and 1 if anything is missing.

    Example: roambus verify results/small --sample 3
    """
    from roambus.experiments.provenance.crate import agent_files, is_crate, wrong_files
    from roambus.experiments.studies.study import existing_folder, sweep_folders
    from roambus.experiments.verification import Verifier, sample_of

    existing_folder(results)
    if checklist:
        _check_off(results)
        return
    traces = sample_of(sweep_folders(results), sample)
    factories = [make_factory(name, Simulator(deadline)) for name in BACKENDS]
    wrong = list(wrong_files(results)) if is_crate(results) else []
    verifier = Verifier(factories, trust, remark, agent_files(results) if is_crate(results) else {})
    with bar("verifying", len(traces)) as one_more:
        problems = list(verifier.problems(traces, one_more))
    same = len(traces) - len(problems)
    summary(f"{results}: runs made again {len(traces)}, the same {same}", made_again=len(traces), the_same=same)
    report_problems([*wrong, *problems])


def _check_off(results: Path) -> None:
    from roambus.experiments.provenance.checklist import audit

    found = audit(results)
    for one in found:
        answer(f"{'stated ' if one.is_stated else 'MISSING'}  {one.item}: {one.words}")
    missing = sum(not one.is_stated for one in found)
    items = [{"item": one.item, "source": one.source, "stated": one.is_stated, "words": one.words} for one in found]
    summary(f"{results}: stated {len(found) - missing}, missing {missing}", items=items, missing=missing)
    if missing:
        sys.exit(EXIT_PROBLEMS)
