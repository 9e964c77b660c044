"""Strangers who come by the thousand to the socket of a run, before its simulator comes and while it runs.

python -m benchmarks.trials strangers --trials 100000
python -m benchmarks.trials strangers --trials 5000 --subject ipc --simulator ns3 --seconds 300

Each run is a real `roambus run --endpoint` over ipc or over tcp, where it has keys. Half of the strangers come while it
waits, the others from when its simulator (stand-in, castalia or ns3) has come until the run has ended. They speak every
version of ZMTP, well and badly, or anything else, or nothing (`sayings`); they come, go, stay and speak slowly.
Afterwards the trace must be the one of a run without strangers, byte for byte; no stranger may have received anything
of the run, and the host may have taken neither memory nor file descriptors.
"""

from __future__ import annotations

import resource
import socket
import struct
import subprocess
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

import zmq

from benchmarks.trials.harness import Chapter, Outcome, TrialOptions
from benchmarks.trials.processes import Command, Use, all_linked, stand_in, use_of, wait_for
from benchmarks.trials.sayings import SAYINGS
from roambus.bridge.backends.castalia.installation import Program, find_installation
from roambus.bridge.backends.castalia.simulators import write_ways
from roambus.bridge.formats.ini import read_scenario
from roambus.bridge.runs.layout import INI_FILE, SIMULATOR_FOLDER, TRACE_FILE
from roambus.bridge.system.errors import UserError
from roambus.extensions.ns3.backend import SETTINGS_FILE, find_adapter, settings_text, ways_of

DOORS = ("ipc", "tcp")
NODES = 6
DEADLINE_S = 60
ENDS_S = 300.0
"""Within this a run ends, however many strangers there are."""
MORE_MIB = 64
"""Of memory, which the host may keep after thousands of strangers: libzmq's and the allocator's own."""
SETTLES_S = 5.0
"""Within this the host has seen the end of all who have gone."""
START_S = 60.0
LOOKED = 500
"""Every so many strangers the host's memory is looked at."""
NOTHING = Use()
DESCRIPTORS = 1024
"""So many file descriptors a process may have, as is common."""
WRONG_KEYS = "CURVE, wrong keys"
"""Strangers who are whole clients of ZeroMQ, and have keys of their own making."""
SHARE_OF_CLIENTS = 0.005
"""A client of ZeroMQ costs as much as a hundred of the others."""
STAYING = 600
"""So many stay at a time; the one that came first then makes room."""
MOST_HEARD = 1 << 16
"""A stranger receives at most a greeting, and a Reject for each message."""
CONNECT_S = 5.0
RESET = struct.pack("ii", 1, 0)

Opened = Callable[[], socket.socket]

# The host


class Served(Command):
    """A host that listens."""

    def __init__(self, place: Path, over: str, seconds: int) -> None:
        """Starts it, over ipc or tcp, for a run of so many simulated seconds."""
        self._seconds = seconds
        settings = [f"time_limit={seconds}", f"publish_until={seconds * 2 // 3}"]
        options = [word for setting in settings for word in ("--set", setting)]
        options += ["--endpoint", f"tcp://127.0.0.1:{free_port()}" if over == "tcp" else "local"]
        words = ["run", "thesis", "--agent", "mft", "--deadline", str(DEADLINE_S), "--out", str(place)]
        super().__init__([*words, *options], place)

    @property
    def listens(self) -> bool:
        """Whether the host has said what to start."""
        return "CastaliaBin" in self.errors()

    @property
    def folder(self) -> Path:
        """The run's folder, once the host listens."""
        words = self.errors().split()
        return Path(words[words.index("cd") + 1])

    def session(self) -> dict[str, str]:
        """The session file of the run's own simulator."""
        lines = (self.folder / ".roambus" / "session").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)

    def use(self) -> Use:
        """The host's present resources."""
        return use_of(self.host.pid)

    def simulator(self, name: str) -> subprocess.Popen[bytes]:
        """Starts the run's own simulator."""
        program = SIMULATORS[name](self.folder, self._seconds)
        return subprocess.Popen(
            program.command, cwd=self.folder, env=program.environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def trace(self) -> bytes:
        """The run's trace; empty if there is none."""
        file = self.folder / TRACE_FILE
        return file.read_bytes() if file.is_file() else b""


def _stand_in(folder: Path, seconds: int) -> Program:
    script = "\n".join(["seed 0", *all_linked(NODES, seconds)])
    (folder / "script").write_text(script, encoding="utf-8")
    return Program((str(stand_in()), "script"))


def _castalia(folder: Path, seconds: int) -> Program:  # noqa: ARG001  # the ini in the folder says it all
    return find_installation().program()


def _ns3(folder: Path, seconds: int) -> Program:  # noqa: ARG001  # as _castalia
    adapter, scenario, given = find_adapter(), read_scenario(folder / INI_FILE), folder / SIMULATOR_FOLDER
    (given / SETTINGS_FILE).write_text(settings_text(scenario), encoding="ascii")
    write_ways(given, ways_of(scenario))
    return Program((str(adapter),))


SIMULATORS = {"stand-in": _stand_in, "castalia": _castalia, "ns3": _ns3}
"""How each is started in the folder of a run that is served."""


def free_port() -> int:
    """A free port of loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def opened(endpoint: str) -> socket.socket:
    """A raw connection to `ipc://PATH` or `tcp://HOST:PORT`."""
    kind, _, place = endpoint.partition("://")
    family, address = (socket.AF_UNIX, place) if kind == "ipc" else (socket.AF_INET, _host_and_port(place))
    connection = socket.socket(family)
    try:
        connection.settimeout(5)
        connection.connect(address)
    except OSError:
        connection.close()
        raise
    return connection


def _host_and_port(place: str) -> tuple[str, int]:
    host, _, port = place.rpartition(":")
    return host, int(port)


# The strangers


@dataclass(slots=True)
class Storm:
    """Visits to one address; `open` connects to it."""

    open: Opened
    endpoint: str
    server_key: bytes | None
    secret: bytes
    """The run's token, which no stranger may receive."""
    random: Random
    visits: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    _staying: deque[socket.socket] = field(default_factory=deque)
    _context: zmq.Context[zmq.Socket[bytes]] = field(default_factory=zmq.Context)

    def visit(self) -> None:
        """Connects one stranger and lets it do its harm."""
        if self.server_key is not None and self.random.random() < SHARE_OF_CLIENTS:
            self._come_as_client(self.server_key)
            return
        kind = self.random.choice(list(SAYINGS))
        self.visits[kind] += 1
        try:
            stranger = self._connected()
        except OSError as error:
            self.faults.append(f"{kind}: nobody listens: {error}")
            return
        with suppress(OSError):  # shown out
            for piece in SAYINGS[kind](self.random):
                stranger.sendall(piece)
        self._leave(stranger, kind)

    def leave(self) -> None:
        """Those who stayed go."""
        while self._staying:
            self._staying.popleft().close()

    def end(self) -> None:
        """All go, for ever."""
        self.leave()
        self._context.destroy(linger=0)

    def _connected(self) -> socket.socket:
        give_up = time.monotonic() + CONNECT_S
        while True:
            try:
                return self.open()
            except (BlockingIOError, TimeoutError, ConnectionResetError):  # many others wait for the host to accept
                if time.monotonic() > give_up:
                    raise
                time.sleep(0.001)

    def _leave(self, stranger: socket.socket, kind: str) -> None:
        how = self.random.random()
        if how < 0.1:
            self._listen(stranger, kind)
        with suppress(OSError):
            if how < 0.3:
                stranger.shutdown(socket.SHUT_WR)
            elif how < 0.5:
                stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        if how < 0.7:
            stranger.close()
            return
        self._staying.append(stranger)
        self._speak_slowly()
        if len(self._staying) > STAYING:
            self._staying.popleft().close()

    def _listen(self, stranger: socket.socket, kind: str) -> None:
        stranger.settimeout(0.02)
        heard = b""
        with suppress(OSError):
            while len(heard) <= MOST_HEARD and (more := stranger.recv(MOST_HEARD)):
                heard += more
        stranger.settimeout(CONNECT_S)
        if self.secret in heard or len(heard) > MOST_HEARD:
            self.faults.append(f"{kind}: was told {heard[:200]!r}")

    def _speak_slowly(self) -> None:
        """One of those who stay says another byte."""
        with suppress(OSError):
            self.random.choice(self._staying).send(self.random.randbytes(1), socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)

    def _come_as_client(self, server_key: bytes) -> None:
        self.visits[WRONG_KEYS] += 1
        (public, secret), (other, _) = zmq.curve_keypair(), zmq.curve_keypair()
        with self._context.socket(zmq.DEALER) as dealer:
            dealer.setsockopt(zmq.LINGER, 0)
            dealer.setsockopt(zmq.RECONNECT_IVL, -1)
            dealer.curve_publickey, dealer.curve_secretkey = self.random.choice(((public, secret), (other, secret)))
            dealer.curve_serverkey = self.random.choice((server_key, other))
            dealer.connect(self.endpoint)
            with suppress(zmq.Again):  # shown out already
                dealer.send(b"hello", zmq.DONTWAIT)
            if dealer.poll(5):
                self.faults.append(f"{WRONG_KEYS}: was answered {dealer.recv()[:200]!r}")


# Trials


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms of all episodes: simulator, simulated seconds, undisturbed trace, and the number of first strangers."""

    simulator: str
    seconds: int
    wanted: bytes
    waiting: int = 10_000


@dataclass(slots=True)
class Episode:
    """One run, and who came to it."""

    over: str
    visits: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    before: Use = NOTHING
    after: Use = NOTHING
    running: Use = NOTHING
    """The host's resources when the run was nearly over."""
    run_s: float = 0.0


def undisturbed(folder: Path, simulator: str, seconds: int) -> bytes:
    """The trace of a run to which no stranger comes; raises UserError if there is none."""
    with Served(folder / "undisturbed", "ipc", seconds) as served:
        wait_for(lambda: served.listens, START_S)
        served.simulator(simulator).wait(ENDS_S)
        served.host.wait(ENDS_S)
        if served.host.returncode != 0:
            raise UserError(f"a run that nothing disturbs fails: {served.errors().strip()}")
        return served.trace()


def conduct(results: Path, over: str, random: Random, terms: Terms) -> Episode:
    """One run with strangers."""
    episode = Episode(over)
    with Served(results, over, terms.seconds) as served:
        if not wait_for(lambda: served.listens, START_S):
            raise RuntimeError(f"the host does not start: {served.errors()}")
        storm = _storm(served, random)
        episode.before = _blow_while_waiting(served, storm, terms.waiting)
        episode.after = _settled(served, episode.before)
        start = time.monotonic()
        episode.running = _blow_during_the_run(served, storm, terms.simulator)
        episode.run_s = time.monotonic() - start
        episode.visits = storm.visits
        episode.faults = [*storm.faults[:10], *_wrong_ends(served, terms.wanted), *_growth(episode)]
    return episode


def _storm(served: Served, random: Random) -> Storm:
    session = served.session()
    endpoint, key = session["endpoint"], session.get("server_key")
    secret = session["token"].encode()
    return Storm(partial(opened, endpoint), endpoint, key.encode() if key else None, secret, random)


def _blow_while_waiting(served: Served, storm: Storm, number: int) -> Use:
    """The host's resources after the first stranger, when it has all that it needs for any."""
    before = served.use()
    for count in range(number):
        storm.visit()
        if count == number // 10:
            before = Use(served.use().memory_mib, before.descriptors)
        if _is_gone(served):
            break
    storm.leave()
    return before


def _settled(served: Served, before: Use) -> Use:
    """The host's resources once all have gone."""
    wait_for(lambda: _is_gone(served) or served.use().descriptors <= before.descriptors, SETTLES_S)
    return before if _is_gone(served) else served.use()


def _blow_during_the_run(served: Served, storm: Storm, name: str) -> Use:
    """The host's resources at the last look; no host listens after the end of the run."""
    use, simulator = NOTHING, None if _is_gone(served) else served.simulator(name)
    while simulator is not None and simulator.poll() is None:
        known = len(storm.faults)
        storm.visit()
        if len(storm.faults) > known and wait_for(lambda: _has_ended(served), SETTLES_S):
            del storm.faults[known:]
        if _has_ended(served):
            break
        if storm.visits.total() % LOOKED == 0:
            use = served.use()
    if simulator is not None:
        simulator.wait(ENDS_S)
        served.host.wait(ENDS_S)
    storm.end()
    return use


def _has_ended(served: Served) -> bool:
    """Whether the run is over: it removes the folder for its simulator shortly after it has closed its socket."""
    return _is_gone(served) or not (served.folder / SIMULATOR_FOLDER).exists()


def _is_gone(served: Served) -> bool:
    return served.host.poll() is not None


def _wrong_ends(served: Served, wanted: bytes) -> list[str]:
    faults = [] if served.host.returncode == 0 else [f"exit code {served.host.returncode}: {served.errors()[-800:]}"]
    if "Traceback" in served.errors():
        faults.append(f"a traceback: {served.errors()[-800:]}")
    return [*faults, *([] if served.trace() == wanted else ["the trace is another one"])]


def _growth(episode: Episode) -> list[str]:
    peak = max(episode.after.memory_mib, episode.running.memory_mib)
    more_mib, more = peak - episode.before.memory_mib, episode.after.descriptors - episode.before.descriptors
    faults = [f"the host keeps {more_mib:.0f} MiB more"] if more_mib > MORE_MIB else []
    return [*faults, *([f"the host keeps {more} descriptors more"] if more > 0 else [])]


def _outcomes(episode: Episode) -> Iterator[Outcome]:
    """One for each kind of strangers, and one for each fault, of theirs or of the run."""
    for kind, number in episode.visits.items():
        wrong = [fault for fault in episode.faults if fault.startswith(kind)]
        yield Outcome(episode.over, kind, times=number - len(wrong))
        yield from (Outcome(episode.over, kind, complaints=[fault]) for fault in wrong)
    of_run = [fault for fault in episode.faults if not fault.startswith(tuple(episode.visits))]
    yield Outcome(episode.over, "a run", complaints=of_run, took_s=episode.run_s)


def _run_chapter(asked: TrialOptions) -> Iterator[Outcome]:
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    seconds, simulator = asked.settings["seconds"], asked.settings["simulator"]
    if simulator not in SIMULATORS:
        raise UserError(f"--simulator {simulator}: there are {', '.join(SIMULATORS)}")
    wanted = undisturbed(asked.folder, simulator, seconds)
    terms = Terms(simulator, seconds, wanted, min(10_000, asked.trials))
    for over in asked.subjects:
        left = asked.trials
        while left > 0:
            episode = conduct(asked.folder / f"{over}-{left}", over, asked.random(over, left), terms)
            left -= episode.visits.total()
            before, after = episode.before, episode.after
            asked.notes.append(
                f"{over}: {episode.visits.total():,} strangers; memory {before.memory_mib:.0f} MiB, then"
                f" {after.memory_mib:.0f}, in the run {episode.running.memory_mib:.0f}; descriptors"
                f" {before.descriptors}, then {after.descriptors}"
            )
            yield from _outcomes(episode)


CHAPTER = Chapter(
    _run_chapter, DOORS, (*SAYINGS, WRONG_KEYS), trials=50_000,
    settings={"seconds": 3000, "simulator": "stand-in"}, longest_s=3600.0,
)  # fmt: skip
