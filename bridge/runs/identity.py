"""A run's identity: its key is a hash of what can change its trace, and of nothing else.

That is the ini and the files that it names, the seed, how much the trace holds, the kind of back-end, and code: the
agent's, and of ours what the agent, the host and that back-end are made of. `roambus.bridge.runs.code` says what of
the code counts.
"""

from __future__ import annotations

import inspect
from hashlib import sha256
from pathlib import Path

from roambus.bridge.agents.registry import agent_sources, load_agent
from roambus.bridge.backends.factory import BackendFactory
from roambus.bridge.host import event_loop
from roambus.bridge.ini import reader
from roambus.bridge.runs.code import code_hash
from roambus.bridge.runs.plan import RunPlan

EVERY_RUN = (Path(event_loop.__file__), Path(reader.__file__))
"""Where the code of every run begins: the trace's schema and its writer are imported by the host."""


def run_key(plan: RunPlan, backend: BackendFactory) -> str:
    """The key of a run; raises UserError, OSError."""
    digest = sha256()
    settings = f"{plan.seed} {plan.level.value} {backend.name}"
    files = (file.read_bytes() for _, file in plan.files)
    for part in (plan.ini.encode(), plan.radio_file.read_bytes(), settings.encode(), *files):
        digest.update(sha256(part).digest())
    digest.update(code_hash([*EVERY_RUN, *agent_sources(load_agent(plan.agent)), Path(inspect.getfile(type(backend)))]))
    return digest.hexdigest()
