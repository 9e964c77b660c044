"""Templates asked for by `--set`, with the settings that sweeps have given names to, such as C8.

Whatever is set becomes an axis: a single run has one value on each, and a template that is swept as it is has several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.experiments.shipped import SWEEP_SUFFIX, TEMPLATE_SUFFIX, shipped_files
from roambus.experiments.sweeps.sweep import AgentChoice, Axis, Sweep, narrow, plain_axis, validate
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.experiments.templates.render import check_variables, find_variable
from roambus.experiments.templates.variables import parse_scalar


def named_settings(template: Path) -> list[Axis]:
    """The zipped axes of the sweeps beside a template that are of it, each name once.

    The sweep that is called like the template comes first. A sweep that cannot be read has none.
    """
    axes: dict[str, Axis] = {}
    for axis in _zipped_axes(template):
        known = axes.get(axis.name)
        values = {**axis.values, **known.values} if known else axis.values
        axes[axis.name] = Axis(axis.name, values, zipped=True)
    return list(axes.values())


def is_template(name: str) -> bool:
    """Whether the path is a template's, or a template has the name and no sweep has."""
    if name.endswith(TEMPLATE_SUFFIX) or Path(name).is_file():
        return name.endswith(TEMPLATE_SUFFIX)
    return name not in shipped_files(SWEEP_SUFFIX) and name in shipped_files(TEMPLATE_SUFFIX)


def sweep_of(
    source: str, template: Path, agent: AgentChoice, settings: Mapping[str, Sequence[str]], seed: int = 0
) -> Sweep:
    """The sweep of a template by what is set alone, for one agent and seed; raises UserError."""
    axes = [axis_of(template, name, *texts) for name, texts in sorted(settings.items())]
    sweep = Sweep(source, template, (agent,), tuple(axes), (seed,))
    validate(sweep)
    return sweep


def axis_of(template: Path, name: str, *texts: str) -> Axis:
    """The axis that `--set` asks for by a name and values: of a variable, or of settings that have a name.

    Raises UserError for what is neither.
    """
    try:
        variable = find_variable(template, name, "--set")
    except UserError:
        named = next((axis for axis in named_settings(template) if axis.name == name), None)
        if named is None:
            raise
        return narrow(named, ",".join(texts), "--set")
    axis = plain_axis(name, [parse_scalar(text, variable) for text in texts])
    check_variables(template, list(axis.values.values()), "--set")
    return axis


def _zipped_axes(template: Path) -> Iterator[Axis]:
    own = template.name.removesuffix(TEMPLATE_SUFFIX)
    for file in sorted(template.parent.glob(f"*{SWEEP_SUFFIX}"), key=lambda file: (file.stem != own, file.name)):
        with suppress(UserError):
            sweep = read_sweep(str(file))
            if sweep.template.resolve() == template.resolve():
                yield from (axis for axis in sweep.axes if axis.zipped)
