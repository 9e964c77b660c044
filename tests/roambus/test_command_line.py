"""The command line: results, messages and exit codes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path

import click
import pyarrow.parquet as pq
import pytest

from roambus.bridge.system.errors import UserError
from roambus.bridge.system.interrupts import NamedInterruption
from roambus.command_line import commands
from roambus.experiments import inventory
from roambus.experiments.inventory import TEMPLATES
from tests.roambus.conftest import Roambus
from tests.support.agents import write_agent
from tests.support.commands import call

Refused = Callable[..., None]


@pytest.fixture
def refused(folder: Path, roambus: Roambus) -> Refused:
    """Checks for one line that begins with "error:", exit code 2, and nothing left but what was there before."""

    def check(message: str, *arguments: str) -> None:
        before = files(folder)
        done = roambus(*arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: ")
        assert done.err.count("\n") == 1
        assert message in done.err
        assert files(folder) == before

    return check


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if "__pycache__" not in path.parts)


LISTED = """
from roambus import Agent, Parameters, Started, on, parameter

class ListedParameters(Parameters):
    interval: int = parameter(2_000_000_000, unit="s", source="RFC 3561", doc="how often")
    ttl: int = parameter(7, unit="hops", source="RFC 3561", doc="how far")

class Listed(Agent):
    'Says hello.'
    parameters: ListedParameters

    @on(Started)
    def start(self, event, now):
        pass
"""
COMMANDS = [
    "run",
    "trace",
    "doctor",
    "sweep",
    "aggregate",
    "figures",
    "new",
    "reproduce",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(roambus: Roambus, command: str) -> None:
    """The example is a whole command."""
    assert f"Example: roambus {command}" in roambus(command, "--help").out


def test_agents_are_listed_and_shown_with_their_parameters(
    folder: Path, roambus: Roambus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each parameter with its default, meaning, unit and source; a broken agent is shown with its error."""
    package = folder / "site" / "other-1.0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[roambus.agents]\nlisted = listed:Listed\nmissing = nowhere:Agent\n")
    (folder / "site" / "listed.py").write_text(LISTED)
    monkeypatch.syspath_prepend(folder / "site")
    listed = roambus("list", "agents").out
    assert re.search(r"^listed +Says hello\.$", listed, re.M)
    assert re.search(r"^missing +Its source has no summary; roambus show loads it\.$", listed, re.M)
    shown = roambus("show", "listed").out
    assert shown.startswith("agent listed: Says hello.\n")
    assert "  interval = 2s  how often; a time, in seconds or with its unit; RFC 3561\n" in shown
    assert "  ttl = 7  how far; a whole number (hops); RFC 3561\n" in shown
    broken = roambus("show", "missing").out
    assert "agent 'missing' cannot be imported: ModuleNotFoundError: No module named 'nowhere'; " in broken
    assert "correct it, or remove it: python -m pip uninstall other\n" in broken


def test_there_are_few_commands() -> None:
    """The list of commands fits on a screen."""
    assert len(commands.list_commands(click.Context(commands))) <= 23


def test_there_are_few_options() -> None:
    """Each command's own, with --json, -q and -v."""
    context = click.Context(commands)
    found = [commands.get_command(context, name) for name in commands.list_commands(context)]
    options = [
        parameter for command in found if command for parameter in command.params if isinstance(parameter, click.Option)
    ]
    assert len(options) <= 205


@pytest.mark.parametrize("option", [["--record"], ["--check"], ["--level", "full"], ["--deadline", "5"]])
def test_what_a_rendered_ini_does_not_use_is_refused(folder: Path, roambus: Roambus, option: list[str]) -> None:
    """No run is made that the option could change."""
    done = roambus("run", "field", "--render", *option)
    assert (done.code, f"{option[0]} requires a run" in done.err) == (2, True)


def test_own_metrics_are_for_the_list_of_metrics(folder: Path, roambus: Roambus) -> None:
    """A list of agents would not read the file."""
    done = roambus("list", "agents", "--measure", "none.py")
    assert (done.code, "--measure brings metrics" in done.err) == (2, True)


def test_a_rendered_ini_is_a_template_for_itself(folder: Path, roambus: Roambus) -> None:
    """Printed, or written with its radio parameters file."""
    printed = roambus("run", "field", "--render", "--agent", "mine.py", "--set", "nodes=7", "--seed", "5").out
    assert "SN.numNodes = 7\n" in printed
    assert "seed-set = 5\n" in printed
    roambus("run", "field", "--render", "--agent", "mine.py", "--set", "nodes=7", "--seed", "5", "--out", "case")
    assert (folder / "case" / "run.ini").read_text() == printed
    assert (folder / "case" / "CC2420.txt").is_file()


def test_one_run_leaves_its_results_where_it_says(folder: Path, roambus: Roambus) -> None:
    """The folder has the layout of a sweep's, so that everything else works on it."""
    settings = ["--set", "nodes=2", "--set", "time_limit=3"]
    done = roambus("run", "field", "--agent", "mine.py", *settings, "--out", "out")
    assert done.out == "out/traces/agent=mine.py/nodes=2/time_limit=3/seed=0\n"
    assert {path.name for path in (folder / done.out.strip()).iterdir()} == {
        "trace.parquet",
        "run.ini",
        "CC2420.txt",
        "run.log",
    }


BIG = """
from roambus import BROADCAST, Agent, LongBytes, Message, MessageSet, Started, on

class Big(Message, tag=1):
    content: LongBytes

class Shouter(Agent):
    messages = MessageSet([Big])

    @on(Started)
    def start(self, event, now):
        self.send(BROADCAST, Big(bytes(3000)))
"""


def test_a_run_whose_messages_are_too_long_warns(folder: Path, roambus: Roambus) -> None:
    """No frame has room for them, so that nothing is sent."""
    (folder / "big.py").write_text(BIG)
    done = roambus("run", "field", "--agent", "big.py", "--set", "nodes=3", "--set", "time_limit=2", "--out", "out")
    assert done.code == 0
    assert re.search(r"^note: 3 messages were not sent: (frame|packet) longer than ", done.err, re.M)


@pytest.mark.slow
def test_ideal_links_are_a_back_end_like_others(folder: Path, roambus: Roambus) -> None:
    """For one run and for a sweep; runs over the radio do not replace them."""
    settings = ["--set", "nodes=2", "--set", "time_limit=3", "--out", "out"]
    done = roambus("run", "field", "--agent", "mine.py", "--backend", "ideal", *settings)
    rows = pq.read_table(folder / done.out.strip() / "trace.parquet").to_pylist()
    assert [row["time_s"] for row in rows if row["event"] == "role"] == [0, 0]
    assert not [row for row in rows if row["event"] == "energy"]
    sweep = ["sweep", "mine.toml", "--workers", "1", "--seeds", "1", "--set", "nodes=2", "--out", "swept"]
    assert "runs done 1, already there 0, failed 0" in roambus(*sweep, "--backend", "ideal").out
    assert "runs done 0, already there 1, failed 0" in roambus(*sweep, "--backend", "ideal").out
    assert "swept holds runs with backend ideal, not radio: choose another --out" in roambus(*sweep).err


def test_a_sweep_runs_once(roambus: Roambus) -> None:
    """The second call finds everything there; another value of an axis is added."""
    sweep = ["sweep", "mine.toml", "--workers", "1", "--out", "out"]
    assert "runs done 6, already there 0, failed 0" in roambus(*sweep).out
    assert "runs done 0, already there 6, failed 0" in roambus(*sweep).out
    assert "runs done 1, already there 0, failed 0" in roambus(*sweep, "--set", "nodes=3", "--seeds", "1").out


SCENARIO = """\
agent mft
tree
  b1
    b2
clients s2@b2

> s2 subscribes f1
"""


def test_a_transcript_is_printed(folder: Path, roambus: Roambus) -> None:
    """The scenario with what follows each command; the file stays as it is."""
    (folder / "mine.txt").write_text(SCENARIO)
    done = roambus("trace", "mine.txt")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{SCENARIO}s2 -> b2  SUB f1 s2 t=1 h=0\nb2 -> b1  SUB f1 s2 t=1 h=1\n"
    assert "    1ms b2 -> b1  SUB f1 s2 t=1 h=1\n" in roambus("trace", "mine.txt", "--times").out
    assert roambus("trace", "mine.txt", "--agent", "mine.py").out == f"{SCENARIO}(nothing)\n"
    assert (folder / "mine.txt").read_text() == SCENARIO


def test_a_scenario_that_cannot_be_run_is_refused(folder: Path, roambus: Roambus, refused: Refused) -> None:
    """With file and line; an agent that raises has its own exit code."""
    write_agent(folder, "bad", "raise KeyError('parent')")
    (folder / "wrong.txt").write_text(f"{SCENARIO}> s3 subscribes f1\n")
    refused("error: wrong.txt:8: unknown node 's3'", "trace", "wrong.txt")
    refused("error: none.txt: No such file", "trace", "none.txt")
    (folder / "mine.txt").write_text(f"{SCENARIO}> wait 5s\n")
    refused("error: unknown agent 'mtf'", "trace", "mine.txt", "--agent", "mtf")
    refused("error: agent mft: unknown parameter 'a'", "trace", "mine.txt", "--param", "a=1")
    assert roambus("trace", "mine.txt", "--agent", "bad.py").code == 4


def test_the_list_of_commands_has_whole_sentences(roambus: Roambus) -> None:
    """None is cut off where the line ends."""
    text = roambus("--help").out
    assert "..." not in text.partition("Commands:")[2]


def test_the_help_of_trace_keeps_its_lines(roambus: Roambus) -> None:
    """A scenario is a text of lines, and no sign of how the help was written is left."""
    text = roambus("trace", "--help").out
    assert "    tree\n      b1\n        b2\n" in text
    assert "\\b" not in text


def test_unknown_agents_templates_and_variables_are_refused(refused: Refused) -> None:
    """Each with one line that says what there is."""
    refused("unknown agent 'beakon'", "run", "field", "--agent", "beakon")
    refused("unknown template 'feild': did you mean 'field'", "run", "feild", "--agent", "mine.py")
    refused("--set: unknown variable", "run", "field", "--agent", "mine.py", "--set", "node=3")
    refused("write NAME=VALUE", "run", "field", "--agent", "mine.py", "--set", "nodes")
    refused("unknown parameter 'rate'", "run", "field", "--agent", "mine.py", "--param", "rate=3")


def test_an_unknown_ini_key_is_refused_with_its_line(folder: Path, refused: Refused, roambus: Roambus) -> None:
    """Of the rendered ini, which `roambus run --render` would show; nothing is left behind."""
    (folder / "bad.ini.j2").write_text('{% include "field.ini.j2" %}\nSN.wirelessChannel.sigmaa = 3\n')
    rendered = roambus("run", "bad.ini.j2", "--render", "--agent", "mine.py").out.splitlines()
    line = rendered.index("SN.wirelessChannel.sigmaa = 3") + 1
    message = f"bad.ini.j2 (rendered):{line}: SN.wirelessChannel.sigmaa: unknown key"
    refused(message, "run", "bad.ini.j2", "--agent", "mine.py")


def test_a_missing_variable_is_refused_with_its_line(folder: Path, refused: Refused) -> None:
    """And its template."""
    (folder / "bad.ini.j2").write_text("SN.numNodes = {{ count }}\n")
    refused("bad.ini.j2:1: variable 'count' is not set", "run", "bad.ini.j2", "--agent", "mine.py")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("run field --backend ideal --deadline 9", "--deadline: the back-end ideal runs in this process"),
        ("sweep mine.toml --deadline 9", "--deadline: the back-end radio"),
        ("run field --wait 9", "--wait requires --endpoint"),
        (
            "run field --endpoint local --backend ideal",
            "--backend ideal: --endpoint works only with --backend castalia",
        ),
        ("run field --seed 1 --agent mine.py --seed 2", "--seed: given twice"),
        ("run field --out a --out=a", "--out: given twice"),
        ("run field --render --render", "--render: given twice"),
        ("run field --set nodes=3 --set nodes=4", "--set nodes: given twice"),
        ("sweep mine.toml --tasks 3", "--tasks requires --slurm"),
        ("sweep mine.toml --slurm job.sh --workers 1", "--workers: a task of --slurm has its own"),
        ("sweep mine.toml --slurm job.sh --part 0/2", "--part: a task of --slurm has its own"),
        ("sweep mine.toml --metric delay", "--metric requires --precision"),
        ("sweep mine.toml --first-seeds 3", "--first-seeds requires --precision"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(refused: Refused, words: str, message: str) -> None:
    """Whoever gave it would take the result for another."""
    refused(f"error: {message}", *words.split())


@pytest.mark.parametrize("command", ["sweep mine.toml", "reproduce thesis --quick"])
@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--seeds 0", "--seeds: '0' is neither a number of seeds from 1 up nor a range"),
        ("--seeds -1..3", "--seeds: '-1..3' is neither"),
        ("--seeds 12..3", "--seeds: '12..3' is neither"),
        ("--seeds=", "--seeds: '' is neither"),
        ("--seeds 0..99999999", "--seeds: the number of runs is 100,000,000, above the limit"),
        ("--seeds 3..12 --precision 0.1", "--precision adds seeds from 0 up, and not 3..12: give --seeds a number"),
    ],
)
def test_seeds_that_cannot_be_are_refused(refused: Refused, command: str, option: str, message: str) -> None:
    """In one line, before any run."""
    refused(f"error: {message}", *command.split(), *option.split())


def test_metrics_of_a_sweep_are_read_before_its_runs(folder: Path, refused: Refused) -> None:
    """A file without one is a mistake that would show after hours."""
    (folder / "none.py").write_text("def delay(run): return 0\n")
    (folder / "bad.toml").write_text(f'measure = ["none.py"]\n{(folder / "mine.toml").read_text()}')
    refused("error: metrics 'none.py': no function there is a metric", "sweep", "bad.toml")


@pytest.mark.parametrize(
    ("message", "end"),
    [
        ("\n".join(f"{n:03} {'x' * 300}" for n in range(20)), f"012 {'x' * 300}\nand 7 lines more\n"),
        ("x" * 5000, "xxx...\n"),
    ],
)
def test_a_long_message_ends_with_a_whole_line(
    roambus: Roambus, monkeypatch: pytest.MonkeyPatch, message: str, end: str
) -> None:
    """And the number of those that are left out; one line is cut."""

    def fail(_: object) -> int:
        raise UserError(message)

    monkeypatch.setattr("roambus.command_line._run", fail)
    assert roambus("list").err.endswith(end)


def test_a_run_without_traffic_says_so(folder: Path, roambus: Roambus) -> None:
    """An ini of other people's names no roles, and its run would look like any other."""
    lines = (TEMPLATES / "field.ini.j2").read_text().splitlines(keepends=True)
    (folder / "quiet.ini.j2").write_text("".join(line for line in lines if ".Application.roles" not in line))
    done = roambus("run", "quiet.ini.j2", "--agent", "mine.py", "--backend", "ideal")
    assert "note: no node subscribes or publishes" in done.err


def test_a_misspelt_axis_is_refused(folder: Path, refused: Refused) -> None:
    """In the file, and on the command line."""
    (folder / "bad.toml").write_text((folder / "mine.toml").read_text().replace("nodes =", "nods ="))
    refused("bad.toml: axes.nods: unknown variable", "sweep", "bad.toml")
    refused("mine.toml: --set: unknown variable", "sweep", "mine.toml", "--set", "nods=3")


def test_a_folder_that_cannot_be_written_is_refused(folder: Path, refused: Refused) -> None:
    """One message, also for a whole sweep."""
    (folder / "file").touch()
    refused("file/out: Not a directory", "sweep", "mine.toml", "--out", "file/out")
    refused("file/out: Not a directory", "run", "field", "--agent", "mine.py", "--out", "file/out")


def test_an_agent_that_raises_is_named_with_its_line(folder: Path, roambus: Roambus) -> None:
    """Node, simulation time, event, and the agent's own line; exit code 4, or 1 for a sweep that went on."""
    write_agent(folder, "bad", "if self.node == 3:\n    raise KeyError('parent')")
    done = roambus("run", "field", "--agent", "bad.py", "--set", "nodes=4", "--out", "run")
    assert done.code == 4
    assert done.err.startswith("error: agent Ticking, node 3, simulation time 1")
    assert "on TimerFired(key='tick'): KeyError: 'parent' at bad.py:14 in tick" in done.err
    (folder / "bad.toml").write_text((folder / "mine.toml").read_text().replace("mine.py", "bad.py"))
    done = roambus("sweep", "bad.toml", "--seeds", "1", "--workers", "1", "--out", "out")
    assert done.code == 1
    assert "runs done 1, already there 0, failed 1" in done.out
    assert "traces/agent=mine/nodes=4/seed=0: AgentError: agent Ticking, node 3" in done.err


def test_an_error_of_ours_keeps_its_traceback(roambus: Roambus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only errors that a user can act on are cut down to one line."""
    monkeypatch.setattr(inventory, "shipped_studies", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        roambus("list", "metrics")


def test_an_interruption_has_no_message_of_a_library(roambus: Roambus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python puts the codec that was at work into the KeyboardInterrupt; only ours tell what was ended."""

    def interrupted(error: KeyboardInterrupt) -> str:
        def raising(**_: object) -> None:
            raise error

        monkeypatch.setattr("roambus.command_line.commands", raising)
        return roambus("list").err

    codec = "decoding with 'utf-8-sig' codec failed (KeyboardInterrupt: )"
    assert interrupted(KeyboardInterrupt(codec)) == "error: interrupted\n"
    assert interrupted(NamedInterruption("interrupted: node 3")) == "error: interrupted: node 3\n"


def test_warnings_print_no_escape_sequences(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """A library's warning can quote a stranger's name."""
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    assert call("roambus --version", monkeypatch) == 0
    text = warnings.formatwarning("glyph \x1b]0;X\x07 is missing", UserWarning, "drawing.py", 1)
    assert "\x1b" not in text
    assert "\\x1b]0;X\\x07" in text
