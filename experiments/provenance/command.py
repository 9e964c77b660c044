"""The command `roambus crate`: results packed for other people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from roambus.bridge.backends.registry import backend_names
from roambus.experiments.console.options import FILE, FOLDER, Simulator, factory_of
from roambus.experiments.console.output import answer, bar, remark


@click.command()
@click.argument("results", type=FOLDER)
@click.option("--out", type=FILE, help="The file.  [default: RESULTS.crate.zip]")
@click.option("--title", help="The title of the results.  [default: the name of their folder]")
@click.option("--author", "authors", multiple=True, metavar="NAME", help="An author; give the option again for more.")
@click.option(
    "--license", "license_", default="", metavar="URL", help="The licence under which others may use the results."
)
@click.option("--trust", is_flag=True, help="Also loads agents that are not installed.")
def crate(
    results: Path, out: Path | None, title: str | None, authors: Sequence[str], license_: str, trust: bool
) -> None:
    """Packs RESULTS so that others can cite them, and repeat their runs byte for byte.

    RESULTS is the folder of a sweep or a study. The crate is a zip file: an RO-Crate with the results, the code of
    roambus and of your own agents, the versions of all libraries, and a checksum of each file. In the unpacked crate,
    sh reproduce.sh installs all this and makes runs again; roambus verify does the same with the installed roambus.

    The command refuses results of another version of roambus or of an agent, because this version cannot repeat them.

    Example: roambus crate results/small --author "Ada Lovelace" --license https://spdx.org/licenses/CC-BY-4.0
    """
    from roambus.experiments.provenance.crate import Packing, write_crate
    from roambus.experiments.provenance.metadata import About
    from roambus.experiments.studies.study import existing_folder, sweep_folders
    from roambus.experiments.verification import Verifier

    folder = existing_folder(results)
    name = folder.absolute().name
    factories = [factory_of(one, Simulator()) for one in backend_names()]
    packing = Packing(folder, sweep_folders(folder), Verifier(factories, trust, remark))
    file = out or folder.absolute().with_name(f"{name}.crate.zip")
    with bar("packing", None) as one_more:
        runs = write_crate(packing, About(title or name, authors, license_), file, one_more)
    answer(file, crate=file, runs=runs)
