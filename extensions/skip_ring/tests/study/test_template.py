"""Functions of studies in templates."""

from __future__ import annotations

from pathlib import Path

from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.templates.template import Template, Values, find_template, functions_for

RUN: Values = {"seed": 1, "agent": "mft", "agent_parameters": ""}


def test_a_template_calls_the_functions_of_its_study_and_a_copy_elsewhere_those_of_all(tmp_path: Path) -> None:
    """Templates of no study have none of them, and what renders templates knows of no study."""
    mine, copy = tmp_path / "mine.ini.j2", tmp_path / "copy.ini.j2"
    mine.write_text("{{ skip_ring_crashes(1, 4, 0.5) | length }} {{ migrating_tree(1, 'brokers', 3, 0, 0) }}")
    assert Template(mine).render(RUN).startswith("2 1:")
    copy.write_text(find_template("skip-ring").file.read_text(encoding="utf-8"))
    assert Template(copy).render(RUN) == find_template("skip-ring").render(RUN)
    assert functions_for(TEMPLATES) == []
    assert {function.__name__ for function in functions_for(find_template("caching").file.parent)} == {"population"}
