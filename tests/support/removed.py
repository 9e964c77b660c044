"""Agents, commands, options, studies and sweeps of extensions whose folders are gone.

A page of the core may show an extension's command; a test that follows such a page is skipped where the extension is
gone. Nothing is skipped otherwise, so a misspelt command fails. The names stand here because a deleted extension takes
all other records of them with it. `tests/test_removal.py` compares them with `pyproject.toml`.
"""

from __future__ import annotations

import re

import pytest

from tests.support.places import ROOT

PLUGIN = "roambus_point"
"""The fixture that stands for the plugin of pytest."""
BROUGHT = {
    "caching": "caching caching-absence caching-brokers caching-move caching-rate caching-size",
    "cluster": "--slurm --spark",
    "exploring": "explore hand",
    "export": "export",
    "ferry": "ferry ferry-crash ferry-fixed ferry-need islands",
    "first_approach": "first-approach migration-cost migrations resubscribing simple",
    "lean": "interest mft-lean",
    "live": "live node",
    "lora": "LoRa LoRaAloha LoRaCad lora lora-agents lora-flooding lora-gossip lora-gossip-repair lora-hops "
    "lora-interest lora-load lora-mft lora-mft-lean lora-more lora-presets lora-speed managed-flooding mesh "
    "okumura-hata",
    "ns3": "ns3",
    "object_store": "abfs gs hdfs s3",
    "opportunistic": "epidemic prophet spray",
    "phoenix": "phoenix",
    "provenance": "crate verify",
    "recording": "--record rerun",
    "replicated": "replicated replicated-faults replicated-order replicated-routing replicated-sites",
    "routing": "dsdv dsr flows geocast gpsr olsr routing routing-acknowledged routing-disks routing-parts",
    "skip_ring": "skip-ring skip-ring-convergence skip-ring-crashes skip-ring-joins skip-ring-publications "
    "skip-ring-steady skip-ring-topics",
    "testing": PLUGIN,
    "vetting": "vet",
    "viewer": "film play replay report",
}
"""The names that each extension of this project brings."""


def is_there(extension: str) -> bool:
    """Whether it can be imported: a deleted one may leave a folder of compiled modules."""
    return (ROOT / "extensions" / extension / "__init__.py").is_file()


REMOVED = frozenset(name for extension, names in BROUGHT.items() if not is_there(extension) for name in names.split())


def skip_if_removed(text: str) -> None:
    """Skip the test if the text has the name of something that is gone."""
    if gone := REMOVED.intersection(re.findall(r"[\w-]+", text)):
        pytest.skip(f"removed: {' '.join(sorted(gone))}")
