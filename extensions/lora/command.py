"""The command `roambus mesh`, which begins the study of a mesh from a CSV of its nodes."""

from __future__ import annotations

from pathlib import Path

import click

from roambus.console.options import FILE
from roambus.console.output import answer, remark


@click.command()
@click.argument("nodes", type=FILE)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="The new folder.  [default: the CSV's name]"
)
def mesh(nodes: Path, out: Path | None) -> None:
    """Writes a template and a sweep of the LoRa mesh whose nodes the CSV file NODES has.

    The first line names the columns, such as name,latitude,longitude,role; degrees are decimal. Roles are client,
    router and repeater. The new folder has a template with the nodes' places in metres, and a small sweep of
    managed flooding, flooding and gossip. It also has the names for a film, and a README with the commands. All of it
    is yours to change.

    Example: roambus mesh nodes.csv --out my-mesh
    """
    from roambus.extensions.lora.own_mesh import described, make, write
    from roambus.extensions.lora.places import project, read_mesh

    read = read_mesh(nodes)
    folder = out or nodes.with_suffix("")
    made = make(folder.name, nodes.name, read, project(read))
    if read.unread:
        remark(f"{nodes}: these columns are not used: {', '.join(read.unread)}")
    if read.comments:
        remark(f"{nodes}: lines that begin with # are left out: {', '.join(map(str, read.comments))}")
    sweep = write(made, folder)
    run = f"roambus sweep {sweep} --out results/{made.name}"
    remark(f"{nodes}: {described(read)}")
    answer(f"{sweep}: run it with\n  {run}", sweep=sweep, nodes=len(read.nodes))
