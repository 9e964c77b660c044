"""Every setting of a sweep has an effect on its runs, or the sweep is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from roambus.bridge.backends.registry import make_factory
from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import names
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Axis, Sweep, plain_axis
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.experiments.templates.template import Template, find_template
from roambus.experiments.templates.variables import Scalar

LINES = {
    "seed": "seed-set = {{ seed }}",
    "parameters": "SN.node[*].Application.agentParameters = {{ agent_parameters | quoted }}",
    "side": "SN.field_x = {{ side }}\nSN.field_y = {{ side }}",
}
HEAD = """{#- variables
side = { default = 10, meaning = "Side." }
pause = { default = 0, meaning = "Not used below." }
-#}
[General]
network = SN
sim-time-limit = 5s
{% include "_castalia.ini.j2" %}
SN.numNodes = 4
SN.deployment = "uniform"
SN.node[*].Communication.Radio.RadioParametersFile = "CC2420.txt"
SN.node[*].Communication.MACProtocolName = "TunableMAC"
SN.node[*].ApplicationName = "BridgeApplication"
SN.node[*].Application.agent = {{ agent | quoted }}
SN.node[*].Application.roles = "publisher subscriber broker"
SN.node[*].Application.publishInterval = 1s
"""
BEACON = AgentChoice("beacon", "beacon")


def planned(folder: Path, lacking: str = "", **about: object) -> int:
    template = folder / "mine.ini.j2"
    lines = {**LINES, lacking: "SN.field_x = 10\nSN.field_y = 10" if lacking == "side" else ""}
    template.write_text(HEAD + "\n".join(filter(None, lines.values())) + "\n")
    sweep = replace(Sweep("mine.toml", Template(template), (BEACON,)), **about)  # type: ignore[arg-type]  # as a test has them
    return len(plan_runs(sweep, folder / "results"))


def test_points_that_differ_are_planned(tmp_path: Path) -> None:
    """Seeds, values of a variable, and values of a parameter."""
    axes = (plain_axis("side", [10, 20]), replace(plain_axis("rate", ["1", "2"]), owner="agent"))
    assert planned(tmp_path, axes=axes, seeds=(0, 1)) == 8


@pytest.mark.parametrize(
    ("lacking", "about", "message"),
    [
        ("seed", {"seeds": (0, 1)}, r"mine.ini.j2: seeds 0 and 1 make the same run: write seed-set = "),
        (
            "parameters",
            {"axes": (replace(plain_axis("rate", ["1", "2"]), owner="agent"),)},
            "mine.ini.j2: the parameter rate=1 does not reach the agents: write .*agentParameters = ",
        ),
        ("side", {"axes": (plain_axis("side", [10, 20]),)}, "axis side: 10 and 20 make the same run"),
        (
            "",
            {"axes": (Axis("side", {"30": {"side": 30}, "30.": {"side": 30}}),)},
            "side: 30 and 30. make the same",
        ),
        ("", {"agents": (BEACON, replace(BEACON, label="b"))}, "agents beacon and b make the same run: remove one"),
        (
            "",
            {"agents": (BEACON, replace(BEACON, label="b", parameters=(("rate", "1"),)))},
            "agents beacon and b make the same run: remove one",
        ),
        (
            "",
            {"fixed": {"pause": 3}},
            "mine.toml: pause=3 changes nothing in mine.ini.j2: the template",
        ),
        ("", {"axes": (plain_axis("pause", [3]),)}, "pause=3 changes nothing in mine.ini.j2"),
    ],
)
def test_what_changes_nothing_is_refused(tmp_path: Path, lacking: str, about: dict[str, object], message: str) -> None:
    """By the axis, and by what to write where the template leaves something out."""
    with pytest.raises(UserError, match=message):
        planned(tmp_path, lacking, **about)


def test_an_error_of_a_rendered_line_names_the_variable_that_it_is_made_of(tmp_path: Path) -> None:
    """Not one that only has the same value, and no variable where the line stands in the template itself."""
    cases: list[dict[str, Scalar]] = [{"mac": "15.4"}, {"mac": "15.4", "sigma": 15.4}]
    for given in cases:
        sweep = Sweep("--set", find_template("thesis"), (BEACON,), fixed=given)
        with pytest.raises(UserError, match=r"must be .*TunableMAC \(from mac=15\.4\)$"):
            plan_runs(sweep, tmp_path / "results")
    template = tmp_path / "mine.ini.j2"
    lines = {**LINES, "side": "SN.field_x = 10", "wrong": "SN.field_y = many"}
    template.write_text(HEAD.replace("SN.numNodes = 4", "SN.numNodes = {{ side }}") + "\n".join(lines.values()))
    with pytest.raises(UserError, match=r"many is not a number[^(]*$"):
        plan_runs(Sweep("--set", Template(template), (BEACON,), fixed={"side": 4}), tmp_path / "results")


@pytest.mark.parametrize(
    ("line", "about", "message"),
    [
        ("# the run of seed {{ seed }}", {}, "seeds 0 and 1 make the same run: write seed-set"),
        ("seed-set = 0\nseed-set = {{ seed }}", {}, "seeds 0 and 1 make the same run: write seed-set"),
        ("seed-set = {{ seed }}\n# {{ foo }}", {"axes": (plain_axis("foo", [3]),)}, "foo=3 changes nothing in mine"),
        (
            "seed-set = {{ seed }}\n# {{ foo }}",
            {"axes": (plain_axis("foo", [3, 4]),)},
            "axis foo: 3 and 4 make the same run",
        ),
        *(
            (f"seed-set = {{{{ seed }}}}\n{late}", {"axes": (plain_axis("foo", ["7s", "8s"]),)}, "foo: 7s and 8s make")
            for late in (
                'SN.node[2].faults = "1s crash, {{ foo }} recover"',
                "SN.node[*].Application.publishUntil = {{ foo }}",
                'SN.ideal.changes = "1s 0-1 down, {{ foo }} 0-1 up"',
                'SN.ideal.partitions = "1s 0 | 1..3, {{ foo }} merge"',
                'SN.commands = "1s 1 publish, {{ foo }} 1 publish"',
                'SN.node[1].Application.absences = "1s detach, {{ foo }} attach"',
            )
        ),
        (
            "seed-set = {{ seed }}\nSN.node[*].Application.publishStart = {{ foo }}",
            {"axes": (plain_axis("foo", ["1s", "1000ms"]),)},
            "axis foo: 1s and 1000ms make the same run",
        ),
    ],
)
def test_runs_are_compared_by_what_is_read(tmp_path: Path, line: str, about: dict[str, object], message: str) -> None:
    """Not by their text, which a comment, another unit or a line that does not count makes different."""
    template = tmp_path / "mine.ini.j2"
    lines = {**LINES, "side": "SN.field_x = 10\nSN.field_y = 10", "seed": line}
    template.write_text(HEAD[HEAD.index("[General]") :] + "\n".join(lines.values()) + "\n")
    sweep = replace(Sweep("mine.toml", Template(template), (BEACON,), seeds=(0, 1)), **about)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=message):
        plan_runs(sweep, tmp_path / "results")


PAYLOAD = "SN.node[*].Application.payload"
COVERING = (f"{PAYLOAD} = 10", "**.Application.payload = 10")


@pytest.mark.parametrize("declared", ["{#- variables\nfoo = { default = 20 }\n-#}\n", ""])
@pytest.mark.parametrize("earlier", COVERING)
def test_a_variable_in_a_line_that_does_not_count_changes_nothing(tmp_path: Path, earlier: str, declared: str) -> None:
    """An earlier line of the same nodes has the value, with and without a default of the variable."""
    template = tmp_path / "mine.ini.j2"
    lines = {**LINES, "side": "SN.field_x = 10\nSN.field_y = 10"}
    text = [declared + HEAD[HEAD.index("[General]") :], *lines.values(), earlier, f"{PAYLOAD} = {{{{ foo }}}}"]
    template.write_text("\n".join(text) + "\n")
    with pytest.raises(UserError, match="foo=30 changes nothing in mine"):
        plan_runs(Sweep("mine.toml", Template(template), (BEACON,), fixed={"foo": 30}), tmp_path / "r")


def test_an_axis_of_a_key_that_the_back_end_does_not_read_is_refused(tmp_path: Path) -> None:
    """Also if its variable is not declared, so that no run can be without it."""
    template = tmp_path / "mine.ini.j2"
    lines = {**LINES, "side": "SN.field_x = 10\nSN.field_y = 10"}
    queue = "SN.node[*].Communication.MAC.macBufferSize = {{ foo }}"
    template.write_text("\n".join([HEAD[HEAD.index("[General]") :], *lines.values(), queue]) + "\n")
    for values in ([7], [7, 8]):
        sweep = Sweep("mine.toml", Template(template), (BEACON,), (plain_axis("foo", values),))
        with pytest.raises(UserError, match=r"foo.* only sets .*macBufferSize, which the back-end ideal does not read"):
            plan_runs(sweep, tmp_path / "r", backend=make_factory("ideal"))


CONTACTS = {"a": "1 CONN 0 1 up\n", "b": "1.0 CONN 1 0 up\n", "c": "start,end,a,b\n1,60,0,1\n"}
WAYS = {"a": "0 1 1 3 5 5\n0 2 2\n0 3 3\n0 4 4\n", "b": "0 1 1 3.0 5 5\n0 2 2\n0 3 3\n0 4 4\n"}
HEADING = '{"location": "x"}\ndatetime,src,dst,channel,mean_rssi,pdr,tx_count\n'
ROWS = "".join(f"2017-06-21 11:48:36,{a},{b},11,-60,1.0,100\n" for a in range(4) for b in range(4) if a != b)
RECORDED = {"a": HEADING + ROWS, "b": HEADING + ROWS, "c": HEADING + ROWS.replace(",11,-60", ",11,-60.0")}
MOVING = """SN.node[*].MobilityManagerName = "MovementFileMobilityManager"
SN.wirelessChannel.onlyStaticNodes = false
SN.node[*].MobilityManager.file"""


@pytest.mark.parametrize(
    ("key", "files"), [("SN.ideal.contacts", CONTACTS), (MOVING, WAYS), ("SN.links.file", RECORDED)]
)
def test_files_are_compared_by_what_is_read(tmp_path: Path, key: str, files: dict[str, str]) -> None:
    """Neither by their names nor by their text."""
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    template = tmp_path / "mine.ini.j2"
    lines = {**LINES, "side": "SN.field_x = 10\nSN.field_y = 10"}
    head = HEAD[HEAD.index("[General]") :]
    template.write_text("\n".join([head, *lines.values(), f"{key} = {{{{ foo | quoted }}}}"]) + "\n")
    for other in [*files][1:]:
        sweep = Sweep("mine.toml", Template(template), (BEACON,), (plain_axis("foo", ["a", other]),))
        with pytest.raises(UserError, match=f"foo: a and {other} make the same run"):
            plan_runs(sweep, tmp_path / "r")


def test_recordings_that_differ_in_one_row_are_two_points(tmp_path: Path) -> None:
    """Also in the middle of many rows, and the channel counts by what it is and not by its name."""
    rows = "".join(f"2017-06-21 11:48:{at // 60:02},0,1,11,-60,1.0,{at}\n" for at in range(3000)) + ROWS
    for name, content in {"a": rows, "b": rows.replace(",1.0,1500", ",0.9,1500")}.items():
        (tmp_path / name).write_text(HEADING + content)
    template = tmp_path / "mine.ini.j2"
    lines = {**LINES, "side": "SN.field_x = 10\nSN.field_y = 10"}
    links = "SN.links.file = {{ file | quoted }}\nSN.links.channel = {{ channel | quoted }}"
    template.write_text("\n".join([HEAD[HEAD.index("[General]") :], *lines.values(), links]) + "\n")
    axes = (plain_axis("file", ["a", "b"]), plain_axis("channel", ["first"]))
    assert len(plan_runs(Sweep("mine.toml", Template(template), (BEACON,), axes), tmp_path / "r")) == 2
    axes = (plain_axis("file", ["a"]), plain_axis("channel", ["first", "11"]))
    with pytest.raises(UserError, match="channel: first and 11 make the same run"):
        plan_runs(Sweep("mine.toml", Template(template), (BEACON,), axes), tmp_path / "r")


def test_a_parameter_that_is_the_default_is_the_same_agent(tmp_path: Path) -> None:
    """Two labels, of which one says what the other leaves out, and another unit of a time."""
    for others in ((), (("jitter", "10ms"),)):
        agents = AgentChoice("a", "flooding", others), AgentChoice("b", "flooding", (("jitter", "0.01s"),))
        with pytest.raises(UserError, match="agents a and b make the same run"):
            planned(tmp_path, agents=agents)


def test_a_variable_that_a_test_reads_may_be_set(tmp_path: Path) -> None:
    """Without a default it must be, also to a value that has no effect; and one that becomes a value has one."""
    for use in ('{% if foo == "fast" %}SN.ideal.delay = 2ms{% endif %}', "SN.node[*].Application.payload = {{ foo }}"):
        template = tmp_path / "mine.ini.j2"
        fixed = {**LINES, "side": "SN.field_x = 10\nSN.field_y = 10"}
        template.write_text(HEAD[HEAD.index("[General]") :] + "\n".join([*fixed.values(), use]) + "\n")
        assert (
            len(plan_runs(Sweep("mine.toml", Template(template), (BEACON,), (plain_axis("foo", [5]),)), tmp_path / "r"))
            == 1
        )


def test_a_value_that_is_the_default_may_be_set(tmp_path: Path) -> None:
    """It is in use, and changes nothing because it is what it would be."""
    assert planned(tmp_path, fixed={"pause": 0, "side": 10}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", names("sweeps"))
def test_sweeps_of_roambus_use_all_that_they_name(name: str, tmp_path: Path) -> None:
    """Two seeds, and the first and the last value of each axis, make different runs."""
    sweep = read_sweep(name)
    ends = [{list(axis.values)[at]: list(axis.values.values())[at] for at in (0, -1)} for axis in sweep.axes]
    axes = tuple(replace(axis, values=values) for axis, values in zip(sweep.axes, ends, strict=True))
    assert plan_runs(replace(sweep, seeds=sweep.seeds[:2], axes=axes), tmp_path)
