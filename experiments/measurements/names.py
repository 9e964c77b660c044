"""Names agents and axes for readers: each has one name, in figures, tables and reports alike."""

from __future__ import annotations

_AGENT_NAMES = {
    "mft": "MFT-PubSub",
    "mft-published": "MFT-PubSub as published",
    "mft-tuned": "MFT-PubSub, tuned",
    "aodv-tuned": "AODV, tuned",
    "mft-ungreeted": "MFT-PubSub without greet_back",
    "first-approach": "first approach",
    "resubscribing": "subscribing anew",
    "simple": "Simple Routing",
    "phoenix": "Phoenix",
    "caching-large": "caching, large caches",
    "replicated": "replicated brokers",
    "skip-ring": "skip ring",
    "aodv": "AODV",
    "aodv-rfc": "AODV, RFC profile",
    "filtering-updates": "filtering with updates",
    "none": "no order",
    "fifo": "FIFO",
    "total": "total order",
}
_AXIS_TITLES = {"config": "configuration", "subscriptions": "subscriptions a subscriber"}
_AXIS_UNITS = {"speed": "m/s"}


def agent_name(agent: str) -> str:
    """The name of an agent for readers; one of the user's own is called by its label."""
    return _AGENT_NAMES.get(agent, agent)


def axis_title(axis: str) -> str:
    """The title of an axis of a figure: words for readers, with the unit."""
    return _with_unit(_AXIS_TITLES.get(axis, axis), axis)


def axis_heading(axis: str) -> str:
    """The heading of an axis in tables: its own name, as `--set` takes it, with the unit."""
    return _with_unit(axis, axis)


def _with_unit(text: str, axis: str) -> str:
    unit = _AXIS_UNITS.get(axis)
    return f"{text} ({unit})" if unit else text
