"""The page about templates is what the templates declare; `--rewrite` writes it."""

from __future__ import annotations

import pytest

from roambus.experiments.inventory import everything
from roambus.experiments.shipped import shipped_files
from tests.support.documents import page, section
from tests.support.template_page import template_page

PAGE = page("templates")


def test_the_page_has_every_template(pytestconfig: pytest.Config) -> None:
    """With each variable, its default, what it takes and what it means; and no section has outlived its template."""
    text = template_page(list(everything("templates")))
    if pytestconfig.getoption("rewrite"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text, "run this test with --rewrite"
    titles = {line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")}
    assert titles == {*shipped_files(".ini.j2"), "In every template"}


def test_what_all_templates_declare_alike_stands_there_once() -> None:
    """Their own variables stand below their names."""
    assert PAGE.read_text(encoding="utf-8").count("| `battery` |") == 1
    assert "| `battery` |" in section(PAGE, "In every template")
    assert "| `brokers` | `2` | a whole number, at least 1 |" in section(PAGE, "thesis")
