"""Agents as a user writes them: one file each."""

from pathlib import Path
from textwrap import dedent, indent

HEADER = """\
from roambus import SECOND, Agent, Started, on, on_timer
import time

"""


def write_agent(folder: Path, name: str, on_timer: str) -> Path:
    """A file with an agent that does `on_timer` every simulated second."""
    path = folder / f"{name}.py"
    body = f"""\
class Ticking(Agent):
    \"\"\"Ticks every second.\"\"\"

    @on(Started)
    def start(self, event, now):
        self.set_timer("tick", SECOND)

    @on_timer("tick")
    def tick(self, key, now):
{indent(dedent(on_timer), " " * 8)}
        self.set_timer("tick", SECOND)
"""
    path.write_text(HEADER + body)
    return path
