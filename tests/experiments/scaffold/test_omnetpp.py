"""A configuration of a Castalia project's omnetpp.ini becomes a template and a sweep."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from roambus.bridge.system.errors import UserError
from roambus.command_line import commands
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.scaffold.omnetpp_ini import iterations, read_project
from roambus.experiments.scaffold.omnetpp_sweep import convert, write
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.selection import override
from roambus.experiments.sweeps.sweep_file import read_sweep

INI = """
[General]
include ../Parameters/Castalia.ini
include ../Parameters/field.ini
sim-time-limit = 100s  # as long as we like
SN.node[*].Communication.Radio.RadioParametersFile = "../Parameters/Radio/CC2420.txt"
SN.node[*].Communication.MACProtocolName = "TunableMAC"
SN.node[*].Communication.MAC.dutyCycle = 0.5
SN.node[*].ApplicationName = "ThroughputTest"
SN.node[*].Application.packet_rate = 5
SN.physicalProcess[0].inputType = 1
repeat = 3

[Config slow]
SN.node[*].Communication.MAC.dutyCycle = ${dutyCycle= 0.02, 0.05, 0.1}

[Config weak]
extends = slow
SN.node[*].Communication.Radio.TxOutputPower = ${"-1dBm","-5dBm"}

[Config tied]
SN.node[*].Communication.MAC.listenInterval = ${a=1..4}
SN.node[*].Communication.MAC.numTx = ${b=1,2,3,4}
constraint = $a + $b == 5 && $a > 1

[Config beside]
SN.node[*].Communication.MAC.listenInterval = ${a=10,20}
SN.node[*].Communication.MAC.numTx = ${b=1,2 ! a}
"""


@pytest.fixture
def ini(tmp_path: Path) -> Path:
    """An omnetpp.ini as Castalia's projects have it, with the files around it."""
    for folder in ("Parameters/Radio", "mine"):
        (tmp_path / folder).mkdir(parents=True)
    radio = (TEMPLATES / "CC2420.txt").read_text()
    (tmp_path / "Parameters/Radio/CC2420.txt").write_text(radio)
    (tmp_path / "Parameters/field.ini").write_text("SN.field_x = 60\nSN.field_y = 60\nSN.numNodes = 4\n")
    (tmp_path / "Parameters/Castalia.ini").write_text("")
    file = tmp_path / "mine/omnetpp.ini"
    file.write_text(INI)
    return file


def axes(ini: Path, config: str) -> object:
    return tomllib.loads(convert(ini, config).sweep)["axes"]


def test_a_configuration_runs_as_a_sweep(ini: Path, tmp_path: Path) -> None:
    """On the embedded radio, with a shorter time; the lines of the configuration come before those of General."""
    sweep = read_sweep(str(write(convert(ini, "slow"), tmp_path / "slow")))
    plans = plan_runs(sweep, tmp_path / "results")
    assert len(plans) == 3 * 3
    assert sorted(path.name for path in (tmp_path / "slow").iterdir()) == ["CC2420.txt", "slow.ini.j2", "slow.toml"]
    duty = [line for line in plans[1].ini.splitlines() if "dutyCycle" in line]
    assert duty == [f"SN.node[*].Communication.MAC.dutyCycle = {value}" for value in (0.05,)]
    assert "SN.numNodes = 4\n" in plans[0].ini
    assert "sim-time-limit = 100s\n" in plans[0].ini


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ("slow", {"dutyCycle": [0.02, 0.05, 0.1]}),
        ("weak", {"TxOutputPower": ["-1dBm", "-5dBm"], "dutyCycle": [0.02, 0.05, 0.1]}),
        ("weak,tied", None),
        ("tied", {"a-b": {"2-3": {"a": 2, "b": 3}, "3-2": {"a": 3, "b": 2}, "4-1": {"a": 4, "b": 1}}}),
        ("beside", {"a-b": {"10-1": {"a": 10, "b": 1}, "20-2": {"a": 20, "b": 2}}}),
        ("General", {}),
    ],
)
def test_iterations_become_axes(ini: Path, config: str, found: object) -> None:
    """Each alone, unless a constraint or a lockstep ties them; configurations may be combined."""
    assert axes(ini, config) == (found or (axes(ini, "weak") | axes(ini, "tied") if found is None else {}))  # type: ignore[operator]


def test_what_roambus_does_not_read_stays_as_a_comment(ini: Path) -> None:
    """The project's application gives way to the agent."""
    made = convert(ini, "slow")
    left = [f"{line.key} = {line.value}" for line in made.left_out]
    assert left == [
        'SN.node[*].ApplicationName = "ThroughputTest"',
        "SN.physicalProcess[0].inputType = 1",
    ]
    assert all(f"\n# {line}\n" in made.template for line in left)


APPLICATION = """SN.node[3].Application.isSink = true
SN.node[1].Application.packet_rate = ${rate=20,40}
SN.node[2].Application.packet_rate = 0
SN.node[*].Application.packet_rate = 5
SN.node[1].Application.packet_rate = 7
SN.node[0..2].Application.packet_rate = 9
SN.node[*].Application.constantDataPayload = 20
SN.node[*].Application.startupDelay = 2
"""


def test_the_application_gives_the_workload(ini: Path, tmp_path: Path) -> None:
    """Its sinks subscribe; its rates, lengths and delay are those of publications."""
    ini.write_text(INI.replace("SN.node[*].Application.packet_rate = 5\n", APPLICATION))
    plan = plan_runs(read_sweep(str(write(convert(ini, "General"), tmp_path / "rates"))), tmp_path / "results")[1]
    lines = [line.partition(".Application.")[::2] for line in plan.ini.splitlines() if ".Application." in line]
    told = [(node, setting) for node, setting in lines if node[0] != "#" and not setting.startswith(("agent", "rng"))]
    assert told == [
        ("SN.node[3]", 'roles = "subscriber broker"'),
        ("SN.node[*]", 'roles = "publisher broker"'),
        ("SN.node[1]", "publishInterval = 0.025000000s"),
        ("SN.node[2]", "publishInterval = 0s"),
        ("SN.node[*]", "publishInterval = 0.2s"),
        ("SN.node[*]", "payload = 20"),
        ("SN.node[*]", "publishStart = 2s"),
    ]


def test_without_an_application_that_is_known_node_0_subscribes(ini: Path) -> None:
    """And each node publishes once a second."""
    ini.write_text(INI.replace("SN.node[*].Application.packet_rate = 5\n", ""))
    made = convert(ini, "slow").template
    assert 'SN.node[0].Application.roles = "publisher subscriber broker"\n' in made
    assert made.endswith("SN.node[*].Application.publishInterval = 1s\n")


def test_lines_that_cannot_count_are_left_out(ini: Path) -> None:
    """Those of nodes beyond the last, and later ones for the same key."""
    more = "sim-time-limit = 600s\nSN.node[4].xCoor = 3\nSN.node[3].xCoor = 3\nSN.node[3].xCoor = 4\n"
    more += 'SN.node[1].MobilityManagerName = "LineMobilityManager"\n'
    more += "".join(f"SN.node[{node}].MobilityManager.speed = 5\n" for node in (0, 1))
    ini.write_text(INI.replace("repeat = 3", more))
    made = convert(ini, "slow")
    assert [line.key for line in made.absent] == ["SN.node[4].xCoor", "SN.node[0].MobilityManager.speed"]
    assert [line for line in made.template.splitlines() if "xCoor" in line] == ["SN.node[3].xCoor = 3"]
    assert "600s" not in made.template
    assert made.template.count("sim-time-limit =") == 1


def test_the_mac_is_a_variable(ini: Path, tmp_path: Path) -> None:
    """Its default is the MAC of the ini, unless nodes have different ones."""
    ini.write_text(INI.replace('"TunableMAC"', '"TMAC"'))
    made = convert(ini, "General")
    assert 'mac = { key = "SN.node[*].Communication.MACProtocolName", default = "TMAC"' in made.template
    sweep = override(read_sweep(str(write(made, tmp_path / "macs"))), {"mac": "TunableMAC"})
    assert plan_runs(sweep, tmp_path / "results")[0].ini.count('MACProtocolName = "TunableMAC"\n') == 1
    own = 'SN.node[0].Communication.MACProtocolName = "TMAC"\n'
    ini.write_text(INI.replace("sim-time-limit", f"{own}sim-time-limit"))
    assert "mac = {" not in convert(ini, "slow").template


def test_a_missing_mac_is_a_variable(ini: Path) -> None:
    """Castalia's default sends without a MAC, which the embedded radio lacks."""
    ini.write_text(INI.replace('SN.node[*].Communication.MACProtocolName = "TunableMAC"\n', ""))
    assert (
        'mac = { key = "SN.node[*].Communication.MACProtocolName", default = "BypassMAC"'
        in convert(ini, "slow").template
    )
    assert "mac = " not in convert(ini.with_name("omnetpp.ini"), "slow").sweep


@pytest.mark.parametrize(
    ("old", "new", "config", "message"),
    [
        ("", "", "slwo", r"omnetpp.ini: unknown configuration 'slwo': did you mean 'slow'\?"),
        ("extends = slow", "extends = fast", "weak", "unknown configuration 'fast'"),
        (
            "Castalia.ini",
            "gone/Castalia.ini",
            "slow",
            r"omnetpp.ini:3: include: there is no file .*gone/Castalia.ini: name",
        ),
        (
            "CC2420.txt",
            "CC1.txt",
            "slow",
            r"omnetpp.ini:6: .*ParametersFile: there is no file .*Radio/CC1.txt: name the ini",
        ),
        ("../Parameters/field.ini", "gone.ini", "slow", r"omnetpp.ini:4: include: there is no file .*gone.ini"),
        ("repeat = 3", "repeat", "slow", "omnetpp.ini:12: 'repeat' is not of the form key = value"),
        ("0.5\n", "$other\n", "slow", r"dutyCycle: \$\{other\} is no iteration variable of this configuration"),
        ("== 5", "== 50", "tied", "the constraint holds for no value of a, b"),
        ("== 5", "=* 5", "tied", "constraint: .*leave the constraint out"),
        ("${a=1..4}", "${a=1..4000}", "tied", "an iteration has from 1 to 1000 values"),
    ],
)
def test_what_cannot_be_converted_is_named(ini: Path, old: str, new: str, config: str, message: str) -> None:
    """With the file, the line and a remedy."""
    ini.write_text(INI.replace(old, new, 1))
    with pytest.raises(UserError, match=message):
        convert(ini, config)


def test_files_that_include_each_other_are_refused(ini: Path) -> None:
    """Not read for ever."""
    (ini.parent.parent / "Parameters/field.ini").write_text("include ../mine/omnetpp.ini\n")
    with pytest.raises(UserError, match="more than 10 files include each other"):
        read_project(ini)


def test_ranges_and_repetitions(ini: Path) -> None:
    """A range has steps; a variable that is only used has no values of its own."""
    ini.write_text("[General]\nx = ${a=0..1 step 0.25}\ny = ${1, 2}/$a/${a}\n")
    lines = read_project(ini).lines("General")
    assert iterations(lines).values == {"a": ["0", "0.25", "0.5", "0.75", "1"], "y": ["1", "2"]}


def test_a_folder_that_is_there_is_left_alone(ini: Path, tmp_path: Path) -> None:
    """Nothing is written."""
    (tmp_path / "slow").mkdir()
    with pytest.raises(UserError, match="slow is there already"):
        write(convert(ini, "slow"), tmp_path / "slow")
    assert not list((tmp_path / "slow").iterdir())


def test_the_command_says_what_it_left_out_and_how_to_run_it(
    ini: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Castalia, if the embedded radio refuses a line."""
    monkeypatch.chdir(ini.parent)
    for mac, backend in (("TunableMAC", "radio"), ("TMAC", "castalia")):
        ini.write_text(INI.replace('"TunableMAC"', f'"{mac}"').replace("[Config slow]", f"[Config {backend}]"))
        commands(["new", "sweep", "--from", "omnetpp.ini", "--config", backend], standalone_mode=False)
        said = capsys.readouterr()
        assert f"roambus sweep {backend}/{backend}.toml --backend {backend}" in said.out
        assert "2 lines that roambus does not read are comments" in said.err
        assert ('"TMAC" is not known here' in said.err) == (backend == "castalia")
