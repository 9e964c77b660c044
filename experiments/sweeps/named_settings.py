"""Named settings: zipped axis values of a template's sweeps, such as C8, which set several variables.

Their names work beyond their sweep: `--set config=C8` for a single run, `config = "C8"` under [set] or `config = ["C2",
"C8"]` under [axes] of another sweep of the template.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.experiments.shipped import SWEEP_SUFFIX, TEMPLATE_SUFFIX, shipped_files
from roambus.experiments.sweeps.sweep import AgentChoice, Axis, Sweep, narrow, read_axis, validate
from roambus.experiments.sweeps.tables import axes_of_table, read_content, template_of
from roambus.experiments.templates.render import find_variable
from roambus.experiments.templates.variables import Scalar


def named_settings(template: Path) -> list[Axis]:
    """The zipped axes of a template's sweeps, the namesake's first; a broken sweep has none."""
    values: dict[str, dict[str, Mapping[str, Scalar]]] = {}
    for axis in _zipped_axes(template):
        values[axis.name] = {**axis.values, **values.get(axis.name, {})}
    return [Axis(name, found, zipped=True) for name, found in values.items()]


def _zipped_axes(template: Path) -> Iterator[Axis]:
    own = template.name.removesuffix(TEMPLATE_SUFFIX)
    for file in sorted(template.parent.glob(f"*{SWEEP_SUFFIX}"), key=lambda file: (file.stem != own, file.name)):
        with suppress(UserError):
            content = read_content(file)
            if template_of(file, content).resolve() == template.resolve():
                yield from (axis for axis in axes_of_table(file, content) if axis.zipped)


def find_named(template: Path, name: str) -> Axis | None:
    """The named settings of that name, unless a variable of the template has it; else None."""
    with suppress(UserError):
        find_variable(template, name, "")
        return None
    return next((axis for axis in named_settings(template) if axis.name == name), None)


def axis_of(template: Path, name: str, *texts: str) -> Axis:
    """The axis of `--set`: a variable's, or of named settings; raises UserError for neither."""
    if (named := find_named(template, name)) is not None:
        return narrow(named, ",".join(texts), "--set")
    return read_axis(template, name, find_variable(template, name, "--set"), texts, "--set")


def is_template(name: str) -> bool:
    """Whether it is a template's path, or its name and no sweep's."""
    if name.endswith(TEMPLATE_SUFFIX) or Path(name).is_file():
        return name.endswith(TEMPLATE_SUFFIX)
    return name not in shipped_files(SWEEP_SUFFIX) and name in shipped_files(TEMPLATE_SUFFIX)


def sweep_of(
    source: str, template: Path, agent: AgentChoice, settings: Mapping[str, Sequence[str]], seed: int = 0
) -> Sweep:
    """A template's sweep by `--set` alone, one agent and seed; raises UserError."""
    axes = tuple(axis_of(template, name, *texts) for name, texts in sorted(settings.items()))
    sweep = Sweep(source, template, (agent,), axes, (seed,))
    validate(sweep)
    return sweep
