"""The process that runs the agent: its checks one after another, with a line of JSON for each.

The agent can print, exit or never return. Its output goes elsewhere, and the command's process watches.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from roambus.bridge.agents import load_agent
from roambus.bridge.system.errors import UserError
from roambus.extensions.vetting.causes import About, move_objects
from roambus.extensions.vetting.contract import install_audit, swallowed
from roambus.extensions.vetting.deliveries import Judge
from roambus.extensions.vetting.findings import Finding
from roambus.extensions.vetting.isolation import play_isolated
from roambus.extensions.vetting.messages import check_round_trips, check_strangers
from roambus.extensions.vetting.scenes import SCENES, Job, play
from roambus.extensions.vetting.watching import STEP, Calls, calls_file, limit_this_process
from roambus.python_protocol.agent import Agent

STEPS = 3 * len(SCENES) + 3
"""Answers of both processes: for each scene two runs and an isolated one, and the other checks."""


def main() -> None:
    """Examine the JSON job on stdin; the exit code is always 0."""
    # Neither the agent's own output nor that of a process that it starts may come between the lines of JSON.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # it stays open to the end
    os.dup2(nowhere.fileno(), 1)
    sys.stdout = nowhere
    task = json.loads(sys.stdin.read())
    job = Job(**{**task, "folder": Path(task["folder"])})
    limit_this_process(job.folder, job.longest_call_s, STEPS)
    try:
        for answer in examine(job):
            print(json.dumps(answer), file=answers, flush=True)
    except UserError as error:
        print(json.dumps({"error": str(error)}), file=answers, flush=True)
    except OSError as error:  # the agent's own are findings
        place, problem = error.filename or job.folder, error.strerror or error
        text = f"{place}: {problem}: vetting keeps its traces there, or where TMPDIR says"
        print(json.dumps({"error": text}), file=answers, flush=True)


def examine(job: Job) -> Iterator[dict[str, object]]:
    """Yield a process's findings by step; raise UserError for an unusable agent, and OSError."""
    calls = Calls(calls_file(job.folder))
    moved = move_objects(job.layout) if job.layout else []
    with calls.during("the agent's module is read", STEP * job.longest_call_s):
        agent_class = load_agent(job.agent)
    install_audit()
    for found in _findings(job, agent_class, calls):
        yield {"findings": [asdict(finding) for finding in found]}
    yield {"end": asdict(About.of(agent_class))}
    del moved


def _findings(job: Job, agent_class: type[Agent], calls: Calls) -> Iterator[list[Finding]]:
    if job.is_first:
        for scene in SCENES:  # before any node has left something in this process
            play_isolated(job.isolated(), scene, agent_class, calls)
            yield []
    for scene in job.scenes():
        yield list(play(job, scene, agent_class, calls))
    if job.is_first:
        with calls.during("reading random bytes"):
            found = list(check_round_trips(agent_class))
        yield [*found, *swallowed(agent_class)]
        yield list(Judge(job, agent_class, calls).check())
        with calls.during("on an unknown message or timer"):
            found = list(check_strangers(agent_class, job.scenario(SCENES[0])))
        yield found


if __name__ == "__main__":
    main()
