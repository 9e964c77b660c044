"""Writes the study of a mesh from its places: a template, a sweep, the names for a film, and a README.

The template holds what is the mesh's own: the field, the places and the roles. It includes the
template `lora`, which has the radio, the MAC, the path loss and the workload with their variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import SWEEP_SUFFIX, TEMPLATE_SUFFIX, shipped_folders
from roambus.experiments.scaffold.writer import new_folder
from roambus.experiments.sweeps.sweep import label_of
from roambus.extensions.lora.messages import CLIENT, REPEATER
from roambus.extensions.lora.places import Field, Mesh, names_of

NAMES_FILE, README_FILE = "names.txt", "README.md"
_BRACES = {"{": "(", "}": ")"}


@dataclass(frozen=True, slots=True)
class OwnMesh:
    """The texts of a folder's files by their names; the sweep has the mesh's `name`."""

    name: str
    files: dict[str, str]

    @property
    def sweep(self) -> str:
        """The name of the sweep's file."""
        return f"{self.name}{SWEEP_SUFFIX}"


def make(folder: str, source: str, mesh: Mesh, field: Field) -> OwnMesh:
    """Make the files of a mesh, named after the folder; raise UserError for a name that no file can have."""
    name = label_of(folder)
    if name != folder:
        raise UserError(f"{folder!r} is no name for a mesh: use letters, digits and -, such as --out my-mesh")
    if any((part / f"{name}{TEMPLATE_SUFFIX}").is_file() for part in shipped_folders()):
        raise UserError(
            f"{folder!r} is the name of a template, which a mesh's may include: choose another, such as --out my-mesh"
        )
    names = list(names_of(mesh.nodes))
    files = {
        f"{name}{TEMPLATE_SUFFIX}": "".join(f"{line}\n" for line in _template(source, names, mesh, field)),
        f"{name}{SWEEP_SUFFIX}": SWEEP.format(name=name, source=_comment(source)),
        NAMES_FILE: "".join(f"{each}\n" for each in names),
        README_FILE: README.format(name=name, source=_comment(source), nodes=len(names)),
    }
    return OwnMesh(name, files)


def write(made: OwnMesh, folder: Path) -> Path:
    """Write all files into the new `folder`, or none; return the sweep's. Raise UserError, OSError."""
    with new_folder(folder, "choose another one with --out") as unfinished:
        for name, text in made.files.items():
            (unfinished / name).write_text(text, encoding="utf-8")
    return folder / made.sweep


def _template(source: str, names: list[str], mesh: Mesh, field: Field) -> Iterator[str]:
    yield f"# The mesh of {_comment(source)}: {len(names)} nodes in {field.width_m} m by {field.height_m} m."
    yield f"{{%- set nodes = {len(names)} %}}"
    if any(node.role != CLIENT for node in mesh.nodes):
        yield '{%- set own = agent_parameters ~ ("" if "preset=" in agent_parameters else " preset=" ~ preset) %}'
    yield "[General]"
    yield f"SN.field_x = {field.width_m}"
    yield f"SN.field_y = {field.height_m}"
    yield 'SN.deployment = ""'
    for number, (node, name, (x, y)) in enumerate(zip(mesh.nodes, names, field.places_m, strict=True)):
        yield ""
        yield f"# {_comment(name)}, {node.latitude:.6f} {node.longitude:.6f}"
        yield f"SN.node[{number}].xCoor = {x:.1f}"
        yield f"SN.node[{number}].yCoor = {y:.1f}"
        if node.role != CLIENT:
            yield from _role(number, node.role)
    yield ""
    yield '{% include "lora.ini.j2" %}'


def _role(number: int, role: str) -> Iterator[str]:
    """A role is a parameter of managed flooding; a repeater has no application under any agent."""
    if role == REPEATER:
        yield f'SN.node[{number}].Application.roles = "broker"'
    yield '{%- if agent == "managed-flooding" %}'
    yield f'SN.node[{number}].Application.agentParameters = {{{{ ("role={role} " ~ own) | quoted }}}}'
    yield "{%- endif %}"


def _comment(text: str) -> str:
    """A text that is no code in a template."""
    return "".join(_BRACES.get(letter, letter) for letter in text if letter.isprintable())


SWEEP = """\
# The mesh of {source}: three protocols under three loads.
template = "{name}.ini.j2"
seeds = 5

[set]
preset = "LongFast"
tx_power = "14dBm"
loss_at_km = 126    # dB at 1 km: Hata (1980), small city at 868 MHz, antennas of 30 m and 1.5 m
exponent = 3.52
sigma = 6           # dB, by which places differ
publish_until = 900 # s
time_limit = 1080   # s

[axes]
publish_interval = [3600, 600, 60] # s, from one message of a node to its next

[agents]
managed-flooding = {{ title = "managed flooding" }}
lora-flooding = {{ title = "flooding" }}
lora-gossip = {{ title = "gossip" }}
"""

README = """\
# The mesh of {source}

{nodes} nodes: `{name}.ini.j2` has their places, `{name}.toml` a sweep, `names.txt` the names for a film.

```sh
roambus sweep {name}/{name}.toml --out results/{name}
roambus aggregate results/{name}
roambus figures results/{name}
roambus compare results/{name} --metric delivery_rate_all
```

The film of one of these runs, made again to show each message:

```sh
roambus replay results/{name}/traces/agent=managed-flooding/publish_interval=600/seed=0 \\
    --again --names {name}/names.txt --export {name}.html
```

`roambus show {name}/{name}.ini.j2` lists the variables for `[set]`: preset, power, path loss, MAC and others. In the
template you can move a node, or change its role.
"""
