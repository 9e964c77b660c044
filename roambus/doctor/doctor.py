"""Looks at Python, its packages, Java and Castalia, and prints what is there, what would run, and what to do.

What cannot be imported is a finding like any other, so the checks import what they look at, and this file does not.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version

from rich.console import Console
from rich.table import Table
from rich.text import Text

from roambus.bridge.errors import UserError
from roambus.doctor.castalia import needed_to_build, needed_to_run
from roambus.doctor.findings import Check, Finding, Result, Status, broken, look_at, missing, ok

BACKENDS = ("radio", "castalia")
PACKAGES = ("roambus", "numba", "numpy", "protobuf", "pyarrow", "pyspark", "pyzmq")
INSTALL = "install roambus anew: pip install --force-reinstall roambus"
COLOURS = {Status.OK: "green", Status.MISSING: "yellow", Status.BROKEN: "red"}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Holds everything that was looked at, and says what it means for each back-end."""

    python: Sequence[Finding]
    """Nothing runs without these."""
    spark: Sequence[Finding]
    castalia: Sequence[Finding]
    building: Sequence[Finding]

    @property
    def findings(self) -> list[Finding]:
        """Returns all findings, in the order of the table."""
        return [*self.python, *self.spark, *self.castalia, *self.building]

    def in_the_way(self, backend: str) -> list[Finding]:
        """Returns what keeps runs with this back-end from starting."""
        needed = [*self.python, *(self.castalia if backend == "castalia" else ())]
        return [finding for finding in needed if not finding.is_ok]


def examine(tell: Callable[[str], object] = str) -> Diagnosis:
    """Looks at everything, and tells before what; never raises, whatever is broken."""
    packages = [Check(package, partial(_check_package, package), INSTALL) for package in PACKAGES]
    python = [Check("Python", _check_python, INSTALL), *packages, Check("embedded radio", _check_radio, INSTALL)]
    spark = [Check("machine", _check_machine, ""), Check("Java for Spark", _check_java, INSTALL)]
    return Diagnosis(*(look_at(checks, tell) for checks in (python, spark, needed_to_run(), needed_to_build())))


def report(diagnosis: Diagnosis, console: Console) -> None:
    """Prints the table, a line of advice for whatever is not ok, and what would run."""
    table = Table("", "", "", box=None, pad_edge=False, show_header=False)
    for finding in diagnosis.findings:
        status = finding.result.status
        table.add_row(finding.what, Text(status.value, COLOURS[status]), Text(finding.result.found))
    console.print(table)
    for finding in diagnosis.findings:
        if not finding.is_ok:
            _print_line(console, f"to do for {finding.what}: {finding.result.advice}")
    for backend in BACKENDS:
        _print_line(console, f"--backend {backend}: {_verdict(diagnosis.in_the_way(backend))}")


def _verdict(in_the_way: Sequence[Finding]) -> str:
    if not in_the_way:
        return "yes"
    return "no: " + "; ".join(f"{finding.what} is {finding.result.status.value}" for finding in in_the_way)


def _print_line(console: Console, line: str) -> None:
    console.print(Text(line), soft_wrap=True)


def _check_python() -> Result:
    return ok(f"{platform.python_version()}, {sys.executable}")


def _check_package(package: str) -> Result:
    try:
        return ok(version(package))
    except PackageNotFoundError:
        return missing("not installed", INSTALL)


def _check_machine() -> Result:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return ok(f"{len(os.sched_getaffinity(0))} cores, {memory:.1f} GiB of memory")


def _check_java() -> Result:
    from roambus.spark.engine.java import find_java, java_version

    try:
        java = find_java()
    except UserError as error:
        found, _, advice = str(error).partition(": ")
        return missing(found, advice)
    return ok(f"{java_version(java)}, {java}")


def _check_radio() -> Result:
    """Runs two neighbours for two seconds, which compiles the radio if that was not done before."""
    from roambus.bridge.backends.radio.backend import RadioBackend
    from roambus.bridge.host.event_loop import Host
    from roambus.bridge.ini import parse_scenario
    from roambus.bridge.trace.writer import TraceWriter
    from roambus.experiments.templates.render import find_template, render
    from roambus.python_protocol.beacon import Beacon

    template = find_template("field")
    pair: dict[str, int | float | str | bool] = {"nodes": 2, "side": 5, "sigma": 0, "time_limit": 2}
    ini = render(template, {**pair, "seed": 0, "agent": "beacon", "agent_parameters": ""})
    scenario = parse_scenario(ini, template, template.parent)
    totals = Host(scenario, Beacon, RadioBackend(scenario), TraceWriter()).run()
    received = sum(totals.counts["received"])
    if not received:
        return broken("neighbours do not hear each other", INSTALL)
    return ok(f"compiled; {received} packets received in a run of two nodes and two seconds")
