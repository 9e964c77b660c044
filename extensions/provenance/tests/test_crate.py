"""Crates: another library reads them, a stranger makes the runs again, and what was changed is noticed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from roambus.bridge.runs.layout import TRACE_FILE
from roambus.bridge.system.errors import UserError
from roambus.extensions.provenance.unpacked import Crate
from tests.support.commands import call, environment

AGENT = """
from roambus import BROADCAST, Agent, Message, Started, U8, on


class Hi(Message, tag=1):
    count: U8


class Greeter(Agent):
    @on(Started)
    def start(self, event, now):
        self.send(BROADCAST, Hi(1))

    @on(Hi)
    def hear(self, hi, sender, now):
        pass
"""


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crate of two runs of an agent of one's own, whose file is gone."""
    home = tmp_path_factory.mktemp("home")
    sweep = "roambus sweep beacon --agents ./greeter.py --backend ideal --set nodes=10 --set time_limit=2 --seeds 2"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        Path("greeter.py").write_text(AGENT)
        assert call(f"{sweep} --workers 1 --out r", patch) == 0
        assert call("roambus crate r --trust --author Ada --license https://spdx.org/licenses/MIT", patch) == 0
    (home / "greeter.py").unlink()
    return home / "r.crate.zip"


@pytest.fixture
def unpacked(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The crate, unpacked in the working folder."""
    zipfile.ZipFile(packed).extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_crate_library_reads_it(unpacked: Path) -> None:
    """Every file with its checksum, every run with what it was made from and with."""
    rocrate = pytest.importorskip("rocrate.rocrate", reason="rocrate is not installed (see the group dev)")
    crate = rocrate.ROCrate(str(unpacked))
    assert (crate.name, crate.license) == ("r", "https://spdx.org/licenses/MIT")
    first, second = crate.get_by_type("CreateAction")
    values = {entity["name"]: entity["value"] for entity in first["object"] if entity.type == "PropertyValue"}
    assert values == {"agent": "greeter", "nodes": "10", "seed": "0"}
    assert [entity.id for entity in first["result"]] == [f"traces/agent=greeter/nodes=10/seed=0/{TRACE_FILE}"]
    assert [entity["name"] for entity in second["instrument"]] == ["roambus", "./greeter.py"]
    files = {entity.id for entity in crate.data_entities}
    assert {"README.md", "code/roambus.zip", "environment/requirements.txt", "reproduce.sh", "sweep.json"} <= files
    assert all(len(entity["sha256"]) == 64 for entity in crate.data_entities)


def test_a_stranger_makes_the_runs_again(
    unpacked: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the agent's code from the crate, which is run only by who trusts it."""
    assert list(Crate(unpacked).wrong_files()) == []
    assert call("roambus verify .", monkeypatch) == 1
    assert "--trust runs it" in capsys.readouterr().err
    assert call("roambus verify . --trust", monkeypatch) == 0
    assert "runs made again 2, the same 2" in capsys.readouterr().out


def test_the_code_in_the_crate_runs_by_itself(unpacked: Path) -> None:
    """As the script of the crate has it, from a folder that holds nothing else of roambus."""
    zipfile.ZipFile("code/roambus.zip").extractall(".reproduce/code")
    code = "import sys, roambus; assert roambus.__file__.startswith(sys.argv[1]); from roambus.command_line import main"
    where = str(unpacked / ".reproduce" / "code")
    own = {**environment(), "PYTHONPATH": where}
    done = subprocess.run([sys.executable, "-c", code, where], env=own, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


HELPED = AGENT.replace("from roambus", "from helper import COUNT\nfrom roambus", 1).replace("Hi(1)", "Hi(COUNT)")


def reproduced(crate: Path) -> subprocess.CompletedProcess[str]:
    """As the script of the crate does it, with this Python's libraries and without the user's folder."""
    folder = crate.with_name("elsewhere")
    zipfile.ZipFile(crate).extractall(folder)
    zipfile.ZipFile(folder / "code" / "roambus.zip").extractall(folder / ".reproduce" / "code")
    command = [sys.executable, "-m", "roambus", "verify", ".", "--trust"]
    own = {**environment(), "PYTHONPATH": ".reproduce/code:code/modules"}
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=False)


READING = (
    HELPED.replace("from helper", "import json, pathlib\nfrom helper", 1)
    .replace("class Greeter(Agent):\n", "class Greeter(Agent):\n    data_files = ('data/table.json',)\n")
    .replace("Hi(COUNT)", "Hi(COUNT + EXTRA + int((HERE / 'late.txt').read_text()))")
    .replace(
        "class Hi",
        "HERE = pathlib.Path(__file__).parent\nEXTRA = json.loads((HERE / 'data' / 'table.json').read_text())\n"
        "EXTRA += int((HERE / 'more.txt').read_text())\n\n\nclass Hi",
        1,
    )
)
"""An agent with a helper, data that it names, and data that it does not name, some of which a handler reads."""


@pytest.mark.parametrize("place", ["", "pkg/"])
def test_helpers_and_data_beside_the_agent_are_in_the_crate(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it lies; a stranger has none of these, and the runs are the same, by the script and by `verify`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "helper", raising=False)  # another test may have its own
    files = {"greeter.py": READING, "helper.py": "COUNT = 3\n", "data/table.json": "4", "more.txt": "5"}
    files["late.txt"] = "6"
    for name, text in files.items():
        Path(place + name).parent.mkdir(parents=True, exist_ok=True)
        Path(place + name).write_text(text)
    run = f"roambus run field --agent {place}greeter.py --backend ideal --set nodes=3 --set time_limit=2 --out r"
    assert call(run, monkeypatch) == 0
    assert call("roambus crate r --trust", monkeypatch) == 0
    names = [name.partition("/")[2].partition("/")[2] for name in zipfile.ZipFile("r.crate.zip").namelist()]
    assert files.keys() <= {*names}
    for name in files:
        Path(place + name).unlink()
    monkeypatch.delitem(sys.modules, "helper", raising=False)
    done = reproduced(tmp_path / "r.crate.zip")
    assert "runs made again 1, the same 1" in done.stdout, done.stderr
    assert call("roambus verify elsewhere --trust", monkeypatch) == 0
    monkeypatch.delitem(sys.modules, "helper", raising=False)


def test_a_module_of_ones_own_is_in_the_crate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its whole package, which `verify` finds in the crate."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "hello_there/__init__.py": "",
        "hello_there/agent.py": HELPED.replace("from helper", "from .helper"),
        "hello_there/helper.py": "COUNT = 3\n",
    }.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    run = "roambus run field --agent hello_there.agent:Greeter --backend ideal --set nodes=3 --set time_limit=2 --out r"
    assert call(run, monkeypatch) == 0
    assert call("roambus crate r --trust", monkeypatch) == 0
    shutil.rmtree("hello_there")
    for name in [name for name in sys.modules if name.partition(".")[0] == "hello_there"]:
        monkeypatch.delitem(sys.modules, name)
    done = reproduced(tmp_path / "r.crate.zip")
    assert "runs made again 1, the same 1" in done.stdout, done.stderr
    assert call("roambus verify elsewhere --trust", monkeypatch) == 0
    assert "the same 1" in capsys.readouterr().out


def test_the_users_template_and_sweep_are_in_the_crate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs have their inis; a reader wants to see from which."""
    monkeypatch.chdir(tmp_path)
    Path("mine.ini.j2").write_text('{% include "field.ini.j2" %}\n{% include "part.ini.j2" %}\n')
    Path("part.ini.j2").write_text("# mine\n")
    Path("s.toml").write_text('template = "mine.ini.j2"\n[set]\ntime_limit = 2\nnodes = 3\n[agents]\nflooding = {}\n')
    assert call("roambus sweep s.toml --backend ideal --workers 1 --out r", monkeypatch) == 0
    assert call("roambus crate r", monkeypatch) == 0
    names = [Path(name) for name in zipfile.ZipFile("r.crate.zip").namelist()]
    inputs = {name.name for name in names if name.parts[0] == "inputs"}
    assert inputs == {"mine.ini.j2", "part.ini.j2", "s.toml"}


def test_a_package_that_was_installed_from_a_folder_is_in_the_crate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of `roambus new`: its modules, and the entry point by which runs name the agent."""
    site = tmp_path / "site"
    files = {
        "hello-0.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: hello\nVersion: 0.1\n",
        "hello-0.1.dist-info/entry_points.txt": "[roambus.agents]\nhello = hello.agent:Greeter\n",
        "hello-0.1.dist-info/direct_url.json": '{"url": "file:///hello", "dir_info": {"editable": true}}',
        "hello/__init__.py": "",
        "hello/agent.py": HELPED.replace("from helper", "from hello.helper"),
        "hello/helper.py": "COUNT = 3\n",
    }
    for name, content in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(content)
    monkeypatch.syspath_prepend(site)
    monkeypatch.chdir(tmp_path)
    run = "roambus run field --agent hello --backend ideal --set nodes=3 --set time_limit=2 --out r"
    assert call(run, monkeypatch) == 0
    assert call("roambus crate r", monkeypatch) == 0
    done = reproduced(tmp_path / "r.crate.zip")
    assert "runs made again 1, the same 1" in done.stdout, done.stderr


def test_what_was_changed_is_named(
    unpacked: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what is missing; the exit code is 1."""
    Path("sweep.json").write_text("{}")
    Path("README.md").unlink()
    assert call("roambus verify . --trust --sample 1", monkeypatch) == 1
    said = capsys.readouterr().err
    assert "sweep.json: its checksum is not what" in said
    assert "README.md: missing" in said


def test_results_of_another_version_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For the code in the crate would not make them again; nothing is written."""
    monkeypatch.chdir(tmp_path)
    Path("greeter.py").write_text(AGENT)
    run = "roambus run field --agent greeter.py --backend ideal --set nodes=3 --set time_limit=2 --out r"
    assert call(run, monkeypatch) == 0
    Path("greeter.py").write_text(AGENT.replace("Hi(1)", "Hi(2)"))
    assert call("roambus crate r --trust", monkeypatch) == 2
    assert "another version of its agent" in capsys.readouterr().err
    assert not list(Path().glob("*.zip*"))


def test_a_crate_without_its_metadata_is_refused(
    unpacked: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing says any more what was in it."""
    (unpacked / "ro-crate-metadata.json").unlink()
    assert call("roambus verify . --trust", monkeypatch) == 2
    said = capsys.readouterr()
    assert "this is a crate without its ro-crate-metadata.json" in said.err
    assert "made again" not in said.out


OTHERS = "root:x:0:0 is what nobody is to read"
RUN = Path("traces/agent=greeter/nodes=10/seed=0")


def _parameters_elsewhere(crate: Path) -> None:
    ini = (crate / RUN / "run.ini").read_text()
    (crate / RUN / "run.ini").write_text(ini.replace('"CC2420.txt"', '"../../../../../secret"'))


def _absolute(crate: Path) -> None:
    ini = (crate / RUN / "run.ini").read_text()
    (crate / RUN / "run.ini").write_text(ini.replace('"CC2420.txt"', f'"{crate.parent / "secret"}"'))


def _link_in_place_of(name: str | Path, target: str = "secret") -> Callable[[Path], None]:
    def make(crate: Path) -> None:
        place = crate / name
        shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
        place.symlink_to(crate.parent / target)

    return make


@pytest.mark.parametrize(
    "deceive",
    [
        _parameters_elsewhere,
        _absolute,
        _link_in_place_of(RUN / "CC2420.txt"),
        _link_in_place_of(RUN / "run.ini"),
        _link_in_place_of(RUN / "trace.parquet"),
        _link_in_place_of(RUN, "other"),
        _link_in_place_of("traces", "other"),
        _link_in_place_of("README.md"),
        _link_in_place_of("code/roambus.zip"),
        _link_in_place_of("ro-crate-metadata.json"),
    ],
    ids=lambda deceive: deceive.__name__,
)
def test_nothing_outside_a_strangers_crate_is_read(
    deceive: Callable[[Path], None],
    packed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Neither by a name in an ini nor through a link: no line of such a file is printed."""
    crate = tmp_path / "crate"
    zipfile.ZipFile(packed).extractall(crate)
    (tmp_path / "secret").write_text(f"{OTHERS}\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.ini").write_text(f"{OTHERS}\n")
    deceive(crate)
    monkeypatch.chdir(tmp_path)
    assert call("roambus verify crate --trust", monkeypatch) in (1, 2)
    said = "".join(capsys.readouterr())
    assert "nobody is to read" not in said
    assert "Traceback" not in said
    assert re.search("a link, which|not a path of a file below|holds no trace", said), said


def test_an_agent_that_is_not_in_the_crate_is_not_run(
    unpacked: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--trust` is for the crate's code: a file of the user's own of that name is none of it."""
    (unpacked / "mine.py").write_text("raise SystemExit('run')\n")
    ini = unpacked / RUN / "run.ini"
    ini.write_text(ini.read_text().replace("./greeter.py", "./mine.py"))
    assert call("roambus verify . --trust", monkeypatch) == 1
    assert "its agent './mine.py' is not in the crate" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", ""])
def test_a_strangers_metadata_lead_nowhere_else(tmp_path: Path, name: str) -> None:
    """A file that is none of the crate's is neither read nor run."""
    (tmp_path / "ro-crate-metadata.json").write_text(
        f'{{"@graph": [{{"@id": "{name}", "@type": ["File", "SoftwareSourceCode"], "sha256": "0"}}]}}'
    )
    for read in (lambda: list(Crate(tmp_path).wrong_files()), lambda: Crate(tmp_path).agent_files()):
        with pytest.raises(UserError, match="leads out of the crate"):
            read()


@pytest.mark.parametrize(
    ("entity", "problem"),
    [({"@id": "a" * 300}, "File name too long"), ({"@id": "code/a", "@type": None}, "")],
)
def test_odd_metadata_end_in_one_message(tmp_path: Path, entity: dict[str, object], problem: str) -> None:
    """A name that no file can have is refused, and what is no list of types has none."""
    (tmp_path / "ro-crate-metadata.json").write_text(json.dumps({"@graph": [{"sha256": "0", **entity}]}))
    if problem:
        with pytest.raises(UserError, match=problem):
            Crate(tmp_path).agent_files()
    else:
        assert Crate(tmp_path).agent_files() == {}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"@graph": 1}', '{"@graph": [1]}', "[" * 100_000])
def test_metadata_that_are_none_are_named(tmp_path: Path, text: str) -> None:
    """Without a traceback."""
    (tmp_path / "ro-crate-metadata.json").write_text(text)
    with pytest.raises(UserError, match="this is not an RO-Crate"):
        Crate(tmp_path).agent_files()
