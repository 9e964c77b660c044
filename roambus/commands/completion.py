"""Completion of the shell: what can stand at a place of the command line, and the script that teaches it to a shell.

Names are found without importing pandas or Spark, for a shell waits for them. Files are completed wherever one can
stand in place of a name.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from roambus.bridge.errors import UserError
from roambus.commands.telling import answer

VARIABLE = "_ROAMBUS_COMPLETE"
"""The environment variable by which the script of a shell asks; click makes it of the program's name."""


class Named(click.ParamType[str]):
    """A text that is the name of one of the things that `names` gives, or, with `or_file`, the path of a file."""

    name = "text"

    def __init__(self, names: Callable[[click.Context], Iterable[str]], *, or_file: bool = False) -> None:
        self._names, self._or_file = names, or_file

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """The text as it is: whoever looks it up says what there is."""
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """The names that begin so; the shell's own files come in where there is none."""
        found: list[str] = []
        with suppress(UserError, OSError):  # a shell shows no errors
            found = sorted({name for name in self._names(ctx) if name.startswith(incomplete)})
        files = [CompletionItem(incomplete, type="file")] if self._or_file else []
        return [*files, *map(CompletionItem, found)]


def _argument(context: click.Context) -> str:
    """The command's argument, if it stands before; click has put it aside if an option without its value comes last."""
    names = [one.name for one in context.command.params if isinstance(one, click.Argument)]
    found = [value for name in names if (value := context.params.get(str(name))) is not None]
    return str([*found, *context.args, ""][0])


def _agents(_: click.Context) -> Iterable[str]:
    from roambus.bridge.agents.registry import agent_names

    return agent_names()


def _templates(_: click.Context) -> Iterable[str]:
    from roambus.experiments.shipped import shipped_files
    from roambus.experiments.templates.render import SUFFIX

    return shipped_files(SUFFIX)


def _sweeps(_: click.Context) -> Iterable[str]:
    from roambus.experiments.shipped import shipped_files
    from roambus.experiments.sweeps.sweep_file import SUFFIX

    return shipped_files(SUFFIX)


def _studies(_: click.Context) -> Iterable[str]:
    from roambus.experiments.shipped import shipped_studies

    return shipped_studies()


def _metrics(context: click.Context) -> Iterable[str]:
    """Those that the results have which stand before, or else those of every sweep."""
    from roambus.spark.metrics.catalogue import METRICS

    table = Path(_argument(context), "metrics", "runs.csv")
    if not table.is_file():
        return [metric.column for metric in METRICS]
    with table.open(encoding="utf-8", newline="") as file:
        head = next(csv.reader(file), [])
    return head[head.index("seed") + 1 :] if "seed" in head else []


def _things(context: click.Context) -> Iterator[str]:
    for names in (_agents, _templates, _sweeps, _studies, _metrics):
        yield from names(context)


def _variables(context: click.Context) -> Iterator[str]:
    """What --set takes: variables of the template or sweep that stands before, and settings that have a name."""
    from roambus.experiments.sweeps.named_settings import named_settings
    from roambus.experiments.sweeps.sweep_file import read_sweep
    from roambus.experiments.templates.render import find_template, template_variables

    named, is_sweep = _argument(context), context.info_name == "sweep"
    template = read_sweep(named).template if is_sweep else find_template(named)
    yield from (f"{name}=" for name in template_variables(template))
    yield from (f"{axis.name}={value}" for axis in named_settings(template) for value in axis.values)


def _parameters(context: click.Context) -> Iterator[str]:
    from roambus.bridge.agents.registry import load_agent
    from roambus.python_protocol.parameters import describe_parameters

    agent = context.params.get("agent") or "beacon"
    if agent in _agents(context):  # a file is somebody's code, which pressing a key does not run
        yield from (f"{row[0]}=" for row in describe_parameters(load_agent(agent).parameters_type))


AGENT_NAME = Named(_agents, or_file=True)
TEMPLATE_NAME = Named(_templates, or_file=True)
SWEEP_NAME = Named(_sweeps, or_file=True)
STUDY_NAME = Named(_studies, or_file=True)
METRIC_NAME = Named(_metrics)
THING_NAME = Named(_things)
VARIABLE_VALUE = Named(_variables)
PARAMETER_VALUE = Named(_parameters)


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
        raise UserError(f"click knows no completion for {shell}: install click anew")
    root = click.get_current_context().find_root().command
    script = kind(root, {}, "roambus", VARIABLE).source()
    answer(script, shell=shell, script=script)
