"""CITATION.cff says the same as the package."""

import re
import tomllib

from tests.support.places import ROOT


def test_the_citation_is_that_of_this_version() -> None:
    """With what the format asks for, and the thesis."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    citation = dict(re.findall(r"^([a-z-]+): (.+)$", text, re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
    assert {"cff-version", "message", "title", "type"} <= citation.keys()
    assert "Ugaitz" in text
