"""Verifies results: repeats a sample of their runs, and compares the traces byte for byte.

The run's folder suffices: the ini names agent and seed, and the trace holds the run's key (back-end, level, versions).
Runs are repeated in another folder. A different trace is a problem; a run of another version cannot be verified. An
agent that is not installed runs only if trusted, after its code is named. Equal results give an equal sample.
An unpacked crate is verified by its checksums, too (`unpacked`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from roambus.bridge.agents import Announce, UntrustedAgentError, find_code, load_agent_of_results
from roambus.bridge.backend import BackendFactory
from roambus.bridge.formats.ini import AnyKeys, file_names, read_scenario
from roambus.bridge.formats.movement import with_params
from roambus.bridge.runs.data import changed_data
from roambus.bridge.runs.layout import INI_FILE, TRACE_FILE, find_traces, unlinked_run
from roambus.bridge.runs.run import Origin, RunPlan, execute_in_child, run_key
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.bridge.trace.parquet import TraceLevel, first_difference, read_about, read_footer
from roambus.bridge.trace.schema import LIVE_RUNS, RUN_KEY
from roambus.extensions.provenance.unpacked import is_file

Advance = Callable[[], None]
LIVE = "it was a live run, on real sockets in real time, which nobody can repeat"
OTHER_VERSION = "it was made by another version of its agent or of roambus, so it cannot be made again here"


@dataclass(frozen=True, slots=True)
class Verifier:
    """Verifies runs over these back-ends; runs agents that are not installed only if trusted."""

    factories: Sequence[BackendFactory]
    trusted: bool
    announce: Announce
    files: Mapping[str, str] | None = None
    """The agents' files of a crate, by the runs' references; it has those of all agents in files."""

    def problems(self, traces: Sequence[Path], advance: Advance) -> Iterator[str]:
        """A line for each run with a different trace or an error; `advance` follows each run."""
        announced: set[str] = set()
        for trace in traces:
            if problem := self._tried(trace, announced, partial(self._compare, trace)):
                yield f"{trace.parent}: {problem}"
            advance()

    def other_version(self, trace: Path, announced: set[str]) -> str:
        """A line for a run that this code would not repeat, else empty; `announced` are announced agents."""
        return self._tried(trace, announced, lambda plan, key: "" if self._maker(plan, key) else OTHER_VERSION)

    def _tried(self, trace: Path, announced: set[str], find: Callable[[RunPlan, str], str]) -> str:
        try:
            unlinked_run(trace.parent)
            if (about := read_about(trace)) and about.backend == LIVE_RUNS:
                return LIVE
            with TemporaryDirectory(prefix="roambus-verify-") as folder:
                metadata = read_footer(trace).metadata
                plan = self._plan(trace.parent, Path(folder), announced)
                if file := changed_data(plan.agent, metadata):
                    return f"its agent has read {file}, which is another one now"
                return find(plan, metadata.get(RUN_KEY, ""))
        except UntrustedAgentError as error:
            return f"{error}: --trust runs it"
        except (RoambusError, OSError) as error:
            return str(error)

    def _plan(self, run: Path, results: Path, announced: set[str]) -> RunPlan:
        scenario = read_scenario(run / INI_FILE, AnyKeys())
        if not scenario.agent:
            raise UserError(f"{run / INI_FILE} does not say which agent it ran")
        agent = (self.files or {}).get(scenario.agent, scenario.agent)
        if self.files is not None and is_file(agent) and scenario.agent not in self.files:
            raise UserError(f"its agent {scenario.agent!r} is not in the crate")
        load_agent_of_results(agent, trusted=self.trusted)
        if agent not in announced:
            self.announce(find_code(agent).announce())
            announced.add(agent)
        ini = (run / INI_FILE).read_text(encoding="utf-8")
        radio_file, others = file_names(ini, run / INI_FILE)
        files = tuple(with_params(run, others))
        return RunPlan(results, Path("run"), ini, run / radio_file, agent, scenario.seed, files=files)

    def _compare(self, trace: Path, plan: RunPlan, key: str) -> str:
        found = self._maker(plan, key)
        if found is None:
            return OTHER_VERSION
        # Template and version are written into the trace beside its rows, which do not depend on them.
        if about := read_about(trace):
            found = (
                replace(found[0], origin=Origin(about.template, tuple(about.settings.items()), about.version)),
                found[1],
            )
        execute_in_child(*found)
        again = plan.folder / TRACE_FILE
        if trace.read_bytes() == again.read_bytes():
            return ""
        if where := first_difference(trace, again):
            return f"its trace differs when it is made again: {where} in the run that was made now"
        if about and (now := read_about(again)) and now.simulator != about.simulator:
            return f"its rows are the same, made by {now.simulator} in place of {about.simulator}"
        return "its rows are the same, but its bytes are not: another PyArrow has written them"

    def _maker(self, plan: RunPlan, key: str) -> tuple[RunPlan, BackendFactory] | None:
        # The key is a hash: its origin is found by trying all candidates.
        tried = ((replace(plan, level=level), factory) for factory in self.factories for level in TraceLevel)
        return next((made for made in tried if run_key(*made) == key), None)


def sample_of(folders: Sequence[Path], number: int) -> list[Path]:
    """So many traces of the results in these folders, always the same, or all."""
    traces = [trace for folder in folders for trace in find_traces(folder)]
    if not traces:
        raise UserError(f"{folders[0]} holds no {TRACE_FILE}: give the folder that a sweep or a run wrote (its --out)")
    return sorted(Random("verify").sample(traces, min(number, len(traces))))
