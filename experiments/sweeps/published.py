"""A crew whose runs are published as they end: each is at the address of the results as soon as it is complete."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from roambus.bridge.backends.factory import BackendFactory
from roambus.bridge.runs.plan import RunPlan
from roambus.experiments.storage.mirror import Mirror
from roambus.experiments.sweeps.runner import BEGUN, Crew


@dataclass(frozen=True, slots=True)
class Published:
    """Another crew, and the mirror into which it makes runs."""

    crew: Crew
    mirror: Mirror

    @property
    def at_once(self) -> int:
        """As many as the other crew makes."""
        return self.crew.at_once

    def run(
        self, plans: Sequence[RunPlan], backend: BackendFactory, workspace: Path
    ) -> Generator[tuple[int, str | None]]:
        """Yields number and error of each run when it is published; raises StorageError, and what the crew raises."""
        self.mirror.publish()  # what the sweep is, and runs that a broken connection has left here
        with closing(self.crew.run(plans, backend, workspace)) as ended:
            for number, error in ended:
                if number != BEGUN[0]:
                    self.mirror.publish(plans[number].folder)
                yield number, error
