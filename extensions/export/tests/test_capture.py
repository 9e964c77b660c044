"""What Wireshark's own command line reads in captures, with dissectors that are generated from agents' messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

import pandas as pd
import pytest

from roambus.bridge.agents import agent_names, load_agent
from roambus.bridge.runs.layout import TRACE_FILE
from roambus.bridge.trace.schema import EVENT, MESSAGE_TYPE
from roambus.extensions.export import capture
from roambus.extensions.export.capture import agent_name, frame, pan_of, tapped
from roambus.extensions.export.dissector import dissector
from roambus.extensions.export.tests.tshark import MALFORMED, columns, counts, tshark
from roambus.python_protocol.messages.octets import DecodeError
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.trace_rows import RECEIVE, SEND
from tests.support.commands import call

OUTBOUND, INBOUND = "0x00000002", "0x00000001"
STRANGER = '''
"""A stranger's agent: one message says what its bytes are, another does not, and a third declares them."""

from typing import Annotated

from roambus import Agent, Message, MessageSet, Started, U8, on
from roambus.python_protocol.messages.fields import By


def _write(writer, value):
    writer.u16(value)
    writer.zeros(value)


def _read(reader):
    value = reader.u16()
    reader.zeros(value)
    return value


class Plain(Message, tag=1):
    hops: U8
    "\\"\\\\quoted\\n"


class ByHand(Message, tag=2):
    hops: U8
    size: Annotated[int, By(_write, _read)]
    after: U8


class Declared(Message, tag=3):
    size: Annotated[int, By(_write, _read, shape={"kind": "padding"})]
    after: U8


class Stranger(Agent):
    messages = MessageSet([Plain, ByHand, Declared])

    @on(Started)
    def start(self, event, now):
        pass
'''


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dissector for all agents that are installed."""
    return write_dissector(tmp_path_factory.mktemp("lua") / "all.lua", agent_names())


def write_dissector(path: Path, agents: Sequence[str]) -> Path:
    path.write_text("".join(dissector({agent: load_agent(agent) for agent in agents})))
    return path


def test_a_line_end_in_the_name_of_a_file_begins_no_line_of_the_dissector() -> None:
    """It would end a comment, and what follows would be code."""
    lines = "".join(dissector({"odd\nos.exit(7)\r--.py": load_agent("flooding")})).splitlines()
    assert not [line for line in lines if line.startswith("os.exit")]
    assert any("odd\\010os.exit(7)\\013--" in line for line in lines)


def write_capture(path: Path, messages: Sequence[tuple[str, bytes]]) -> Path:
    """A capture of these messages, each with the reference of its agent."""
    with path.open("wb") as file:
        file.write(capture.section("roambus", "generated") + capture.interface("node0", ""))
        for time, (agent, data) in enumerate(messages):
            sent = tapped(frame(pan_of(agent_name(agent)), time, 0, BROADCAST, data), None)
            file.write(capture.packet(0, time, sent, capture.OUTBOUND | capture.BROADCAST_PACKET))
    return path


def generated(agents: Sequence[str], each: int) -> list[tuple[str, bytes]]:
    """So many messages of each class of each agent that are fit to be sent."""
    vetting = pytest.importorskip("roambus.extensions.vetting.messages")
    found = []
    for agent in agents:
        messages = load_agent(agent).messages
        reader = vetting.RandomReader(messages, Random(agent))
        for cls in messages:
            for _ in range(each):
                with suppress(DecodeError):  # the bytes are no such message
                    found.append((agent, reader.read(cls).encode()))
    return found


@pytest.mark.parametrize("agent", ["mft", "aodv"])
def test_tshark_counts_what_the_trace_counts(
    agent: str, script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By type and direction; and nothing is malformed."""
    monkeypatch.chdir(tmp_path)
    short = "--set config=C4 --set time_limit=12 --set publish_until=10 --level full --record --out r"
    assert call(f"roambus run thesis --agent {agent} {short}", monkeypatch) == 0
    assert call("roambus export r --format pcapng --out captures", monkeypatch) == 0
    (whole,) = Path("captures").glob("*.pcapng")
    fields = [f"roambus_{agent}.type", "frame.packet_flags_direction"]
    counted = counts(whole, script, fields)
    assert counted == rows_of(next(Path("r").rglob(TRACE_FILE)))
    assert tshark(whole, script, "-Y", MALFORMED) == []
    assert {name for (name,) in counts(whole, script, ["frame.interface_name"])} == {
        f"node{node}" for node in range(10)
    }


def rows_of(trace: Path) -> Counter[tuple[str, ...]]:
    """What the trace has, as tshark counts it."""
    table = pd.read_parquet(trace, columns=[EVENT, MESSAGE_TYPE])
    directions = {SEND: OUTBOUND, RECEIVE: INBOUND}
    pairs = zip(table[MESSAGE_TYPE], table[EVENT], strict=True)
    return Counter((kind, directions[event]) for kind, event in pairs if event in directions)


def test_every_message_of_every_agent_is_read_to_its_end(script: Path, tmp_path: Path) -> None:
    """Whatever its fields hold; a message that lacks its last byte, or has one too many, is malformed."""
    messages = generated(agent_names(), 6)
    assert len(messages) > 400
    fine = write_capture(tmp_path / "fine.pcapng", messages)
    assert columns(fine, script, ["frame.number"], MALFORMED) == []
    cut = [(agent, data[:-1]) for agent, data in messages if len(data) > 1]
    wrong = write_capture(tmp_path / "wrong.pcapng", [*cut, *((agent, data + b"\0") for agent, data in messages)])
    assert len(columns(wrong, script, ["frame.number"], MALFORMED)) == len(cut) + len(messages)


def test_a_strangers_messages_are_read_as_far_as_they_are_declared(tmp_path: Path) -> None:
    """Bytes written by hand are shown as they are, unless their shape is declared; neither is malformed."""
    file = tmp_path / "odd-name.py"
    file.write_text(STRANGER)
    lua = write_dissector(tmp_path / 'it\'s "odd".lua', [str(file)])
    messages = [b"\x01\x07", b"\x02\x07\0\x02\0\0\x09", b"\x03\0\x02\0\0\x09"]
    capture = write_capture(tmp_path / "own.pcapng", [(str(file), data) for data in messages])
    own = "roambus_odd_name."
    fields = [own + name for name in ("type", "plain.hops", "byhand.hops", "raw", "declared.size", "declared.after")]
    assert columns(capture, lua, fields) == [
        ["PLAIN", "7", "", "", "", ""],
        ["BYHAND", "", "7", "0002000009", "", ""],
        ["DECLARED", "", "", "", "2", "9"],
    ]
    assert columns(capture, lua, ["frame.number"], MALFORMED) == []


def test_signal_channel_and_time_are_the_records(tmp_path: Path, script: Path) -> None:
    """The strength in dBm, the channel's number, and nanoseconds."""
    path = tmp_path / "one.pcapng"
    data = tapped(frame(pan_of("gossip"), 300, 1, 2, b""), -71.5)
    packet = capture.packet(0, 3_000_000_007, data, capture.INBOUND | capture.UNICAST)
    path.write_bytes(capture.section("a", "b") + capture.interface("node2", "broker") + packet)
    fields = ["frame.time_epoch", "wpan-tap.rss", "wpan-tap.ch_num", "wpan.src16", "wpan.dst16", "wpan.seq_no"]
    assert columns(path, script, fields) == [["3.000000007", "-71.5", "11", "0x0001", "0x0002", "44"]]


def test_a_run_without_a_record_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its trace holds no bytes."""
    monkeypatch.chdir(tmp_path)
    assert call("roambus run tree --backend ideal --agent simple --out r", monkeypatch) == 0
    assert call("roambus export r --format pcapng", monkeypatch) == 1
    assert "make the run with --record" in capsys.readouterr().err
    assert not list(Path("r").rglob("*.pcapng"))
