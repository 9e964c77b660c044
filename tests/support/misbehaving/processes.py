"""Agents that end their process, or draw from generators that all code shares."""

from __future__ import annotations

from tests.support.misbehaving.catalogue import Misbehaving, ticking, whole

_ENDED = "agent .* ended the process of its run, {how}"

IN_HANDLERS = (
    ticking("sys exit zero", "sys.exit(0)  # here", "node 1, .*the agent raised SystemExit: 0"),
    ticking("sys exit text", 'sys.exit("done")  # here', "node 1, .*the agent raised SystemExit: done"),
    ticking("C exit", "import ctypes; ctypes.CDLL(None)._exit(0)", _ENDED.format(how="with exit code 0")),
    ticking("segmentation fault", "import ctypes; ctypes.string_at(0)", _ENDED.format(how="by the signal SIGSEGV")),
    ticking("raises SystemExit", "raise SystemExit  # here", "node 1, .*the agent raised SystemExit"),
    ticking(
        "raises KeyboardInterrupt", "raise KeyboardInterrupt  # here", "node 1, .*the agent raised KeyboardInterrupt"
    ),
    ticking("raises GeneratorExit", "raise GeneratorExit  # here", "node 1, .*the agent raised GeneratorExit"),
    ticking(
        "raises a BaseException",
        "raise Own(3)  # here",
        "node 1, .*the agent raised Own: 3",
        "class Own(BaseException): pass\n",
    ),
    ticking(
        "raises what cannot be written",
        "raise Own(3)  # here",
        "node 1, .*Own: it cannot",
        "class Own(Exception):\n    def __str__(self): raise ValueError\n",
    ),
    ticking("raises many lines", 'raise ValueError("one\\ntwo\\n\\ud800")  # here', "node 1, .*ValueError: one two"),
    ticking("raises an OSError", 'open("/no/such/file")  # here', "node 1, .*FileNotFoundError"),
    ticking("prints a surrogate", 'print("\\ud800")  # here', "node 1, .*UnicodeEncodeError"),
    ticking("recurses", "self.tick(key, now)", "node 1, .*RecursionError.* in tick"),
    ticking("raises RecursionError", "raise RecursionError  # here", "node 1, .*RecursionError"),
    ticking("raises MemoryError", "raise MemoryError  # here", "node 1, .*MemoryError"),
    ticking("wants all memory", "bytearray(10**15)  # here", "node 1, .*MemoryError"),
    ticking("draws from it by the back door", "random._inst.random()", "has drawn from Python's shared generator"),
    ticking("draws from NumPy", "np.random.rand()", "has drawn from NumPy's shared generator", "import numpy as np\n"),
    ticking("draws from what all share", "random.random()", "has drawn from Python's shared generator"),
    ticking("exit zero", "os._exit(0)", _ENDED.format(how="with exit code 0")),
    ticking("abort", "os.abort()", _ENDED.format(how="by the signal SIGABRT")),
)

_HANDLER = "class Mine(Agent):\n    @on(Started)\n    def start(self, event, now):\n        pass\n"


def _importing(name: str, line: str, says: str) -> Misbehaving:
    return whole(name, f"{line}  # here\n{_HANDLER}", f"cannot be imported: .*{says}")


def _making(name: str, line: str, says: str) -> Misbehaving:
    source = f"{_HANDLER}\n    def __init__(self, *all):\n        super().__init__(*all)\n        {line}  # here\n"
    return whole(name, source, f"cannot be made from .*{says}")


BEFORE_RUNS = (
    _importing("sys exits while it is imported", "sys.exit(0)", "SystemExit: 0"),
    _importing("interrupts while it is imported", "raise KeyboardInterrupt", "KeyboardInterrupt"),
    _importing("ends generators while it is imported", "raise GeneratorExit", "GeneratorExit"),
    _importing("has a mistake", "import nothing_of_that_name", "ModuleNotFoundError"),
    whole(
        "has two handlers for one event",
        f"{_HANDLER}\n    @on(Started)\n    def begin(self, event, now):\n        pass\n",
        r"two handlers for Started, start \(line \d+\) and begin \(line \d+\)",
    ),
    whole(
        "has two methods of one name",
        f"{_HANDLER}\n    @on(Stopped)\n    def start(self, event, now):  # here\n        pass\n",
        r"has a method start at line \d+ already",
    ),
    whole(
        "is made without its base",
        "class Mine(Agent):\n    def __init__(self, *given):\n        pass\n\n"
        "    @on(Started)\n    def start(self, event, now):\n        pass\n",
        r"Mine.__init__ at .*py:\d+ does not call super\(\).__init__",
    ),
    _making("sys exits when it is made", "sys.exit(0)", "SystemExit: 0"),
    _making("raises when it is made", "raise ValueError(5)", "ValueError: 5"),
)
PROCESSES = (*IN_HANDLERS, *BEFORE_RUNS)
