"""Command lines with bad values: each ends with a code other than 0 and exactly one message, soon.

python -m benchmarks.trials values [--trials 20]

Values that no option and no argument takes are put in the place of good ones, one at a time. All lines are tried unless
a number is asked for.
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.trials.harness import Asked, Chapter, Outcome, patience
from roambus.command_line import main

Line = list[str]

PATIENCE_S = 20
"""So long may a command take to refuse a value."""
NUMBERS = ("x", "-1", "1e300", "-1e300", "nan", "inf", "-inf", "9" * 60, "0x10", "1__0", "", " ", "½", "1,2", "--")
NAMES = (
    *("", " ", "no such", "../..", "/", "/dev/null", "/dev/full", "$\\frac{", "{a,b}", "a" * 300, "\udcff", "-"),
    *("nan", "mft:", ":", "a:b"),
)
PAIRS = ("", "=", "x", "=1", "no_such=1", "seed=3", "\udcff=1", "a b=c", "speed", "agent=x")
FOLDERS = (
    *("nowhere", "/dev/null", "/dev/full", "file.txt", "empty", "a" * 300, "\udcff", "no\nsuch", "[1]", "*", "-x", ""),
)


def lay(folder: Path) -> None:
    """The files that the lines name."""
    (folder / "empty").mkdir()
    (folder / "file.txt").write_text("no results\n")
    for suffix, contents in (("toml", SWEEPS), ("ini.j2", TEMPLATES), ("txt", SCENARIOS)):
        for name, content in contents.items():
            (folder / f"{name}.{suffix}").write_bytes(content if isinstance(content, bytes) else content.encode())


SWEEPS = {
    "seeds": b'template = "field"\nseeds = 100000000000000000000\n[agents]\nbeacon = {}\n',
    "many": b'template = "field"\nseeds = 1000000000\n[agents]\nbeacon = {}\n',
    "cross": b'template = "field"\n[agents]\nbeacon = {}\n[axes]\n'
    + b"".join(
        b"%s = [%s]\n" % (name, b",".join(b"%d" % n for n in range(1000))) for name in (b"nodes", b"side", b"rate")
    ),
    "deep": b"x = " + b"[" * 100_000,
    "dotted": b".".join([b"a"] * 50_000) + b" = 1\n",
    "bytes": b'template = "\xff"\n',
    "huge": b'template = "field"\n[agents]\nbeacon = {}\n[set]\nnodes = 0x' + b"f" * 5000 + b"\n",
    "digits": b'template = "field"\n[agents]\nbeacon = {}\n[set]\nnodes = ' + b"9" * 5000 + b"\n",
    "floats": b'template = "field"\n[agents]\nbeacon = {}\n[axes]\nnodes = [inf, nan]\n',
    "long": b'template = "field"\n[agents]\n' + b"a" * 400 + b' = { use = "beacon" }\n',
    "agents": b'template = "field"\nagents = 3\n',
    "empty": b"",
}
TEMPLATES = {
    "filter": b"{{ 1 | no_such }}",
    "itself": b"{% include 'itself.ini.j2' %}",
    "macro": b"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "bytes": b"network = \xff\xfe",
    "range": b"{{ range(10**12) | list }}",
    "text": b"{{ 'x' * 10**12 }}",
    "power": b"{{ 10 ** 10000000000 }}",
    "memory": b"{{ 'x' | center(10**13) }}",
    "deep": b"{{ " + b"(" * 5000 + b")" * 5000 + b" }}",
    "nested": b"{% for a in [1] %}" * 60 + b"{% endfor %}" * 60,
    "void": b"",
    "nothing": b"nonsense",
}
SCENARIOS = {
    "negative": "agent flooding\nlinks n1-n2\n\n> wait -1s\n",
    "endless": "agent flooding\nlinks n1-n2\n\n> wait 1e300s\n",
    "exponent": "agent flooding\nlinks n1-n2\n\n> wait 1e999999999s\n",
    "long": "agent flooding\nlinks n1-n2\n\n> wait 1e12s\n",
    "nan": "agent flooding\nlinks n1-n2\nslot nan\n\n> n1 publishes e1\n",
    "zero": "agent flooding\nlinks n1-n2\ndelay 0s\n\n> n1 publishes e1\n",
    "crowd": "agent flooding\ncomplete n1..n99999999\n\n> n1 publishes e1\n",
    "pairs": "agent flooding\ncomplete n1..n9999\n\n> n1 publishes e1\n",
    "digits": f"agent flooding\nlinks n{'9' * 5000}-n2\n\n> n2 publishes e1\n",
    "seedy": f"agent flooding\nseed {'9' * 5000}\nlinks n1-n2\n\n> n1 publishes e1\n",
    "quiet": "agent flooding\nlinks n1-n2\n",
    "void": "",
}


QUICK = ["--backend", "ideal", "--set", "nodes=2", "--set", "time_limit=2", "--out", "made"]


def _of_one_run() -> Iterator[Line]:
    for command in ("run", "render", "serve"):
        yield from ([command, "--out", "made", "--", name] for name in NAMES)
        yield from ([command, "--out", "made", f"{name}.ini.j2"] for name in TEMPLATES)
    yield from (["run", "field", *QUICK, "--agent", name] for name in NAMES)
    for pair in PAIRS:
        yield ["run", "field", *QUICK, "--param", pair]
        yield ["render", "field", "--set", pair]
    for number in NUMBERS:
        yield from _of_number(number)
    for big in ("nodes=65536", "nodes=65534", "nodes=20000", "time_limit=1e12", "time_limit=2e7", "mobility=\udcff"):
        yield ["run", "field", "--backend", "ideal", "--out", "made", "--set", big]
    for out in ("/dev/null", "/dev/full", "file.txt", "/proc/nowhere"):
        yield ["run", "field", *QUICK[:-1], out]
    for endpoint in ("tcp://", "tcp://x", "udp://1:2", "tcp://0.0.0.0:99999", "", "tcp://256.1.1.1:1", "ipc://x"):
        yield ["serve", "field", "--out", "made", "--endpoint", endpoint]


def _of_number(number: str) -> Iterator[Line]:
    yield ["run", "field", *QUICK, "--seed", number]
    yield ["run", "field", *QUICK, "--param", f"rate={number}"]
    yield ["run", "thesis", "--backend", "ideal", "--out", "made", "--set", f"speed={number}"]
    for option in ("--wait", "--deadline"):
        yield ["serve", "field", "--out", "made", option, number]
    for variable in ("nodes", "side", "time_limit"):
        yield ["run", "field", "--backend", "ideal", "--out", "made", "--set", f"{variable}={number}"]


def _of_sweeps() -> Iterator[Line]:
    for name in (*NAMES, *(f"{name}.toml" for name in SWEEPS)):
        yield ["sweep", "--out", "made", "--", name]
    for number in NUMBERS:
        yield ["sweep", "thesis", "--out", "made", "--workers", number]
        yield ["sweep", "thesis", "--out", "made", "--seeds", number]
    for count in ("0", "100000000000", "2000000"):
        yield ["sweep", "thesis", "--out", "made", "--seeds", count]
    yield ["sweep", "thesis", "--out", "made", "--workers", "1000000"]
    for pair in PAIRS:
        yield ["sweep", "thesis", "--out", "made", "--set", pair]
    for name in NAMES:
        yield ["reproduce", "--out", "made", "--", name]


def _of_results() -> Iterator[Line]:
    for command in ("aggregate", "compare", "figures", "export", "replay", "rerun"):
        for folder in FOLDERS:
            yield [command, "--", folder]
    for formats in ("", "x", "sca,x", ",", "SCA", "\udcff"):
        yield ["export", "empty", "--format", formats]
    for port in NUMBERS:
        yield ["replay", "empty", "--port", port]
    for study in NAMES:
        yield ["aggregate", "empty", "--study", study or " "]


def _of_others() -> Iterator[Line]:
    for name in (*FOLDERS, *(f"{name}.txt" for name in SCENARIOS)):
        yield ["trace", "--", name]
        if name != "quiet.txt":  # nothing is wrong with it: `play` serves it until Ctrl-C
            yield ["play", "--", name]
    for name in (*NAMES[:-4], "Mft", "1x", "x.y", "class", "import", "ROAMBUS", "roambus"):
        yield ["new", "agent", "--", name]
    yield from (["no-such-command"], ["run"], ["run", "--no-such-option"], ["castalia", "x"], ["new", "x"], ["-x"])


SUBJECTS: dict[str, Callable[[], Iterator[Line]]] = {
    "one run": _of_one_run,
    "sweeps": _of_sweeps,
    "results": _of_results,
    "others": _of_others,
}


def judge(words: Sequence[str]) -> list[str]:
    """Runs a command line in this process; what is wrong with how it ends."""
    start = time.monotonic()
    try:
        with patience(PATIENCE_S):
            code, error = _call(words)
    except BaseException as raised:  # a traceback is what must not be
        return [f"{type(raised).__name__}: {str(raised)[:200]}"]
    messages = [line for line in error.splitlines() if line.lower().startswith("error: ")]
    if code == 0 or len(messages) != 1 or "Traceback" in error:
        took_s = time.monotonic() - start
        return [f"exit code {code}, {len(messages)} messages, {took_s:.1f} s: {error[-300:]!r}"]
    return []


def _call(words: Sequence[str]) -> tuple[object, str]:
    """The exit code of a command line, and what it says on standard error."""
    printed, before, path = io.StringIO(), sys.argv, sys.path[:]
    sys.argv = ["roambus", *words]
    try:
        with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(io.StringIO()):
            main()
    except SystemExit as ended:
        return ended.code or 0, printed.getvalue()
    finally:
        sys.argv, sys.path[:] = before, path
    return 0, printed.getvalue()


def _run_chapter(asked: Asked) -> Iterator[Outcome]:
    lay(asked.folder)
    with contextlib.chdir(asked.folder):  # which the lines do not change
        for subject in asked.subjects:
            for line in asked.some(SUBJECTS[subject](), subject):
                start = time.monotonic()
                complaints = [f"{' '.join(line)[:150]!a}: {one}" for one in judge(line)]
                yield Outcome(subject, "bad value", "refused", complaints, took_s=time.monotonic() - start)


CHAPTER = Chapter(_run_chapter, tuple(SUBJECTS), ("bad value",), trials=0)
