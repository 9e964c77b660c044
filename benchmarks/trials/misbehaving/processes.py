"""Agents that do to their process what is not theirs to do: end it, move it, tie things to it that outlive the run."""

from __future__ import annotations

from benchmarks.trials.misbehaving.catalogue import Misbehaving, ticking, whole

_MAY_NOT = "an agent may not"
_ENDED = "ended the process of its run, {how}.*node 1, simulation time .*, on TimerFired"

IN_HANDLERS = (
    ticking("sys exit zero", "sys.exit(0)  # here", "node 1, .*the agent raised SystemExit: 0"),
    ticking("sys exit text", 'sys.exit("done")  # here', "node 1, .*the agent raised SystemExit: done"),
    ticking("exit zero", "os._exit(0)  # here", f"node 1, .*{_MAY_NOT} end its process"),
    ticking("exit one", "os._exit(1)  # here", f"node 1, .*{_MAY_NOT} end its process"),
    ticking("abort", "os.abort()  # here", f"node 1, .*{_MAY_NOT} end its process"),
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
    ticking("changes the folder", 'os.chdir("/")  # here', f"node 1, .*{_MAY_NOT} change the working folder"),
    ticking("closes stdout", "sys.stdout.close()  # here", f"node 1, .*{_MAY_NOT} close what it prints to"),
    ticking("closes the descriptor", "os.close(2)", "has closed what it prints to"),
    ticking("recurses", "self.tick(key, now)", "node 1, .*RecursionError.* in tick"),
    ticking("raises RecursionError", "raise RecursionError  # here", "node 1, .*RecursionError"),
    ticking("raises MemoryError", "raise MemoryError  # here", "node 1, .*MemoryError"),
    ticking("wants all memory", "bytearray(10**15)  # here", "node 1, .*MemoryError"),
    ticking("removes results", 'import shutil; shutil.rmtree("{out}")  # here', f"node 1, .*{_MAY_NOT} remove folders"),
    ticking("renames results", 'os.rename("{out}", "{out}-moved")  # here', f"node 1, .*{_MAY_NOT} rename files"),
    ticking(
        "writes a trace", 'open("{out}/trace.parquet", "w")  # here', f"node 1, .*{_MAY_NOT} write what roambus writes"
    ),
    ticking("sets the environment", 'os.environ["PATH"] = ""  # here', f"node 1, .*{_MAY_NOT} change the environment"),
    ticking("clears the environment", "os.environ.clear()  # here", f"node 1, .*{_MAY_NOT} change the environment"),
    ticking(
        "sets the locale",
        'import locale; locale.setlocale(locale.LC_ALL, "C")  # here',
        f"node 1, .*{_MAY_NOT} change the locale",
    ),
    ticking(
        "seeds what all share", "random.seed(1)  # here", f"node 1, .*{_MAY_NOT} draw from a generator that all share"
    ),
    ticking("draws from what all share", "random.random()  # here", f"node 1, .*{_MAY_NOT} draw from a generator"),
    ticking(
        "shuffles by what all share", "random.shuffle([1, 2])  # here", f"node 1, .*{_MAY_NOT} draw from a generator"
    ),
    ticking("draws from it by the back door", "random._inst.random()", "has drawn from Python's own generator"),
    ticking("draws from NumPy", "np.random.rand()", "has drawn from NumPy's own generator", "import numpy as np\n"),
    ticking("sets the recursion limit", "sys.setrecursionlimit(99)  # here", f"node 1, .*{_MAY_NOT} change the limits"),
    ticking(
        "sets a limit of the system",
        "import resource; resource.setrlimit(resource.RLIMIT_CPU, (9, 9))  # here",
        f"node 1, .*{_MAY_NOT} change the limits",
    ),
    ticking(
        "starts a thread",
        "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()  # here",
        f"node 1, .*{_MAY_NOT} start threads",
    ),
    ticking(
        "starts a bare thread",
        "import _thread, time; _thread.start_new_thread(time.sleep, (60,))  # here",
        f"node 1, .*{_MAY_NOT} start threads",
    ),
    ticking(
        "starts a process",
        'import subprocess; subprocess.Popen(["sleep", "60"])  # here',
        f"node 1, .*{_MAY_NOT} start processes",
    ),
    ticking("starts a shell", 'os.system("sleep 60 &")  # here', f"node 1, .*{_MAY_NOT} start processes"),
    ticking("forks", "os.fork()  # here", f"node 1, .*{_MAY_NOT} start processes"),
    ticking(
        "forks by multiprocessing",
        "import multiprocessing; multiprocessing.Process(target=print).start()  # here",
        f"node 1, .*({_MAY_NOT} start processes|daemonic processes are not allowed)",  # the latter in a worker
    ),
    ticking(
        "becomes another program", 'os.execv("/bin/true", ["true"])  # here', f"node 1, .*{_MAY_NOT} end its process"
    ),
    ticking("kills itself", "os.kill(os.getpid(), 9)  # here", f"node 1, .*{_MAY_NOT} send signals"),
    ticking("kills its parent", "os.kill(os.getppid(), 9)  # here", f"node 1, .*{_MAY_NOT} send signals"),
    ticking("kills its group", "os.killpg(0, 9)  # here", f"node 1, .*{_MAY_NOT} send signals"),
    ticking("raises a signal", "import signal; signal.raise_signal(9)  # here", f"node 1, .*{_MAY_NOT} send signals"),
    ticking(
        "handles signals",
        "import signal; signal.signal(15, signal.SIG_IGN)  # here",
        f"node 1, .*{_MAY_NOT} handle signals",
    ),
    ticking("sets an alarm", "import signal; signal.alarm(1)  # here", f"node 1, .*{_MAY_NOT} send signals"),
    ticking("sets the umask", "os.umask(0o777)", "has changed which files others may read"),
    ticking(
        "swallows what it is told",
        'try:\n    os.chdir("/")  # here\nexcept Exception:\n    pass',
        f"{_MAY_NOT} change the working folder",
    ),
)

_HANDLER = "class Mine(Agent):\n    @on(Started)\n    def start(self, event, now):\n        pass\n"


def _importing(name: str, line: str, says: str) -> Misbehaving:
    return whole(name, f"{line}  # here\n{_HANDLER}", f"cannot be imported: .*{says}")


def _making(name: str, line: str, says: str) -> Misbehaving:
    source = f"{_HANDLER}\n    def __init__(self, *all):\n        super().__init__(*all)\n        {line}  # here\n"
    return whole(name, source, f"cannot be made from .*{says}")


BEFORE_RUNS = (
    _importing("exits while it is imported", "os._exit(0)", "this would end the process of roambus"),
    _importing("sys exits while it is imported", "sys.exit(0)", "SystemExit: 0"),
    _importing("interrupts while it is imported", "raise KeyboardInterrupt", "KeyboardInterrupt"),
    _importing("ends generators while it is imported", "raise GeneratorExit", "GeneratorExit"),
    _importing("has a mistake", "import nothing_of_that_name", "ModuleNotFoundError"),
    whole("moves while it is imported", f'os.chdir("/")\n{_HANDLER}', "it changes the working folder to /"),
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
    _making("exits when it is made", "os._exit(0)", "this would end the process of roambus"),
    _making("sys exits when it is made", "sys.exit(0)", "SystemExit: 0"),
    _making("raises when it is made", "raise ValueError(5)", "ValueError: 5"),
)
PROCESSES = (*IN_HANDLERS, *BEFORE_RUNS)
