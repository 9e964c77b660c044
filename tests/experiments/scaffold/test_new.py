"""`roambus new agent`: a package that works at once; what is broken later is named, and nothing else suffers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from roambus.bridge.system.child_process import run_in_child
from roambus.bridge.system.errors import UserError
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import follow
from roambus.experiments.scaffold import writer
from roambus.experiments.scaffold.writer import AgentName, read_name, write_package
from tests.support.places import Place, make_place
from tests.support.removed import PLUGIN, REMOVED


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "is not a name for an agent"),
        ("Gossip", "is not a name for an agent: small letters and digits, a letter first"),
        ("2gossip", "is not a name"),
        ("my_gossip", "is not a name"),
        ("my--gossip", "is not a name"),
        ("gossip/../x", "is not a name"),
        ("gössip", "is not a name"),
        ("x" * 41, "is not a name"),
        ("mft", "there is an agent 'mft' already"),
        ("class", "'class' is a word or a package of Python's here already"),
        ("json", "'json' is a word or a package"),
        ("roambus", "'roambus' is a word or a package"),
        ("numpy", "'numpy' is a word or a package"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name: str, message: str) -> None:
    """It must be a package's, and free."""
    with pytest.raises(UserError, match=message):
        read_name(name)


def test_what_follows_from_a_name() -> None:
    """The package, the class, and what traces call its message."""
    name = read_name("my-gossip2")
    assert (name.package, name.class_name, name.message_type) == ("my_gossip2", "MyGossip2", "MY-GOSSIP2")


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    """Also a link to nowhere."""
    (tmp_path / "gossip").mkdir()
    (tmp_path / "other").symlink_to(tmp_path / "nowhere")
    for folder in ("gossip", "other"):
        with pytest.raises(UserError, match=f"{folder} is there already: remove it, or choose another name"):
            write_package(AgentName("gossip"), tmp_path / folder)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["gossip", "other"]


def test_nothing_half_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong on the way."""
    files = writer._files

    def failing(name: AgentName) -> Iterator[tuple[str, str]]:
        yield next(files(name))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "_files", failing)
    with pytest.raises(OSError, match="No space left"):
        write_package(AgentName("gossip"), tmp_path / "gossip")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A place in which the agent `my-gossip` was made and installed."""
    place = make_place(tmp_path_factory.mktemp("place"))
    place.succeed("roambus new agent my-gossip")
    place.succeed("python -m pip install --editable my-gossip")
    return place


RUN = "roambus run thesis --set time_limit=12 --set publish_until=8 --backend ideal --out results --agent "


def test_a_new_agent_is_listed_and_runs(place: Place) -> None:
    """Beside all others, with its parameters; its own tests pass."""
    listed = dict(line.split(maxsplit=1) for line in place.succeed("roambus list agents").splitlines())
    assert listed["my-gossip"].startswith("Repeats the first copy of every notification")
    assert "mft" in listed
    assert "  jitter = 10ms  longest wait before it is repeated; a time, " in place.succeed("roambus show my-gossip")
    chosen = "-k 'not delivers'" if PLUGIN in REMOVED else ""
    output = place.succeed(f"cd my-gossip && python -m pytest -p no:cacheprovider {chosen}")
    assert re.search("5 passed|4 passed, 1 (skipped|deselected)|3 passed, 1 skipped, 1 deselected", output)
    trace = place.folder / place.succeed(f"{RUN} my-gossip --param ttl=5").strip() / "trace.parquet"
    assert trace.is_file()


MUTANTS = {
    "an ignored Unsubscribe": ("[wanted for wanted in self._filters if wanted != event.filter]", "self._filters"),
    "filters forgotten in a crash": ("self._heard = Recent(self.parameters.memory)", "self._filters = []"),
    "a hop too many": ("if hops < self.parameters.ttl", "if hops <= self.parameters.ttl"),
    "a hop too few": ("if hops < self.parameters.ttl", "if hops + 1 < self.parameters.ttl"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_its_transcripts_notice_a_wrong_handler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Whoever changes the agent learns which of its promises is broken."""
    folder = tmp_path / "my-gossip"
    write_package(AgentName("my-gossip"), folder)
    path, (old, new) = folder / "my_gossip" / "agent.py", MUTANTS[name]
    whole = path.read_text()
    assert old in whole
    path.write_text(whole.replace(old, new))
    monkeypatch.syspath_prepend(folder)
    texts = [file.read_text().replace("my-gossip", "my_gossip.agent:MyGossip") for file in folder.glob("tests/*.txt")]
    same = run_in_child(lambda: [follow(parse_document(folder, text)) == text for text in texts])
    assert sorted(same) == [False, True]


@pytest.mark.slow
def test_its_sweep_compares_it(place: Place) -> None:
    """With flooding and MFT-PubSub, on the same runs; here in small."""
    small = "--set config=C2 --set time_limit=6 --set publish_until=4 --seeds 1 --backend ideal --workers 1"
    assert "runs done 3" in place.succeed(f"cd my-gossip && roambus sweep compare.toml {small} --out ../swept")
    agents = {path.name for path in (place.folder / "swept" / "traces").iterdir()}
    assert agents == {"agent=my-gossip", "agent=flooding", "agent=mft"}


def test_a_broken_agent_says_what_to_do(place: Place) -> None:
    """When it is shown, and when it is run; the list stands as before, for it runs no agent."""
    path = place.folder / "my-gossip" / "my_gossip" / "agent.py"
    whole = path.read_text()
    path.write_text(whole.replace("class MyGossip", "import no_such_library\n\n\nclass MyGossip"))
    try:
        listed = place.succeed("roambus list agents")
        line, run = place.succeed("roambus show my-gossip").rstrip(), place.run(f"{RUN} my-gossip")
    finally:
        path.write_text(whole)
    cause = r"agent 'my-gossip' cannot be imported: .*/my_gossip/agent.py:\d+: ModuleNotFoundError: .*no_such_library'"
    assert re.search(f"{cause}; correct it, or remove it: python -m pip uninstall my-gossip$", line)
    assert {"mft", "beacon", "my-gossip"} <= {line.split()[0] for line in listed.splitlines()}
    assert (run.returncode, run.stderr) == (2, f"error: {line.partition('It cannot be loaded: ')[2]}\n")
