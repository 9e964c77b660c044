"""Vetting finds what is wrong with an agent, by the right check and with the line, and nothing in ours."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from roambus.bridge.agents import load_agent
from roambus.extensions.vetting.causes import CAUSES, About, suspects
from roambus.extensions.vetting.examination import between_isolated
from roambus.extensions.vetting.findings import Finding
from roambus.extensions.vetting.isolation import play_isolated
from roambus.extensions.vetting.messages import check_round_trips, check_strangers
from roambus.extensions.vetting.scenes import SCENES, Job, play
from roambus.extensions.vetting.watching import Calls
from tests.support.commands import call, shown_commands
from tests.support.documents import listings
from tests.support.misbehaving.catalogue import Misbehaving, write
from tests.support.misbehaving.chance import CHANCE

PAGE = Path(__file__).parents[1] / "page.md"
PROCESSES = "repeatable: "
"""What only several processes find."""


def found_in_one_process(agent: str, folder: Path) -> Iterator[Finding]:
    """What the checks find on ideal links."""
    job, agent_class, calls = Job(agent, "", folder), load_agent(agent), Calls()
    play_isolated(job.isolated(), SCENES[0], agent_class, calls)
    yield from play(job, SCENES[0], agent_class, calls)
    yield from between_isolated(job, About.of(agent_class))
    yield from check_round_trips(agent_class)
    yield from check_strangers(agent_class, job.scenario(SCENES[0]))


@pytest.mark.parametrize(
    "agent",
    [agent for agent in CHANCE if not agent.says.startswith((PROCESSES, "runs, on the radio"))],
    ids=lambda agent: agent.name,
)
def test_what_is_wrong_is_found_with_the_line(agent: Misbehaving, tmp_path: Path) -> None:
    """Shared memory, timers of nobody's, messages that are not their bytes, and what agents must bear."""
    found = list(found_in_one_process(str(write(agent, tmp_path, tmp_path)), tmp_path))
    assert agent.is_described_by("\n".join(map(str, found))), found


@pytest.mark.parametrize(
    "agent", [agent for agent in CHANCE if agent.says.startswith(PROCESSES)], ids=lambda agent: agent.name
)
def test_the_lines_that_take_time_or_chance_from_elsewhere_are_named(agent: Misbehaving, tmp_path: Path) -> None:
    """Where to look if traces differ."""
    agent_class = load_agent(str(write(agent, tmp_path, tmp_path)))
    lines = [line for cause in CAUSES[:3] for line in suspects(agent_class, cause.find)]
    assert any(line.startswith(agent.place) for line in lines), lines


@pytest.mark.parametrize("name", ["flooding", "mft", "aodv"])
def test_nothing_is_found_in_ours(name: str, tmp_path: Path) -> None:
    """All of them are vetted outside the suite."""
    assert list(found_in_one_process(name, tmp_path)) == []


def test_a_proxy_whose_object_is_gone_is_no_obstacle(tmp_path: Path) -> None:
    """A library may hold one; whoever asks it for its class gets a ReferenceError."""
    proxy = weakref.proxy(lambda: None)
    with pytest.raises(ReferenceError):
        isinstance(proxy, Job)
    play_isolated(Job("beacon", "", tmp_path).isolated(), SCENES[0], load_agent("beacon"), Calls())


@pytest.mark.slow
def test_the_page_shows_what_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its example is wrong in two ways, of which one takes several processes; the exit code is 1."""
    text = PAGE.read_text(encoding="utf-8")
    for name, content in listings(text).items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    (shown,) = shown_commands(text)
    assert call(shown.command, monkeypatch) == 1
    printed = capfd.readouterr()
    assert shown.is_printed_by(printed.out), printed
    assert "Traceback" not in printed.err


def test_an_agent_that_cannot_be_used_is_the_users_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A name that nobody knows, or a parameter, is no finding."""
    monkeypatch.chdir(tmp_path)
    assert call("roambus vet floding", monkeypatch) == 2
    assert "unknown agent 'floding': did you mean 'flooding'?" in capfd.readouterr().err


def test_findings_can_be_read_by_programs() -> None:
    """Each with its check, the problem and the place."""
    found = Finding("messages", "wrong", "mine.py:3")
    assert str(found) == "messages: mine.py:3: wrong"
    assert json.loads(json.dumps({"place": found.place})) == {"place": "mine.py:3"}
