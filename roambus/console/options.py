"""Options that several commands share, so that one name means the same everywhere.

An option is a constant that decorates a command. `Named` completes names but takes any text; the lookup reports an
unknown name. `grouped` passes several options as one value. Nothing slow is imported: `roambus list` and completion
would wait.
"""

from __future__ import annotations

import csv
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from roambus.bridge.backends.registry import DEFAULT, backend_names
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.limits import WORKERS as MOST_WORKERS
from roambus.bridge.system.process import cores
from roambus.console.output import remark

if TYPE_CHECKING:
    from roambus.bridge.backend import BackendFactory
    from roambus.experiments.sweeps.stores import Store

Command = Callable[..., None]
Decorator = Callable[[Command], Command]


def grouped(name: str, kind: Callable[..., Any], *options: Decorator) -> Decorator:
    """Give a command the options as one argument of that name, built by `kind`."""
    fields = list(inspect.signature(kind).parameters)

    def decorated(command: Command) -> Command:
        @wraps(command)
        def call(**given: Any) -> None:
            value = kind(**{field: given.pop(field) for field in fields})
            command(**given, **{name: value})

        found: Command = call
        for option in reversed(options):
            found = option(found)
        return found

    return decorated


# What can stand there


class Named(click.ParamType[str]):
    """One of `names`, or with `or_file` also a file's path."""

    name = "text"

    def __init__(self, names: Callable[[click.Context], Iterable[str]], *, or_file: bool = False) -> None:
        self._names, self._or_file = names, or_file

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Return the text unchanged; its lookup reports unknown names."""
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Return matching names; without any, the shell's own files."""
        found: list[str] = []
        with suppress(UserError, OSError):  # a shell shows no errors
            found = sorted({name for name in self._names(ctx) if name.startswith(incomplete)})
        files = [CompletionItem(incomplete, type="file")] if self._or_file else []
        return [*files, *map(CompletionItem, found)]


def _argument(context: click.Context) -> str:
    """Return the command's argument, if it precedes the word to complete.

    Click puts it into `context.args` if an option without its value comes last.
    """
    names = [parameter.name for parameter in context.command.params if isinstance(parameter, click.Argument)]
    found = [value for name in names if (value := context.params.get(str(name))) is not None]
    return str([*found, *context.args, ""][0])


def _names(*kinds: str) -> Callable[[click.Context], Iterable[str]]:
    def found(_: click.Context) -> Iterator[str]:
        from roambus.experiments.inventory import KINDS, names

        for kind in kinds or KINDS:
            yield from names(kind)

    return found


def _metrics(context: click.Context) -> Iterable[str]:
    table = Path(_argument(context), "metrics", "runs.csv")
    if not table.is_file():
        return _names("metrics")(context)
    with table.open(encoding="utf-8", newline="") as file:
        head = next(csv.reader(file), [])
    return head[head.index("seed") + 1 :] if "seed" in head else []


def _variables(context: click.Context) -> Iterator[str]:
    from roambus.experiments.sweeps.selection import is_template
    from roambus.experiments.sweeps.sweep_file import named_settings, read_sweep
    from roambus.experiments.templates.template import find_template

    named = _argument(context)
    is_sweep = context.info_name == "sweep" and not is_template(named)
    template = read_sweep(named).template if is_sweep else find_template(named)
    yield from (f"{name}=" for name in template.variables)
    yield from (f"{axis.name}={value}" for axis in named_settings(template) for value in axis.values)


def _parameters(context: click.Context) -> Iterator[str]:
    from roambus.bridge.agents import load_agent
    from roambus.python_protocol.settings import describe_parameters

    agent = context.params.get("agent") or "beacon"  # the default of --agent, which is not filled in yet
    if agent in _names("agents")(context):  # a file is somebody's code, which pressing a key does not run
        yield from (f"{row[0]}=" for row in describe_parameters(load_agent(agent).parameters_type))


AGENT_NAME = Named(_names("agents"), or_file=True)
TEMPLATE_NAME = Named(_names("templates"), or_file=True)
SWEEP_NAME = Named(_names("sweeps", "templates"), or_file=True)
STUDY_NAME = Named(_names("studies"), or_file=True)
METRIC_NAME = Named(_metrics)
ENTRY_NAME = Named(_names(), or_file=True)
VARIABLE_VALUE = Named(_variables)
PARAMETER_VALUE = Named(_parameters)


class Seconds(click.FloatRange):
    """Seconds of wall-clock time, within bounds; refuses `nan`, which click accepts."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the number; raise click.BadParameter."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is not a number of seconds", param, ctx)
        return number


class ResultsFolder(click.Path):
    """A folder, or a store's address, published when the command ends."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the folder as a Path; raise click.BadParameter, UserError, RoambusError."""
        if isinstance(value, str) and "://" in value and ctx is not None:
            return _fetched(value, ctx)
        return super().convert(value, param, ctx)


STORES = "roambus.stores"
"""The key of a command's stores, fetched first and published last."""


def _fetched(text: str, context: click.Context) -> Path:
    from roambus.experiments.sweeps.stores import open_store

    store = open_store(text)
    if store is None:
        return Path(text)
    fetched = store.fetch()
    remark(f"{store.url}: {fetched} files fetched to {store.folder}")
    context.meta.setdefault(STORES, []).append(store)
    # Also after an error: runs that are complete by then are published, and the next command need not make them.
    context.call_on_close(partial(_publish, store))
    return store.folder


def _publish(store: Store) -> None:
    remark(f"{store.url}: {store.publish()} files published")


FOLDER = ResultsFolder(file_okay=False, path_type=Path)
FILE, PLACE = click.Path(dir_okay=False, path_type=Path), click.Path(path_type=Path)


# Options
#
# Those that stand in two commands or more. What one command has alone stands above that command. Where two commands
# give one word a different meaning, such as --set of a run and of a sweep, each has its own option and help.


SETTINGS = click.option(
    "--set",
    "settings",
    multiple=True,
    type=VARIABLE_VALUE,
    metavar="NAME=VALUE",
    help="Sets a variable of the template; give the option again for more. roambus show TEMPLATE lists variables with "
    "their values.",
)
VALUES = click.option(
    "--set",
    "settings",
    multiple=True,
    type=VARIABLE_VALUE,
    metavar="NAME=V1,V2",
    help="Replaces the values of an axis, or a value; give the option again for more. roambus show lists them. "
    'AXIS.LABEL="NAME=VALUE ..." adds a named value of your own.',
)
PARAMETERS = click.option(
    "--param",
    "parameters",
    multiple=True,
    type=PARAMETER_VALUE,
    metavar="NAME=VALUE",
    help="Sets a parameter of the agent; roambus show AGENT lists them.",
)
PARAMETER_VALUES = click.option(
    "--param",
    "parameters",
    multiple=True,
    type=PARAMETER_VALUE,
    metavar="[AGENT.]NAME=V1,V2",
    help="An axis of a parameter, of all agents that have it or of AGENT alone; give the option again for more.",
)
AGENT = click.option(
    "--agent",
    type=AGENT_NAME,
    default="beacon",
    show_default=True,
    help="The protocol: a name from roambus list agents, module:Class or file.py[:Class].",
)
OTHER_AGENT = click.option(
    "--agent",
    type=AGENT_NAME,
    help="Replaces the agent: a name, module:Class or file.py[:Class].",
)
SEED = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The seed; the same seed gives the same trace."
)
LEVEL = click.option(
    "--level",
    type=click.Choice(["app", "full"]),
    default="app",
    show_default=True,
    help="How much the trace holds: full adds a row for each packet received.",
)
_BACKENDS = backend_names()
BACKEND = click.option(
    "--backend",
    type=click.Choice(_BACKENDS),
    default=DEFAULT,
    show_default=True,
    help="The back-end: the embedded radio, real Castalia or ns-3 (see roambus doctor), or ideal links.",
)
SWEEP_BACKEND = click.option(
    "--backend",
    type=click.Choice(_BACKENDS),
    help=f"The back-end.  [default: the sweep's, or {DEFAULT}]",
)
DEADLINE = click.option(
    "--deadline",
    type=Seconds(1, 86400),
    help="The seconds that host and simulator wait for each other; give slow agents or a debugger more.  [default: 30]",
)
RECORD = click.option(
    "--record", is_flag=True, help="Keeps the exchange between host and back-end in frames.roambus, for roambus rerun."
)
REPLACE = click.option(
    "--replace",
    is_flag=True,
    help="Makes complete runs again whose agent, template or version of roambus has changed since.",
)
CHECK = click.option(
    "--check",
    is_flag=True,
    help="Compares every message with its bytes, not only a sample.",
)
AGENTS = click.option(
    "--agents",
    type=AGENT_NAME,
    metavar="A,B,...",
    help="Runs these agents in place of the sweep's: names, module:Class or file.py[:Class]; --param sets parameters.",
)
SEEDS = click.option(
    "--seeds",
    metavar="N|A..B",
    help="The number of seeds from 0 up, or a range of seeds such as 3..12; ranges may have commas between.  "
    "[default: the sweep's]",
)
PRECISION = click.option(
    "--precision",
    metavar="HALF_WIDTH",
    help="Adds seeds point by point until 95 % intervals are as narrow as this: 0.02, or 2% of the mean "
    "(roambus docs precision). --seeds is then the maximum of a point.",
)
METRIC = click.option("--metric", metavar="NAME", help="The metric for --precision: a column of runs.csv.")
FIRST_SEEDS = click.option(
    "--first-seeds", type=click.IntRange(2), help="With --precision, the fewest seeds of a point."
)
WORKERS = click.option(
    "--workers",
    type=click.IntRange(1, int(MOST_WORKERS.most)),
    default=cores(),
    show_default="cores",
    help="The number of processes that make runs.",
)
SPARK = click.option(
    "--spark", metavar="spark://HOST:PORT", help="Makes the runs on this Spark cluster instead (the page cluster)."
)
STUDY = click.option(
    "--study",
    type=STUDY_NAME,
    metavar="FILE.py",
    help="The study that RESULTS are of, if it is one of your own (roambus docs studies).",
)
MEASURE = click.option(
    "--measure",
    multiple=True,
    metavar="FILE.py|NAME",
    help="Your own metrics, in a file or an installed package; give the option again for more (roambus docs metrics).",
)
WHERE = click.option(
    "--where", "wheres", multiple=True, metavar="AXIS=V1,V2", help="Keeps only these values of an axis."
)
OUT = click.option(
    "--out", type=FOLDER, default=Path("results/run"), show_default=True, help="The folder for the results."
)
AGAINST = click.option(
    "--against",
    metavar="AXIS",
    help="The axis of the sweep that becomes the x axis.  [default: the first with more than one value]",
)
SOME_AGENTS = click.option(
    "--agents", metavar="A,B,...", help="Only these agents of the results, in this order.  [default: all]"
)


# Groups of options


class Single(NamedTuple):
    """A single run, as options say which one."""

    template: str
    agent: str
    parameters: Sequence[str]
    settings: Sequence[str]
    seed: int


SINGLE = grouped("single", Single, click.argument("template", type=TEMPLATE_NAME), AGENT, PARAMETERS, SETTINGS, SEED)


def factory_of(backend: str, deadline: float | None = None) -> BackendFactory:
    """Return the named back-end's factory; raise UserError for one without a simulator to wait for."""
    from roambus.bridge.backends.registry import make_factory

    made = make_factory(backend, deadline_s=deadline)
    if is_given("deadline") and not hasattr(made, "deadline_s"):
        raise UserError(f"--deadline: the back-end {backend} runs in this process, without a simulator: leave it out")
    return made


def goes_with(other: str, value: object, *names: str) -> None:
    """Raise UserError for an option of these that is given without the other, whose value is None or False."""
    for name in names:
        if is_given(name) and value in (None, False):
            raise UserError(f"--{name.replace('_', '-')} requires --{other}")


def is_given(name: str) -> bool:
    """Return whether the command line has the option with this parameter name."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Return an option's NAME=VALUE texts as pairs; raise UserError."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise UserError(f"{option} {text}: write NAME=VALUE")
        if name in found:
            raise UserError(f"{option} {name}: given twice")
        found[name] = value
    return found


def values_of(wheres: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the values that `--where` keeps of each axis; raise UserError."""
    return {axis: tuple(values.split(",")) for axis, values in pairs("--where", wheres).items()}
