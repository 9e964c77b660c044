"""The pages about templates are what the templates declare; `--rewrite` writes them."""

from __future__ import annotations

import pytest

from roambus.experiments.inventory.kinds import everything
from roambus.experiments.inventory.template_page import PREFIX, template_page
from tests.support.places import ROOT

DOCS = ROOT / "docs"


def test_each_template_has_its_page(pytestconfig: pytest.Config) -> None:
    """With each variable, its default, what it takes and what it means; and no page has outlived its template."""
    pages = {f"{PREFIX}{one.name}.md": template_page(one) for one in everything("templates")}
    if pytestconfig.getoption("rewrite"):
        for name, text in pages.items():
            (DOCS / name).write_text(text, encoding="utf-8")
    assert {file.name for file in DOCS.glob(f"{PREFIX}*.md")} == set(pages)
    for name, text in pages.items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, f"{name}: run this test with --rewrite"
    assert "| `brokers` | `2` | a whole number, at least 1 |" in pages[f"{PREFIX}thesis.md"]
