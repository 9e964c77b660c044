"""Writes the study of a mesh from its places: a template, a sweep, the names for a film, and a README.

The template holds what is the mesh's own: the field, the places and the roles. It includes the
template `lora`, which has the radio, the MAC, the path loss and the workload with their variables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import SWEEP_SUFFIX, TEMPLATE_SUFFIX, shipped_folders
from roambus.experiments.scaffold.writer import new_folder
from roambus.experiments.sweeps.sweep import label_of
from roambus.extensions.lora.messages import CLIENT, REPEATER
from roambus.extensions.lora.places import ROLES, Field, Mesh, names_of

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


def described(mesh: Mesh) -> str:
    """Say what was read, such as "26 nodes: 22 clients, 3 routers, 1 repeater", and name a column like role."""
    counts = Counter(node.role for node in mesh.nodes)
    roles = (f"{counts[role]} {role}{'s' if counts[role] > 1 else ''}" for role in ROLES if counts[role])
    near = get_close_matches("role", mesh.unread, 1) if counts[CLIENT] == len(mesh.nodes) else ()
    return f"{len(mesh.nodes)} nodes: {', '.join(roles)}" + "".join(
        f"; did you mean role by {name!r}?" for name in near
    )


def _template(source: str, names: list[str], mesh: Mesh, field: Field) -> Iterator[str]:
    yield from HEAD.format(nodes=len(names), source=_comment(source)).splitlines()
    yield f"# The mesh of {_comment(source)}: {len(names)} nodes in {field.width_m} m by {field.height_m} m."
    yield f"{{%- if nodes != {len(names)} %}}"
    yield f'{{{{ fail("the {len(names)} nodes are those of the CSV: change its lines, and write the folder anew") }}}}'
    yield "{%- endif %}"
    if any(node.role != CLIENT for node in mesh.nodes):
        yield '{%- set added = takes("preset") and " preset=" not in " " ~ agent_parameters %}'
        yield '{%- set own = agent_parameters ~ (" preset=" ~ preset if added else "") %}'
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
    """A role is a parameter of managed flooding and its kin; a repeater has no application under any agent."""
    if role == REPEATER:
        yield f'SN.node[{number}].Application.roles = "broker"'
    yield '{%- if takes("role") %}'
    yield f'SN.node[{number}].Application.agentParameters = {{{{ ("role={role} " ~ own) | quoted }}}}'
    yield "{%- endif %}"


def _comment(text: str) -> str:
    """A text that is no code in a template."""
    return "".join(_BRACES.get(letter, letter) for letter in text if letter.isprintable())


HEAD = """\
{{#- variables
nodes = {{ key = "SN.numNodes", default = {nodes}, meaning = "Nodes of the CSV; there is no other number." }}
tx_power = {{ key = "SN.node[*].Communication.Radio.TxOutputPower", default = "14dBm" }}
loss_at_km = {{ key = "SN.wirelessChannel.PLd0", default = 126, meaning = "Path loss at 1 km: Hata (1980), \
small city at 868 MHz, antennas of 30 m and 1.5 m." }}
exponent = {{ key = "SN.wirelessChannel.pathLossExponent", default = 3.52 }}
sigma = {{ key = "SN.wirelessChannel.sigma", default = 6 }}
publish_until = {{ key = "SN.node[*].Application.publishUntil", default = 900 }}
time_limit = {{ key = "sim-time-limit", default = 4500, meaning = "End of the run; after publish_until, the nodes send \
what they have queued." }}
-#}}
"""

SWEEP = """\
# The mesh of {source}: three protocols under three loads. The head of {name}.ini.j2 has power, path loss and times.
template = "{name}.ini.j2"
seeds = 5
measure = ["lora"] # transmissions, airtime_s: frames and seconds on the air for a notification

[set]
preset = "LongFast"

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

`roambus show {name}/{name}.ini.j2` lists the variables for `[set]`: preset, MAC, region and others. The head of the
template has power and path loss. Below it you can move a node, or change its role.
"""
