"""`roambus dissector` writes what Wireshark needs to read the messages of agents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from roambus.commands.completion import AGENT_NAME
from roambus.commands.telling import answer, remark


@click.command()
@click.argument("agents", nargs=-1, type=AGENT_NAME, required=True, metavar="AGENT...")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("roambus.lua"),
    show_default=True,
    help="The file to write.",
)
def dissector(agents: Sequence[str], out: Path) -> None:
    """Writes a dissector by which Wireshark and tshark read what AGENTs say.

    It is generated from the messages that each agent declares, for captures that roambus export --format pcapng writes.
    AGENT is a name that roambus agents lists, module:Class or file.py[:Class]; its code is loaded.

    Example: roambus dissector mft aodv --out roambus.lua && tshark -X lua_script:roambus.lua -r run.pcapng
    """
    from roambus.bridge.agents.code import announce_code
    from roambus.bridge.agents.registry import load_agent
    from roambus.bridge.runs.run import errors_named
    from roambus.bridge.unfinished_file import UnfinishedFile
    from roambus.experiments.export.capture.dissector import dissector as lines_for

    for agent in agents:
        announce_code(agent, remark)
    found = {agent: load_agent(agent) for agent in agents}
    with errors_named(out), UnfinishedFile(out) as unfinished:
        for line in lines_for(found):
            unfinished.file.write(line.encode())
        unfinished.finish()
    answer(out, dissector=out)
