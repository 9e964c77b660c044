"""The tables of the page, from results that were made up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from docs.writers.factorial import ranking, tables
from docs.writers.factorial.__main__ import main
from docs.writers.factorial.design import CONFIRMING, LINK, UNCOUNTED, changes, every_reading, reading_of, readings
from docs.writers.factorial.effects import BARE, LINKED, effects
from docs.writers.factorial.kept import keep, table_of
from docs.writers.factorial.quantities import parts_of, row_means, with_choices
from docs.writers.factorial.ranking import top
from docs.writers.factorial.tables import (
    PREDICTIONS,
    claim_table,
    corrected,
    expectations,
    quantity_table,
    read_expectations,
    run_table,
    unlike_claims,
    verdict_table,
    write_confirmed,
)
from roambus.experiments.sweeps.sweep_file import read_sweep
from tests.docs.writers.factorial.made_up import margins
from tests.experiments.measured import Run, measurements, plausible, write_measurements

TURNED = margins({1: lambda row: row["load"] * (3.0 if row[LINK] else -3.0) + 1.0, 2: lambda _: 5.0})


def test_the_design_has_every_verdict() -> None:
    """Claim 2 holds in each of 32 readings and both counts."""
    table = verdict_table(TURNED, readings())
    assert len(table) == 64
    assert (table["claim 2"] == "holds").all()
    assert set(table["claim 1"]) == {"holds", "does not hold"}


def test_choices_that_the_link_layer_turns_are_named() -> None:
    """Load helps without it, and harms with it."""
    table = claim_table(TURNED, effects(TURNED)).set_index("claim")
    assert table[f"{LINKED}: harmed by"].to_dict()[1] == "load"
    assert "load" in str(table.loc[1, f"{BARE}: helped by"]).split()
    assert table.loc[1, "turned by the link layer"] == "load"
    assert table.loc[2, "holds"] == 64


def test_ties_are_seen_in_the_quantities() -> None:
    """Two seeds at the bound, and one above it."""
    rows = [("best", 0, 13, "C2", seed, margin) for seed, margin in enumerate((0.0, 0.0, 0.1))]
    table = quantity_table(pd.DataFrame(rows, columns=["reading", UNCOUNTED, "claim", "part", "seed", "margin"]))
    assert table[["above", "tied", "below"]].to_numpy().tolist() == [[1, 2, 0]]
    assert table["verdict"].tolist() == ["not significant"]


def test_expected_and_found_counts_stand_side_by_side() -> None:
    """A reading that was not run has empty cells; fresh seeds are those from 3 on."""
    asked = pd.DataFrame(
        {"name": ["01", "later"], "changes": ["", "load"], UNCOUNTED: "0", "seconds": "200", "expected": ["2", "1"]}
    )
    table = run_table(asked, margins({1: lambda _: 1.0, 2: lambda _: 0.0}, seeds=6)).set_index("name")
    assert table[["seeds", "found", "which", "fresh seeds"]].to_numpy().tolist()[0] == [6, 1, "1", 3]
    assert table.loc["later", "found"] == ""


def test_many_claims_at_the_edge_fall_under_holm() -> None:
    """One p of 0.03 holds alone, and does not beside fifteen others."""
    rows = [(claim, "part", seed, margin) for claim in range(16) for seed, margin in enumerate((0.3, 1.0, 1.2, 0.6))]
    parts = parts_of(pd.DataFrame(rows, columns=["claim", "part", "seed", "margin"]))
    assert corrected({0: parts[0]}) == [0]
    assert corrected(parts) == []


def test_expectations_are_read_from_both_tables(tmp_path: Path) -> None:
    """Those by hand come first, with the seeds that confirm the model's."""
    chosen = top(
        pd.DataFrame([{**readings()["14"], UNCOUNTED: 1, "expected": 7.3, "9 or more": 0.1, "10 or more": 0.0}])
    )
    expectations(chosen, CONFIRMING).to_csv(tmp_path / "ranked.csv", index=False)
    (tmp_path / "expected.csv").write_text(f"name,changes,{UNCOUNTED},seconds,expected\nmine,load,0,200,9\n")
    table = read_expectations(tmp_path)
    assert table["name"].tolist() == ["mine", "top-01"]
    assert table["seeds"].tolist()[1] == "10"


def test_results_that_are_there_are_confirmed_and_others_wait(tmp_path: Path) -> None:
    """The tables have the quantities and the sides of the reading that was run."""
    (tmp_path / "expected.csv").write_text(
        f"name,changes,{UNCOUNTED},seconds,expected\nmine,load,0,200,9\nlater,places,0,200,8\n"
    )
    (tmp_path / "results" / "mine" / "metrics").mkdir(parents=True)
    write_measurements(measurements(configs=("C2", "C4"), speeds=("8",), seeds=2), tmp_path / "results" / "mine")
    write_confirmed(tmp_path, tmp_path)
    run = pd.read_csv(tmp_path / "run.csv").set_index("name")
    assert run["found"].notna().to_dict() == {"mine": True, "later": False}
    assert set(pd.read_csv(tmp_path / "best.csv")["reading"]) == {"mine"}
    assert set(pd.read_csv(tmp_path / "sides.csv")["result"]) == {"mine", "published defaults, 700 s"}


def test_sides_count_messages_as_the_expectation_does(tmp_path: Path) -> None:
    """Half of AODV's messages are acknowledgements at C4, and none at C2: its exponent of size is 1 less."""
    for name, way in (("with", 0), ("without", 1)):
        (tmp_path / "results" / name / "metrics").mkdir(parents=True)
        made = measurements(_acknowledged, configs=("C2", "C4"), speeds=("8",), seeds=2)
        write_measurements(made, tmp_path / "results" / name)
        with (tmp_path / "expected.csv").open("a") as file:
            file.write(f"name,changes,{UNCOUNTED},seconds,expected\n" * (way == 0) + f"{name},load,{way},200,9\n")
    write_confirmed(tmp_path, tmp_path)
    sides = pd.read_csv(tmp_path / "sides.csv").set_index(["result", "claim", "side"])["numbers"]
    exponents = [sides[name, "9, first half", "stricter"].split(":")[1].split()[0] for name in ("with", "without")]
    assert [float(each) for each in exponents] == [2.0, 1.0]


def _acknowledged(agent: str, config: str, speed: str, seed: int) -> Run:
    run = plausible(agent, config, speed, seed)
    large = config == "C4"
    return run | {"messages": 400 if large else 100, "messages_per_node": 40 if large else 10, "sent_ACK": 200 * large}


def test_readings_outside_of_the_design_stand_beside_their_intervals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A confirmed row of the design is none of these."""
    row_means(margins({1: lambda row: 2.0 * row["load"] + 1.0}, noise=0.1)).to_csv(tmp_path / "rows.csv", index=False)
    quantity = {UNCOUNTED: 0, "claim": 1, "part": "part", "mean": 3.0, "seeds": 10}
    rows = pd.DataFrame(
        [{"reading": words, **reading_of(words), **quantity} for words in ("load", changes(readings()["14"]))]
    )
    monkeypatch.setattr(tables, "pooled_rows", lambda table: rows[rows["reading"].isin(table["reading"])])
    (tmp_path / "expected.csv").write_text(
        f"name,changes,{UNCOUNTED},seconds,expected\nmine,load,0,200,9\nrow,{changes(readings()['14'])},0,200,8\n"
    )
    for name in ("mine", "row"):
        keep(measurements(configs=("C2", "C4"), speeds=("8",), seeds=2), table_of(name, tmp_path))
    write_confirmed(tmp_path, tmp_path)
    found = pd.read_csv(tmp_path / "foreseen.csv")
    assert found[["reading", "inside"]].to_numpy().tolist() == [["load", True]]


def test_results_of_one_reading_are_pooled_unless_they_are_longer(tmp_path: Path) -> None:
    """Seeds 0 to 2 and 3 to 5 are six; those of 700 s are others. Both counts of messages have a row."""
    (tmp_path / "expected.csv").write_text(
        f"name,changes,{UNCOUNTED},seconds,expected\na,load,0,200,9\nb,load,0,200,9\nlong,load,0,700,9\n"
    )
    made = measurements(configs=("C2", "C4"), speeds=("2", "8"), seeds=6)
    for name, seeds in (("a", range(3)), ("b", range(3, 6)), ("long", range(6))):
        keep(replace(made, runs=made.runs[made.runs["seed"].isin(seeds)]), table_of(name, tmp_path))
    write_confirmed(tmp_path, tmp_path)
    pooled = pd.read_csv(tmp_path / "pooled.csv")
    assert pooled[["changes", UNCOUNTED, "seeds"]].to_numpy().tolist() == [["load", 0, 6], ["load", 1, 6]]
    assert pd.read_csv(tmp_path / "run.csv")["seeds"].tolist() == [3, 3, 6]


def test_a_second_round_asks_for_new_readings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model has the confirmed reading as a row; it is not asked for again, and all is written once."""
    few = every_reading()[lambda table: table.drop(columns=["load", "profile", "places"]).sum(axis=1) == 0]
    monkeypatch.setattr(ranking, "every_reading", lambda: few.reset_index(drop=True))
    rows = with_choices(
        row_means(margins({1: lambda row: 2.0 * row["load"] + 1.0}, noise=0.1, uncounted=0.01)), readings()
    )
    mine = rows[rows["reading"] == "01"].assign(reading="load", load=True, mean=3.0, seeds=10)
    for name in ("mine", "long"):
        keep(measurements(configs=("C2",), speeds=("2",), seeds=1), table_of(name, tmp_path))
    monkeypatch.setattr(tables, "measured_readings", lambda names, *_: ((name, name) for name in names))
    monkeypatch.setattr(tables, "pooled_margins", lambda read: len(list(read)))
    monkeypatch.setattr(tables, "pooled_rows", lambda count: pd.concat([rows, mine][: count - 31]))
    (tmp_path / "expected.csv").write_text(
        f"name,changes,{UNCOUNTED},seconds,expected\nmine,load,0,200,9\nlong,load,0,700,9\nlater,places,0,200,8\n"
    )
    assert main(["again", str(tmp_path / "sweeps"), "--out", str(tmp_path)]) == 0
    assert pd.read_csv(tmp_path / "coverage-again.csv")["rows"].tolist() == [17, 16]
    again = pd.read_csv(tmp_path / "ranked-again.csv", keep_default_na=False)
    assert again["seeds"].tolist() == [20, 20]
    assert "load" not in set(again["changes"])
    assert (tmp_path / "sweeps" / "next-01.toml").is_file()
    assert main(["again", str(tmp_path / "sweeps"), "--out", str(tmp_path)]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["analyse"], "--out says where the tables go"),
        (["rank", "--out", "."], "rows.csv"),
        (["confirm", "--out", "."], "write one with the task rank"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It names the file or option that lacks."""
    monkeypatch.chdir(tmp_path)
    assert main([arguments[0], str(tmp_path), *arguments[1:]]) == 1
    assert message in capsys.readouterr().err


def test_readings_with_an_expectation_have_their_sweeps(tmp_path: Path) -> None:
    """Those of the page: by hand with seeds, seconds and speeds of their own, by the model with fresh seeds."""
    assert main(["sweeps", str(tmp_path), "--out", str(PREDICTIONS.parent / "factorial")]) == 0
    names = ("t-nine", "t-long", "top-12", "next-01")
    nine, long, top_12, again = (read_sweep(str(tmp_path / f"{name}.toml")) for name in names)
    assert [sweep.seeds for sweep in (nine, long)] == [tuple(range(30)), tuple(range(33, 43))]
    assert [sweep.seeds for sweep in (top_12, again)] == [tuple(range(3, 13)), tuple(range(43, 63))]
    assert [sweep.fixed["time_limit"] for sweep in (nine, long, top_12)] == [200, 700, 200]
    assert [sweep.fixed["publish_until"] for sweep in (nine, long, top_12)] == [143, 500, 143]
    assert [len(axis.values) for sweep in (nine, long) for axis in sweep.axes if axis.name == "speed"] == [3, 2]
    assert main(["sweeps", str(tmp_path), "--out", str(tmp_path)]) == 1


def test_the_design_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    """A sweep for each row."""
    assert main(["design", str(tmp_path / "new")]) == 0
    assert len(list((tmp_path / "new").glob("*.toml"))) == 32


def test_a_claim_stands_once_if_the_count_of_messages_changes_none_of_its_rows() -> None:
    """Without a link layer the counts are equal, and the claim keeps both of all rows."""
    alike = margins({1: lambda _: 1.0})
    unlike = margins({2: lambda _: 1.0}, uncounted=1.0)
    unlike.loc[unlike["reading"] == "32", "margin"] = 7.0
    kept = unlike_claims(row_means(pd.concat([alike, unlike])))
    assert kept.groupby("claim").size().to_dict() == {1: 32, 2: 64}


def test_the_analysis_of_a_design_is_ranked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From margins to twelve sweeps: load makes the first claim hold, and the second one holds anyway."""
    made = margins({1: lambda row: 2.0 * row["load"] - 1.0, 2: lambda _: 1.0}, noise=0.1, uncounted=0.01)
    monkeypatch.setattr(tables, "margins_of", lambda _: made)
    few = every_reading()[lambda table: table.drop(columns=["load", "profile", "places", "jitter"]).sum(axis=1) == 0]
    monkeypatch.setattr(ranking, "every_reading", lambda: few.reset_index(drop=True))
    assert main(["analyse", str(tmp_path), "--out", str(tmp_path)]) == 0
    assert main(["rank", str(tmp_path / "sweeps"), "--out", str(tmp_path)]) == 0
    ranked = pd.read_csv(tmp_path / "ranked.csv", keep_default_na=False)
    assert ranked["changes"].tolist()[0] == "load"
    assert ranked["expected"].tolist()[0] > 1.9
    assert len(list((tmp_path / "sweeps").glob("top-*.toml"))) == 12
    assert main(["rank", str(tmp_path / "sweeps"), "--out", str(tmp_path)]) == 1
    assert "ranked.csv: expectations are written once, before the runs" in capsys.readouterr().err
    left_out = pd.read_csv(tmp_path / "left-out.csv")
    assert left_out["found"].sum() == 16 + 32
    assert left_out["expected"].sum() == pytest.approx(48, abs=1.5)
    assert set(pd.read_csv(tmp_path / "claims.csv")["claim"]) == {1, 2}
    assert {"predicted", "found"} <= set(pd.read_csv(tmp_path / "predictions.csv"))
