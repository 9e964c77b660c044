"""The profiles of MFT-PubSub: what each stands for, and what a node is made of with it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from random import Random
from typing import Any

import pytest

from roambus.python_protocol.mft import MftPubSub
from roambus.python_protocol.mft.broker import Broker
from roambus.python_protocol.mft.parameters import MftParameters
from roambus.python_protocol.mft.spreading import BeatingBroker, SpreadingBroker
from roambus.python_protocol.parts.bundling_link import BundlingLink
from roambus.python_protocol.parts.election import Election, QualityElection
from roambus.python_protocol.vocabulary import Role

ROOT = Path(__file__).parents[3]
CHANGES = ("bundles", "batches", "beats_migrate", "spreads")


def node(**parameters: Any) -> MftPubSub:
    return MftPubSub(1, Role.BROKER, MftParameters(**parameters), Random(0))


def test_letter_is_all_that_the_thesis_leaves_to_us() -> None:
    """The same as what the study of the thesis calls mft-published."""
    sweep = tomllib.loads((ROOT / "experiments/studies/thesis/explain-mft.toml").read_text(encoding="utf-8"))
    published = sweep["agents"]["mft-published"]["parameters"]
    assert MftParameters(profile="letter") == MftParameters(**published, profile="letter")
    assert all(getattr(MftParameters(profile="letter"), name) is value for name, value in published.items())


@pytest.mark.parametrize("profile", ["letter", "thesis"])
def test_letter_and_thesis_have_none_of_the_changes(profile: str) -> None:
    """They are what they were before there were profiles."""
    made = node(profile=profile)
    assert not any(getattr(made.parameters, name) for name in CHANGES)
    assert type(made.broker) is Broker
    assert type(made.overlay) is Election
    assert MftParameters(profile="thesis") == MftParameters()


def test_tuned_has_all_of_them() -> None:
    """And any of them can be left out."""
    made = node(profile="tuned")
    assert all(getattr(made.parameters, name) for name in CHANGES)
    assert isinstance(made.broker, SpreadingBroker)
    assert isinstance(made.broker, BeatingBroker)
    assert isinstance(made.overlay, QualityElection)
    assert isinstance(made.link, BundlingLink)
    assert type(node(profile="tuned", spreads=False).broker) is BeatingBroker
    assert type(node(profile="tuned", beats_migrate=False).broker) is SpreadingBroker


@pytest.mark.parametrize("without", ["bundles", "link_layer"])
def test_without_bundles_there_is_nothing_that_needs_them(without: str) -> None:
    """The messages of the thesis go as they went."""
    made = node(profile="tuned", **{without: False})
    assert type(made.broker) is Broker
    assert not isinstance(made.link, BundlingLink)
