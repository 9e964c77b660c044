"""Agents are found by entry point, by module and class, and by file; what is none is refused with the reason."""

from __future__ import annotations

import os
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from roambus.bridge import agents
from roambus.bridge.agents import agent_names, agent_sources, data_of, load_agent
from roambus.bridge.host.agents import make_agents
from roambus.bridge.system.code import AGENTS
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.roles import Role
from tests.support.agents import write_agent
from tests.support.scenarios import scenario

AGENT = """
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Started
from roambus.python_protocol.agent import on, on_timer

class {name}(Agent):
    @on(Started)
    def start(self, event, now):
        pass
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder: two agents are installed, one of them broken."""
    points = [
        EntryPoint("good", "installed_agent:Good", AGENTS),
        EntryPoint("broken", "installed_broken:Broken", AGENTS),
    ]
    monkeypatch.setattr(agents, "installed", lambda _: points)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "installed_agent.py").write_text(AGENT.format(name="Good"))
    (tmp_path / "installed_broken.py").write_text("\nimport no_such_library\n")
    return tmp_path


def refused(reference: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load_agent(reference)


@pytest.mark.parametrize("reference", ["good", "installed_agent:Good", "installed_agent.py", "installed_agent.py:Good"])
def test_an_agent_is_found_by_every_way_of_naming_it(folder: Path, reference: str) -> None:
    """By entry point, module and class, file, file and class."""
    assert load_agent(reference).__name__ == "Good"


def test_the_file_that_an_agent_is_written_in_is_known(folder: Path) -> None:
    """So that changing it changes the run's key."""
    path = write_agent(folder, "mine", "pass")
    assert agent_sources(load_agent("mine.py")) == [path.resolve()]


def test_an_agent_in_a_package_has_all_of_its_files(folder: Path) -> None:
    """Its helpers count as its code."""
    package = folder / "protocol_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "helper.py").touch()
    (package / "core.py").write_text(AGENT.format(name="Core"))
    assert {path.name for path in agent_sources(load_agent("protocol_package.core:Core"))} == {
        "__init__.py",
        "core.py",
        "helper.py",
    }


def test_installed_agents_are_listed(folder: Path) -> None:
    """In the order of the alphabet."""
    assert agent_names() == ["broken", "good"]


def test_an_unknown_name_lists_what_there_is(folder: Path) -> None:
    """With the nearest one."""
    refused("goood", "unknown agent 'goood': did you mean 'good'. there is broken, good; or give module:Class")


def test_a_module_that_cannot_be_imported_says_why_and_where(folder: Path) -> None:
    """The cause and the agent's own line."""
    refused("broken", r"agent 'broken' cannot be imported: .*installed_broken.py:2: ModuleNotFoundError: .*no_such_lib")


def test_a_module_that_is_not_there_is_named(folder: Path) -> None:
    """A misspelt module."""
    refused("nowhere:Agent", "agent 'nowhere:Agent' cannot be imported: ModuleNotFoundError: No module named 'nowhere'")


def test_a_file_with_a_syntax_error_names_its_line(folder: Path) -> None:
    """As Python does."""
    (folder / "typo.py").write_text("x = 1\nclass Agent(:\n")
    refused("typo.py", r"agent 'typo.py' cannot be imported: .*typo.py:2: invalid syntax")


def test_a_file_that_is_not_there_is_named(folder: Path) -> None:
    """A misspelt path."""
    refused("none.py", "agent 'none.py': there is no file none.py")


@pytest.mark.parametrize(
    ("text", "reference", "message"),
    [
        ("class Other: pass", "file.py:Other", "Other is not a subclass of roambus.Agent"),
        ("number = 3", "file.py:number", "number is not a subclass"),
        ("class Other: pass", "file.py", "the file has no subclass of roambus.Agent"),
        ("from roambus.python_protocol.agent import Agent", "file.py:Agent", "Agent is not a subclass"),
        ("from roambus.python_protocol.agent import Agent\nclass A(Agent): pass", "file.py:A", "with a handler"),
        (AGENT.format(name="A") + AGENT.format(name="B"), "file.py", "several agents, name one after a colon: A, B"),
        (AGENT.format(name="Mine"), "file.py:Mien", "unknown class 'Mien': did you mean 'Mine'"),
    ],
)
def test_what_is_no_agent_is_refused(folder: Path, text: str, reference: str, message: str) -> None:
    """A class must be a subclass of Agent that handles something, and it must be clear which one is meant."""
    (folder / "file.py").write_text(text)
    refused(reference, message)


@pytest.mark.parametrize("handler", ["@on_timer('tick')\n    def tick(self, key, now)", "def handle(self, event, now)"])
def test_an_agent_can_have_timers_alone_or_a_handle_of_its_own(folder: Path, handler: str) -> None:
    """Either makes the class an agent."""
    head, _, _ = AGENT.format(name="Mine").partition("    @on")
    (folder / "mine.py").write_text(f"{head}    {handler}:\n        return []\n")
    assert load_agent("mine.py").__name__ == "Mine"


def test_dataclasses_work_in_a_file(folder: Path) -> None:
    """Dataclasses with postponed annotations look their module up while it is being imported."""
    head = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 1\n"
    )
    (folder / "with_dataclass.py").write_text(head + AGENT.format(name="Mine"))
    assert load_agent("with_dataclass.py").__name__ == "Mine"


PARAMETERS = """
from dataclasses import dataclass
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.settings import parameter

{definition}

class Mine(Agent):
    parameters: Parameters

    def handle(self, event, now):
        return []
"""
FROZEN = "@dataclass(frozen=True)\nclass Parameters:\n    "


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (
            "class Parameters:\n    ttl = 3",
            r"agent 'mine.py': Parameters is not a class of parameters: write class Parameters\(Parameters\)",
        ),
        (f"{FROZEN}ttl: int", r"parameter ttl has no default: write ttl: TYPE = parameter\(DEFAULT, ...\)"),
        (
            f"{FROZEN}ttl: int = 0\n    def __post_init__(self):\n        raise ValueError('ttl: 0 is too small')",
            "the defaults of Parameters do not work: ttl: 0 is too small",
        ),
        (f"{FROZEN}ways: list = []", "agent 'mine.py' cannot be imported: .*mutable default"),
        ("raise SystemExit(3)", "agent 'mine.py' cannot be imported: .*mine.py:6: SystemExit: 3"),
    ],
)
def test_parameters_that_cannot_be_used_are_refused(folder: Path, definition: str, message: str) -> None:
    """By name, and with what to write."""
    (folder / "mine.py").write_text(PARAMETERS.format(definition=definition))
    refused("mine.py", message)


def test_of_two_methods_of_one_name_none_is_dropped_in_silence(folder: Path) -> None:
    """Also where a handler has another decorator, too; what a property consists of is no mistake."""
    handler = "    @on(Started)\n    @same\n    def start(self, event, now):\n        pass\n"
    head = "from roambus import Agent, Started, on\n\ndef same(method):\n    return method\n\nclass Mine(Agent):\n"
    value = (
        "    @property\n    def a(self):\n        return 1\n\n    @a.setter\n    def a(self, value):\n        pass\n"
    )
    (folder / "once.py").write_text(head + value + handler)
    (folder / "twice.py").write_text(head + value + handler + handler)
    assert load_agent(str(folder / "once.py")).__name__ == "Mine"
    with pytest.raises(UserError, match=r"twice.py:20: class Mine has a method start at line 16 already"):
        load_agent(str(folder / "twice.py"))


def test_messages_that_cannot_be_decoded_are_refused(folder: Path) -> None:
    """Each must have a tag by which it is known."""
    (folder / "mine.py").write_text(AGENT.format(name="Mine") + "    messages = [int]\n")
    refused("mine.py", r"agent 'mine.py' cannot be imported: .*mine.py:6: TypeError: int has no tag: write class int")


def test_a_field_that_cannot_travel_is_reported_with_the_line_of_its_class(folder: Path) -> None:
    """The line is the user's, though the check is ours."""
    message = (
        "from roambus.python_protocol.messages.message import Message\n\nclass Word(Message, tag=1):\n    size: int\n"
    )
    (folder / "mine.py").write_text(message + AGENT.format(name="Mine"))
    refused(
        "mine.py", r"agent 'mine.py' cannot be imported: .*mine.py:3: FieldError: Word, field size: int does not say"
    )


def test_two_packages_with_one_name_are_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither silently takes the other's place; the same one found twice is no matter."""
    first, second = (EntryPoint("good", f"installed_agent:{name}", AGENTS) for name in ("Good", "Other"))
    monkeypatch.setattr(agents, "installed", lambda _: [first, second])
    refused("good", "agent 'good' comes from two packages: remove one of them")
    monkeypatch.setattr(agents, "installed", lambda _: [first, first])
    assert load_agent("good").__name__ == "Good"
    assert agent_names() == ["good"]


def test_an_agent_whose_constructor_raises_is_reported(folder: Path) -> None:
    """With its own line, before anything runs."""
    (folder / "mine.py").write_text(AGENT.format(name="Mine") + "    def __init__(self, node):\n        pass\n")
    with pytest.raises(
        UserError, match=r"agent Mine: it cannot be made from \(node, roles, parameters, random\): TypeErr"
    ):
        make_agents(scenario([Role.NONE]), load_agent("mine.py"))


def test_a_file_whose_name_is_no_utf_8_is_an_agent_too(folder: Path) -> None:
    """The file system takes any bytes, which Python passes on as halves of characters."""
    name = os.fsdecode(b"mine\xff.py")
    (folder / name).write_text(AGENT.format(name="Mine"))
    assert load_agent(name).__name__ == "Mine"


DATA = "    data_files = {names}\n"


def test_data_files_lie_beside_the_class_that_names_them(folder: Path) -> None:
    """Also of a class that another file inherits from; a subclass can name its own."""
    (folder / "base").mkdir()
    (folder / "base" / "table.json").write_text("{}")
    (folder / "base" / "base_of_mine.py").write_text(AGENT.format(name="Base") + DATA.format(names='("table.json",)'))
    (folder / "mine.py").write_text(
        "import sys\nsys.path.append('base')\nfrom base_of_mine import Base\n\nclass Mine(Base):\n    pass\n"
    )
    mine = load_agent("mine.py")
    assert data_of("mine.py", mine) == {"table.json": folder / "base" / "table.json"}
    assert data_of("good", load_agent("good")) == {}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ('("absent.json",)', r"agent 'mine.py': Mine.data_files: there is no file 'absent.json' in "),
        ('("../mine.py",)', r"there is no file '../mine.py' in "),
        ('("/etc/passwd",)', r"there is no file '/etc/passwd' in "),
        ('("installed_agent.py")', r'write the names of files beside it in brackets, such as \("table.json",\)'),
        ("(1,)", r"write the names of files beside it in brackets"),
    ],
)
def test_data_files_that_are_not_beside_it_are_refused(folder: Path, names: str, message: str) -> None:
    """A crate could not hold them."""
    (folder / "mine.py").write_text(AGENT.format(name="Mine") + DATA.format(names=names))
    refused("mine.py", message)
