"""Parameters files of Castalia's temporal model are read as Castalia reads them, and written so that both read them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.hardware.temporal_files import write_temporal_model
from roambus.bridge.formats.temporal_model import Layer, TemporalModel, levels_between, read_temporal_model
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.simtime import MILLISECOND, SECOND

TEXT = """\
% a small one
Signal variability (dB):  -1:1:1
Correlation times (msec): 1000,10
Coherence time (msec): 5000

5000: -1 0 1
1000,-1: -1 A; A= 0 1 B; B = 5
1000,0: 0
1000,1: 1
10,-1:-1
10,0:0
10,1:1
"""
ONE = (Layer((0.0,)),)
MODEL = TemporalModel(
    -1,
    1,
    1,
    (SECOND, 10 * MILLISECOND),
    5 * SECOND,
    (
        (Layer((-1, 0, 1)),),
        (Layer((-1,), (1,)), Layer((0, 1), (2,)), Layer((5,))),
        ONE,
        (Layer((1,)),),
        (Layer((-1,)),),
        ONE,
        (Layer((1,)),),
    ),
)

NUMBERS = st.floats(-50, 50).map(lambda value: round(value, 3))


@st.composite
def models(draw: st.DrawFn) -> TemporalModel:
    """Any model with a few levels, correlation times and layers."""
    levels = draw(st.integers(2, 4))
    times = draw(st.lists(st.integers(1, 10**6), min_size=1, max_size=3, unique=True).map(sorted))[::-1]
    counts = [draw(st.integers(1, 3)) for _ in range(1 + levels * len(times))]
    layers = st.lists(NUMBERS, min_size=1, max_size=3).map(tuple)
    distributions = [
        tuple(Layer(draw(layers), tuple(draw(st.lists(st.integers(0, count - 1), max_size=2)))) for _ in range(count))
        for count in counts
    ]
    coherence = draw(st.integers(10**6 + 1, 10**7)) * MILLISECOND
    return TemporalModel(
        -2, 1, levels - 3, tuple(time * MILLISECOND for time in times), coherence, tuple(distributions)
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "temporal.txt"


def test_a_file_is_read(file: Path) -> None:
    """Levels, times, and a distribution for each pair of them, some of which have layers."""
    file.write_text(TEXT)
    assert read_temporal_model(file) == MODEL


@given(models())
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, model: TemporalModel) -> None:
    """Whatever the model."""
    file = tmp_path_factory.mktemp("temporal") / "temporal.txt"
    file.write_text(write_temporal_model(model, "made up"))
    assert read_temporal_model(file) == model


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("-1:1:1\n", "1:1:-1\n", "temporal.txt:2: Signal variability .dB. is least:resolution:most"),
        ("-1:1:1\n", "-1:1e-9:1\n", "temporal.txt:2: there are more than 1000 levels"),
        ("1000,10\n", "10,1000\n", "temporal.txt:3: Correlation times .msec. descend"),
        ("Coherence", "Coherent", "temporal.txt:4: 'Coherent time .msec.' is not one of the three heads"),
        ("10,1:1\n", "", "temporal.txt: there is no distribution 10,1"),
        ("10,1:1\n", "10,1:1\n10,1:1\n", "temporal.txt:13: 10,1 has a distribution already"),
        ("10,1:1\n", "10,2:1\n", "temporal.txt:12: 2 dB is not one of the levels"),
        ("10,1:1\n", "20,1:1\n", "temporal.txt:12: a distribution begins with"),
        ("10,1:1\n", "10,1:1 A\n", "temporal.txt:12: there is no layer A"),
        ("10,1:1\n", "10,1:A; A= A\n", "temporal.txt:12: a distribution needs values"),
        ("10,1:1\n", "10,1:one\n", "temporal.txt:12: one is not a number"),
        ("5000: -1 0 1\n", "", "temporal.txt: the coherence time has no distribution"),
    ],
)
def test_a_wrong_line_is_named(file: Path, old: str, new: str, problem: str) -> None:
    """With what is wrong with it, or what is missing."""
    file.write_text(TEXT.replace(old, new))
    with pytest.raises(UserError, match=problem):
        read_temporal_model(file)


@given(st.lists(st.sampled_from([*"0123456789,.-:;%= AB\n", "nan", "10,1:", "5000:"])).map("".join))
def test_whatever_a_file_has_is_a_model_or_a_users_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Never a traceback; a model has a distribution for each level and correlation time."""
    file = tmp_path_factory.mktemp("any") / "any.txt"
    file.write_text("\n".join(TEXT.splitlines()[:4]) + f"\n{text}\n")
    with suppress(UserError):
        model = read_temporal_model(file)
        levels = levels_between(model.least_db, model.resolution_db, model.most_db)
        assert len(model.distributions) == 1 + levels * len(model.correlation_times)
