"""`roambus list` lists things, `show` describes one, and `docs` shows the documentation.

`roambus doctor` checks the installation, and builds the modules for simulators. `roambus new` writes an agent's start.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from roambus.bridge.backends.registry import DEFAULT
from roambus.bridge.system.code import SIMULATORS, named
from roambus.bridge.system.errors import UserError
from roambus.console.options import ENTRY_NAME, MEASURE, Named
from roambus.console.output import answer, answer_whole, command_output, console, remark
from roambus.experiments.inventory import KINDS, SINGULAR, own_entries, shown_first

if TYPE_CHECKING:
    from roambus.reference import Entry, Row


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False)
@MEASURE
def list_things(kind: str | None, measure: Sequence[str]) -> None:
    """Lists agents, templates, sweeps, studies or metrics.

    Without KIND it lists all of them. Each has a line with its name and a summary; roambus show has the details. Of a
    study's sweeps the list has the one that is called like it; roambus show STUDY lists the others. Files in the
    working folder come last, by their paths; none of them is run.

    Example: roambus list sweeps
    """
    if measure and kind not in (None, "metrics"):
        raise UserError(f"--measure brings metrics, and {kind} are listed: leave it out, or list metrics")
    found = {each_kind: shown_first(each_kind) | own_entries(each_kind) for each_kind in ((kind,) if kind else KINDS)}
    if measure and "metrics" in found:
        from roambus.spark.metrics.extra import all_own_metrics

        found["metrics"] |= {metric.column: metric.meaning for metric in all_own_metrics(measure).metrics}
    lines = [line for each_kind, things in found.items() for line in _lines(each_kind, things, headed=kind is None)]
    document = [
        {"kind": SINGULAR[each_kind], "name": name, "summary": summary}
        for each_kind, things in found.items()
        for name, summary in things.items()
    ]
    answer_whole("\n".join(lines), document)


def _lines(kind: str, things: Mapping[str, str], *, headed: bool) -> Iterable[str]:
    if headed:
        yield f"{kind}:"
    width = max(map(len, things))
    yield from (f"{'  ' if headed else ''}{name:{width}}  {summary}" for name, summary in things.items())


@click.command()
@click.argument("name", type=ENTRY_NAME)
@click.option("--kind", type=click.Choice(KINDS), help="Shows only this kind, if several things have the name.")
def show(name: str, kind: str | None) -> None:
    """Shows what NAME is, and what you can set.

    NAME is that of an agent, a template, a sweep, a study or a metric, from roambus list. It can also be a file of
    your own: a template, a sweep, a study or an agent, which may be file.py:Class. The command runs a Python file
    to read it.

    An agent has parameters, which --param sets; a template has variables, which --set sets; a sweep has axes; a metric
    has a definition. If several things have the name, all of them are shown, each with its kind.

    Example: roambus show thesis
    """
    from roambus.bridge.agents import announce_code
    from roambus.reference import find, is_python

    if is_python(name):
        announce_code(name, remark)
    found = find(name, kind)
    text = "\n\n".join("\n".join(lines_of(entry)) for entry in found)
    answer_whole(text, [document_of(entry) for entry in found])


def document_of(entry: Entry) -> dict[str, Any]:
    """All of an entry, for `--json`."""
    rows = {title: [dict(row) for row in table] for title, table in entry.tables.items()}
    return {"kind": entry.kind, "name": entry.name, "summary": entry.summary, **entry.facts, **rows}


def lines_of(entry: Entry) -> Iterator[str]:
    """All of an entry, for people."""
    yield f"{entry.kind} {entry.name}: {entry.summary}"
    yield from (f"  {word}: {value}" for word, value in entry.facts.items())
    for title, table in entry.tables.items():
        if table:
            yield f"{title}:"
            yield from (f"  {_line(row)}" for row in table)
    if entry.example:
        yield f"example: {entry.example}"


def _line(row: Row) -> str:
    name, *rest = (value for column, value in row.items() if column not in ("default", "unit"))
    head = f"{name} = {default}" if (default := row.get("default")) else name
    return "  ".join([head, "; ".join(filter(None, (sentence.rstrip(".") for sentence in rest)))]).rstrip()


def _pages() -> Mapping[str, object]:
    from roambus.reference import pages

    return pages()


@click.command()
@click.argument("page", type=Named(lambda _: _pages()), required=False)
def docs(page: str | None) -> None:
    """Shows PAGE of the documentation, or lists all pages.

    The pages are part of the package; texts of other commands refer to them. They are printed as Markdown, on a
    terminal in a pager, with the tables that the code declares.

    Example: roambus docs tutorial
    """
    from roambus.reference import filled, pages, title_of

    known = pages()
    if page is None:
        width = max(map(len, known))
        found = [{"name": name, "title": title_of(file)} for name, file in known.items()]
        answer_whole("\n".join(f"{sweep['name']:{width}}  {sweep['title']}" for sweep in found), found)
        return
    if page not in known:
        near = get_close_matches(page, known, n=1)
        raise UserError(f"no page is named {page!r}: {f'did you mean {near[0]!r}? ' if near else ''}see roambus docs")
    text = filled(known[page].read_text(encoding="utf-8"))
    if sys.stdout.isatty() and not command_output().as_json:
        click.echo_via_pager(text)
    else:
        answer(text.removesuffix("\n"), name=page, text=text)


@click.command()
@click.option(
    "--build",
    "simulator",
    type=click.Choice(["castalia", *named(SIMULATORS)]),
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
    """Writes the start of an agent of your own.

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
