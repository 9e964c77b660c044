"""The page on trust has the limits as the code has them; after a change: pytest tests/test_trust_page.py --rewrite."""

from __future__ import annotations

import re

import pytest

from roambus.bridge.formats import recordings
from roambus.bridge.mobility import model
from roambus.bridge.runs import layout
from roambus.bridge.scenario import definition
from roambus.bridge.scenario.plans import MOST_NAMED
from roambus.bridge.system import limits as bridge_limits
from roambus.bridge.system.files import MOST_BYTES
from roambus.bridge.system.limits import Limit
from roambus.bridge.trace.parquet import SPARE_TEXT_BYTES, TEXT_BYTES
from roambus.bridge.trace.schema import LATEST_S
from roambus.bridge.wire.conversion import MAX_FRAME_BYTES
from roambus.command_line import commands
from roambus.experiments.sweeps.sweep import LONGEST_NAME
from tests.support.documents import marked, page

PAGE = page("trust")
MIB = 2**20


def limits() -> str:
    known = [limit for limit in vars(bridge_limits).values() if isinstance(limit, Limit)]
    rows = [
        f"| {words(limit)} | {amount(limit)} | {limit.reason} | `{limit.variable}`{top(limit)} |" for limit in known
    ]
    return "\n".join(["| What | Limit | Why | Raised by |", "|---|---|---|---|", *rows])


def words(limit: Limit) -> str:
    return re.sub(r",? (is|is, in MiB,)$", "", limit.what)


def amount(limit: Limit) -> str:
    return f"{limit.usual:,.0f} {limit.unit}".strip()


def top(limit: Limit) -> str:
    return f", to {limit.ceiling:,.0f} at most" if limit.ceiling < float("inf") else ""


def bounds() -> str:
    found = {
        "a text that users write: ini, template, sweep, scenario": f"{MOST_BYTES // MIB} MiB",
        "`sweep.json`": f"{layout.MOST_BYTES // MIB} MiB",
        "a message between host and simulator, and of a record": f"{MAX_FRAME_BYTES // MIB} MiB",
        "the text in the rows of a trace": (
            f"{TEXT_BYTES} bytes a row on average, and {SPARE_TEXT_BYTES} bytes for each row of the limit above"
        ),
        "a recording of a testbed, unpacked; its rows": f"{recordings.MOST_BYTES // MIB} MiB; {recordings.MOST_ROWS:,}",
        "nodes that ranges name in one plan of an ini, such as `0..9`": f"{MOST_NAMED:,}",
        "the time of a row of a trace, and of a way-point": f"{LATEST_S:,.0f} s",
        "the number of nodes, whatever is set": f"{definition.MOST_NODES:,}",
        "a side of the field": f"{definition._SIDE.at_most:,.0f} m",
        "the speed of a node": f"{model.SPEEDS.at_most:,.0f} m/s",
        "the seed of a run": f"{definition.MOST_SEED:,}",
        "the name of an agent, axis or value in a sweep": f"{LONGEST_NAME} bytes",
    }
    return "\n".join(["| What | At most |", "|---|---|", *(f"| {what} | {most} |" for what, most in found.items())])


def test_the_page_has_the_limits_of_the_code(request: pytest.FixtureRequest) -> None:
    """Each with its reason and with how it is raised."""
    tables = {"limits": limits(), "bounds": bounds()}
    text, wanted = marked(PAGE, tables, rewrite=request.config.getoption("--rewrite"))
    assert text == wanted


def test_the_page_names_every_command() -> None:
    """With what it executes."""
    table = PAGE.read_text(encoding="utf-8").partition("## Who may connect")[0]
    named = set(re.findall(r"`([a-z]+)[ `]", table))
    assert set(commands.commands) <= named
