"""`roambus list` says what there is, `show` what one thing is and takes, and `docs` shows the documentation.

What is installed: `roambus doctor` says what works, and `build` and `completion` prepare what is used with it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

import click
from click.shell_completion import get_completion_class

from roambus.bridge.backends.registry import DEFAULT
from roambus.bridge.errors import UserError
from roambus.commands.options import MEASURE, THING_NAME, Named
from roambus.commands.output import answer, answer_whole, console, remark, telling
from roambus.experiments.listing import KINDS, SINGULAR, own_things, summaries


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False)
@MEASURE
def list_things(kind: str | None, measure: Sequence[str]) -> None:
    """Lists agents, templates, sweeps, studies or metrics.

    Without KIND it lists all of them. Each has a line with its name and a summary; roambus show has the details. Files
    in the working folder come last, by their paths; none of them is run.

    Example: roambus list sweeps
    """
    found = {one: summaries(one) | own_things(one) for one in ((kind,) if kind else KINDS)}
    if measure and "metrics" in found:
        from roambus.spark.metrics.extra import all_own_metrics

        found["metrics"] |= {one.column: one.meaning for one in all_own_metrics(measure).metrics}
    lines = [line for one, things in found.items() for line in _lines(one, things, headed=kind is None)]
    document = [
        {"kind": SINGULAR[one], "name": name, "summary": summary}
        for one, things in found.items()
        for name, summary in things.items()
    ]
    answer_whole("\n".join(lines), document)


def _lines(kind: str, things: Mapping[str, str], *, headed: bool) -> Iterable[str]:
    if headed:
        yield f"{kind}:"
    width = max(map(len, things))
    yield from (f"{'  ' if headed else ''}{name:{width}}  {summary}" for name, summary in things.items())


@click.command()
@click.argument("name", type=THING_NAME)
@click.option("--kind", type=click.Choice(KINDS), help="Shows only this kind, if several things have the name.")
def show(name: str, kind: str | None) -> None:
    """Shows what NAME is, and what you can set.

    NAME is that of an agent, a template, a sweep, a study or a metric, from roambus list, or a file of your own: a
    template, a sweep, a study or an agent, which may also be file.py:Class. The command runs a Python file to read it.

    An agent has parameters, which --param sets; a template has variables, which --set sets; a sweep has axes; a metric
    has a definition. If several things have the name, all of them are shown, each with its kind.

    Example: roambus show thesis
    """
    from roambus.bridge.agents import announce_code
    from roambus.experiments.inventory import find, is_python

    if is_python(name):
        announce_code(name, remark)
    found = find(name, kind)
    text = "\n\n".join("\n".join(thing.lines()) for thing in found)
    answer_whole(text, [thing.as_json() for thing in found])


def _pages() -> Mapping[str, object]:
    from roambus.reference.pages import pages

    return pages()


@click.command()
@click.argument("page", type=Named(lambda _: _pages()), required=False)
def docs(page: str | None) -> None:
    """Shows PAGE of the documentation, or lists all pages.

    The pages are part of the package; texts of other commands refer to them. They are printed as Markdown, on a
    terminal in a pager, with the tables that the code declares.

    Example: roambus docs tutorial
    """
    from roambus.reference.pages import filled, pages, title_of

    known = pages()
    if page is None:
        width = max(map(len, known))
        found = [{"name": name, "title": title_of(file)} for name, file in known.items()]
        answer_whole("\n".join(f"{one['name']:{width}}  {one['title']}" for one in found), found)
        return
    if page not in known:
        near = get_close_matches(page, known, n=1)
        raise UserError(f"no page is named {page!r}: {f'did you mean {near[0]!r}? ' if near else ''}see roambus docs")
    text = filled(known[page].read_text(encoding="utf-8"))
    if sys.stdout.isatty() and not telling().as_json:
        click.echo_via_pager(text)
    else:
        answer(text.removesuffix("\n"), name=page, text=text)


VARIABLE = "_ROAMBUS_COMPLETE"
"""The environment variable by which the script of a shell asks; click makes it of the program's name."""


@click.command()
def doctor() -> None:
    """Says what is installed, which back-ends can run, and what to do.

    The command prints advice for each thing that is missing or broken, and for each back-end whether it can run. A
    terminal shows the progress: the embedded radio is compiled when it is first used, which takes a while. The exit
    code is 0 if the default back-end can run, and 1 if it cannot.

    Example: roambus doctor
    """
    try:
        from rich.console import Console

        from roambus.doctor import BACKENDS as LOOKED_AT
        from roambus.doctor import examine, report
    except ImportError as error:
        raise UserError(f"{error}: install roambus again, with everything that it needs") from None
    with console().status("looking") as status:
        diagnosis = examine(lambda what: status.update(f"looking at {what}"))
    answer(findings=diagnosis.findings, backends={name: not diagnosis.in_the_way(name) for name in LOOKED_AT})
    if not telling().as_json:
        report(diagnosis, Console())
    sys.exit(bool(diagnosis.in_the_way(DEFAULT)))


@click.command()
@click.argument("simulator", type=click.Choice(["castalia", "ns3"]))
def build(simulator: str) -> None:
    """Builds what lets SIMULATOR hand its nodes over to agents, and prints where it is.

    This needs a C++ compiler, make, libzmq and protobuf; the command says what is missing and how to get it. Compiling
    takes about a minute, and is needed again only when roambus or the simulator changes.

    For castalia, build OMNeT++ and Castalia first, and let the environment variables OMNETPP_ROOT and CASTALIA_ROOT
    name their folders, which are only read. For ns3, install the package ns3, or let NS3_ROOT name its folder.

    The result is in omnet/build in a checkout of roambus, and otherwise in your cache, which is ~/.cache unless
    XDG_CACHE_HOME names another folder. Runs find both.

    Example: roambus build castalia && roambus run thesis --agent mft --backend castalia
    """
    from roambus.doctor import BUILDING, NS3_ITSELF, SIMULATORS, look_at

    sources = SIMULATORS if simulator == "castalia" else (NS3_ITSELF,)
    lacking = [finding for finding in look_at([*sources, *BUILDING]) if not finding.is_ok]
    if lacking:
        raise UserError(f"nothing can be built for {simulator} yet: {'; '.join(map(str, lacking))}")
    if simulator == "castalia":
        from roambus.bridge.backends.castalia.installation import build_modules, find_modules

        build_modules(find_modules())
        library = find_modules().library
    else:
        from roambus.bridge.backends.ns3 import build_adapter

        library = build_adapter()
    answer(library, library=library)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Prints the script by which SHELL completes commands and names.

    It completes commands, options, agents, templates, sweeps, studies, metrics, variables of a template and parameters
    of an agent. The line that a shell reads when it starts, in ~/.bashrc or ~/.zshrc, is

    \b
      eval "$(roambus completion bash)"
      eval "$(roambus completion zsh)"

    and for fish the script is a file, ~/.config/fish/completions/roambus.fish.

    Example: roambus completion bash
    """  # noqa: D301  # click wants the character itself
    kind = get_completion_class(shell)
    if kind is None:
        raise UserError(f"click knows no completion for {shell}: install click again")
    root = click.get_current_context().find_root().command
    script = kind(root, {}, "roambus", VARIABLE).source()
    answer(script, shell=shell, script=script)
