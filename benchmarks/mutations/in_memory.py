"""A first look at a mutant: the tests that reach it, quickest first, in a process that has everything in memory.

The process runs all tests of a protocol once, with nothing broken, and notes which functions each test calls. For a
mutant it forks a child, gives the broken function the code of the mutant, and runs the tests that call it. Nothing is
imported again, and most mutants are noticed by a test that takes milliseconds. What nothing notices here proves
nothing: a fixture that several tests share is noted for the first of them only, and code that runs at import is not
run again. `benchmarks.mutations.trial` then looks at it with all tests.
"""

from __future__ import annotations

import inspect
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import pytest

from benchmarks.mutations.child import LimitsOfTests, UnsoundError, conclude, enter, run_tests
from benchmarks.mutations.targets import Mutant

_CANNOT = "cannot"


class Reached(NamedTuple):
    """What a test calls: (module, function with its class), and how long the test took, in seconds."""

    functions: frozenset[tuple[str, str]]
    took_s: float


class InMemory:
    """A process with the tests of one protocol; it ends when its maker does."""

    def __init__(self, copy: Path, files: Sequence[str]) -> None:
        """Runs the tests; raises UnsoundError if one fails with nothing broken."""
        context = multiprocessing.get_context("fork")
        self._pipe, theirs = context.Pipe()
        context.Process(target=_serve, args=(copy, files, theirs), daemon=True).start()
        theirs.close()
        failed, reached = self._pipe.recv()
        self._reached = {name: Reached(*one) for name, one in reached.items()}
        if failed is not None:
            raise UnsoundError(f"with nothing broken: {failed}")

    def first_failure(self, mutant: Mutant) -> str | None:
        """The first test that fails, or why the child died; None if that cannot be told here."""
        chosen = self.tests_of(mutant.module, mutant.method)
        if not chosen:
            return None
        took_s = {name: self._reached[name].took_s for name in chosen}
        self._pipe.send((mutant.module, mutant.method, mutant.source, took_s))
        found: str | None = self._pipe.recv()
        return found

    def took_s(self, files: Sequence[str]) -> float:
        """How many seconds the tests of these files have computed."""
        return sum(one.took_s for name, one in self._reached.items() if name.partition("::")[0] in files)

    def tests_of(self, module: str, function: str) -> list[str]:
        """The tests that call a function, quickest first."""
        names = [name for name, one in self._reached.items() if (module, function) in one.functions]
        return sorted(names, key=lambda name: self._reached[name].took_s)


class _Recorder:
    """A plugin of pytest: notes what each test calls."""

    def __init__(self, copy: Path) -> None:
        self.reached: dict[str, Reached] = {}
        self._copy = copy
        self._modules: dict[str, str] = {}
        self._called: set[CodeType] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """A test runs, with its fixtures."""
        self._called = set()
        start = time.process_time()
        sys.setprofile(self._note)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            functions = frozenset(one for code in self._called for one in self._of(code))
            self.reached[item.nodeid] = Reached(functions, time.process_time() - start)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            self._called.add(frame.f_code)

    def _of(self, code: CodeType) -> Iterator[tuple[str, str]]:
        """The module, below the root and without links, and the function, if it is the project's."""
        if code.co_filename not in self._modules:
            path = Path(code.co_filename).resolve()
            inside = path.is_relative_to(self._copy)
            self._modules[code.co_filename] = path.relative_to(self._copy).as_posix() if inside else ""
        if module := self._modules[code.co_filename]:
            yield module, code.co_qualname


def _serve(copy: Path, files: Sequence[str], pipe: Connection) -> None:
    """The process: runs all tests, and then, mutant by mutant, those that it is told to."""
    enter(copy)
    recorder = _Recorder(copy.resolve())
    code, first = run_tests(files, recorder)
    failed = None if code == pytest.ExitCode.OK else first or f"pytest ended with {code.name}"
    # Plain values both ways: the classes here are others than those of the copy.
    pipe.send((failed, {name: tuple(one) for name, one in recorder.reached.items()}))
    while True:
        try:
            module, function, source, took_s = pipe.recv()
        except EOFError:
            os._exit(0)
        pipe.send(_try_out(lambda: break_function(module, function, source) is not None, took_s))  # noqa: B023  # at once


def _try_out(break_it: Callable[[], bool], took_s: Mapping[str, float]) -> str | None:
    """Breaks something and runs the tests that are named, in a child; what `InMemory.first_failure` returns."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _be_child(break_it, took_s, writer)
    os.close(writer)
    with os.fdopen(reader) as end:
        first = end.read()
    _, status = os.waitpid(child, 0)
    return None if first == _CANNOT else conclude(os.waitstatus_to_exitcode(status), first)


def _be_child(break_it: Callable[[], bool], took_s: Mapping[str, float], writer: int) -> None:
    """Breaks the function, runs the tests, and ends the process with pytest's exit code."""
    code, first = pytest.ExitCode.INTERNAL_ERROR, ""
    try:
        first = "" if break_it() else _CANNOT
        if not first:
            code, first = run_tests(list(took_s), LimitsOfTests(took_s))
        os.write(writer, first.encode())
    finally:
        os._exit(code)


def break_function(path: str, name: str, source: str) -> Callable[[], None] | None:
    """Gives a function the code that it has in the broken source; what puts the sound one back, None if it cannot."""
    module = sys.modules.get("roambus." + path.removesuffix(".py").replace("/", "."))
    function = _function(module, name)
    broken = _code(compile(source, path, "exec"), name)
    if function is None or broken is None or broken.co_freevars not in {(), function.__code__.co_freevars}:
        return None
    # What is emptied does not name its class any more, as `super()` does; the function still has it.
    sound = function.__code__
    function.__code__ = broken.replace(co_filename=sound.co_filename, co_freevars=sound.co_freevars)
    return lambda: setattr(function, "__code__", sound)


def _function(module: object, name: str) -> FunctionType | None:
    """The function itself, behind what decorators have made of it."""
    found: Any = module
    for part in name.split("."):
        found = inspect.getattr_static(found, part, None)
    found = getattr(found, "fget", None) or getattr(found, "__func__", None) or found
    found = inspect.unwrap(found) if callable(found) else found
    return found if isinstance(found, FunctionType) else None


def _code(code: CodeType, name: str) -> CodeType | None:
    """The code of the function of that name, in the code of its module."""
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    direct = [one for one in inner if one.co_qualname == name]
    return next(iter(direct), None) or next((found for one in inner if (found := _code(one, name))), None)
