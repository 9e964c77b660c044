"""The mutation check: what it breaks, how, and what it says of what nothing notices."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.mutation_check import ROOT, main, report
from benchmarks.mutations.child import FOLDERS, TIME_LIMIT, UnsoundError
from benchmarks.mutations.equivalents import key, read_equivalents
from benchmarks.mutations.in_memory import InMemory
from benchmarks.mutations.listing import write_list
from benchmarks.mutations.methods import checked, handlers
from benchmarks.mutations.operators import breakages
from benchmarks.mutations.targets import PROTOCOLS, Mutant, mutants, stages
from benchmarks.mutations.trial import FILES, Verdict, Workshop, load_libraries

AGENT = """
class Agent:
    def __init__(self):
        self._handlers = {Sub: self._receive_sub, TIMER: lambda now: self.clock.strike(now)}
        self._handlers[Uns] = self._receive_uns
        self._names = {"sub": self.say, Sub: 1}

    def _receive_sub(self, message):
        return self._flood(message)

    def _receive_uns(self, message): ...

    def _flood(self, message):
        return count(message)

    def say(self): ...

    @on(Pub)
    def publish(self, message): ...

    @on_timer("tick", TICK)
    @staticmethod
    def tick(key): ...

    @property
    def sound(self): ...


def count(message): ...


class Clock:
    def strike(self, now): ...

    def wind(self): ...
"""


def broken(source: str) -> dict[str, str]:
    """What can be done to the first function of a module, and the module then."""
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    return {one.what: one.source for one in breakages(source, function)}


def test_handlers_are_what_is_marked_and_what_tables_name() -> None:
    """Of messages and timers, lambdas and later entries included; other decorators and dictionaries mean nothing."""
    assert handlers([ast.parse(AGENT)]) == {"_receive_sub", "_receive_uns", "strike", "publish", "tick"}


def test_handlers_are_what_decorators_mark() -> None:
    """A method under `@on` or `@on_timer` is one, and under another decorator it is none."""
    marked = """
class Agent:
    @on(Sub, Uns)
    def subscribe(self, sub, sender, now): ...

    @on_timer("tick")
    def tick(self, key, now): ...

    @once("tick")
    def tock(self): ...
"""
    assert handlers([ast.parse(marked)]) == {"subscribe", "tick"}


def test_all_that_handlers_are_made_of_is_checked() -> None:
    """And nothing else."""
    found = [function.name for _, function in checked({"agent.py": ast.parse(AGENT)})]
    tabled = ["Agent._receive_sub", "Agent._receive_uns", "Agent._flood"]
    assert found == [*tabled, "Agent.publish", "Agent.tick", "count", "Clock.strike"]


@pytest.mark.parametrize(
    ("returns", "values"),
    [
        ("None", ["None"]),
        ("list[Action]", ["[]"]),
        ("Iterable[Action]", ["()"]),
        ("bool", ["False", "True"]),
        ("SimTime", ["0"]),
        ("Route | None", ["None"]),
        ("tuple[Action, ...]", ["()"]),
        ("tuple[()]", ["()"]),
        ("tuple[list[Action], int]", ["([], 0,)"]),
        ("Action", ["None"]),
    ],
)
def test_a_dropped_body_returns_what_the_type_allows(returns: str, values: list[str]) -> None:
    """In place of all statements but the docstring."""
    head = f'def handle() -> {returns}:\n    """Does."""\n'
    made = broken(f"{head}    x = 1\n    return work(x)\n")
    assert made == {f"only `return {value}`": f"{head}    return {value}\n" for value in values}


def test_nothing_is_dropped_where_nothing_is_done() -> None:
    """A body that returns nothing anyway, or an abstract one, cannot be broken so."""
    assert broken("def handle() -> list[int]:\n    return []\n") == {}
    assert broken("@abstractmethod\ndef handle() -> None:\n    work()\n") == {}


@pytest.mark.parametrize(
    ("sound", "swapped"),
    [
        ("a < b", "a >= b"),
        ("a <= b", "a > b"),
        ("a > b", "a <= b"),
        ("a >= b", "a < b"),
        ("a == b", "a != b"),
        ("a != b", "a == b"),
        ("a in b", "a not in b"),
        ("a not in b", "a in b"),
        ("a is b", "a is not b"),
        ("a is not b", "a is b"),
        ("not a", "a"),
    ],
)
def test_each_comparison_is_swapped(sound: str, swapped: str) -> None:
    """Where it stands, even behind letters that take several bytes."""
    made = broken(f'def handle() -> Any:\n    return "é" if {sound} else 0\n')
    assert made[f"`{sound}` becomes `{swapped}`"] == f'def handle() -> Any:\n    return "é" if ({swapped}) else 0\n'


def test_each_comparison_of_a_chain_is_swapped() -> None:
    """One at a time."""
    made = broken("def handle() -> Any:\n    return a < b < c\n")
    assert {"`a < b < c` becomes `a >= b < c`", "`a < b < c` becomes `a < b >= c`"} <= made.keys()


def test_each_hop_count_is_forgotten() -> None:
    """What is added to hops, or taken from a TTL; other sums stay."""
    made = broken("def handle() -> Any:\n    return f(hops + 1, ttl - 1, now + 1, a.hops + h.hops + 1)\n")
    assert set(made) == {
        "only `return None`",
        "`hops + 1` becomes `hops`",
        "`ttl - 1` becomes `ttl`",
        "`a.hops + h.hops + 1` becomes `a.hops + h.hops`",
        "`a.hops + h.hops` becomes `a.hops`",
    }


@pytest.mark.slow
def test_every_handler_of_every_protocol_is_broken() -> None:
    """In modules that can still be read (a tenth of them are tried); each protocol has tests."""
    made = list(mutants(ROOT))
    assert {mutant.protocol for mutant in made} == {protocol.name for protocol in PROTOCOLS}
    for mutant in made[::10]:
        compile(mutant.source, mutant.module, "exec")
    trees = {one.module: ast.parse((ROOT / one.module).read_text(encoding="utf-8")) for one in made}
    methods = {mutant.method.rpartition(".")[2] for mutant in made}
    assert handlers(trees.values()) <= methods
    assert all(stages(ROOT, protocol) for protocol in PROTOCOLS)


def test_every_agent_is_checked() -> None:
    """A new one needs an entry in `PROTOCOLS`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    agents: dict[str, str] = project["entry-points"]["roambus.agents"]
    modules = {Path(one.module).with_suffix("").as_posix().replace("/", ".") for one in mutants(ROOT)}
    packages = {module.rpartition(".")[0] for module in modules}
    places = {name: place.partition(":")[0].removeprefix("roambus.") for name, place in agents.items()}
    assert {name for name, place in places.items() if place not in modules | packages} == set()


def test_a_modules_own_tests_run_first() -> None:
    """They most likely notice it."""
    (skip_ring,) = (protocol for protocol in PROTOCOLS if protocol.name == "skip-ring")
    first, _ = stages(ROOT, skip_ring, "python_protocol/papers/skip_ring/publications.py")
    assert first[0] == "tests/python_protocol/papers/skip_ring/test_publications.py"


# Trials

PARTS = ("bridge", "python_protocol", "experiments", "spark")
"""The folders that are parts of the package: roambus/ has a link to each."""
MODULE = "python_protocol/papers/simple/toy.py"
TOY = "def twice(x: int) -> int:\n    return 2 * x\n"
TEST = """from roambus.python_protocol.papers.simple.toy import twice

def test_twice() -> None:
    assert twice(3) == 6
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with one function, and one test of it."""
    root = tmp_path / "tree"
    for folder in (
        *FOLDERS,
        "python_protocol/papers/simple",
        "tests/python_protocol",
        "tests/python_protocol/papers/simple",
    ):
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / "__init__.py").touch()
    for part in PARTS:
        (root / "roambus" / part).symlink_to(Path("..", part))
    for file in FILES:
        (root / file).write_text("")
    (root / MODULE).write_text(TOY)
    (root / "tests/python_protocol/papers/simple/test_toy.py").write_text(TEST)
    return root


@pytest.fixture
def workshop(tree: Path, tmp_path: Path) -> Workshop:
    load_libraries()
    return Workshop(tree, tmp_path / "copy")


def mutant(source: str) -> Mutant:
    return Mutant("simple", MODULE, 2, "twice", "something", source)


@pytest.mark.parametrize(
    ("source", "noticed_by"),
    [
        (
            "def twice(x: int) -> int:\n    return 3 * x\n",
            "tests/python_protocol/papers/simple/test_toy.py::test_twice",
        ),
        ("def thrice(x: int) -> int:\n    return 3 * x\n", "tests/python_protocol/papers/simple/test_toy.py"),
        pytest.param("def twice(x: int) -> int:\n    while True:\n        pass\n", TIME_LIMIT, marks=pytest.mark.slow),
        ("def twice(x: int) -> int:\n    return x + x\n", None),
    ],
    ids=["fails", "cannot be read", "does not end", "passes"],
)
def test_a_mutant_is_noticed_or_not(workshop: Workshop, tree: Path, source: str, noticed_by: str | None) -> None:
    """By a test that fails, cannot be read, or does not end. What nothing notices is told; the tree stays as it was."""
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    limit_s = 3 if noticed_by == TIME_LIMIT else 60  # a busy machine takes its time for what ends
    assert workshop.try_out(mutant(source), [limit_s]).noticed_by == noticed_by
    assert workshop.try_out(mutant(TOY), [60]).noticed_by is None
    assert {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("source", "noticed_by"),
    [
        (
            "def twice(x: int) -> int:\n    return 3 * x\n",
            "tests/python_protocol/papers/simple/test_toy.py::test_twice",
        ),
        pytest.param("def twice(x: int) -> int:\n    return x + x\n", None, marks=pytest.mark.slow),
        pytest.param(
            "def thrice(x: int) -> int:\n    return 3 * x\n",
            "tests/python_protocol/papers/simple/test_toy.py",
            marks=pytest.mark.slow,
        ),
        pytest.param("def twice(x: int) -> int:\n    while True:\n        pass\n", TIME_LIMIT, marks=pytest.mark.slow),
    ],
    ids=["fails", "passes", "has no such function", "does not end"],
)
def test_a_first_look_in_memory_says_the_same(workshop: Workshop, source: str, noticed_by: str | None) -> None:
    """By the test that calls the function; what cannot be broken in memory is tried out with all tests."""
    (simple,) = (one for one in PROTOCOLS if one.name == "simple")
    limits = workshop.check_unbroken(simple)
    assert len(limits) == 1
    assert workshop.look(mutant(source), limits).noticed_by == noticed_by
    assert workshop.look(mutant(TOY), limits).noticed_by is None


def test_in_memory_only_the_tests_run_that_call_the_function(tree: Path, tmp_path: Path) -> None:
    """Quickest first; of a function that no test calls there are none."""
    load_libraries()
    other = TEST.replace("test_twice", "test_slowly").replace("    assert", "    sum(range(1_000_000))\n    assert")
    tests = f"{other}\n{TEST}\ndef test_nothing() -> None:\n    assert True\n"
    (tree / "tests/python_protocol/papers/simple/test_toy.py").write_text(tests)
    file = "tests/python_protocol/papers/simple/test_toy.py"
    found = InMemory(Workshop(tree, tmp_path / "copy").copy, [file])
    assert found.tests_of(MODULE, "twice") == [f"{file}::test_twice", f"{file}::test_slowly"]
    assert found.tests_of(MODULE, "thrice") == []


def test_tests_that_fail_anyway_prove_nothing(tree: Path, tmp_path: Path) -> None:
    """The check says so before it breaks anything."""
    load_libraries()
    (tree / MODULE).write_text("def twice(x: int) -> int:\n    return 3 * x\n")
    with pytest.raises(UnsoundError, match=r"with nothing broken: .*::test_twice"):
        Workshop(tree, tmp_path / "copy").check_unbroken(PROTOCOLS[0])


# Reports

NOTICED, SURVIVED = Verdict(mutant(TOY), "test_toy.py::test_twice"), Verdict(mutant(TOY), None)


def said(verdicts: list[Verdict], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = report(verdicts, Console(width=200))
    return code, capsys.readouterr().out


def test_all_noticed_is_success(capsys: pytest.CaptureFixture[str]) -> None:
    """And says by which test."""
    code, text = said([NOTICED], capsys)
    assert code == 0
    assert "test_toy.py::test_twice" in text
    assert "1 mutants: 1 noticed, 0 the same, 0 not noticed" in text


def test_a_survivor_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    """And is named."""
    code, text = said([NOTICED, SURVIVED], capsys)
    assert code == 1
    assert "not noticed: python_protocol/papers/simple/toy.py:2, twice: something" in text


def test_what_is_the_same_is_no_failure(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless a test notices it after all: then it is not the same."""
    monkeypatch.setattr("benchmarks.mutation_check.read_equivalents", lambda: {key(SURVIVED.mutant): "a reason"})
    code, text = said([SURVIVED], capsys)
    assert code == 0
    assert "same: a reason" in text
    assert said([NOTICED], capsys)[0] == 1


def test_every_equivalent_is_a_mutant_of_today_and_has_a_reason() -> None:
    """A method that has changed takes its entries along, or loses them."""
    equivalents = read_equivalents()
    assert equivalents.keys() <= {key(one) for one in mutants(ROOT)}
    assert all(equivalents.values())


def test_the_list_keeps_what_was_not_checked_again(tmp_path: Path) -> None:
    """Only the sections of the protocols that were are replaced."""
    file = tmp_path / "mutations.md"
    write_list(file, [Verdict(mutant(TOY)._replace(protocol="aodv"), None)], {})
    write_list(file, [SURVIVED], {})
    write_list(file, [NOTICED], {})
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines.count("- 2, `twice`: something: NOT NOTICED") == 1
    assert lines.count("- 2, `twice`: something: test_toy.py::test_twice") == 1
    assert [line for line in lines if line.startswith("## ")] == ["## aodv", "## simple"]


def test_an_unknown_protocol_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """With those that there are."""
    with pytest.raises(SystemExit, match="2"):
        main(["--protocol", "mqtt"])
    assert "first-approach" in capsys.readouterr().err
