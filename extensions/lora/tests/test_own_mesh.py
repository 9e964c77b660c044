"""`roambus mesh` writes a study that runs: places, roles and names as the CSV has them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.mobility.paths import places_of
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.system.errors import UserError
from roambus.command_line import commands
from roambus.experiments.sweeps.runner import plan_runs, render_point
from roambus.experiments.sweeps.sweep import expand, point_name
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.experiments.templates.template import Values, find_template
from roambus.extensions.lora import study
from roambus.extensions.lora.own_mesh import described, make
from roambus.extensions.lora.places import Mesh, Node, project
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND

CSV = """\
name,latitude,longitude,role,battery
Mill,54.50,2.30,router,90
"Inn {{ 1 / 0 }}, old",54.51,2.31,,80
Mast {% include 'nothing' %},54.52,2.30,repeater,
#1,54.53,2.30,,
"""


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """The command's answer to a CSV; the folder `town` is here."""
    monkeypatch.chdir(tmp_path)
    Path("town.csv").write_text(CSV, encoding="utf-8")
    commands(["mesh", "town.csv"], standalone_mode=False)
    captured = capsys.readouterr()
    return captured.out + captured.err


def scenario(agent: str, template: str = "town/town.ini.j2", **variables: str | float) -> Scenario:
    """The scenario of a template, by default `town`."""
    found = find_template(template)
    given: Values = {"seed": 0, "agent": agent, "agent_parameters": "", **variables}
    return parse_scenario(found.render(given), found.file, Path(str(study.__file__)).parent)


def parameters(found: Scenario, node: int) -> dict[str, str]:
    """Those of a node's agent."""
    return dict(found.other_parameters.get(node, found.agent_parameters))


def test_the_folder_has_all_that_the_command_says(written: str) -> None:
    """And columns that nothing reads are named."""
    assert {file.name for file in Path("town").iterdir()} == {"README.md", "names.txt", "town.ini.j2", "town.toml"}
    assert written.startswith("town/town.toml: run it with\n  roambus sweep town/town.toml --out results/town\n")
    assert "town.csv: these columns are not used: battery" in written
    assert "town.csv: lines that begin with # are left out: 5" in written
    assert Path("town/names.txt").read_text().splitlines()[1] == "Inn {{ 1 / 0 }}, old"


def test_nodes_stand_at_their_places_in_the_order_of_the_file(written: str) -> None:
    """Names are comments, whatever is in them."""
    found = scenario("managed-flooding")
    expected = [(111, 2337), (759, 1224), (111, 111)]
    assert places_of(found).tolist() == [pytest.approx(place, abs=2) for place in expected]
    assert found.field_m == (872, 2451)


def test_roles_are_parameters_of_managed_flooding_alone(written: str) -> None:
    """A repeater has no application under any agent; the preset is that of the radio."""
    found = scenario("managed-flooding", agent_parameters="cw_min=2", preset="ShortFast")
    common = {"cw_min": "2", "preset": "ShortFast"}
    assert [parameters(found, node) for node in range(3)] == [
        {"role": "router", **common},
        common,
        {"role": "repeater", **common},
    ]
    for other in (found, scenario("lora-gossip")):
        assert [node.roles for node in other.nodes] == [Role.PUBLISHER | Role.SUBSCRIBER | Role.BROKER] * 2 + [
            Role.BROKER
        ]
    assert scenario("lora-gossip").other_parameters == {}


def test_a_preset_among_the_parameters_is_not_written_twice(written: str) -> None:
    """The user's own stays."""
    found = scenario("managed-flooding", agent_parameters="preset=MediumFast", preset="MediumFast")
    assert parameters(found, 0) == {"role": "router", "preset": "MediumFast"}


def test_a_mesh_of_routers_alone_is_one(written: str) -> None:
    """Each has its role."""
    Path("masts.csv").write_text("lat,lon,role\n54.5,2.3,router\n54.51,2.31,router\n")
    commands(["mesh", "masts.csv", "--out", "hills"], standalone_mode=False)
    found = scenario("managed-flooding", template="hills/hills.ini.j2")
    assert [parameters(found, node)["role"] for node in range(2)] == ["router", "router"]


def test_the_name_of_the_csv_is_no_code() -> None:
    """A line of it would be a key."""
    mesh = Mesh((Node(2, "", 54.5, 2.3), Node(3, "", 54.51, 2.3)))
    made = make("town", "a\nSN.x = 1 {{ 1 / 0 }}.csv", mesh, project(mesh))
    assert "\n# The mesh of aSN.x = 1 (( 1 / 0 )).csv: 2 nodes" in made.files["town.ini.j2"]


def test_roles_reach_every_agent_that_has_them(written: str) -> None:
    """A subclass of managed flooding in a file is one."""
    Path("mine.py").write_text(
        "from roambus.extensions.lora import ManagedFlooding\n\n\nclass Mine(ManagedFlooding):\n    pass\n"
    )
    found, expected = scenario("mine.py"), scenario("managed-flooding")
    assert found.agent_parameters == expected.agent_parameters == {"role": "router", "preset": "LongFast"}
    assert found.other_parameters == expected.other_parameters != {}


def test_the_template_alone_is_the_town_of_the_sweep(written: str) -> None:
    """Power, path loss and times are those of the template's head."""
    found, sweep = scenario("managed-flooding"), read_sweep("town/town.toml")
    place = point_name("managed-flooding", [("publish_interval", "600")])
    point = next(point for point in expand(sweep) if point.name == place)
    text = render_point(sweep.template, point)
    assert parse_scenario(text, sweep.template.file, Path(str(study.__file__)).parent) == found
    assert isinstance(found.propagation, LogDistance)
    assert (found.propagation.path_loss_exponent, found.propagation.sigma_db) == (3.52, 6)
    assert found.time_limit == 4500 * SECOND


def test_a_town_may_have_channels_that_some_nodes_want(written: str) -> None:
    """With the template lora-load in the last line, as the lesson says; the repeater stays one."""
    file = Path("town/town.ini.j2")
    file.write_text(file.read_text().replace('include "lora.ini.j2"', 'include "lora-load.ini.j2"'))
    found = scenario("managed-flooding", topics=1, interest=0.34, load=6)
    assert [bool(node.roles & Role.SUBSCRIBER) for node in found.nodes].count(True) == 1
    assert found.nodes[2].roles == Role.BROKER
    assert {each.interval for each in found.workload.publications} == {30 * SECOND}
    assert found.propagation == scenario("managed-flooding").propagation


def test_nodes_are_those_of_the_csv(written: str) -> None:
    """Another number is refused, and says where they come from."""
    with pytest.raises(UserError, match="the 3 nodes are those of the CSV: change its lines"):
        scenario("managed-flooding", nodes=56)


def test_the_command_says_what_it_read(written: str) -> None:
    """Nodes by their roles."""
    assert "town.csv: 3 nodes: 1 client, 1 router, 1 repeater\n" in written


def test_a_column_that_is_nearly_role_is_named() -> None:
    """Its nodes would all be clients without a word."""
    nodes = (Node(2, "", 54.5, 2.3), Node(3, "", 54.51, 2.3))
    assert described(Mesh(nodes, ("battery", "rolle"))) == "2 nodes: 2 clients; did you mean role by 'rolle'?"
    assert described(Mesh(nodes, ("battery",))) == "2 nodes: 2 clients"


def test_the_sweep_is_complete(written: str) -> None:
    """Each of its runs can be planned."""
    assert len(plan_runs(read_sweep("town/town.toml"), Path("results"))) == 45


def test_the_preset_can_be_an_axis(written: str) -> None:
    """Once it is moved from [set] to [axes], as the lesson says."""
    file = Path("town/town.toml")
    moved = file.read_text().replace('[set]\npreset = "LongFast"\n', "")
    file.write_text(moved.replace("[axes]\n", '[axes]\npreset = ["LongFast", "MediumFast"]\n'))
    assert len(plan_runs(read_sweep("town/town.toml"), Path("results"))) == 90


def test_every_command_of_the_readme_is_about_the_folder(written: str) -> None:
    """Its sweep, its results, its names."""
    blocks = "".join(re.findall(r"```sh\n(.*?)```", Path("town/README.md").read_text(), re.DOTALL))
    named = [line.split()[1] for line in blocks.splitlines() if line.startswith("roambus")]
    assert named == ["sweep", "aggregate", "figures", "compare", "replay"]


def test_nothing_is_overwritten(written: str) -> None:
    """A folder that is there stays as it is."""
    Path("town/town.toml").write_text("mine")
    with pytest.raises(UserError, match="town is there already: remove it, or choose another one with --out"):
        commands(["mesh", "town.csv"], standalone_mode=False)
    assert Path("town/town.toml").read_text() == "mine"


def test_a_mistake_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor a part of one."""
    monkeypatch.chdir(tmp_path)
    Path("town.csv").write_text("name,latitude,longitude\nMill,54.5,2.3\nInn,x,2.3\n")
    with pytest.raises(UserError, match=r"town.csv:3: the latitude 'x'"):
        commands(["mesh", "town.csv", "--out", "mine"], standalone_mode=False)
    assert [file.name for file in tmp_path.iterdir()] == ["town.csv"]


@pytest.mark.parametrize("folder", ["my mesh", "-mesh", "a.b/c"])
def test_a_name_that_no_sweep_has_is_refused(folder: str) -> None:
    """Its files would need quotes in every command."""
    mesh = Mesh((Node(2, "", 54.5, 2.3), Node(3, "", 54.51, 2.3)), ())
    with pytest.raises(UserError, match="is no name for a mesh"):
        make(folder, "town.csv", mesh, project(mesh))


@pytest.mark.parametrize("folder", ["lora", "_castalia"])
def test_a_name_of_a_template_is_refused(folder: str) -> None:
    """The mesh's own would include itself in its place."""
    mesh = Mesh((Node(2, "", 54.5, 2.3), Node(3, "", 54.51, 2.3)))
    with pytest.raises(UserError, match=f"'{folder}' is the name of a template"):
        make(folder, "town.csv", mesh, project(mesh))
