"""Agents as a user writes them: one file each."""

from pathlib import Path
from textwrap import dedent, indent

HEADER = """\
from roambus.python_protocol.actions import SetTimer
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Started, TimerFired
from roambus.python_protocol.simtime import SECOND
import time

"""


def write_agent(folder: Path, name: str, on_timer: str) -> Path:
    """A file with an agent that does `on_timer` every simulated second."""
    path = folder / f"{name}.py"
    body = f"""\
class Ticking(Agent):
    \"\"\"Ticks every second.\"\"\"

    def handle(self, event, now):
        if isinstance(event, TimerFired):
{indent(dedent(on_timer), " " * 12)}
        if isinstance(event, Started | TimerFired):
            return [SetTimer("tick", SECOND)]
        return []
"""
    path.write_text(HEADER + body)
    return path
