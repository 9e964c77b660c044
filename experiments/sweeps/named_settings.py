"""The settings that sweeps have given names to, such as C8: a single run of their template can be asked for by them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.experiments.sweeps.sweep import Axis, narrow, parse_scalar, plain_axis
from roambus.experiments.sweeps.sweep_file import SUFFIX, read_sweep
from roambus.experiments.templates.render import SUFFIX as TEMPLATE_SUFFIX
from roambus.experiments.templates.render import check_variables, find_variable


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


def axis_of(template: Path, name: str, text: str) -> Axis:
    """The axis of one point that `--set NAME=TEXT` asks for: a variable's value, or a setting that has a name.

    Raises UserError for what is neither.
    """
    try:
        find_variable(template, name, "--set")
    except UserError:
        named = next((axis for axis in named_settings(template) if axis.name == name), None)
        if named is None:
            raise
        return narrow(named, text, "--set")
    axis = plain_axis(name, [parse_scalar(text)])
    check_variables(template, axis.values.values(), "--set")
    return axis


def _zipped_axes(template: Path) -> Iterator[Axis]:
    own = template.name.removesuffix(TEMPLATE_SUFFIX)
    for file in sorted(template.parent.glob(f"*{SUFFIX}"), key=lambda file: (file.stem != own, file.name)):
        with suppress(UserError):
            sweep = read_sweep(str(file))
            if sweep.template.resolve() == template.resolve():
                yield from (axis for axis in sweep.axes if axis.zipped)
