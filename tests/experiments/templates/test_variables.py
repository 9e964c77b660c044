"""Templates say at their heads what can be set in them, and refuse everything else by name."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from roambus.bridge.scenario.macs import PROTOCOL
from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import TEMPLATE_SUFFIX, TEMPLATES, shipped_files
from roambus.experiments.templates.template import Template, find_template
from roambus.experiments.templates.variables import Scalar, declared_variables, parse_scalar

RUN: dict[str, Scalar] = {"seed": 1, "agent": "beacon", "agent_parameters": ""}
OURS = shipped_files(TEMPLATE_SUFFIX)


def own(folder: Path, text: str) -> Template:
    file = folder / "own.ini.j2"
    file.write_text(text, encoding="utf-8")
    return Template(file)


@pytest.mark.parametrize("name", OURS)
def test_every_variable_of_ours_is_declared_with_its_meaning(name: str) -> None:
    """In a sentence."""
    declared = Template(OURS[name]).variables
    assert all(variable is not None and variable.meaning.endswith(".") for variable in declared.values())


@pytest.mark.parametrize("name", OURS)
def test_every_template_of_ours_can_be_rendered_as_it_is(name: str) -> None:
    """With the defaults that it declares."""
    assert "[General]" in Template(OURS[name]).render(RUN)


def test_a_declared_default_is_what_a_template_gets_unless_it_is_set(tmp_path: Path) -> None:
    """The default stands in the declaration alone."""
    template = own(
        tmp_path, '{#- variables\nnodes = { default = 3, meaning = "Nodes." }\n-#}\nSN.numNodes = {{ nodes }}'
    )
    assert template.render(RUN) == "SN.numNodes = 3"
    assert template.render({**RUN, "nodes": 7}) == "SN.numNodes = 7"


def test_an_optional_variable_is_not_defined_unless_it_is_set(tmp_path: Path) -> None:
    """The template can ask whether it is."""
    head = '{#- variables\nend = { optional = true, type = "text", meaning = "When." }\n-#}\n'
    template = own(tmp_path, head + "{{ end if end is defined else 'never' }}")
    assert (template.render(RUN), template.render({**RUN, "end": "3s"})) == ("never", "3s")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"brokers": "abc"}, "brokers: abc is not a whole number, at least 1. Nodes that are brokers."),
        ({"brokers": 0}, "brokers: 0 is out of range: it must be at least 1. Nodes"),
        ({"brokers": 2.5}, "brokers: 2.5 is not a whole number, at least 1"),
        ({"brokers": True}, "brokers: true is not a whole number, at least 1"),
        ({"side": math.nan}, "side: nan is not a number"),
        ({"speed": math.inf}, "speed: inf is not a number"),
        ({"start": "fast"}, "start: fast is not known here: it must be uniform or steady"),
        ({"prob_tx": 2}, "prob_tx: 2 is out of range: it must be from 0 to 1"),
    ],
)
def test_a_value_that_a_variable_does_not_take_is_refused(values: dict[str, Scalar], message: str) -> None:
    """The message says what it takes, and what it means."""
    with pytest.raises(UserError, match=f"--set: {message}"):
        find_template("thesis").check([values], "--set")


def test_what_a_template_uses_itself_is_no_variable_of_it() -> None:
    """The number of nodes follows from others in the template of the thesis."""
    with pytest.raises(UserError, match=r"unknown variable of template thesis.ini.j2 'nodes'"):
        find_template("thesis").check([{"nodes": 4}], "--set")


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("nodes = {", "the variables at its head"),
        ("nodes = 3", r"variable nodes: write nodes = \{ default"),
        (
            'nodes = { defualt = 3, meaning = "Nodes." }',
            "variable nodes: unknown word 'defualt': did you mean 'default'",
        ),
        (
            'nodes = { meaning = "Nodes." }',
            "variable nodes: its type is one of whole number, number, text, truth value",
        ),
        (
            'nodes = { default = 0, at_least = 1, meaning = "Nodes." }',
            "its default: nodes: 0 is out of range: it must be at least 1",
        ),
        (
            'nodes = { default = 1, at_least = "1", meaning = "Nodes." }',
            "variable nodes: at_least is not a whole number",
        ),
        ('nodes = { key = "SN.numNode" }', "variable nodes: unknown key 'SN.numNode': did you mean 'SN.numNodes'"),
        (
            'nodes = { key = "SN.numNodes", at_least = 2 }',
            "variable nodes: unknown word 'at_least': there is",
        ),
        ('nodes = { key = "SN.numNodes", default = 0 }', "its default: nodes: 0 is out of range: it must be from 1 to"),
        ('nodes = { type = "int", default = 1, meaning = "Nodes." }', "its type is one of whole number"),
    ],
)
def test_a_wrong_declaration_is_named(tmp_path: Path, declaration: str, message: str) -> None:
    """With the file, the variable and the key."""
    template = own(tmp_path, f"{{#- variables\n{declaration}\n-#}}\n")
    with pytest.raises(UserError, match=message):
        declared_variables(template.file.read_text(), template.file)


PASSING = """{#- variables
sigma = { key = "SN.wirelessChannel.sigma" }
side = { key = "SN.field_x", default = 35, meaning = "Side of the field." }
delay = { key = "SN.ideal.delay" }
channel = { key = "SN.links.channel" }
battery = { key = "SN.node[*].ResourceManager.initialEnergy", optional = true }
mac = { key = "SN.node[*].Communication.MACProtocolName", default = "TunableMAC", others = "one of Castalia's" }
-#}
{{ mac }} {{ sigma }} {{ side }} {{ delay | time }} {{ channel | quoted }} {{ battery is defined }}"""


def test_a_variable_that_passes_a_key_on_is_what_the_key_is(tmp_path: Path) -> None:
    """Its type, unit, range, default and meaning are the key's, but for what the template says of it."""
    template = own(tmp_path, PASSING)
    variables = template.variables
    read = {
        name: (variable.default, variable.takes, variable.meaning)
        for name, variable in variables.items()
        if variable is not None
    }
    assert read == {
        "sigma": (4.0, "a number, from 0 to 100 dB", "Standard deviation of the shadowing."),
        "side": (35, "a number, above 0 and at most 1000000 m", "Side of the field."),
        "delay": ("1ms", "a time, in seconds or with its unit, above 0s", read["delay"][2]),
        "channel": ("first", "a text with a channel", read["channel"][2]),
        "battery": (None, "a number, above 0 and at most 1000000000 J", read["battery"][2]),
        "mac": ("TunableMAC", "a text", f"The MAC: {', '.join(PROTOCOL.choices)}, or one of Castalia's."),
    }
    template.check([{"mac": "TMAC"}], "--set")  # the back-end knows whether there is one
    assert template.render(RUN) == 'TunableMAC 4.0 35 1ms "first" false'
    assert template.render({**RUN, "delay": 0.5, "sigma": 0, "battery": 1}) == 'TunableMAC 0 35 0.5s "first" true'


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sigma": 101}, "sigma: 101 is out of range: it must be from 0 to 100 dB. Standard deviation"),
        ({"sigma": "much"}, "sigma: much is not a number, from 0 to 100 dB"),
        ({"delay": 0}, "delay: 0s is out of range: it must be above 0s"),
        ({"delay": "5 parsecs"}, "delay: .*parsecs"),
        ({"channel": "second"}, 'channel: "second" is not a channel such as "15"'),
    ],
)
def test_a_value_that_the_key_does_not_have_is_refused(tmp_path: Path, values: dict[str, Scalar], message: str) -> None:
    """Before anything is rendered, by the words that the ini's own error would have."""
    with pytest.raises(UserError, match=f"^--set: {message}"):
        own(tmp_path, PASSING).check([values], "--set")


def test_a_text_of_the_command_line_is_read_as_its_variable_wants_it(tmp_path: Path) -> None:
    """A channel is a text, though it looks like a number; a time may be either."""
    variables = own(tmp_path, PASSING).variables
    assert [parse_scalar("15", variables[name]) for name in ("channel", "side", "delay")] == ["15", 15, 15]
    assert parse_scalar("5ms", variables["delay"]) == "5ms"


def test_a_template_without_a_declaration_takes_every_name_that_it_uses(tmp_path: Path) -> None:
    """As templates did before there were declarations, with a default by Jinja's own filter."""
    template = own(tmp_path, "SN.numNodes = {{ nodes | default(4) }}")
    assert template.variables == {"nodes": None}
    template.check([{"nodes": "many"}], "--set")


def test_parts_are_shipped_with_declarations_where_they_have_variables() -> None:
    """They count as the variables of all templates that include them."""
    parts = {file.name: declared_variables(file.read_text(), file) for file in TEMPLATES.glob(f"_*{TEMPLATE_SUFFIX}")}
    declaring = {name for name, declared in parts.items() if declared}
    assert declaring == {"_cc2420_csma.ini.j2", "_crashes.ini.j2", "_random_waypoint.ini.j2"}
