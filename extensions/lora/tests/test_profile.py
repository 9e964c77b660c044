"""The profile: every time of a shipped agent by one rule, and nothing else changed."""

from __future__ import annotations

import math
import pickle
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import roambus
from roambus.bridge.agents import load_agent
from roambus.extensions.lora.profile import REFERENCE_BYTES, ratio, scaled_times
from roambus.extensions.lora.radio.modems import PRESETS
from roambus.notebook import Settings
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.settings import parse_parameters, plain, settings_of
from roambus.python_protocol.simtime import MILLISECOND, SECOND

AGENTS = ("flooding", "gossip", "gossip-repair", "mft-lean", "mft")
CAPPED = {"beat_interval": 31 * SECOND}
"""Times whose messages have no room for more: a byte of eighths of a second."""


def both(name: str) -> tuple[type[Agent], type[Agent]]:
    """A shipped agent, and the one with the times of LoRa."""
    return load_agent(name), load_agent(f"lora-{name}")


def declares_time(declared: Any) -> bool:
    """Whether a field holds nanoseconds: by its type as written, whatever its unit says."""
    return "SimTime" in str(declared)


@pytest.mark.parametrize("preset", ["LongFast", "MediumFast", "ShortFast"])
@pytest.mark.parametrize("name", AGENTS)
def test_every_time_is_its_default_times_the_ratio(name: str, preset: str) -> None:
    """Rounded to milliseconds, of which one alone is left at its bound; all other parameters are as shipped."""
    shipped, scaled = both(name)
    usual, ours = shipped.parameters_type(), parse_parameters(scaled.parameters_type, {"preset": preset})
    times = {field.name for field in fields(shipped.parameters_type) if declares_time(field.type)}
    assert times
    for field in fields(shipped.parameters_type):
        default, value = getattr(usual, field.name), getattr(ours, field.name)
        if field.name not in times:
            assert value == default, field.name
        else:
            wanted = min(float(default * ratio(preset)), CAPPED.get(field.name, math.inf))
            assert abs(value - wanted) <= MILLISECOND / 2, field.name


@pytest.mark.parametrize("name", AGENTS)
def test_no_time_is_left_out(name: str) -> None:
    """Every field whose type is a time is declared as one, and scaled; of other fields none is."""
    shipped, scaled = both(name)
    times = {field.name for field in fields(shipped.parameters_type) if declares_time(field.type)}
    assert set(scaled_times(shipped.parameters_type, "LongFast")) == times
    own = settings_of(scaled.parameters_type)
    assert all("by air time from" in own[time].source for time in times)
    added = {field.name for field in fields(scaled.parameters_type)} - {
        field.name for field in fields(shipped.parameters_type)
    }
    assert added == {"preset"}


@pytest.mark.parametrize("name", AGENTS)
def test_the_agent_is_the_shipped_one(name: str) -> None:
    """With its handlers and messages."""
    shipped, scaled = both(name)
    assert issubclass(scaled, shipped)
    assert scaled.handlers == shipped.handlers
    assert list(scaled.messages) == list(shipped.messages)


@pytest.mark.parametrize("name", AGENTS)
def test_the_parameters_can_be_copied_to_another_process(name: str) -> None:
    """By the name of their class, which is made."""
    parameters = load_agent(f"lora-{name}").parameters_type()
    assert pickle.loads(pickle.dumps(parameters)) == parameters  # noqa: S301  # its own


def test_a_time_that_the_user_gives_is_taken_as_given() -> None:
    """Beside the others of the preset, and beside a profile of the agent itself."""
    parameters = load_agent("lora-mft").parameters_type
    ours = parse_parameters(parameters, {"heartbeat_interval": "60s", "profile": "as_published", "preset": "ShortFast"})
    assert ours.heartbeat_interval == 60 * SECOND
    assert ours.relay_jitter == round(100 * float(ratio("ShortFast"))) * MILLISECOND
    assert ours.ask_gaps is False


def test_the_defaults_that_are_shown_are_those_that_count() -> None:
    """`roambus show` has the defaults of LongFast, not those of the CC2420."""
    for name in AGENTS:
        parameters = load_agent(f"lora-{name}").parameters_type
        usual = parameters()
        for field, setting in settings_of(parameters).items():
            assert setting.read(plain(setting.default)) == getattr(usual, field), field


def test_the_ratio_is_that_of_the_reference_frame() -> None:
    """By hand: 103 bytes are 3.296 ms on a CC2420, and 123.25 symbols of 8.192 ms with LongFast."""
    assert pytest.approx(3.296) == REFERENCE_BYTES * 8 / 250
    assert float(ratio("LongFast")) == pytest.approx(123.25 * 8.192 / 3.296)
    assert [float(ratio(name)) for name in ("MediumFast", "ShortFast")] == pytest.approx(
        [148.25 * 2.048 / 3.296, 178.25 * 0.512 / 3.296]
    )
    assert all(ratio(preset) > 1 for preset in PRESETS)


@pytest.mark.slow  # the radio is compiled first
@pytest.mark.parametrize("name", [*(f"lora-{name}" for name in AGENTS), "managed-flooding"])
def test_it_delivers_on_lora(name: str, tmp_path: Path) -> None:
    """Between six nodes in each other's range."""
    settings: Settings = {"nodes": 6, "side": 500, "sigma": 0, "time_limit": "2h", "publish_interval": "20min"}
    done = roambus.run("lora", name, settings=settings, out=tmp_path)
    rows = pq.read_table(done.folder / "trace.parquet").to_pylist()
    published = {row["notification_id"]: row["node"] for row in rows if row["event"] == "publish"}
    others = [row for row in rows if row["event"] == "deliver" and published[row["notification_id"]] != row["node"]]
    assert len(published) >= 30
    assert len(others) > len(published)


@pytest.mark.slow
def test_gossip_saves_frames_on_lora_with_the_profile_alone(tmp_path: Path) -> None:
    """An assessment delay of 100 ms ends before any other node's frame of 500 ms does."""
    settings: Settings = {"nodes": 10, "side": 500, "sigma": 0, "time_limit": "2h", "publish_interval": "20min"}
    sent = {}
    for name in ("gossip", "lora-gossip"):
        done = roambus.run("lora", name, settings=settings, out=tmp_path / name)
        rows = pq.read_table(done.folder / "trace.parquet").to_pylist()
        sent[name] = sum(row["event"] == "send" for row in rows) / sum(row["event"] == "publish" for row in rows)
    assert sent["gossip"] > 9
    assert sent["lora-gossip"] < 6
