"""The growth benchmark: what it measures, how it fits, and what it says to a mistake."""

from pathlib import Path

import pytest

from benchmarks import growth
from benchmarks.growth import main
from benchmarks.growth_fit import power_law
from benchmarks.growth_runs import RADIO, Case, measure


@pytest.mark.parametrize(("exponent", "factor"), [(0.5, 3.0), (1.5, 0.01), (-2, 1.0)])
def test_a_power_law_is_found(exponent: float, factor: float) -> None:
    """Exactly, where there is no noise."""
    x = [66, 130, 260, 1040]
    found = power_law(x, [factor * value**exponent for value in x])
    assert found.exponent == pytest.approx(exponent, abs=1e-9)
    assert found.factor == pytest.approx(factor)
    assert found.error == pytest.approx(0, abs=1e-6)


def test_noise_is_in_the_standard_error() -> None:
    """Worked by hand: logarithms 0, 1, 5 over 0, 1, 2 have slope 2.5; the squared residuals sum to 1.5."""
    e = 2.718281828459045
    found = power_law([1, e, e**2], [1, e, e**5])
    assert found.exponent == pytest.approx(2.5)
    assert found.error == pytest.approx((1.5 / 1 / 2) ** 0.5)


def test_nodes_keep_the_room_they_have_in_c32() -> None:
    """About 183 square metres each, whatever their number."""
    for nodes in (66, 1040):
        assert Case(RADIO, nodes, 1).side_m ** 2 / nodes == pytest.approx(110**2 / 66, rel=1e-3)


@pytest.mark.slow
def test_agents_and_the_radio_alone_carry_the_same_traffic() -> None:
    """66 nodes at one packet a second for 4 s, by beacons and without agents; only agents leave a trace."""
    alone, beacons = measure(Case(RADIO, 66, 4)), measure(Case("beacon", 66, 4))
    for cost in (alone, beacons):
        assert cost.transmissions == pytest.approx(66 * 4, rel=0.3)
        assert cost.deliveries > 10 * cost.transmissions
        assert cost.cpu > 0
        assert cost.setup > 0
    assert alone.rows == 0
    assert beacons.rows > beacons.transmissions
    assert beacons.steps > alone.steps == 1


def test_everything_is_printed_and_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both exponents, a row for each run, and the picture; here without a process for each run."""
    monkeypatch.setattr(growth, "measure_apart", measure)
    options = ["--agents", RADIO, "--sizes", "6", "12", "24", "--rates", "1", "2", "4", "--seconds", "5"]
    assert main([*options, "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "against nodes" in lines[0]
    assert lines[2].startswith("| radio | ")
    assert "±" in lines[2]
    assert [line.split(" | ")[1] for line in lines[-6:]] == ["6", "12", "24", "6", "6", "6"]
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--sizes", "3", "66", "130"], "two publishers, a subscriber and a broker"),
        (["--sizes", "66", "66", "130"], "three different values"),
        (["--rates", "0", "1", "2"], "rates above 0"),
        (["--seconds", "0"], "nothing happens"),
        (["--agents", "mfd"], "did you mean 'mft'?"),
    ],
)
def test_a_mistake_is_one_line(
    options: list[str], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 2, and nothing is drawn."""
    assert main([*options, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("growth: ")
    assert why in error
    assert not (tmp_path / "growth.png").exists()
