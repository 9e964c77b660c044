"""The figures of docs/results/hardware.md: delivery over strength, and gray links over density."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.hardware.statistics import Curve, Estimate

TESTBED_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
MODEL_COLOURS = ("#000000", "#E69F00", "#56B4E9", "#777777")
"""By the kind of model: without variation in time, and with that of each parameters file."""
GRAY, DENSITY = "gray, 0.1 to 0.9", "ordered pairs that hear each other"
Found = Mapping[str, Mapping[str, Estimate]]


def kind_of(model: str) -> str:
    """The part of a model's name after back-end and side: the temporal model, if there is one."""
    return " ".join(model.split(" ")[3:]) or "links stand still"


def draw_curves(testbeds: Mapping[str, Curve], models: Mapping[str, Curve], path: Path) -> None:
    """Testbeds are lines; models, of each kind the one of most bursts, are broken lines."""
    axes, figure = _axes()
    for (name, curve), colour in zip(testbeds.items(), TESTBED_COLOURS, strict=False):
        axes.plot(curve.dbm, curve.mean, label=name, linewidth=1.4, color=colour)
    largest: dict[str, tuple[str, Curve]] = {}
    for name, curve in models.items():
        kind = kind_of(name)
        if kind not in largest or curve.bursts.sum() > largest[kind][1].bursts.sum():
            largest[kind] = name, curve
    for (name, curve), colour in zip(largest.values(), MODEL_COLOURS, strict=False):
        axes.plot(curve.dbm, curve.mean, "--", label=name, linewidth=1.6, color=colour)
    axes.set_xlabel("mean signal strength of a burst, dBm (each receiver on its own scale)")
    axes.set_ylabel("delivery, mean over bursts")
    axes.set_ylim(0, 1.02)
    axes.legend(fontsize=8, frameon=False)
    figure.savefig(path, dpi=140)


def draw_shares(testbeds: Found, models: Found, path: Path) -> None:
    """The share of gray links over the share of pairs that hear each other, with 95 % intervals."""
    axes, figure = _axes()
    for (name, found), colour in zip(testbeds.items(), TESTBED_COLOURS, strict=False):
        _point(axes, found, "o", name, colour)
    kinds = list(dict.fromkeys(map(kind_of, models)))
    labelled: set[tuple[str, str]] = set()
    for name, found in models.items():
        backend, side = name.split(" ")[:2]
        kind = kind_of(name)
        label = f"{backend}, {kind}" if (backend, kind) not in labelled else ""
        labelled.add((backend, kind))
        marker = "^" if backend == "castalia" else "s"
        _point(axes, found, marker, label, MODEL_COLOURS[kinds.index(kind) % len(MODEL_COLOURS)])
        axes.annotate(
            f"{side} m",
            (found[DENSITY].value, found[GRAY].value),
            (5, -9 if backend == "castalia" else 4),
            textcoords="offset points",
            size=7,
        )
    axes.set_xlabel("share of ordered pairs that hear each other")
    axes.set_ylabel("share of these links that are gray (0.1 to 0.9)")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=8, frameon=False)
    figure.savefig(path, dpi=140)


def _axes() -> tuple[Axes, Figure]:
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return axes, figure


def _point(axes: Axes, found: Mapping[str, Estimate], marker: str, label: str, colour: str) -> None:
    share = found[GRAY]
    around = np.array([[share.value - share.low], [share.high - share.value]])
    axes.errorbar(
        found[DENSITY].value, share.value, yerr=around, fmt=marker, capsize=3, label=label or None, color=colour
    )
