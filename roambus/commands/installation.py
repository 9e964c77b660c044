"""`roambus doctor` checks the installation, and builds modules for simulators; `roambus new` begins what is yours."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from roambus.bridge.backends.registry import DEFAULT
from roambus.bridge.system.code import SIMULATORS, named
from roambus.bridge.system.errors import UserError
from roambus.console.options import FILE
from roambus.console.output import answer, command_output, console, remark


@click.command()
@click.option(
    "--build",
    "simulator",
    type=click.Choice(list(dict.fromkeys(["castalia", *named(SIMULATORS)]))),
    help="Builds the modules by which this simulator runs agents, and prints where they are.",
)
def doctor(simulator: str | None) -> None:
    """Says what is installed, which back-ends can run, and what to do.

    The command looks at Python and the packages, Java, the disk, the browser, OMNeT++, Castalia and ns-3. It prints
    advice for each of them that is missing or broken, and for each back-end whether it can run. The exit code is 0 if
    the default back-end can run, and 1 if it cannot.

    --build needs a C++ compiler, make, libzmq and protobuf; the command says which is missing and how to get it. It
    takes a minute, and is needed again only when roambus or the simulator changes. For castalia, build OMNeT++ and
    Castalia first, and let the environment variables OMNETPP_ROOT and CASTALIA_ROOT name their folders, which are only
    read. For ns3, install the package ns3, or let NS3_ROOT name its folder. The result is in omnet/build in a checkout
    of roambus, and otherwise in your cache (~/.cache, or XDG_CACHE_HOME), where runs find it.

    \b
    Example: roambus doctor
    For Castalia: roambus doctor --build castalia
    """  # noqa: D301  # click wants the character itself
    if simulator is not None:
        _build(simulator)
        return
    try:
        from rich.console import Console

        from roambus.doctor import examine, report
    except ImportError as error:
        raise UserError(f"{error}: install roambus again, with everything that it needs") from None
    with console().status("looking") as status:
        diagnosis = examine(lambda what: status.update(f"looking at {what}"))
    answer(findings=diagnosis.findings, backends={name: not diagnosis.in_the_way(name) for name in diagnosis.backends})
    if not command_output().as_json:
        report(diagnosis, Console())
    sys.exit(bool(diagnosis.in_the_way(DEFAULT)))


def _build(name: str) -> None:
    from roambus.doctor import BUILDING, look_at, simulators

    simulator = simulators()[name]
    lacking = [finding for finding in look_at([*simulator.itself, *BUILDING]) if not finding.is_ok]
    if lacking:
        raise UserError(f"nothing can be built for {name} yet: {'; '.join(map(str, lacking))}")
    library = simulator.build()
    answer(library, library=library)


@click.group()
def new() -> None:
    """Writes the start of an agent of your own, or of a sweep from a Castalia project.

    Example: roambus new agent rumour
    """


@new.command()
@click.argument("name")
def agent(name: str) -> None:
    """Writes a package with an agent called NAME into a folder of that name.

    The agent is a small protocol that works at once, with parameters, messages, tests, and a sweep that compares it
    with others. All of it is yours to change.

    Example: roambus new agent rumour
    """
    from roambus.experiments.scaffold.writer import read_name, write_package

    folder = Path(name)
    write_package(read_name(name), folder)
    answer(f"{folder}: install it with\n  python -m pip install --editable {folder}", folder=folder)


@new.command()
@click.option("--from", "ini", type=FILE, required=True, help="The omnetpp.ini of a Castalia project.")
@click.option("--config", default="General", show_default=True, help="The configuration; A,B are two, A first.")
def sweep(ini: Path, config: str) -> None:
    """Writes a template and a sweep from a configuration of a Castalia project.

    They are in a new folder with the name of the configuration. Iteration variables become axes. The agent of your
    choice takes the place of the project's application, and the workload is yours to change. Files that the lines name
    are copied. The command says which lines no back-end reads, and what the embedded radio does not know.

    Example: roambus new sweep --from omnetpp.ini --config varyTxPower
    """
    from roambus.experiments.scaffold.omnetpp_sweep import convert, write
    from roambus.experiments.sweeps.runner import plan_runs
    from roambus.experiments.sweeps.sweep_file import read_sweep

    made = convert(ini, config)
    file = write(made, Path(made.name))
    if left := [f"{line.key} ({line.file.name}:{line.number})" for line in made.left_out]:
        remark(f"{len(left)} lines that roambus does not read are comments in the template: {', '.join(left)}")
    if absent := [f"{line.key} ({line.file.name}:{line.number})" for line in made.absent]:
        reason = "this configuration lacks their nodes or mobility"
        remark(f"{len(absent)} lines are left out, because {reason}: {', '.join(absent)}")
    try:
        plan_runs(read_sweep(str(file)), file.parent / "results")
        backend = "radio"
    except UserError as error:
        remark(f"Castalia has keys and values that the embedded radio lacks (roambus docs ini-keys):\n{error}")
        backend = "castalia"
    answer(f"{file}: run it with\n  roambus sweep {file} --backend {backend}", sweep=file, left_out=left)
