"""Mistakes against the agent interface are found with their lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from roambus.bridge.agents import load_agent
from roambus.extensions.vetting.contract import install_audit, swallowed
from roambus.extensions.vetting.findings import Finding
from roambus.extensions.vetting.scenes import SCENES, Job, play
from roambus.extensions.vetting.tests.students import HONEST, INTERFACE, RIGHT, Student
from roambus.extensions.vetting.watching import Calls

install_audit()


def found(student: Student, folder: Path) -> list[Finding]:
    """The mistakes that one run shows, and the code."""
    file = str(student.write(folder))
    agent_class = load_agent(file)
    return [*play(Job(file, "", folder), SCENES[0], agent_class, Calls()), *swallowed(agent_class)]


@pytest.mark.parametrize("student", INTERFACE, ids=lambda student: student.name)
def test_a_mistake_against_the_interface_is_found(student: Student, tmp_path: Path) -> None:
    """Each changes one line of a right agent."""
    text = "\n".join(map(str, found(student, tmp_path)))
    assert re.search(student.says, text), text


@pytest.mark.parametrize("student", HONEST, ids=lambda student: student.name)
def test_a_right_agent_is_not_accused(student: Student, tmp_path: Path) -> None:
    """A narrow `except`, notes and draws are allowed."""
    assert found(student, tmp_path) == []


@pytest.mark.parametrize(
    ("name", "says"), [("swallows", "swallowed"), ("a thread", "thread"), ("sets its number", "self.node")]
)
def test_the_line_is_named(name: str, says: str, tmp_path: Path) -> None:
    """That of the `except`, of the start, and of the assignment."""
    student = next(student for student in INTERFACE if student.name == name)
    lines = RIGHT.replace(student.old, student.new).splitlines()
    mark = {"swallowed": "except Exception", "thread": "threading.Thread(", "self.node": "self.node ="}[says]
    (line,) = (number for number, text in enumerate(lines, 1) if mark in text)
    place = next(finding.place for finding in found(student, tmp_path) if says in finding.problem)
    assert place == f"{student.write(tmp_path).name}:{line}"
