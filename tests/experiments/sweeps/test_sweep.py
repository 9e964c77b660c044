"""Sweeps are read, checked, narrowed and expanded; every mistake is named with file and key."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from math import prod
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import SWEEP_SUFFIX, shipped_files
from roambus.experiments.sweeps.request import Request
from roambus.experiments.sweeps.request_file import command_of, describe, opened_results
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.selection import override, with_agents
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep, expand, plain_axis, read_seeds, seed_ranges, seeds_text
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.experiments.templates.template import Template, find_template
from roambus.experiments.templates.variables import parse_scalar

GOOD = """\
template = "thesis"
seeds = 2
[set]
time_limit = 100
[axes]
config.C2 = { brokers = 2, side = 35 }
config.C4 = { brokers = 4, side = 45 }
speed = [2, 4.5]
[agents]
mft = {}
as_published = { use = "mft", parameters = { sticky_parent = false } }
"""


def written(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text)
    return str(path)


@pytest.fixture
def sweep(tmp_path: Path) -> Sweep:
    return read_sweep(written(tmp_path, GOOD))


def test_the_thesis_is_five_hundred_runs() -> None:
    """Two agents, five sizes, five speeds, ten seeds (section 4.5.2)."""
    points = expand(read_sweep("thesis"))
    assert len(points) == len({point.place for point in points}) == 1000
    assert str(points[0].place) == "traces/agent=mft/config=C2/speed=2/seed=0"
    largest = next(point for point in points if ("config", "C32") in point.axes)
    assert largest.variables == {
        "publishers": 2,
        "subscribers": 32,
        "brokers": 32,
        "side": 110,
        "speed": 2,
        "time_limit": 700,
        "publish_until": 500,
    }


@pytest.mark.parametrize("path", sorted(shipped_files(SWEEP_SUFFIX).values()), ids=lambda path: path.stem)
def test_every_sweep_of_ours_is_sound(path: Path, tmp_path: Path) -> None:
    """It names a template of ours and only variables that this has; the ini can be read, every agent be made.

    All agents at one place; the slow tests plan others. Where hours are drawn, minutes of them.
    """
    shorter = {"scale": "0.02"} if "duration" in path.read_text(encoding="utf-8") else {}
    sweep = override(read_sweep(path.stem), shorter, seeds=1)
    corner = tuple(replace(axis, values=dict([*axis.values.items()][:1])) for axis in sweep.axes)
    assert plan_runs(replace(sweep, axes=corner), tmp_path)


def test_a_zipped_axis_sets_its_variables_together(sweep: Sweep) -> None:
    """Sides never meet brokers of another configuration."""
    pairs = {(point.variables["brokers"], point.variables["side"]) for point in expand(sweep)}
    assert pairs == {(2, 35), (4, 45)}


def test_an_agent_can_go_by_another_name_with_parameters(sweep: Sweep) -> None:
    """So that variants of one agent are compared; truth values are written in small letters."""
    assert sweep.agents[1] == AgentChoice("as_published", "mft", (("sticky_parent", "false"),))


def test_an_agents_file_may_lie_beside_the_sweep(tmp_path: Path) -> None:
    """Wherever the command is called from."""
    (tmp_path / "mine.py").touch()
    text = GOOD.replace('use = "mft"', 'use = "mine.py:Mine"')
    assert read_sweep(written(tmp_path, text)).agents[1].agent == str(tmp_path / "mine.py:Mine")


def test_a_sweep_can_be_for_one_backend(sweep: Sweep, tmp_path: Path) -> None:
    """Otherwise it is for the embedded radio."""
    assert sweep.backend == "radio"
    assert read_sweep(written(tmp_path, f'backend = "ideal"\n{GOOD}')).backend == "ideal"


def test_seeds_change_slowest(sweep: Sweep) -> None:
    """A sweep that is stopped early has every point, with fewer seeds."""
    seeds = [point.seed for point in expand(sweep)]
    assert seeds == [0] * 8 + [1] * 8


@given(st.lists(st.integers(1, 3), max_size=3), st.integers(1, 3), st.integers(1, 3))
def test_every_combination_is_expanded_once(lengths: list[int], agents: int, seeds: int) -> None:
    """As many runs as the product of all lengths, each with a folder of its own and the values that it names."""
    axes = tuple(plain_axis(f"axis{number}", list(range(length))) for number, length in enumerate(lengths))
    choices = tuple(AgentChoice(f"agent{number}", "mft") for number in range(agents))
    points = expand(Sweep("test", Template(Path("template")), choices, axes, tuple(range(seeds))))
    assert len(points) == len({point.place for point in points}) == prod(lengths) * agents * seeds
    assert all(str(point.variables[axis]) == label for point in points for axis, label in point.axes)


def test_setting_narrows_zipped_axes_and_replaces_plain_ones(sweep: Sweep) -> None:
    """And replaces fixed values, adds others of the template, and narrows agents."""
    settings = {"config": "C4", "speed": "6,8", "time_limit": "50", "payload": "10", "agent": "as_published"}
    points = expand(override(sweep, settings, seeds=1))
    assert [str(point.place) for point in points] == [
        "traces/agent=as_published/config=C4/speed=6/seed=0",
        "traces/agent=as_published/config=C4/speed=8/seed=0",
    ]
    assert points[0].variables == {"brokers": 4, "side": 45, "speed": 6, "time_limit": 50, "payload": 10}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sped": "2"}, "--set: unknown variable .* 'sped': did you mean 'speed'.*; its axes are config, speed"),
        ({"room": "2"}, "--set: unknown variable .*; a parameter of an agent is set by --param; its axes"),
        ({"config": "C3"}, "--set config: unknown value 'C3': there is C2, C4"),
        ({"agent": "mtf"}, "--set agent: unknown value 'mtf': did you mean 'mft'"),
        ({"side": "3"}, "'side' is set in set and in axes.config"),
        ({"speed": "fast"}, r"--set: speed: fast is not a number, at least 0 m/s"),
        ({"pause": "long"}, r"--set: pause: long is not a number, at least 0 s"),
        ({"pause": "1,long"}, r"--set: pause: 1,long is not a number, at least 0 s"),
        (
            {"pause": "1,2.5"},
            r"--set: pause=1,2.5 are several values, and pause is no axis here \(config, speed are\): give one, or "
            r'write a sweep file with template = "thesis" and, below \[axes\], pause = \[1, 2.5\]',
        ),
    ],
)
def test_a_wrong_setting_is_named(sweep: Sweep, settings: dict[str, str], message: str) -> None:
    """With the sweep's file, and what there is."""
    with pytest.raises(UserError, match=rf"mine.toml: {message}"):
        override(sweep, settings)


def test_the_advice_for_several_values_names_a_template_of_ones_own_by_its_file(tmp_path: Path) -> None:
    """Only roambus' own have a name without an ending."""
    (tmp_path / "pair.ini.j2").write_text("{#- variables\nside = { default = 1 }\nb = { default = 1 }\n-#}\n")
    mine = read_sweep(written(tmp_path, 'template = "pair.ini.j2"\n[axes]\nb = [1, 2]\n[agents]\nmft = {}\n'))
    with pytest.raises(UserError, match=r'with template = "pair.ini.j2" and, below \[axes\], side = \[1, 2\]'):
        override(mine, {"side": "1,2"})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("speed =", "sped =", "axes.sped: unknown variable of template thesis.ini.j2 'sped': did you mean 'speed'"),
        ("side = 35", "seide = 35", "axes.config: every name must set the same variables"),
        ("[axes]", "[axis]", "unknown key 'axis': did you mean 'axes'"),
        ("time_limit =", "time_limits =", "set: unknown variable .* 'time_limits': did you mean 'time_limit'"),
        ("time_limit = 100", "speed = 3", "'speed' is set in set and in axes.speed"),
        ("time_limit = 100", "time_limit = [1]", "set.time_limit: a list is neither number, text nor truth value"),
        (
            "time_limit = 100",
            "time_limit = { a = 1 }",
            "set.time_limit: a table is neither number, text nor truth value",
        ),
        (
            "time_limit = 100",
            'pause = "1"',
            r'set: pause: "1" is a text, not a number, at least 0 s: write 1 without quotes',
        ),
        ("seeds = 2", 'backend = "idael"', "unknown backend 'idael': did you mean 'ideal'"),
        ("seeds = 2", "seeds = 0", "seeds: 0 is neither a number of seeds from 1 up nor a range"),
        ("seeds = 2", 'seeds = "12..3"', "seeds: '12..3' is neither a number of seeds from 1 up nor a range from"),
        ("seeds = 2", "seeds = [3, 12]", r"seeds: \[3, 12\] is neither"),
        ("seeds = 2", "seeds = true", "seeds: True is neither"),
        ("seeds = 2", 'seeds = "0..1000000"', "seeds: the number of runs is 1,000,001, above the limit"),
        ("seeds = 2", 'seeds = "0..2147483648"', "seeds: the number of runs is 2,147,483,649, above the limit"),
        ('"thesis"', "3", "template: give the name or the path"),
        ("[2, 4.5]", "[]", "axes.speed: give a list of values, or names"),
        ("config.C", "seed.C", "axes.seed: each run has its seed: choose another name"),
        ("{ brokers = 2, side = 35 }", "2", "axes.config.C2: give the variables that it sets"),
        ("mft = {}", '"m/ft" = { use = "mft" }', "'m/ft' names a folder"),
        ("use =", "uses =", "agents.as_published: unknown key 'uses': did you mean 'use'"),
        ("mft = {}", "mft = 3", r"agents.mft: write mft = \{\}"),
        ("seeds = 2", "seeds = = 2", "Invalid value"),
        ("seeds = 2", "agents = 2", "agents is not a table|Cannot declare|Cannot overwrite"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    """With the file and the key."""
    assert old in GOOD
    with pytest.raises(UserError, match=rf"mine.toml: ({message})"):
        read_sweep(written(tmp_path, GOOD.replace(old, new)))


def test_what_should_be_a_table_is_shown_as_one(tmp_path: Path) -> None:
    """In the form that the file takes."""
    with pytest.raises(
        UserError, match=r"agents is not a table: write \[agents\] above a line such as mft = \{\} for each"
    ):
        read_sweep(written(tmp_path, 'template = "field"\nagents = ["mft"]\n'))


@pytest.mark.parametrize(
    ("asked", "seeds"),
    [
        (3, (0, 1, 2)),
        ("3", (0, 1, 2)),
        (" 3 ", (0, 1, 2)),
        ("3..5", (3, 4, 5)),
        ("3..3", (3,)),
        ("0..1,7..7", (0, 1, 7)),
        (" 7..8, 3..4 ", (3, 4, 7, 8)),
        ("3..5,4..6", (3, 4, 5, 6)),
        ("2147483647..2147483647", (2**31 - 1,)),
    ],
)
def test_seeds_are_a_number_or_ranges(asked: object, seeds: tuple[int, ...]) -> None:
    """A range has both of its ends, as in OMNeT++; no seed is there twice."""
    assert read_seeds("here", asked) == seeds


@pytest.mark.parametrize(
    "asked",
    [
        *(0, -1, 2.5, True, None, "", " ", "0", "-1", "2.5", "12..3", "3..", "..3", "..", "a..b", "-1..3", "+1..3"),
        *("3 .. 5", "3...5", "3..5..7", "3..5,", "3..5,7", "3,5", "1_0..2_0", "\u0663..\u0665"),
        *("1" * 5000, f"0..{'1' * 5000}"),
    ],
)
def test_whatever_else_is_no_seeds(asked: object) -> None:
    """A lone number among ranges could be a seed or how many."""
    with pytest.raises(UserError, match=r"^here: .* is neither a number of seeds from 1 up nor a range"):
        read_seeds("here", asked)


@pytest.mark.parametrize(("sign", "bits"), [(1, 64), (1, 20_000), (-1, 20_000)])
def test_a_number_of_thousands_of_digits_is_refused(sign: int, bits: int) -> None:
    """TOML has them in hexadecimal, and Python does not print them."""
    with pytest.raises(UserError, match=r"^here: a number of more than 64 bits is too large$"):
        read_seeds("here", sign << bits)


@pytest.mark.parametrize("asked", ["2147483647..2147483648", "2147483648..2147483648,0..1"])
def test_a_seed_that_no_run_can_have_is_refused(asked: str) -> None:
    """In whichever range, before anything is rendered."""
    with pytest.raises(UserError, match=r"^here: 2147483648 is above the greatest seed, 2147483647$"):
        read_seeds("here", asked)


@given(st.sets(st.integers(0, 40), min_size=1))
def test_the_text_of_seeds_is_read_as_them(seeds: set[int]) -> None:
    """As a command names them, and as ranges alone."""
    assert read_seeds("", seeds_text(sorted(seeds))) == read_seeds("", seed_ranges(seeds)) == tuple(sorted(seeds))


def test_ranges_are_in_order_and_as_long_as_they_can_be() -> None:
    """Of a set of seeds there is one text, so that conditions and commands can be compared."""
    assert seed_ranges([17, 1, 16, 0, 5]) == "0..1,5..5,16..17"


def test_a_sweep_without_seeds_has_seed_0(tmp_path: Path) -> None:
    """One run at each point."""
    assert read_sweep(written(tmp_path, GOOD.replace("seeds = 2\n", ""))).seeds == (0,)


def test_a_range_on_the_command_line_replaces_the_files_seeds(sweep: Sweep) -> None:
    """Which are the first two here; points are checked at the first of the range."""
    assert [point.seed for point in expand(override(sweep, {"speed": "2", "config": "C2"}, "3..4"))] == [3, 3, 4, 4]
    with pytest.raises(UserError, match=r"^--seeds: '3\.\.' is neither"):
        override(sweep, {}, "3..")


def test_a_sweep_needs_an_agent(tmp_path: Path) -> None:
    """Without one there is nothing to run."""
    with pytest.raises(UserError, match=r"mine\.toml: agents: name at least one"):
        read_sweep(written(tmp_path, 'template = "thesis"'))


def test_an_unknown_sweep_is_refused_with_those_that_are_near() -> None:
    """With the nearest one."""
    message = r"unknown sweep 'tesis': did you mean 'thesis'\? there is thesis and \d+ others; "
    with pytest.raises(UserError, match=message):
        read_sweep("tesis")


@pytest.mark.parametrize(("text", "value"), [("3", 3), ("2.5", 2.5), ("true", True), ("C2", "C2"), ("-1", -1)])
def test_values_on_the_command_line_have_their_types(text: str, value: object) -> None:
    """Numbers and truth values are not texts."""
    assert parse_scalar(text) == value
    assert type(parse_scalar(text)) is type(value)


def test_a_sweep_of_ours_names_its_study() -> None:
    """It lies in the study's folder; sweeps of no study, and the user's own, name none."""
    named = {name: describe(read_sweep(name))["study"] for name in ("thesis-bare", "beacon")}
    assert named == {"thesis-bare": "thesis", "beacon": None}


def test_results_say_what_was_asked_for(sweep: Sweep, tmp_path: Path) -> None:
    """A second sweep with the same template and fixed values is added to the first."""
    results = tmp_path / "results"
    for chosen in (override(sweep, {"speed": "2"}, 1), override(sweep, {"speed": "4", "agent": "mft"}, 2)):
        with opened_results(chosen, results):
            (results / "traces").mkdir(exist_ok=True)
    asked = json.loads((results / "sweep.json").read_text())
    assert len(asked.pop("template_sha256")) == 64
    assert asked == {
        "study": None,
        "sweep": "mine",
        "template": "thesis.ini.j2",
        "set": {"time_limit": 100},
        "axes": {"config": ["C2", "C4"], "speed": ["2", "4"]},
        "agents": {"mft": ["mft", {}], "as_published": ["mft", {"sticky_parent": "false"}]},
        "seeds": [0, 1],
        "axis_titles": {"config": "subscribers and brokers", "speed": "speed (m/s)"},
    }


def test_results_say_who_is_told_the_subscribers_and_what_measures_them(sweep: Sweep, tmp_path: Path) -> None:
    """Also of an agent in a file, which nobody runs to read results; a second sweep adds to what the first says."""
    own = tmp_path / "own.py"
    own.write_text("from roambus.python_protocol.aodv import Aodv\n\n\nclass Own(Aodv):\n    pass\n")
    results = tmp_path / "results"
    for agents in ("aodv,gossip", f"{own},mft"):
        chosen = replace(with_agents(sweep, agents), measure=("busiest.py",))
        with opened_results(chosen, results):
            (results / "traces").mkdir(exist_ok=True)
    written = json.loads((results / "sweep.json").read_text())
    assert written["oracle_subscribers"] == ["aodv", "own"]
    assert written["measure"] == ["busiest.py"]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Sweep("x", find_template("field"), ()), "holds runs with template thesis.ini.j2, not field.ini.j2"),
        (Sweep("x", find_template("thesis"), ()), "holds runs with set time_limit=100, not none"),
        (Sweep("x", find_template("thesis"), (), fixed={"time_limit": 100}), "with axes config, speed, not none"),
    ],
)
def test_results_of_different_sweeps_are_not_mixed(sweep: Sweep, tmp_path: Path, other: Sweep, message: str) -> None:
    """A mean over both would mean nothing."""
    with opened_results(sweep, tmp_path):
        (tmp_path / "traces").mkdir()
    with pytest.raises(UserError, match=f"{message}.*: choose another --out"), opened_results(other, tmp_path):
        pytest.fail("opened")


def test_a_description_that_cannot_be_read_is_named(sweep: Sweep, tmp_path: Path) -> None:
    """Somebody has edited it."""
    (tmp_path / "sweep.json").write_text('{"template": "mine"}')
    with pytest.raises(UserError, match=r"sweep\.json: not written by roambus.*choose another --out"):
        opened_results(sweep, tmp_path).__enter__()
    assert (tmp_path / "sweep.json").is_file()


def test_a_sweep_that_makes_nothing_leaves_nothing(sweep: Sweep, tmp_path: Path) -> None:
    """Not even the folder, if it was not there."""
    with pytest.raises(OSError, match="full"), opened_results(sweep, tmp_path / "new"):
        raise OSError(28, "full")
    assert not (tmp_path / "new").exists()


def test_named_settings_are_set_and_swept_in_a_file(tmp_path: Path) -> None:
    """As `--set config=C8` does: a name stands for the variables that another sweep of the template gives it."""
    file = tmp_path / "mine.toml"
    file.write_text('template = "thesis"\n[set]\nconfig = "C8"\n[agents]\nmft = {}\n')
    assert read_sweep(str(file)).fixed == {"publishers": 2, "subscribers": 8, "brokers": 8, "side": 60}
    file.write_text('template = "thesis"\n[axes]\nconfig = ["C2", "C8"]\n[agents]\nmft = {}\n')
    (axis,) = read_sweep(str(file)).axes
    assert (axis.zipped, list(axis.values)) == (True, ["C2", "C8"])
    assert override(read_sweep(str(file)), {"speed": "2"}).fixed == {"speed": 2}
    file.write_text('template = "thesis"\n[set]\nconfig = "C8"\nside = 3\n[agents]\nmft = {}\n')
    with pytest.raises(UserError, match=r"mine.toml: set\.side sets side, which is set there already"):
        read_sweep(str(file))
    file.write_text('template = "thesis"\n[set]\nconfig = "C9"\n[agents]\nmft = {}\n')
    with pytest.raises(UserError, match=r"mine\.toml: set config: unknown value 'C9'"):
        read_sweep(str(file))


def test_an_unset_named_setting_can_be_set_on_the_command_line(tmp_path: Path) -> None:
    """A sweep of the user's own need not have an axis for it."""
    file = tmp_path / "mine.toml"
    file.write_text('template = "thesis"\n[agents]\nmft = {}\n')
    assert override(read_sweep(str(file)), {"config": "C2"}).fixed["side"] == 35


@pytest.mark.parametrize("named", ["gone.py", "no-such-package"])
def test_metrics_that_are_not_there_are_noticed_when_the_sweep_is_read(tmp_path: Path, named: str) -> None:
    """Before any run is made."""
    file = tmp_path / "mine.toml"
    file.write_text(f'template = "thesis"\nmeasure = ["{named}"]\n[agents]\nmft = {{}}\n')
    with pytest.raises(UserError, match=f"mine.toml: measure: .*{named}"):
        read_sweep(str(file))


def test_a_value_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """One of the two would be left out in silence."""
    file = tmp_path / "mine.toml"
    file.write_text('template = "thesis"\n[axes]\nspeed = [2, 2]\n[agents]\nmft = {}\n')
    with pytest.raises(UserError, match=r"mine\.toml: axes.speed: 2 is there twice"):
        read_sweep(str(file))


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["publisher broker", "broker"], ["publisher-broker", "broker"]),
        (["[0..1]->center", "uniform"], ["0..1-center", "uniform"]),
        (["-5dBm", "-15dBm", "-3", "+2"], ["-5dBm", "-15dBm", "-3", "+2"]),
        (["-x+1", "=1"], ["x+1", "1"]),
    ],
)
def test_any_text_is_a_value(texts: list[str], labels: list[str]) -> None:
    """Its name in folders and tables has letters and digits, and is no formula of a spreadsheet."""
    axis = plain_axis("v", texts)
    assert list(axis.values) == labels
    assert [values["v"] for values in axis.values.values()] == texts


def test_texts_that_would_have_one_name_are_told_apart(tmp_path: Path) -> None:
    """The command that makes the runs again has the values, not their names."""
    axis = plain_axis("filter", ["x > 3", "x < 3"])
    assert len(set(axis.values)) == 2
    assert all(re.fullmatch(r"x-3-[0-9a-f]{8}", label) for label in axis.values)
    sweep = Sweep("", find_template("field"), (AgentChoice("gossip", "gossip"),), (axis,), name="field")
    assert "'filter=x > 3,x < 3'" in command_of(describe(sweep), str(tmp_path))


def test_a_template_may_have_any_suffix(tmp_path: Path) -> None:
    """Only .toml makes a file a sweep."""
    (tmp_path / "port.ini").write_text(find_template("field").file.read_text())
    assert Request(str(tmp_path / "port.ini"), agents="gossip").sweep().name == "port"


def test_a_variable_of_an_axis_that_is_set_too_is_refused_with_a_remedy() -> None:
    """The axis has named values to choose from."""
    with pytest.raises(UserError, match=r"'subscribers' is set in set and in axes.config: leave it out"):
        Request("thesis", {"subscribers": "3"}).sweep()
