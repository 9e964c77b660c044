"""Records which runs a page's numbers are of, and says which of them today's code would make differently.

python -m docs.writers.keys record docs/guide/compare.png results/cost --then "roambus figures results/cost"
python -m docs.writers.keys check

NAME.keys beside a page, or a picture of the guide, has the code and date of its runs, the command of each sweep, and
for each agent the number of runs and a hash of the keys of its first seed. A key covers everything that can change a
trace, and the other seeds differ in the seed alone. A sweep that does not come with roambus is kept as its file's text.
A check renders these runs and makes none. It fails if a picture of the guide is stale; the site says of a page of
results that it is.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from roambus.bridge.runs.layout import AGENT, SEED, SEEDS, SWEEP, find_traces, levels_of, read_asked, run_name
from roambus.bridge.runs.log import maker_of, version_of_code
from roambus.bridge.runs.run import run_key
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.bridge.trace.parquet import read_about, read_footer
from roambus.bridge.trace.schema import RUN_KEY
from roambus.console.options import factory_of, pairs
from roambus.experiments.inventory import SWEEP_SUFFIX, shipped_files
from roambus.experiments.sweeps.request import Request
from roambus.experiments.sweeps.request_file import describe
from roambus.experiments.sweeps.runner import plan_run
from roambus.experiments.sweeps.sweep import expand, seeds_text
from roambus.experiments.sweeps.sweep_file import read_sweep, seeds_of
from roambus.python_protocol.settings import unknown
from roambus.spark.aggregation.aggregate import replace_file

DOCS = Path("docs")
SUFFIX = ".keys"
CODE, DATE, MACHINE, SWEEPS, THEN, COMMAND, AGENTS = "code", "date", "machine", "sweeps", "then", "command", "agents"
RESULTS = "results"
RUNS, KEY, TEXT = "runs", "key", "text"
Record = Mapping[str, Any]
"""What NAME.keys holds."""


# The command of results


def rerun_command(name: str, done: Mapping[str, Any], seeds: Sequence[int], backend: str = "") -> str:
    """`roambus sweep NAME`, with what the results have otherwise than our sweep of that name; raises UserError."""
    if name not in (known := shipped_files(SWEEP_SUFFIX)):
        raise UserError(unknown("sweep", name, known))
    sweep = read_sweep(name)
    asked = describe(sweep)
    words = ["roambus", "sweep", name]
    for setting in _settings(asked, {**asked, **done}):
        words += ["--set", setting]
    words += _other_seeds(seeds, asked[SEEDS])
    words += ["--backend", backend] * (backend not in {"", factory_of(sweep.backend).name})
    return shlex.join(words)


def _other_seeds(seeds: Sequence[int], own: Sequence[int]) -> list[str]:
    """The option for seeds that are not a sweep's own."""
    return ["--seeds", seeds_text(seeds)] * (list(seeds) != list(own))


def _settings(asked: Mapping[str, Any], done: Mapping[str, Any]) -> Iterator[str]:
    """What `--set` has to say so that the sweep becomes the one that was run: agents, axes, then fixed values."""
    if list(done["agents"]) != list(asked["agents"]):
        yield f"agent={','.join(done['agents'])}"
    for axis, values in done["axes"].items():
        there, usual = (",".join(map(str, levels)) for levels in (values, asked["axes"][axis]))
        if there != usual:
            yield f"{axis}={there}"
    for variable, value in done["set"].items():
        if value != asked["set"].get(variable):
            yield f"{variable}={value}"


# Keys


def record(page: Path, results: Iterable[Path], then: Sequence[str] = (), files: Iterable[Path] = ()) -> Record:
    """Write the record beside a page, and return it; raise UserError, OSError.

    `then` are the commands after the sweeps, `files` the sweeps that do not come with roambus.
    """
    folders, texts = list(results), {file.stem: file.read_text(encoding="utf-8") for file in files}
    if unused := texts.keys() - {read_asked(folder).get(SWEEP) for folder in folders}:
        raise UserError(f"no results are of the sweep {', '.join(sorted(unused))}")
    traces = [trace for folder in folders for trace in find_traces(folder)]
    makers = [maker for trace in traces if (maker := maker_of(trace))]
    if not makers:
        raise UserError(f"{', '.join(map(str, folders))}: no run has a log that names its code")
    found = {
        CODE: " and ".join(sorted({maker.code for maker in makers})),
        DATE: " to ".join(sorted({min(maker.date for maker in makers), max(maker.date for maker in makers)})),
        MACHINE: " and ".join(sorted({maker.machine for maker in makers})),
        SWEEPS: [_made(folder, texts) for folder in folders],
        THEN: list(then),
    }
    if not stale_runs(found):  # then it does not matter at which commits a long sweep was made
        found[CODE] = version_of_code()
    replace_file(_beside(page), lambda path: path.write_text(f"{json.dumps(found, indent=1)}\n", encoding="utf-8"))
    return found


def _beside(page: Path) -> Path:
    return page.with_suffix(SUFFIX)


def _made(results: Path, texts: Mapping[str, str]) -> dict[str, Any]:
    """The sweep's command, and its agents' keys by the footers of their traces."""
    asked, traces = read_asked(results), find_traces(results)
    keys, runs = defaultdict(list), Counter[str]()
    for trace in traces:
        name = run_name(trace)
        levels = levels_of(name)
        runs[levels[AGENT]] += 1
        if levels[SEED] == str(min(asked[SEEDS])):
            keys[levels[AGENT]].append((name, read_footer(trace).metadata[RUN_KEY]))
    made = {agent: {RUNS: runs[agent], KEY: _digest(found)} for agent, found in keys.items()}
    if text := texts.get(asked[SWEEP]):
        file = f"{asked[SWEEP]}{SWEEP_SUFFIX}"
        words = ["roambus", "sweep", file, *_other_seeds(asked[SEEDS], seeds_of(file, tomllib.loads(text)))]
        return {COMMAND: shlex.join(words), TEXT: text, AGENTS: made}
    about = read_about(traces[0])
    command = rerun_command(asked[SWEEP], asked, asked[SEEDS], about.backend if about else "")
    return {COMMAND: command, AGENTS: made}


@cache
def keys_today(command: str, text: str = "") -> dict[str, str]:
    """Each agent's hash of keys, as today's code would make the runs of the sweep, or of its file; raises UserError."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--seeds")
    parser.add_argument("--backend")
    given = parser.parse_args(shlex.split(command)[2:])
    with TemporaryDirectory() as folder:
        if text:
            given.name = str(Path(folder, given.name))
            Path(given.name).write_text(text, encoding="utf-8")
        sweep = Request(given.name, pairs("--set", given.set), seeds=given.seeds).sweep()
    backend, keys = factory_of(given.backend or sweep.backend), defaultdict(list)
    for point in expand(sweep):
        if point.seed == sweep.seeds[0]:
            plan = plan_run(sweep.template, point, Path())
            keys[point.agent.label].append((run_name(plan.folder / "x"), run_key(plan, backend)))
    return {agent: _digest(found) for agent, found in keys.items()}


def _digest(keys: Iterable[tuple[str, str]]) -> str:
    return sha256("\n".join(map(" ".join, sorted(keys))).encode()).hexdigest()[:16]


# The check


def read_record(page: Path) -> Record | None:
    """What the page's runs were; None without a record."""
    file = _beside(page)
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def stale_runs(known: Record) -> dict[str, list[str]]:
    """For each command the agents whose runs today's code would make differently, with their number of runs."""
    stale = {}
    for sweep in known[SWEEPS]:
        try:
            today = keys_today(sweep[COMMAND], sweep.get(TEXT, ""))
        except RoambusError as error:
            stale[sweep[COMMAND]] = [f"all of them: {error}"]
            continue
        found = [
            f"{agent} ({facts[RUNS]:,} runs)"
            for agent, facts in sweep[AGENTS].items()
            if today.get(agent) != facts[KEY]
        ]
        if found:
            stale[sweep[COMMAND]] = found
    return stale


def renewal(known: Record) -> list[str]:
    """The commands that make the page anew; those after the sweeps also write and run sweeps of the page's own."""
    commands = [sweep[COMMAND] for sweep in known[SWEEPS] if TEXT not in sweep]
    folders = [f"results/{shlex.split(command)[2]}" for command in commands]
    return [
        *(f"{command} --out {to} && roambus aggregate {to}" for command, to in zip(commands, folders, strict=True)),
        *known[THEN],
    ]


def stale_line(page: Path) -> str:
    """What a reader of the page has to know; empty if today's code makes the same runs, or nobody knows."""
    known = read_record(page)
    if known is None or not stale_runs(known):
        return ""
    return f"Measured at {known[CODE]}; the code has changed since."


def check(*folders: Path) -> tuple[str, bool]:
    """Check each record of the guide and page of results; return the lines, and whether one of the guide is stale.

    Results stand in the folders `results`, of `docs` and of extensions.
    """
    lines, is_bad = [], False
    records = (file for folder in folders for file in sorted(folder.rglob(f"*{SUFFIX}")))
    others = (file for file in records if RESULTS not in file.parts)
    for page in [*others, *(page for folder in folders for page in sorted(folder.rglob(f"{RESULTS}/*.md")))]:
        known = read_record(page)
        stale = stale_runs(known) if known else {}
        if known is None:
            lines.append(f"{page}: no keys")
        elif not stale:
            lines.append(f"{page}: as today's code makes it")
        else:
            is_bad |= RESULTS not in page.parts
            lines.append(f"{page}: measured at {known[CODE]}, {known[DATE]}; today's code makes other runs:")
            lines += [f"  {command}: {', '.join(agents)}" for command, agents in stale.items()]
            lines += [f"  $ {command}" for command in renewal(known)]
    return "\n".join(lines), is_bad


def main(arguments: Sequence[str] | None = None) -> int:
    """Records or checks; returns the exit code."""
    parser = argparse.ArgumentParser("python -m docs.writers.keys", description=(__doc__ or "").partition("\n")[0])
    actions = parser.add_subparsers(dest="action", required=True)
    recording = actions.add_parser("record", help="writes the record of a page")
    recording.add_argument("page", type=Path)
    recording.add_argument("results", nargs="+", type=Path, help="folders of the sweeps behind the page")
    recording.add_argument(
        "--then", action="append", default=[], help="a command that renews the page, after the sweeps"
    )
    recording.add_argument("--file", action="append", default=[], type=Path, help="a sweep that is not one of ours")
    checking = actions.add_parser("check", help="says which pages are stale")
    checking.add_argument("folders", nargs="*", type=Path, default=[DOCS, DOCS.parent / "extensions"])
    given = parser.parse_args(arguments)
    try:
        if given.action == "check":
            text, is_bad = check(*given.folders)
            click.echo(text)
            return int(is_bad)
        record(given.page, given.results, given.then, given.file)
    except (RoambusError, OSError) as error:
        click.echo(f"error: {error}", err=True)
        return getattr(error, "exit_code", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
