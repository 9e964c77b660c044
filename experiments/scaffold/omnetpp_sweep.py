"""Writes a template and a sweep from a configuration of a Castalia project's omnetpp.ini, completely or not at all.

Channel, radio, MAC and places stay as they are, and files that they name are copied. The project's application gives
way to an agent, with a workload like its own. Iteration variables become axes. Lines that no back-end reads are
comments.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from roambus.bridge.formats.ini.lookup import (
    IGNORED_OBJECT_OPTIONS,
    IGNORED_OPTIONS,
    KEYS,
    PER_MANAGER,
    PER_NODE,
    STACK,
)
from roambus.bridge.formats.ini.syntax import compile_pattern
from roambus.bridge.keys import EVERY_NODE, path_of
from roambus.bridge.mobility.registry import MANAGER
from roambus.bridge.scenario.definition import NetworkSettings
from roambus.bridge.scenario.macs import PROTOCOL
from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import SWEEP_SUFFIX, TEMPLATE_SUFFIX, TEMPLATES
from roambus.experiments.scaffold import omnetpp_workload as workload
from roambus.experiments.scaffold.omnetpp_ini import (
    GENERAL,
    WHERE,
    Iterations,
    Line,
    counting,
    iterations,
    read_project,
    with_variables,
)
from roambus.experiments.scaffold.writer import new_folder
from roambus.experiments.sweeps.sweep import label_of
from roambus.experiments.templates.template import RUN_VARIABLES

OWN_APPLICATION = "BridgeApplication"
_OF_SWEEPS = ("extends", "constraint", "repeat", "network", "seed-set")
_HEAD = """
[General]
network = SN
seed-set = {{ seed }}
{% include "_castalia.ini.j2" %}

SN.node[*].ApplicationName = "BridgeApplication"
SN.node[*].Application.agent = {{ agent | quoted }}
SN.node[*].Application.agentParameters = {{ agent_parameters | quoted }}
"""
_NODES = path_of(NetworkSettings, "nodes")
_NUMBER, _WHOLE = re.compile(r"-?\d*\.?\d+([eE][-+]?\d+)?"), re.compile(r"-?\d+")
_JINJA = re.compile(r"\{[{%#]")
_LENGTH, _NAME_OF_MAC = next(key for key in KEYS if key.name == "sim-time-limit"), PROTOCOL.name.rpartition(".")[2]
_PATH = re.compile(r'"([^"]+)"')


@dataclass(slots=True)
class Converted:
    """A template and a sweep as texts, with the files that they name, and the lines that are comments now."""

    name: str
    template: str = ""
    sweep: str = ""
    files: dict[str, Path] = field(default_factory=dict)
    left_out: list[Line] = field(default_factory=list)
    absent: list[Line] = field(default_factory=list)
    """Those of nodes or mobility managers that the configuration does not have."""


def convert(ini: Path, config: str) -> Converted:
    """Convert a configuration; General alone has the name of the ini's folder. Raises UserError."""
    lines = counting(read_project(ini).lines(config))
    found = iterations(lines)
    made = Converted(label_of(ini.absolute().parent.name if config == GENERAL else config))
    variables = {name: _Variable(_free(name), values) for name, values in found.values.items()}
    is_own = any(line.key.endswith(".ApplicationName") and OWN_APPLICATION in line.value for line in lines)
    declared = {each.name: each.declaration(name) for name, each in variables.items()}
    head = [_HEAD, *([] if is_own else [workload.roles(lines)]), *_chosen(lines, declared)]
    rest = _without_absent([line for line in lines if line.key not in _keys_of_head(declared)], found, made)
    body = [text for line in rest if (text := _converted(line, variables, made, ini.parent, is_own))]
    body += [] if is_own else workload.default_interval(lines)
    comment = f"# {ini.name}, configuration {config}: the first line for a key counts.\n"
    made.template = "\n".join(["".join([_declarations(declared), comment, *head]), *body, ""])
    made.sweep = _sweep(made.name, f"{ini.name}, configuration {config}", lines, found, variables)
    return made


def write(made: Converted, folder: Path) -> Path:
    """Write all files into the new `folder`; return the sweep's. Raise UserError, OSError."""
    with new_folder(folder, "run the command in another folder") as unfinished:
        (unfinished / f"{made.name}{TEMPLATE_SUFFIX}").write_text(made.template, encoding="utf-8")
        (unfinished / f"{made.name}{SWEEP_SUFFIX}").write_text(made.sweep, encoding="utf-8")
        for name, file in made.files.items():
            shutil.copyfile(file, unfinished / name)
    return folder / f"{made.name}{SWEEP_SUFFIX}"


# Lines


def _chosen(lines: Sequence[Line], declared: dict[str, str]) -> Iterator[str]:
    """Yield lines for the length of the run and the MAC, where one value is for all, and declare their variables."""
    length = next((line.value for line in lines if line.key == _LENGTH.name), "")
    if re.fullmatch(r"[\d.]+\s*[a-z]+", length) and "time_limit" not in declared:
        declared["time_limit"] = f'{{ key = "{_LENGTH.name}", default = "{length}" }}'
        yield f"{_LENGTH.name} = {{{{ time_limit | time }}}}\n"
    macs = [line for line in lines if line.key.endswith(_NAME_OF_MAC)]
    mac = next((line.value for line in macs if line.key == PROTOCOL.name), PROTOCOL.default)
    if all(line.key == PROTOCOL.name and "$" not in line.value for line in macs) and "mac" not in declared:
        others = 'others = "with --backend castalia one of Castalia\'s"'
        declared["mac"] = f"{{ key = {json.dumps(PROTOCOL.name)}, default = {mac}, {others} }}"
        yield f"{PROTOCOL.name} = {{{{ mac | quoted }}}}\n"


def _keys_of_head(declared: Mapping[str, str]) -> set[str]:
    """The keys of `_chosen`, which no later line changes."""
    return {key for name, key in (("time_limit", _LENGTH.name), ("mac", PROTOCOL.name)) if _names(declared, name, key)}


def _names(declared: Mapping[str, str], name: str, key: str) -> bool:
    return f"key = {json.dumps(key)}" in declared.get(name, "")


def _without_absent(lines: Sequence[Line], found: Iterations, made: Converted) -> Iterator[Line]:
    """Yield the lines but those of nodes that there are not, which OMNeT++ passes over."""
    counts = next(([line.value, *found.values.get(_used_in(line), ())] for line in lines if line.key == _NODES), [])
    nodes = max((int(text) for text in counts if _WHOLE.fullmatch(text)), default=None)
    for line in lines:
        number = re.search(r"\.node\[(\d+)", line.key)
        is_beyond = number and nodes is not None and int(number[1]) >= nodes
        if is_beyond or _is_of_other_manager(line, lines):
            made.absent.append(line)
        else:
            yield line


def _is_of_other_manager(line: Line, lines: Sequence[Line]) -> bool:
    """Whether the line is for a mobility manager that its node lacks."""
    path = re.fullmatch(r"(SN\.node\[\d+\]\.MobilityManager)\.(\w+)", line.key)
    if path is None:
        return False
    named = (other.value for other in lines if compile_pattern(other.key).matches(f"{path[1]}Name"))
    keys = PER_MANAGER.get(next(named, MANAGER.default or "").strip('"'))
    return keys is not None and path[2] not in {key.name.rpartition(".")[2] for key in (*keys, *PER_NODE["Mobility"])}


def _used_in(line: Line) -> str:
    return next(iter(iterations([line]).values), line.value.strip("${}"))


def _converted(
    line: Line, variables: Mapping[str, _Variable], made: Converted, folder: Path, is_own: bool
) -> str | None:
    """The line in the template: as it is, with variables, as a comment, or None where the head has it."""
    if line.key in _OF_SWEEPS or line.key in _keys_of_part():
        return None
    is_application = re.search(r"\.Application(Name$|\.)", line.key) is not None
    if is_application and not is_own:
        if workload.is_role(line):
            return None
        if text := workload.converted(line, {name: variable.name for name, variable in variables.items()}):
            return text
    if (is_application and not is_own) or not (is_application or _is_read(line.key)):
        made.left_out.append(line)
        return f"# {_escaped(f'{line.key} = {line.value}')}"
    value = _JINJA.sub(_raw, line.value) if "$" not in line.value else None
    value = value or with_variables(line, {name: variable.written for name, variable in variables.items()})
    if (named := _PATH.fullmatch(value)) and (file := _file(line, folder, named[1])):
        made.files[file.name] = file
        value = f'"{file.name}"'
    return f"{line.key} = {value}"


def _file(line: Line, folder: Path, name: str) -> Path | None:
    """The file that a line names, or None for another text and for a file of every template; raises UserError."""
    names_file = line.key.lower().endswith("file") and "." in line.key
    if (names_file or "/" in name) and (folder / name).is_file():
        return folder / name
    if names_file and "{" not in name and not ("/" not in name and (TEMPLATES / name).is_file()):
        raise line.error(f"there is no file {folder / name}: {WHERE}")
    return None


def _is_read(key: str) -> bool:
    """Whether a back-end reads the key, or OMNeT++ for its reports."""
    path = re.sub(r"node\[[^\]]*\]", EVERY_NODE, key)
    name = path.rpartition(".")[2]
    known = {each.name for each in KEYS} | IGNORED_OPTIONS
    names = {each.rpartition(".")[2] for each in known} | IGNORED_OBJECT_OPTIONS
    return path in known or path.startswith(STACK) or ("*" in path.replace(EVERY_NODE, "") and name in names)


def _keys_of_part() -> set[str]:
    """The keys that the part of every template has."""
    lines = (TEMPLATES / "_castalia.ini.j2").read_text(encoding="utf-8").splitlines()
    return {line.partition("=")[0].strip() for line in lines if "=" in line and not line.startswith("#")}


def _raw(found: re.Match[str]) -> str:
    return f"{{{{ {json.dumps(found[0])} }}}}"


def _escaped(text: str) -> str:
    return _JINJA.sub(_raw, text)


# Variables


class _Variable:
    """An iteration variable as a variable of a template."""

    def __init__(self, name: str, texts: Sequence[str]) -> None:
        self.name = name
        self.is_string = all(text.startswith('"') for text in texts)
        is_whole, is_number = (all(map(form.fullmatch, texts)) for form in (_WHOLE, _NUMBER))
        self.kind = "whole number" if is_whole else "number" if is_number else "text"
        self.first = self.literal(texts[0])

    @property
    def written(self) -> str:
        """How the template writes it."""
        return f"{{{{ {self.name} | quoted }}}}" if self.is_string else f"{{{{ {self.name} }}}}"

    def declaration(self, name: str) -> str:
        """How the template declares the variable, which the ini calls `name`."""
        return f'{{ default = {self.first}, type = "{self.kind}", meaning = "${{{name}}} of the ini." }}'

    def literal(self, text: str) -> str:
        """A value in TOML."""
        if self.kind == "text":
            return json.dumps(text.strip('"') if self.is_string else text, ensure_ascii=False)
        return str(int(text)) if self.kind == "whole number" else repr(float(text))


def _free(name: str) -> str:
    return f"{name}_of_ini" if name in (*RUN_VARIABLES, "range", "fail", "loop") else name


def _declarations(declared: Mapping[str, str]) -> str:
    lines = "\n".join(f"{name} = {text}" for name, text in declared.items())
    return f"{{#- variables\n{lines}\n-#}}\n" if declared else ""


def _sweep(name: str, source: str, lines: Sequence[Line], found: Iterations, variables: Mapping[str, _Variable]) -> str:
    repeat = next((line.value for line in lines if line.key == "repeat"), "1")
    seeds = repeat if _WHOLE.fullmatch(repeat) else "1"
    axes = "\n".join(_axes(found, variables))
    head = f"# Made of {source}.\ntemplate = {json.dumps(name + TEMPLATE_SUFFIX)}\nseeds = {seeds}\n"
    return f"{head}\n[axes]\n{axes}\n\n[agents]\nflooding = {{}}\n"


def _axes(found: Iterations, variables: Mapping[str, _Variable]) -> Iterator[str]:
    for group in found.groups():
        if not group:
            raise UserError(f"the constraint holds for no value of {', '.join(variables)}: leave it out")
        names = list(group[0])
        if len(names) == 1:
            values = dict.fromkeys(variables[names[0]].literal(each[names[0]]) for each in group)
            yield f"{variables[names[0]].name} = [{', '.join(values)}]"
            continue
        axis = "-".join(variables[name].name for name in names)
        for each in group:
            label = "-".join(label_of(each[name].strip('"')) for name in names)
            settings = ", ".join(f"{variables[name].name} = {variables[name].literal(each[name])}" for name in names)
            yield f"{axis}.{json.dumps(label)} = {{ {settings} }}"
