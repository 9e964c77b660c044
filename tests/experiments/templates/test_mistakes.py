"""A mistake in a template is one line that names the template."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from roambus.bridge.system.errors import UserError
from roambus.experiments.templates.template import Template

RUN: dict[str, int | float | str | bool] = {"seed": 3, "agent": "mft", "agent_parameters": ""}
DEEP = "(" * 400 + ")" * 400

MISTAKES = {
    "{{ range(10**12) | list }}": "Range too big",
    "{% include 'mine.ini.j2' %}": "go too deep",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}": "go too deep",
    f"{{{{ {DEEP} }}}}": "go too deep|mine.ini.j2:1",
    "{{ 1 | no_such_filter }}": "mine.ini.j2:1: No filter named 'no_such_filter'",
    "{{ 1 is no_such_test }}": "mine.ini.j2:1: No test named 'no_such_test'",
    "{{ population('a', 2) }}": "mine.ini.j2:1: ",
    "{{ {}.x.y }}": "mine.ini.j2:1: ",
    "{{ ''.__class__.__mro__ }}": "mine.ini.j2:1: ",
    "{{ 1 / 0 }}": "mine.ini.j2:1: division by zero",
    "{% for a in [1] %}" * 40 + "{% endfor %}" * 40: "mine.ini.j2",
}


@pytest.mark.parametrize("text", MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_in_a_template_is_one_line(tmp_path: Path, text: str) -> None:
    """It names the template, and the line where Jinja knows it."""
    template = tmp_path / "mine.ini.j2"
    template.write_text(text)
    with pytest.raises(UserError, match=MISTAKES[text]):
        Template(template).render(RUN)


@pytest.mark.parametrize("text", [text for text in MISTAKES if "no_such" in text])
def test_a_mistake_has_its_place_in_a_list_of_variables_too(tmp_path: Path, text: str) -> None:
    """Jinja calls the text that it only looks through by a name of its own."""
    template = tmp_path / "mine.ini.j2"
    template.write_text(text)
    with pytest.raises(UserError, match=MISTAKES[text]):
        assert Template(template).variables


def test_templates_that_include_each_other_have_the_variables_of_both(tmp_path: Path) -> None:
    """Listing them ends."""
    (tmp_path / "one.ini.j2").write_text("{{ a }}{% include 'two.ini.j2' %}")
    (tmp_path / "two.ini.j2").write_text("{{ b }}{% include 'one.ini.j2' %}")
    assert Template(tmp_path / "one.ini.j2").variables == {"a": None, "b": None}


@pytest.mark.parametrize("use", [lambda path: Template(path).render(RUN), lambda path: Template(path).variables])
def test_a_template_that_is_no_text_is_refused(tmp_path: Path, use: object) -> None:
    """With the byte at which that shows."""
    (tmp_path / "mine.ini.j2").write_bytes(b"network = \xff")
    with pytest.raises(UserError, match=r"mine\.ini\.j2"):
        use(tmp_path / "mine.ini.j2")  # type: ignore[operator]  # either function


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{% set x = 'x' * 10**10 %}", "more than 1,024 MiB of memory"),
        ("{{ 'x'.ljust(10**10) }}", "more than 1,024 MiB of memory"),
        ("{{ '%10000000000s' % 1 }}", "more than 1,024 MiB of memory"),
        ("{{ 'x' | center(10**10) }}", "more than 1,024 MiB of memory"),
        ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "more than 1 s"),
        ("{% for a in range(1000) %}{{ 'x' * 100000 }}{% endfor %}", "its ini is longer than 64 MiB"),
    ],
)
def test_what_a_template_renders_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    """A stranger's template takes neither all memory nor for ever, and the message says how to raise the limit."""
    monkeypatch.setenv("ROAMBUS_MAX_TEMPLATE_SECONDS", "1" if "b in" in text else "60")
    template = tmp_path / "x.ini.j2"
    template.write_text(text)
    with pytest.raises(UserError, match=problem) as raised:
        Template(template).render({})
    assert str(template) in str(raised.value)
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY
