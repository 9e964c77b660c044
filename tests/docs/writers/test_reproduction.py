"""The document of the reproduction says what the results say, and shows what it names."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest

from docs.writers.keys import rerun_command
from docs.writers.reproduction import NOTES, OPEN_CHOICES, Note, main, open_choices, read_notes, sent_table
from roambus.experiments.claims import Verdict
from roambus.experiments.measurements import Measurements
from roambus.experiments.studies.thesis.claims import FURTHER_CLAIMS, THESIS_CLAIMS
from tests.experiments.measured import QUICK, measurements, write_measurements

STOOD_IN = "as in the thesis"
AGENTS = ("mft", "aodv", "mft-as-published", "aodv-thesis")


def written(folder: Path, name: str, sweep: Measurements) -> str:
    """Results of the sweep of this name, in a folder that is not called like it."""
    results = folder / f"results-of-{name}"
    results.mkdir()
    write_measurements(replace(sweep, sweep={**sweep.sweep, "sweep": name}), results)
    return str(results)


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made from made-up results: the thesis' sweep without C8 and C32, and flooding with seeds of its own."""
    tmp_path = tmp_path_factory.mktemp("results")
    sweeps = {
        "thesis": measurements(configs=("C2", "C4", "C16"), speeds=("2", "8"), seeds=3, agents=AGENTS),
        "flooding": measurements(configs=("C2", "C4", "C16"), speeds=("2", "8"), seeds=3, agents=("flooding",)),
    }
    later = {0: 3, 1: 4, 2: 7}
    sweeps["flooding"].runs["seed"] = sweeps["flooding"].runs["seed"].map(later)
    sweeps["flooding"].sweep["seeds"] = [*later.values()]
    folders = [written(tmp_path, name, sweep) for name, sweep in sweeps.items()]
    assert main([*folders, "--out", str(tmp_path / "docs")]) == 0
    return tmp_path / "docs"


@pytest.fixture
def document(docs: Path) -> str:
    return (docs / "reproduction.md").read_text(encoding="utf-8")


def test_every_picture_and_table_is_there(document: str, docs: Path) -> None:
    """Each one that the document links was made, and no other."""
    named = re.findall(r"\[[^\]]+\]\((reproduction/[^)]+)\)", document)
    assert "reproduction/figure-4.4.png" in named
    drawn = {f"reproduction/{path.name}" for path in (docs / "reproduction").iterdir()}
    assert set(named) == drawn


def test_every_claim_has_its_verdict_and_numbers(document: str) -> None:
    """The ten, and what else the text says."""
    labels = re.findall(r"^- \*\*(\d+)\. ", document, re.MULTILINE)
    assert labels == [str(number) for number in range(1, 17)]
    assert "MFT-PubSub the higher rate. | not measured | not measured |" in document
    assert "| | Claim | Defaults | As in the thesis | Open choices |" in document
    assert re.search(r"messages per node, aodv minus mft: -?[\d,.]+ ± [\d,.]+ \(claimed < 0; 3 seeds", document)


def test_the_page_itself_has_the_verdicts_of_another_reading(document: str) -> None:
    """As its quantities have them; claim 5 needs 6 m/s."""
    page = (OPEN_CHOICES.parents[1] / "reproduction.md").read_text(encoding="utf-8")
    for text in (page, document):
        rows = re.findall(r"^\| (\d+) \| .* \| ([^|]+) \|$", text, re.MULTILINE)
        assert dict(rows[:16]) == {"5": "not measured", **open_choices()}
    assert set(open_choices().values()) == {"holds", "not significant", "does not hold"}


def test_tables_hold_what_pictures_show(docs: Path) -> None:
    """A row for each point of each line, with its interval: flooding stands beside the thesis' two protocols."""
    table = (docs / "reproduction" / "protocols-cost.csv").read_text(encoding="utf-8")
    assert table.startswith("figure,line,x,mean\n")
    assert re.search(
        r'^Messages per node at 8 m/s,flooding,config C16,"?[\d,.]+ \([\d,.]+ to [\d,.]+\)"?$',
        table,
        re.MULTILINE,
    )


def test_quantities_stand_in_a_file_for_each_pair_of_agents(docs: Path) -> None:
    """The pair of today, and the one that stands for the thesis, with the same claims."""
    rows = list(csv.DictReader((docs / "reproduction" / "claims.csv").read_text(encoding="utf-8").splitlines()))
    claims = {group: [row["claim"] for row in rows if row["agents"] == group] for group in ("defaults", STOOD_IN)}
    assert claims["defaults"] == claims[STOOD_IN]
    of_eight = {row["agents"]: float(row["mean"]) for row in rows if row["claim"] == "8"}
    assert of_eight["defaults"] != of_eight[STOOD_IN]


def test_what_an_agent_never_sends_is_empty() -> None:
    """It was not measured how many of them it sends; a type that it sends elsewhere has its zeros."""
    head, rows = sent_table(QUICK)
    place = head.index("RREQ")
    assert {row[place] for row in rows if row[0] == "MFT-PubSub"} == {""}
    assert "" not in {row[place] for row in rows if row[0] == "AODV"}


def test_it_says_what_was_run_and_what_not(document: str) -> None:
    """By the commands that run just this again."""
    assert "roambus sweep thesis --set config=C2,C4,C16 --set speed=2,8" in document
    assert "| thesis | 72, complete | 0 to 2 |" in document
    assert "| flooding | 18, complete | 3 to 4, 7 to 7 |" in document
    assert re.search(r"roambus sweep flooding .*--seeds 3\.\.4,7\.\.7\b", document, re.MULTILINE)
    assert "Not run: `roambus sweep unicast`" in document


def test_commands_are_not_for_the_documents_test(document: str) -> None:
    """They take hours: no block is marked as one whose commands are run."""
    assert "```sh" not in document


def test_the_thesis_is_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without it there is nothing to reproduce."""
    folder = written(tmp_path, "flooding", measurements(agents=("flooding",), seeds=2))
    assert main([folder, "--out", str(tmp_path)]) == 2
    assert "results/thesis is missing: run `roambus reproduce thesis`" in capsys.readouterr().err


def test_results_are_of_a_sweep_of_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Results that name no sweep, which an earlier version made, are of the one that their folder is called like."""
    assert main([written(tmp_path, "mine", measurements(seeds=2)), "--out", str(tmp_path)]) == 2
    assert "unknown sweep 'mine'" in capsys.readouterr().err
    made = measurements(seeds=2)
    unnamed = {key: value for key, value in made.sweep.items() if key not in ("study", "sweep")}
    folder = tmp_path / "thesys"
    folder.mkdir()
    write_measurements(replace(made, sweep=unnamed), folder)
    assert main([str(folder), "--out", str(tmp_path)]) == 2
    assert "unknown sweep 'thesys': did you mean 'thesis'" in capsys.readouterr().err


def test_a_note_stands_only_with_its_verdicts() -> None:
    """What was written about other numbers is not printed."""
    note = Note({"9": "does not hold", "2": "holds"}, "because")
    assert note.stands({"9": "does not hold", "2": "holds", "1": "holds"})
    assert not note.stands({"9": "does not hold", "2": "not significant"})
    assert not note.stands({"9": "does not hold"})


def test_notes_are_read_by_their_headings() -> None:
    """Each heading says which verdicts the text below it explains."""
    assert read_notes("# Notes\n\n## 9: does not hold; 2: holds\n\nOne.\n\nTwo.\n\n## 1: holds\nThree.\n") == [
        Note({"9": "does not hold", "2": "holds"}, "One.\n\nTwo."),
        Note({"1": "holds"}, "Three."),
    ]


def test_the_command_of_a_whole_sweep_is_its_name() -> None:
    """Whatever was run otherwise is set."""
    whole = {"agents": dict.fromkeys(("mft", "aodv")), "axes": {"config": ["C4", "C16"], "payload": [0, 20, 60]}}
    fixed = {"time_limit": 200, "publish_until": 143, "speed": 8}
    assert rerun_command("explain-payload", {**whole, "set": fixed}, range(5)) == "roambus sweep explain-payload"
    less = rerun_command("explain-payload", {**whole, "set": {**fixed, "speed": 2}}, range(2))
    assert less == "roambus sweep explain-payload --set speed=2 --seeds 2"
    fresh = rerun_command("explain-payload", {**whole, "set": fixed}, range(5, 10))
    assert fresh == "roambus sweep explain-payload --seeds 5..9"


def test_every_note_is_about_what_is_checked() -> None:
    """A label that no claim has, or a verdict that there is not, would never be printed."""
    labels = {str(number) for number in range(1, len((*THESIS_CLAIMS, *FURTHER_CLAIMS)) + 1)}
    for note in read_notes(NOTES.read_text(encoding="utf-8")):
        assert set(note.verdicts) <= labels
        assert set(note.verdicts.values()) <= {verdict.value for verdict in Verdict}
        assert note.text
