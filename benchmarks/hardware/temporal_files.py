"""Files of Castalia's temporal model, written from what was measured; `bridge.formats.temporal_model` reads them.

A distribution of one layer is a list of values. One of several has a letter for each of its layers, by which others
lead to it, and begins with the first.
"""

from __future__ import annotations

from collections.abc import Iterator

from roambus.bridge.formats.temporal_model import (
    COHERENCE,
    CORRELATION,
    SIGNAL,
    Distribution,
    Layer,
    TemporalModel,
    levels_between,
)
from roambus.python_protocol.simtime import MILLISECOND

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def write_temporal_model(model: TemporalModel, comment: str = "") -> str:
    """The text of the file; read again it is the same model, as far as eight digits say it."""
    return "".join(f"{line}\n" for line in _lines(model, comment))


def _lines(model: TemporalModel, comment: str) -> Iterator[str]:
    yield from (f"% {line}" for line in comment.splitlines())
    coherence = _number(model.coherence_time / MILLISECOND)
    times = [_number(time / MILLISECOND) for time in model.correlation_times]
    bounds = (model.least_db, model.resolution_db, model.most_db)
    yield f"{SIGNAL}: {':'.join(map(_number, bounds))}"
    yield f"{CORRELATION}: {','.join(times)}"
    yield f"{COHERENCE}: {coherence}"
    yield f"{coherence}:{_distribution(model.distributions[0])}"
    levels = [_number(model.least_db + level * model.resolution_db) for level in range(levels_between(*bounds))]
    heads = [f"{time},{level}" for time in times for level in levels]
    for head, distribution in zip(heads, model.distributions[1:], strict=True):
        yield f"{head}:{_distribution(distribution)}"


def _distribution(layers: Distribution) -> str:
    if len(layers) == 1 and not layers[0].onward:
        return _elements(layers[0])
    return "; ".join(f"{_LETTERS[place]}= {_elements(layer)}" for place, layer in enumerate(layers))


def _elements(layer: Layer) -> str:
    return " ".join([*map(_number, layer.values), *(_LETTERS[place] for place in layer.onward)])


def _number(value: float) -> str:
    return f"{value:.8g}"
