"""The workload of a Castalia application, such as ThroughputTest, in the keys of roambus' own.

A sink subscribes to everything; a rate is an interval of publications. All other lines stay comments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from roambus.bridge.scenario.nodes import APPLICATION, APPLICATION_KEYS
from roambus.experiments.scaffold.omnetpp_ini import Line, with_variables

_NAME = re.compile(r"(?P<node>SN\.node\[[^\]]+\]\.)Application\.(?P<name>\w+)")
_SINK, _RATE, _LENGTH, _DELAY = "isSink", "packet_rate", "constantDataPayload", "startupDelay"
_KEYS = {_RATE: "publishInterval", _LENGTH: "payload", _DELAY: "publishStart"}
"""The key for each of an application's; startupDelay is in seconds, packet_rate counts packets in a second."""
_NUMBER, _VARIABLE = re.compile(r"\d*\.?\d+"), re.compile(r"[A-Za-z_]\w*")
_PAYLOAD = next(key for key in APPLICATION_KEYS if key.name == f"{APPLICATION}payload")
_OTHERS = 'SN.node[*].Application.roles = "publisher broker"\n'
_EVERY_SECOND = "# Each node publishes once a second: change this to your workload.\n{}publishInterval = 1s"


def roles(lines: Sequence[Line]) -> str:
    """The lines of the roles: sinks subscribe, or node 0 without any, and all others publish."""
    named = ((line, _NAME.fullmatch(line.key)) for line in lines if line.value == "true")
    sinks = [found["node"] for line, found in named if found and found["name"] == _SINK]
    if not sinks:
        first = 'SN.node[0].Application.roles = "publisher subscriber broker"\n'
        return f"# Node 0 wants everything, and each node publishes: change this to your workload.\n{first}{_OTHERS}"
    own = "".join(f'{node}Application.roles = "subscriber broker"\n' for node in sinks)
    return f"# Sinks want everything, and each other node publishes: change this to your workload.\n{own}{_OTHERS}"


def default_interval(lines: Sequence[Line]) -> list[str]:
    """The interval between publications, unless the application has a rate."""
    has_rate = any(line.key.endswith(f".{_RATE}") for line in lines)
    return [] if has_rate else [_EVERY_SECOND.format(APPLICATION)]


def is_role(line: Line) -> bool:
    """Whether the roles say it."""
    return line.value == "true" and line.key.endswith(f".{_SINK}")


def converted(line: Line, names: Mapping[str, str]) -> str | None:
    """The line of roambus for this one, or None; `names` are those of iteration variables in the template."""
    found = _NAME.fullmatch(line.key)
    if found is None or found["name"] not in _KEYS:
        return None
    text = with_variables(line, names)
    is_number = _NUMBER.fullmatch(text) is not None
    if not (is_number or _VARIABLE.fullmatch(text)):
        return None
    value = _value(found["name"], text, is_number=is_number)
    return value and f"{found['node']}Application.{_KEYS[found['name']]} = {value}"


def _value(name: str, text: str, *, is_number: bool) -> str | None:
    """The value, or the template's expression for it; None for one that no notification can have."""
    if not is_number:
        interval = f'{{{{ "%.9f" | format(1 / {text} if {text} else 0) }}}}s'
        return {_RATE: interval, _DELAY: f"{{{{ {text} }}}}s"}.get(name, f"{{{{ {text} }}}}")
    if name == _RATE:
        return f"{1 / float(text) if float(text) else 0:.9f}".rstrip("0").rstrip(".") + "s"
    if name == _DELAY:
        return f"{text}s"
    return text if _PAYLOAD.within.holds(float(text)) else None
