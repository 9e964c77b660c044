"""What a template computes has bounds: it is refused soon, by one message that says which and how to raise it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from roambus.bridge.errors import UserError
from roambus.experiments.templates.render import render, template_variables

RUN: dict[str, int | float | str | bool] = {"seed": 3, "agent": "mft", "agent_parameters": ""}
DOUBLE = "{% macro d(v, n) %}{% if n %}{{ d(v ~ v, n - 1) }}{% endif %}{% endmacro %}{{ d('x', 60) }}"
DEEP = "(" * 400 + ")" * 400

REFUSED = {
    "{{ range(10**12) | list }}": "above the limit of 1,000,000: .*; to raise it, set .* ROAMBUS_MAX_TEMPLATE_ITEMS$",
    "{% for i in range(10**18) %}x{% endfor %}": "above the limit of 1,000,000",
    "{{ range(-5, 10**30, 3) }}": "above the limit of 1,000,000",
    "{{ 'x' * 10**11 }}": "above the limit of 1,000,000",
    "{{ 10**11 * [0] }}": "above the limit of 1,000,000",
    "{{ 10 ** 1000000000 }}": "bits is too large",
    "{{ 2 ** 4000 * 2 ** 4000 }}": "bits is too large",
    "{{ 'x' | center(10**12) }}": "more memory than the limit of 1024 MiB: .*ROAMBUS_MAX_TEMPLATE_MEMORY_MEBIBYTES$",
    "{{ '%99999999999d' | format(1) }}": "more memory than the limit",
    DOUBLE: "more memory than the limit",
    "{% for i in range(9) %}{{ 'x' * 999999 | int * 9 }}{% endfor %}": "above the limit",
    "{% for i in range(99) %}{{ 'x' * 999999 }}{% endfor %}": "above the limit of 64 MiB: .*ROAMBUS_MAX_TEMPLATE_MEB",
    "{% include 'mine.ini.j2' %}": "go too deep",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}": "go too deep",
    f"{{{{ {DEEP} }}}}": "go too deep|mine.ini.j2:1",
    "{{ 1 | no_such_filter }}": "mine.ini.j2:1: No filter named 'no_such_filter'",
    "{{ 1 is no_such_test }}": "mine.ini.j2:1: No test named 'no_such_test'",
    "{{ population('a', 2) }}": "mine.ini.j2:1: ",
    "{{ {}.x.y }}": "mine.ini.j2:1: ",
    "{{ 1 / 0 }}": "mine.ini.j2:1: division by zero",
    "{% for a in [1] %}" * 40 + "{% endfor %}" * 40: "mine.ini.j2",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_what_is_too_much_is_refused_soon(tmp_path: Path, text: str) -> None:
    """Within seconds, and mostly at once, with the template's name."""
    template = tmp_path / "mine.ini.j2"
    template.write_text(text)
    start = time.process_time()
    with pytest.raises(UserError, match=REFUSED[text]):
        render(template, RUN)
    assert time.process_time() - start < 5


def test_what_takes_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the time of the processor is used up, which the environment sets here."""
    monkeypatch.setenv("ROAMBUS_MAX_TEMPLATE_SECONDS", "0.3")
    template = tmp_path / "mine.ini.j2"
    template.write_text("{% for i in range(999999) %}{% for j in range(999999) %}{% endfor %}{% endfor %}")
    with pytest.raises(UserError, match=r"takes more time than the limit of 0.3 s of CPU: .*ROAMBUS_MAX_TEMPLATE_SEC"):
        render(template, RUN)


def test_a_limit_can_be_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the variable that the message names; what is not a number there is an error that names it."""
    template = tmp_path / "mine.ini.j2"
    template.write_text("{{ range(2000000) | list | length }}")
    monkeypatch.setenv("ROAMBUS_MAX_TEMPLATE_ITEMS", "3e6")
    assert render(template, RUN) == "2000000"
    monkeypatch.setenv("ROAMBUS_MAX_TEMPLATE_ITEMS", "many")
    with pytest.raises(UserError, match="ROAMBUS_MAX_TEMPLATE_ITEMS: 'many' is not a number above 0"):
        render(template, RUN)


def test_templates_that_include_each_other_have_the_variables_of_both(tmp_path: Path) -> None:
    """Listing them ends."""
    (tmp_path / "one.ini.j2").write_text("{{ a }}{% include 'two.ini.j2' %}")
    (tmp_path / "two.ini.j2").write_text("{{ b }}{% include 'one.ini.j2' %}")
    assert template_variables(tmp_path / "one.ini.j2") == {"a": None, "b": None}


@pytest.mark.parametrize("use", [lambda path: render(path, RUN), template_variables])
def test_a_template_that_is_no_text_is_refused(tmp_path: Path, use: object) -> None:
    """With the byte at which that shows."""
    (tmp_path / "mine.ini.j2").write_bytes(b"network = \xff")
    with pytest.raises(UserError, match=r"mine\.ini\.j2"):
        use(tmp_path / "mine.ini.j2")  # type: ignore[operator]  # either function
