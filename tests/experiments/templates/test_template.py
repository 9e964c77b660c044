"""Templates become plain ini files; what is missing or misspelt is named with template, line and variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.mobility.line import Line
from roambus.bridge.mobility.random_waypoint import RandomWaypoint
from roambus.bridge.mobility.static import Static
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.mac import TunableMacSettings
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import read_text
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.sweeps.request import Request
from roambus.experiments.sweeps.request_file import describe
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.templates import template
from roambus.experiments.templates.template import Template, find_beside, find_template
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND

RUN: dict[str, int | float | str | bool] = {"seed": 3, "agent": "mft", "agent_parameters": ""}


def scenario_of(name: str, **variables: int | float | str | bool) -> Scenario:
    return parse_scenario(find_template(name).render({**variables, **RUN}), Path("run.ini"), TEMPLATES)


def written(folder: Path, text: str) -> Template:
    path = folder / "mine.ini.j2"
    path.write_text(text)
    return Template(path)


def test_the_thesis_template_is_the_experiment_of_the_thesis() -> None:
    """C2 at 2 m/s by default: 700 s, one notification a second for 500 s, one role a node."""
    scenario = scenario_of("thesis")
    assert (scenario.seed, scenario.agent) == (3, "mft")
    assert scenario.time_limit == 700 * SECOND
    assert scenario.field_m == (35.0, 35.0)
    roles = [node.roles for node in scenario.nodes]
    assert roles == [Role.PUBLISHER] * 2 + [Role.SUBSCRIBER] * 2 + [Role.BROKER] * 2
    assert {node.mobility for node in scenario.nodes} == {RandomWaypoint(2.0)}
    assert isinstance(scenario.mac, TunableMacSettings)
    assert scenario.mac.backoff_type == 2
    published = [(each.node, each.interval, each.until) for each in scenario.workload.publications]
    assert published == [(node, SECOND, 500 * SECOND) for node in (0, 1)]
    assert [each.node for each in scenario.workload.subscriptions] == [2, 3]


def test_the_thesis_template_grows_with_its_variables() -> None:
    """Publishers first, then subscribers, then brokers."""
    scenario = scenario_of("thesis", publishers=1, subscribers=3, brokers=4, side=60, speed=8)
    roles = [node.roles for node in scenario.nodes]
    assert roles == [Role.PUBLISHER] + [Role.SUBSCRIBER] * 3 + [Role.BROKER] * 4
    assert scenario.nodes[0].mobility == RandomWaypoint(8.0)


def test_publishing_can_begin_later_and_be_rarer() -> None:
    """For what depends on the start, and on the load."""
    published = scenario_of("thesis", publish_start=30, publish_interval=4).workload.publications
    assert {(each.start, each.interval) for each in published} == {(30 * SECOND, 4 * SECOND)}


def test_the_unicast_template_has_every_node_send_to_one_other() -> None:
    """All are publishers and brokers, and each subscribes to itself; the last one sends to the first."""
    scenario = scenario_of("unicast", nodes=5)
    assert {node.roles for node in scenario.nodes} == {Role.PUBLISHER | Role.BROKER}
    assert [str(each.filter) for each in scenario.workload.subscriptions] == [f"destination = {n}" for n in range(5)]
    sent = {each.node: dict(each.attributes) for each in scenario.workload.publications}
    assert sent == {node: {"destination": (node + 1) % 5} for node in range(5)}


@pytest.mark.parametrize(("mobility", "kind"), [("static", Static), ("line", Line), ("waypoint", RandomWaypoint)])
def test_the_field_template_knows_three_kinds_of_mobility(mobility: str, kind: type) -> None:
    """Path loss is drawn per pair of nodes only if they stay where they are."""
    scenario = scenario_of("field", mobility=mobility, nodes=5)
    assert {type(node.mobility) for node in scenario.nodes} == {kind}
    assert scenario.channel.only_static_nodes is (kind is Static)


def test_a_template_can_refuse_a_value() -> None:
    """The message names template and line."""
    with pytest.raises(UserError, match=r"field.ini.j2:\d+: still_share is for mobility waypoint"):
        scenario_of("field", mobility="line", still_share=0.5)


def test_variables_of_included_parts_count() -> None:
    """Those that every run sets do not: they have options of their own."""
    variables = find_template("thesis").variables
    assert {"speed", "brokers", "sigma"} <= set(variables)
    assert not set(variables) & set(RUN)


def test_a_missing_variable_is_named_with_its_line(tmp_path: Path) -> None:
    """And with what to do about it."""
    with pytest.raises(UserError, match=r"mine.ini.j2:2: variable 'side' is not set: give it with --set side=VALUE"):
        written(tmp_path, "network = SN\nSN.field_x = {{ side }}\n").render(RUN)


def test_a_syntax_error_is_named_with_its_line(tmp_path: Path) -> None:
    """Both when variables are listed and when it is rendered."""
    template = written(tmp_path, "network = SN\n{% if %}\n")
    for use in (lambda: template.render(RUN), lambda: template.variables):
        with pytest.raises(UserError, match=r"mine.ini.j2:2: Expected an expression"):
            use()


def test_templates_cannot_reach_into_python(tmp_path: Path) -> None:
    """They are somebody's files: they compute values, and nothing else."""
    with pytest.raises(UserError, match=r"mine.ini.j2:1: access to attribute '__class__'"):
        written(tmp_path, "{{ ''.__class__.__mro__ }}").render(RUN)


def test_a_misspelt_variable_gets_the_nearest_name() -> None:
    """With what there is."""
    message = r"--set: unknown variable of template thesis\.ini\.j2 'sped': did you mean 'speed'"
    with pytest.raises(UserError, match=message):
        find_template("thesis").check([{"sped": 3}], "--set")


def test_the_runs_own_variables_are_not_set_like_others() -> None:
    """--seed and --agent do that."""
    with pytest.raises(UserError, match="--set: 'seed' has an option of its own"):
        find_template("thesis").check([{"seed": 3}], "--set")


def test_texts_are_quoted_and_truth_values_written_as_omnetpp_wants_them(tmp_path: Path) -> None:
    """`quoted` escapes what needs it."""
    template = written(tmp_path, "a = {{ agent | quoted }}\nb = {{ flag }}")
    assert template.render({**RUN, "agent": 'a"b', "flag": True}) == 'a = "a\\"b"\nb = true'


def test_a_template_is_found_by_name_and_by_path(tmp_path: Path) -> None:
    """Parts that others include are no templates of their own."""
    assert find_template("field").file == TEMPLATES / "field.ini.j2"
    assert find_template(str(written(tmp_path, ""))).file == tmp_path / "mine.ini.j2"
    with pytest.raises(
        UserError,
        match=r"unknown template 'thesys': did you mean 'thesis'\? there is thesis and \d+ others; "
        r"near names of other kinds: sweep 'thesis' \(roambus sweep thesis\), study 'thesis' .*; or",
    ):
        find_template("thesys")


def test_the_radio_file_lies_beside_the_template_or_is_ours(tmp_path: Path) -> None:
    """A path that leads elsewhere would not be there when the rendered ini is run."""
    template = written(tmp_path, "")
    assert find_beside(template.file, "CC2420.txt") == TEMPLATES / "CC2420.txt"
    (tmp_path / "CC2420.txt").touch()
    assert find_beside(template.file, "CC2420.txt") == tmp_path / "CC2420.txt"
    with pytest.raises(UserError, match=r"it names the file '\.\./CC1000\.txt'"):
        find_beside(template.file, "../CC1000.txt")


@pytest.mark.parametrize(
    ("text", "line"),
    [('a = {{ "\\ud800" }}\n', 1), ('{% set x = ["\\udfff"] %}\n{% for one in x %}\n{{ one ~ "b" }}\n{% endfor %}', 3)],
)
def test_half_a_character_is_reported_with_template_and_line(text: str, line: int, tmp_path: Path) -> None:
    """No ini could hold it, which would otherwise come out when the run's folder is written."""
    template = written(tmp_path, text)
    with pytest.raises(UserError, match=rf"{template}:{line}: .* is half a character"):
        template.render(RUN)


def test_a_template_of_ones_own_includes_one_of_a_study(tmp_path: Path) -> None:
    """By the name that `roambus run` takes with its ending, and with its variables."""
    template = written(tmp_path, '{% include "thesis.ini.j2" %}\nSN.numPhysicalProcesses = 0\n')
    assert "publish_until" in template.variables
    run: dict[str, int | float | str | bool] = {"seed": 3, "agent": "mft", "agent_parameters": "", "side": 70}
    assert "SN.field_x = 70" in template.render(run)


def test_a_template_asks_whether_the_runs_agent_takes_a_parameter(tmp_path: Path) -> None:
    """The agent's class counts, not its name: a subclass in a file answers as its base does."""
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from roambus.python_protocol.baselines import Gossip\n\n\nclass Mine(Gossip):\n    pass\n", encoding="utf-8"
    )
    template = written(tmp_path, "{{ takes('ttl') }} {{ takes('assessment_delay') }} {{ takes('nothing') }}")
    answers = {agent: template.render({**RUN, "agent": agent}) for agent in ("flooding", "gossip", str(mine))}
    point = "roambus.python_protocol.baselines:Gossip"
    assert answers == {
        "flooding": "true false false",
        "gossip": "true true false",
        str(mine): "true true false",
    }
    assert template.render({**RUN, "agent": point}) == "true true false"
    assert template.variables == {}


def test_a_part_asks_about_the_agent_of_the_run_whatever_a_template_calls_it(tmp_path: Path) -> None:
    """So a stranger's template has no code loaded that the command does not name."""
    (tmp_path / "part.ini.j2").write_text("{{ takes('assessment_delay') }}")
    template = written(tmp_path, "{% set agent = 'evil.py' %}{% include 'part.ini.j2' %}")
    assert template.render({**RUN, "agent": "gossip"}) == "true"


def test_a_template_may_give_a_variable_of_a_part_another_default(tmp_path: Path) -> None:
    """Of two declarations the template's own counts."""
    (tmp_path / "part.ini.j2").write_text("{#- variables\nside = { default = 1 }\nb = { default = 2 }\n-#}\n{{ side }}")
    template = written(tmp_path, "{#- variables\nside = { default = 7 }\n-#}\n{% include 'part.ini.j2' %}")
    assert template.defaults == {"side": 7, "b": 2}
    assert template.render(RUN).strip() == "7"


def test_a_template_is_read_once_for_all_runs_of_a_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its four parts, whatever is asked of it: all runs are of one text."""
    read: list[str] = []

    def counted(file: Path) -> str:
        read.append(file.name)
        return read_text(file)

    monkeypatch.setattr(template, "read_text", counted)
    sweep = Request("thesis", {"config": "C2,C4", "speed": "2,8"}, agents="beacon,flooding", seeds=2).sweep()
    assert len(plan_runs(sweep, Path("nowhere"))) == 16
    assert describe(sweep)
    assert len(read) == len(set(read)) == 5
    assert "thesis.ini.j2" in read
