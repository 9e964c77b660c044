"""The input formats that no run of `benchmarks.trials files` leaves: a small file of each, and what reads it.

Files of contacts, recordings, losses, walls and the radio's changes over time; questions, sessions and nodes of live
runs; agents and metrics; crates, logs and journals.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from roambus.bridge.agents import load_agent
from roambus.bridge.formats.contacts import read_contacts
from roambus.bridge.formats.format import Extent
from roambus.bridge.formats.ini.radio import read_losses
from roambus.bridge.formats.recordings import read_k7
from roambus.bridge.formats.temporal_model import read_temporal_model
from roambus.bridge.runs.log import cpu_seconds, maker_of, remarks_in
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.transcript.transcript import Overrides
from roambus.experiments.inventory import KINDS, own_entries
from roambus.experiments.walls import wall_losses
from roambus.extensions.exploring.checker import Bounds
from roambus.extensions.exploring.exploration import search
from roambus.extensions.exploring.scenario_file import read_question, variants
from roambus.extensions.live.journal import add_rows, read_rows
from roambus.extensions.live.machines import read_machines, write_machines
from roambus.extensions.provenance.unpacked import METADATA_FILE, Crate
from roambus.extensions.viewer.play import Session
from roambus.python_protocol.simtime import SECOND
from roambus.spark.aggregation.store import read_part
from roambus.spark.metrics.extra import own_metrics

EXTENT = Extent(6, (30.0, 30.0), 600 * SECOND)
EVENTS = "".join(f"{n}.5 CONN {n % 6} {(n + 1) % 6} {'up' if n < 6 else 'down'}\n" for n in range(12))
CONTACTS = "start,end,a,b\n" + "".join(f"{n}.5,{n + 10},{n % 6},{(n + 1) % 6}\n" for n in range(12))
K7 = (
    '{"location": "here", "tx_length": 100, "node_count": 4, "channels": [11, 12], "start_date": "2020-01-01 00:00:00",'
    ' "stop_date": "2020-01-01 00:10:00", "interframe_duration": 10}\n'
    "datetime,src,dst,channel,mean_rssi,pdr,tx_count\n"
) + "".join(
    f"2020-01-01 00:00:{n:02d},{n % 4},{(n + 1) % 4},{11 + n % 2},-6{n % 9}.5,0.{n % 9},100\n" for n in range(30)
)
LOSSES = "# dB\n0>1:62.5,2:80,3:71\n1>0:62.5,2:55.25\n2>1:58\n3>0:70,5:99.5\n"
WALLS = "# x1,y1,x2,y2,dB\n10,0,10,30,5\n0,15,20,15,3.5\n5.5,5.5,25.0,25.0,12\n"
TEMPORAL = """\
% a small one
Signal variability (dB):  -1:1:1
Correlation times (msec): 1000,10
Coherence time (msec): 5000

5000: -1 0 1
1000,-1: -1 A; A= 0 1 B; B = 5
1000,0: 0
1000,1: 1
10,-1:-1
10,0:0
10,1:1
"""
QUESTION = """\
agent flooding ttl=3
links n1-n2 n2-n3
order any
messages fast
for 5s
setup
  n3 subscribes f1
may n1 publishes e1
may 1 crash
may 2 losses
must nothing twice
must everything delivered
"""
SESSION = "agent flooding ttl=3\nlinks n1-n2 n2-n3\nslot 9ms\n\n> n1 publishes e1\n> after 3ms n2 crashes\n"
AGENT = '''\
"""An agent of a user."""
from roambus import BROADCAST, U8, Agent, Message, Parameters, Started, on, parameter


class Hello(Message, tag=7):
    count: U8


class Settings(Parameters):
    rate: int = parameter(2, at_least=1, at_most=9, doc="Messages a second.", source="chosen")


class Mine(Agent):
    parameters: Settings

    @on(Started)
    def start(self, event, now):
        self.send(BROADCAST, Hello(self.parameters.rate))

    @on(Hello)
    def hear(self, hello, sender, now):
        self.last = hello.count
'''
METRICS = '''\
"""Metrics of a user."""
from roambus import Run, Scale, metric


@metric("share of the busiest node", scale=Scale.SHARE)
def busiest_share(run: Run) -> float:
    """The share of all packets that the busiest node sends."""
    return run.nodes.messages.max() / run.nodes.messages.sum()
'''
JOURNAL = "".join(
    json.dumps([n * 10**6, 3, "send", "Beacon", None, 4, 12, None, f"detail {n}"]) + "\n" for n in range(20)
)
LOG = "run.log"


def lay_inputs(folder: Path, run: Path) -> None:
    """Writes a file of each of these formats into `folder`; `run` is one of the results."""
    texts = {
        "events.txt": EVENTS, "contacts.csv": CONTACTS, "rooms.k7": K7, "losses.txt": LOSSES, "walls.csv": WALLS,
        "temporal.txt": TEMPORAL, "question.txt": QUESTION, "session.txt": SESSION, "mine.py": AGENT,
        "busiest.py": METRICS, "3.rows": JOURNAL,
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text)
    write_machines(folder / "nodes.toml", ["10.0.0.1", "10.0.0.2:7400", "10.0.0.3"])
    (folder / METADATA_FILE).write_text(json.dumps({"@graph": [_entity(file, folder) for file in run.iterdir()]}))


def _entity(file: Path, folder: Path) -> dict[str, object]:
    digest = sha256(file.read_bytes()).hexdigest()
    return {
        "@id": str(file.relative_to(folder)),
        "@type": ["File", "SoftwareSourceCode"],
        "name": "mine.py",
        "sha256": digest,
    }


def _listed(folder: Path) -> object:
    """All that lists of things of one's own read."""
    with _inside(folder):
        return [own_entries(kind) for kind in KINDS]


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _walls(folder: Path) -> object:
    return wall_losses(folder / "walls.csv", folder / "made.txt", places=((1, 1), (20, 20), (1, 28)))


def _crate(folder: Path) -> object:
    crate = Crate(folder)
    return list(crate.wrong_files()), crate.agent_files()


def _log(folder: Path) -> object:
    log = min(folder.glob(f"traces/*/*/*/{LOG}"))
    return maker_of(log), cpu_seconds(log), remarks_in(log.read_text(errors="replace"))


def _journal(folder: Path) -> None:
    trace = TraceWriter()
    add_rows(read_rows((folder / "3.rows").read_bytes(), 3), trace)
    trace.table()


def _explored(folder: Path) -> object:
    bounds = Bounds(states=20)
    networks = variants(read_question(folder / "question.txt"))
    return [search(question, Overrides(), bounds, lambda _: None, keep_on=False) for _, question in networks[:2]]


INPUTS: tuple[tuple[str, str, Callable[[Path], object]], ...] = (
    ("contacts of the ONE", "events.txt", lambda folder: read_contacts(folder / "events.txt", EXTENT)),
    ("contacts in CSV", "contacts.csv", lambda folder: read_contacts(folder / "contacts.csv", EXTENT)),
    ("recording (K7)", "rooms.k7", lambda folder: read_k7(folder / "rooms.k7")),
    ("path losses", "losses.txt", lambda folder: read_losses(folder / "losses.txt", "nodes", 6)),
    ("temporal model", "temporal.txt", lambda folder: read_temporal_model(folder / "temporal.txt")),
    ("walls", "walls.csv", _walls),
    ("question of the explorer", "question.txt", _explored),
    ("session of play", "session.txt", lambda folder: Session(folder / "session.txt", Overrides())),
    ("nodes of live runs", "nodes.toml", lambda folder: read_machines(folder / "nodes.toml")),
    ("journal of a live node", "3.rows", _journal),
    ("agent", "mine.py", lambda folder: load_agent(str(folder / "mine.py"))),
    ("metrics", "busiest.py", lambda folder: own_metrics(str(folder / "busiest.py"))),
    ("metadata of a crate", METADATA_FILE, _crate),
    ("run.log", f"traces/*/*/*/{LOG}", _log),
    ("cache of metrics", "aggregated/*.parquet", lambda folder: read_part(min(folder.glob("aggregated/*.parquet")))),
    ("own sweep in lists", "mine.toml", _listed),
    ("own template in lists", "mine.ini.j2", _listed),
    ("own agent in lists", "mine.py", _listed),
)
"""The name of a format, its file, and what reads it, called with the folder of the results."""
