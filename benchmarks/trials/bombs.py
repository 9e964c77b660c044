"""Small files that stand for much: whatever reads them refuses them, or bears them, in bounded time and memory.

python -m benchmarks.trials bombs [--subject "equal rows" "a long text"]

Each is given to real commands, one after the other. Promised is: an end within 150 s, however busy the machine is, at
most 4 GiB in all processes of the command together, no traceback, and one message where the file is refused.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.trials.files import RUN, lay
from benchmarks.trials.harness import Asked, Chapter, Outcome
from benchmarks.trials.processes import LONGEST_S, Command, use_of
from roambus.bridge.record.record_file import MAGIC
from roambus.bridge.trace.schema import TRACE_SCHEMA
from roambus.spark.engine.session import spark_session

PATIENCE_S, MOST_MIB = LONGEST_S, 4096.0
GIB = 2**30

EXPORT = ["export", "{run}", "--format", "vec", "--out", "{out}"]
OF_TRACES = (
    EXPORT,
    ["replay", "{run}", "--export", "{out}/film.html"],
    ["aggregate", "{results}"],
    ["compare", "{results}"],
    ["verify", "{results}"],
)
MOVED = ["run", "{results}/moved.ini.j2", "--backend", "ideal", "--set", "time_limit=4", "--out", "{out}"]
SWEEP_FIELD = ["sweep", "{bomb}", "--workers", "1", "--out", "{out}"]


@dataclass(frozen=True, slots=True)
class Bomb:
    """A file, at a place below the results or beside them, and the commands that read it."""

    name: str
    file: str
    write: Callable[[Path], object]
    commands: tuple[list[str], ...]


def _write_rows(rows: int, event: str, **columns: str) -> Callable[[Path], object]:
    """Writes a trace whose rows are equal, but for time: numbers of a list of one text stand for the texts."""

    def write(file: Path) -> None:
        texts = {"event": event, "message_type": "SUB", **columns}
        values = {
            "time_s": pa.array(np.linspace(0, 3, rows)),
            "node": pa.array(np.ones(rows, np.int32)),
            **{name: pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), [text])
               for name, text in texts.items()},
        }  # fmt: skip
        arrays = [values.get(field.name, pa.nulls(rows, field.type)) for field in TRACE_SCHEMA]
        fields = [field.with_type(array.type) for field, array in zip(TRACE_SCHEMA, arrays, strict=True)]
        about = pq.read_schema(file).metadata
        table = pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=about))
        pq.write_table(
            table, file, compression="zstd", write_page_checksum=True, store_schema=False,
            dictionary_pagesize_limit=2**28, row_group_size=rows,
        )  # fmt: skip

    return write


def _write_packed(line: bytes, size: int) -> Callable[[Path], object]:
    """Writes the line again and again, up to this size, in gzip."""

    def write(file: Path) -> None:
        file.with_name("moved.ini.j2").write_text(MOVING, encoding="utf-8")
        piece = line * (2**20 // len(line) + 1)
        with gzip.open(file, "wb", compresslevel=6) as packed:
            for _ in range(size // len(piece)):
                packed.write(piece)

    return write


def _write_text(text: str) -> Callable[[Path], object]:
    return lambda file: file.write_text(text, encoding="utf-8")


NODES = " ".join(str(node) for node in range(30_000))
FRAME = MAGIC + b"\0" + (2**32 - 1).to_bytes(4) + b"\0" * 40
"""An entry that promises four gigabytes."""
MOVING = '{% set nodes = 6 %}{% set mobility = "file" %}{% set movements = "walk.gz" %}{% include "field.ini.j2" %}\n'
STATIC = '{% include "field.ini.j2" %}\n'
SWEEP = 'template = "field"\nseeds = SEEDS\n[agents]\nbeacon = {}\n'
AXES = "".join(f"{name} = {list(range(1, 400))}\n" for name in ("nodes", "side", "speed", "time_limit"))

BOMBS = (
    Bomb("equal rows", f"{RUN}/trace.parquet", _write_rows(25_000_000, "receive"), OF_TRACES),
    Bomb("a long text", f"{RUN}/trace.parquet", _write_rows(2_000_000, "send", detail="x" * 200_000), OF_TRACES),
    Bomb("long lists", f"{RUN}/trace.parquet", _write_rows(9_000, "publish", detail=NODES, notification_id="1.1"),
         OF_TRACES),
    Bomb("short lists", f"{RUN}/trace.parquet",
         _write_rows(1_900_000, "publish", detail=NODES[:120], notification_id="1.1"), OF_TRACES),
    Bomb("lists of notifications", f"{RUN}/trace.parquet",
         _write_rows(1_900_000, "receive", notification_id="1.1 " * 30), OF_TRACES),
    Bomb("a record", f"{RUN}/frames.roambus", lambda file: file.write_bytes(FRAME),
         (["rerun", "{bomb}"], ["replay", "{run}", "--export", "{out}/film.html"])),
    Bomb("sweep.json", "sweep.json", _write_text('{"axes": ' + "[{}," * 3_000_000),
         (["aggregate", "{results}"],)),
    Bomb("movements of zeros", "walk.gz", _write_packed(b"\0", GIB), (MOVED,)),
    Bomb("movements of one line", "walk.gz", _write_packed(b"0.0 1.0 1.0 ", GIB), (MOVED,)),
    Bomb("movements of many lines", "walk.gz", _write_packed(b"0 1 1\n", GIB), (MOVED,)),
    Bomb("a recording", "links.k7.gz", _write_packed(b"0,1,2,3\n", GIB),
         (["replay", "{bomb}", "--export", "{out}/links.html"],)),
    Bomb("a range in a template", "range.ini.j2", _write_text("{% for n in range(10 ** 10) %}x{% endfor %}" + STATIC),
         (["render", "{bomb}", "--out", "{out}"],)),
    Bomb("a product in a template", "text.ini.j2", _write_text('{{ "x" * 10 ** 10 }}' + STATIC),
         (["render", "{bomb}", "--out", "{out}"],)),
    Bomb("a template in itself", "self.ini.j2", _write_text('{% include "self.ini.j2" %}' * 2),
         (["render", "{bomb}", "--out", "{out}"],)),
    Bomb("seeds", "seeds.toml", _write_text(SWEEP.replace("SEEDS", "1000000000")), (SWEEP_FIELD,)),
    Bomb("axes", "axes.toml", _write_text(SWEEP.replace("SEEDS", "10") + f"[axes]\n{AXES}"), (SWEEP_FIELD,)),
    Bomb("keys of many dots", "dots.toml", _write_text(f"{'a.' * 60_000}a = 1\n"), (SWEEP_FIELD,)),
    Bomb("links", "links.txt", _write_text("agent flooding\ncomplete n1..n60000\n\n> n1 publishes e1\n"),
         (["trace", "{bomb}"],)),
    Bomb("metadata of a crate", "ro-crate-metadata.json", _write_text('{"@graph": [' + "{}," * 20_000_000 + "{}]}"),
         (["verify", "{results}"],)),
)  # fmt: skip


def _try(bomb: Bomb, words: list[str], results: Path, place: Path) -> Outcome:
    """A command that reads the bomb; the memory is that of all its processes, looked at ten times a second."""
    out = place / "out"
    out.mkdir(parents=True)
    names = {"out": out, "results": results, "run": results / RUN, "bomb": results / bomb.file}
    started, most_mib = time.monotonic(), 0.0
    with Command([word.format(**names) for word in words], place / "said", folder=place) as command:
        while command.host.poll() is None and time.monotonic() < started + PATIENCE_S and most_mib <= MOST_MIB:
            most_mib = max(most_mib, sum(map(_memory_mib, command.live())))
            time.sleep(0.1)
        took_s = time.monotonic() - started
        complaints = command.end(0.0 if command.host.poll() is None else PATIENCE_S)
        errors, code = command.errors(), command.host.returncode
    complaints += [f"it takes {most_mib:.0f} MiB"] if most_mib > MOST_MIB else []
    complaints += ["a traceback"] if "Traceback" in errors else []
    messages = [line for line in errors.splitlines() if line.startswith(("error: ", "  ", "failed: "))]
    if code != 0 and not messages and not (code == 1 and "verify" in words):
        complaints.append(f"exit code {code} without a message")
    said = f"{' '.join(words)}: {errors[-800:]}"
    return Outcome(bomb.name, words[0], "refused" if code else "borne", complaints, said, took_s)


def _memory_mib(process: int) -> float:
    with suppress(OSError, ValueError):
        return use_of(process).memory_mib
    return 0.0


def _run_chapter(asked: Asked) -> Iterator[Outcome]:
    results = asked.folder / "results"
    results.mkdir()
    with spark_session("local[1]"):
        lay(results)
    for bomb in BOMBS:
        if bomb.name in asked.subjects:
            yield from _try_all(bomb, results, asked)


def _try_all(bomb: Bomb, results: Path, asked: Asked) -> Iterator[Outcome]:
    file = results / bomb.file
    whole = file.read_bytes() if file.is_file() else None
    bomb.write(file)
    try:
        for words in bomb.commands:
            if words[0] in asked.harms:
                yield _try(bomb, words, results, asked.folder / f"{bomb.name} {' '.join(words[::2])}".replace("/", "_"))
    finally:
        file.unlink()
        if whole is not None:
            file.write_bytes(whole)


CHAPTER = Chapter(
    _run_chapter,
    [bomb.name for bomb in BOMBS],
    list(dict.fromkeys(words[0] for bomb in BOMBS for words in bomb.commands)),
    trials=1,
)
