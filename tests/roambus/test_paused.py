"""A run that pauses is the same run, and what a program changes at a pause takes effect."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from queue import SimpleQueue
from typing import Any

import pytest

import roambus
from roambus.bridge.system.errors import AgentError
from roambus.python_protocol.actions import Action
from roambus.python_protocol.baselines import Gossip
from roambus.python_protocol.events import Event
from roambus.python_protocol.simtime import SimTime, from_seconds, to_seconds

SETTINGS = {"nodes": 6, "time_limit": 6, "publish_interval": 1}


class Witness(Gossip):
    """Remembers its events."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.events: list[tuple[SimTime, str]] = []

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        """Remember when what happened."""
        self.events.append((now, repr(event)))
        return super().handle(event, now)


class Breaking(Gossip):
    """Fails when it is told to."""

    broken = False

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        """Fail at the next event."""
        if self.broken:
            raise ValueError("told to fail")
        return super().handle(event, now)


def _witnessed(backend: str, step_s: float) -> list[list[tuple[SimTime, str]]]:
    with roambus.paused_run("field", Witness, settings=SETTINGS, seed=5, backend=backend) as run:
        while run.advance(step_s):
            pass
        assert run.now == SETTINGS["time_limit"]
        return [agent.events for agent in run.agents if isinstance(agent, Witness)]


@pytest.mark.parametrize("backend", ["ideal", "radio"])
@pytest.mark.parametrize("step_s", [0.0625, 1.0])
def test_pauses_change_no_event(backend: str, step_s: float) -> None:
    """The agents' events and their times are those of a run without pauses."""
    whole = _witnessed(backend, 1000.0)
    assert any("Received" in event for events in whole for _, event in events)
    assert _witnessed(backend, step_s) == whole


def test_a_pause_at_the_instant_of_an_event_loses_nothing() -> None:
    """Each pause is where a timer runs out or a message arrives, and the rest of the run follows all the same."""
    whole = _witnessed("ideal", 1000.0)
    times = sorted({time for events in whole for time, _ in events if time})
    assert {"TimerFired", "Received"} <= {event.partition("(")[0] for events in whole for _, event in events}
    with roambus.paused_run("field", Witness, settings=SETTINGS, seed=5, backend="ideal") as run:
        before = 0
        for time in times:
            run.advance(to_seconds(time - before))
            assert time in {at for agent in run.agents if isinstance(agent, Witness) for at, _ in agent.events}
            before = time
        run.advance(1000.0)
        assert [agent.events for agent in run.agents if isinstance(agent, Witness)] == whole


def test_nothing_later_than_a_pause_has_happened() -> None:
    """At a pause the agents have had every event up to it, and none after."""
    (whole, *_) = _witnessed("radio", 1000.0)
    with roambus.paused_run("field", Witness, settings=SETTINGS, seed=5) as run:
        assert run.advance(2.5)
        assert run.now == 2.5
        first = run.agents[0]
        assert isinstance(first, Witness)
        assert first.events == [event for event in whole if event[0] <= from_seconds(2.5)]
        assert len(first.events) < len(whole)


def test_a_change_at_a_pause_takes_effect() -> None:
    """What the program sets on an agent, the agent uses from then on."""
    with roambus.paused_run("field", Breaking, settings=SETTINGS) as run:
        assert run.advance(1.0)
        setattr(run.agents[2], "broken", True)  # noqa: B010  # of the one class of agents here
        with pytest.raises(AgentError, match=r"node 2, .*told to fail"):
            run.advance(5.0)
        assert 1 < run.now < 1.5
        assert not run.advance(1.0)


def test_a_run_that_is_left_ends() -> None:
    """Leaving the block ends the run's thread, and a later advance says that there is no more."""
    before = threading.active_count()
    with roambus.paused_run("field", "gossip", settings=SETTINGS) as run:
        assert run.advance(1.0)
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    assert not run.advance(1.0)


def test_a_run_that_is_never_advanced_ends() -> None:
    """Leaving the block at once starts nothing."""
    with roambus.paused_run("field", "gossip", settings=SETTINGS) as run:
        assert run.now == 0
    assert not run.advance(1.0)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), 1e9, "1", True, None])
def test_an_advance_goes_forward(seconds: Any) -> None:
    """An advance by no time, or backwards, is refused."""
    with (
        roambus.paused_run("field", "gossip", settings=SETTINGS) as run,
        pytest.raises(roambus.UserError, match="give the seconds to run on"),
    ):
        run.advance(seconds)


def test_unknown_settings_are_refused() -> None:
    """A setting that the template lacks is refused as everywhere."""
    with (
        pytest.raises(roambus.UserError, match="unknown variable"),
        roambus.paused_run("field", "gossip", settings={"nodse": 3}),
    ):
        pass


def test_a_run_goes_on_after_an_interrupted_advance(monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C the next advance begins where the interrupted one ends; never do both threads run."""
    with roambus.paused_run("field", Witness, settings=SETTINGS, seed=5, backend="ideal") as run:
        reached = run._backend.reached
        with monkeypatch.context() as interrupted:
            interrupted.setattr(run._backend, "reached", Interrupting(reached))
            with pytest.raises(KeyboardInterrupt):
                run.advance(2.0)
        assert run.advance(1.0)
        assert run.now == 3.0
        assert reached.empty(), "nothing is left of the interrupted advance"
        assert run._backend.now >= from_seconds(3.0), "the run has come to its pause"


class Interrupting:
    """A queue in which Ctrl-C meets whoever waits."""

    def __init__(self, queue: SimpleQueue[BaseException | bool]) -> None:
        self._queue = queue

    def put(self, reached: BaseException | bool) -> None:
        """As the queue does."""
        self._queue.put(reached)

    def get(self) -> bool:
        """Be interrupted."""
        raise KeyboardInterrupt
