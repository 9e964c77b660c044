"""The machines file of live runs: the nodes' addresses and the keys to reach them.

    port = 7400
    nodes = ["10.0.0.1", "10.0.0.2:7500", "[fd00::3]"]
    [keys] ...

Node i has the i-th address: TCP for the conductor, UDP for frames. The keys suffice to conduct the nodes, so a file
that others can read is refused.
"""

from __future__ import annotations

import ipaddress
import json
import os
import socket
import stat
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from roambus.bridge.backend import BackendFactory
from roambus.bridge.backends.castalia.zeromq import CurveKeys
from roambus.bridge.runs.run import Drive, Driven, RunPlan
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import UnfinishedFile, read_text
from roambus.bridge.system.limits import NODES
from roambus.bridge.trace.parquet import TraceWriter
from roambus.extensions.live.conductor import Conductor, Deployment, RemoteProcesses
from roambus.extensions.live.connection import Peers, UnreachableError
from roambus.extensions.live.driver import Driver
from roambus.extensions.live.node import LiveNode
from roambus.extensions.live.receiver import PositionSource
from roambus.extensions.live.udp_backend import Address
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.roles import NodeId

PORT = 7400
_RECEIVE_BYTES = 2**20
"""The receive buffer: thousands of short datagrams. A system may silently give less."""


@dataclass(frozen=True, slots=True)
class Machines:
    """The file's contents, the same on every machine."""

    nodes: tuple[Address, ...]
    """All of one IP version, for a node sends by one socket."""
    keys: CurveKeys

    def endpoint(self, node: int) -> str:
        """The node's ZeroMQ endpoint."""
        return f"tcp://{shown(self.nodes[node])}"


def shown(address: Address) -> str:
    """The address in usual notation."""
    host, port = address[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def write_machines(file: Path, nodes: Sequence[str]) -> None:
    """Write a new file with new keys for its owner only; raises UserError, OSError.

    Running nodes use an existing one's keys, so it stays.
    """
    if file.exists():
        raise UserError(f"{file}: there is a file already, and its keys may be in use: choose another name")
    listed = [shown(_address(f"{file}: nodes", text, PORT)) for text in nodes]
    keys = CurveKeys.fresh()
    lines = [
        "# The nodes of live runs. Whoever has this file can conduct them: keep it to yourself.",
        f"nodes = {json.dumps(listed)}",
        "",
        "[keys]",
        *(f"{field.name} = '{getattr(keys, field.name)}'" for field in fields(CurveKeys)),
        "",
    ]
    with UnfinishedFile(file) as unfinished:
        os.fchmod(unfinished.file.fileno(), 0o600)
        unfinished.file.write("\n".join(lines).encode())
        unfinished.finish()


def read_machines(file: Path) -> Machines:
    """Read the file; raises UserError, which names file and key.

    Facts of one machine are not checked: the conductor reads the same file.
    """
    if file.is_file() and stat.S_IMODE(file.stat().st_mode) & 0o077:
        raise UserError(f"{file}: others can read it, and conduct the nodes with its keys: chmod 600 {file}")
    try:
        content = tomllib.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file}: {error}") from None
    if unknown := content.keys() - {"port", "nodes", "keys"}:
        raise UserError(f"{file}: {min(unknown)}: no such key; there are port, nodes and keys")
    port, nodes = content.get("port", PORT), content.get("nodes")
    if type(port) is not int or not 0 < port < 2**16:
        raise UserError(f"{file}: port: {port!r} is not a port")
    if not isinstance(nodes, list) or not 0 < len(nodes) <= NODES.most:
        raise UserError(f"{file}: nodes: give a list of addresses, node 0 first")
    addresses = tuple(_address(f"{file}: nodes", name, port) for name in nodes)
    if len(set(addresses)) < len(addresses):
        raise UserError(f"{file}: nodes: two nodes have the same address and port")
    if len({len(address) for address in addresses}) > 1:
        raise UserError(f"{file}: all addresses must be of IPv4, or all of IPv6: a node sends by one socket")
    return Machines(addresses, _keys(file, content.get("keys")))


def _keys(file: Path, given: Any) -> CurveKeys:
    """The table of keys, each 40 characters of Z85; raises UserError."""
    names = [field.name for field in fields(CurveKeys)]
    if not isinstance(given, dict) or given.keys() != set(names):
        raise UserError(f"{file}: keys: there must be {', '.join(names)}: roambus node --write makes them")
    for name in names:
        if not isinstance(given[name], str) or len(given[name]) != 40 or not given[name].isascii():
            raise UserError(f"{file}: keys.{name}: no key of 40 characters")
    return CurveKeys(**given)


def _address(where: str, text: Any, port: int) -> Address:
    """Read "10.0.0.1", "10.0.0.1:7400", "[fd00::1]:7400" or "fd00::1"; raises UserError, also for multicast."""
    try:
        parts = urlsplit(f"//{text}" if str(text).count(":") < 2 or "[" in str(text) else f"//[{text}]")
        host = ipaddress.ip_address(parts.hostname or "")
        if parts.port == 0 or parts.path or host.is_unspecified:
            raise ValueError
    except ValueError:
        raise UserError(
            f"{where}: {text!r} is not an address such as 10.0.0.1, 10.0.0.1:7400 or [fd00::1]:7400"
        ) from None
    if host.is_multicast or str(host) == "255.255.255.255":
        raise UserError(f"{where}: {text} is an address of many machines (multicast or broadcast), not of a node")
    found = parts.port or port
    return (str(host), found) if host.version == 4 else (str(host), found, 0, 0)


def open_socket(own: Address) -> socket.socket:
    """Bind a node's non-blocking socket; raises UserError for an unusable address.

    A new one for each run discards old datagrams. No second process may share it, and take half of them.
    """
    made = socket.socket(socket.AF_INET6 if len(own) == 4 else socket.AF_INET, socket.SOCK_DGRAM)
    try:
        made.setblocking(False)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BYTES)
        made.bind(own)
    except OSError as error:
        made.close()
        raise UserError(f"{shown(own)}: cannot hear there: {error.strerror or error}") from None
    return made


def serve_node(  # noqa: PLR0913  # what a node's machine is asked for
    machines: Machines,
    node: int,
    journals: Path,
    announce: Callable[[str], None],
    *,
    position: str | None = None,
    driver: Driver | None = None,
) -> None:
    """Serve as the node until interrupted; raises UserError.

    Number and address are checked at once.
    """
    if node >= len(machines.nodes):
        raise UserError(f"--id {node}: the file has the nodes 0 to {len(machines.nodes) - 1}")
    source = None if position is None else PositionSource(node, position)
    open_own = partial(open_socket, machines.nodes[node])
    open_own().close()
    made = LiveNode(node, machines.endpoint(node), machines.keys, journals, open_own, position=source, driver=driver)
    made.serve(announce)


def drive_there(machines: Machines, links: str, advance: Callable[[], None]) -> Drive:
    """Make a live run by the nodes of these machines; `advance` is called every second."""

    def drive(plan: RunPlan, scenario: Scenario, agent: type[Agent], trace: TraceWriter, _: BackendFactory) -> Driven:
        """The nodes are there already, and stay after the run."""
        endpoints = [machines.endpoint(node) for node in range(len(machines.nodes))]
        deployment = Deployment(endpoints, machines.nodes, machines.keys, RemoteProcesses())
        with Peers(endpoints, machines.keys) as peers:
            conductor = Conductor(deployment, peers)
            conductor.conduct(plan, scenario, agent, links, advance)
            return Driven(f"UDP, {links} links", conductor.collect(trace, scenario, lost_journal))

    return drive


def lost_journal(node: NodeId) -> bytes:
    """Raise UnreachableError: the journal is on a machine out of reach."""
    raise UnreachableError(f"node {node} is gone, and its events are in its folder: start it again, or look there")
