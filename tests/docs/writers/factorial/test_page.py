"""The tables on the page are those of its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.writers.factorial.__main__ import main
from docs.writers.factorial.page import PAGE, page_tables, rewritten
from docs.writers.factorial.tables import PREDICTIONS
from roambus.bridge.system.errors import UserError

RESULTS = PREDICTIONS.parent
FOLDER = RESULTS / "factorial"


def test_the_tables_on_the_page_are_those_of_its_files() -> None:
    """The task page changes nothing."""
    text = (RESULTS / PAGE).read_text(encoding="utf-8")
    tables = list(page_tables(FOLDER))
    assert len(tables) >= 6
    for table in tables:
        assert "\n".join(["", *table, ""]) in text, table[0]


def test_a_table_is_written_in_place_of_the_old_one(tmp_path: Path) -> None:
    """A changed number comes back, and all around it stays."""
    text = (RESULTS / PAGE).read_text(encoding="utf-8")
    old = next(line for line in text.split("\n") if line.startswith("| top-01 |"))
    (tmp_path / PAGE).write_text(text.replace(old, "| top-01 | wrong |\n| added |"), encoding="utf-8")
    assert main(["page", str(FOLDER), "--out", str(tmp_path)]) == 0
    assert (tmp_path / PAGE).read_text(encoding="utf-8") == text


def test_a_table_that_the_page_lacks_is_named() -> None:
    """Its heading row is where it would go."""
    assert rewritten("a\n| x |\n| - |\n| 1 |\nb", ["| x |", "| 2 |"]) == "a\n| x |\n| 2 |\nb"
    with pytest.raises(UserError, match=r"no table has the heading \| y \|"):
        rewritten("a", ["| y |"])


def test_promises_are_counted_for_readings_that_were_run(tmp_path: Path) -> None:
    """Two of three were run; claim 13 was expected of 1.1 of them, and one had it."""
    (tmp_path / "run.csv").write_text(
        "name,changes,without-acks,seconds,expected,seeds,found,which,fresh seeds,found with fresh,found by Holm\n"
        "a,load,1,200,1.4,10,1,13,10,1,1\nb,,0,200,1.2,10,1,3,10,1,1\nc,link,0,200,1,,,,,,\n"
    )
    (tmp_path / "ranked.csv").write_text(
        "name,changes,without-acks,expected,9 or more,10 or more,"
        + ",".join(f"claim {claim}" for claim in (3, 4, 11, 12, 13, 16))
        + "\na,load,1,1.4,0,0,0.4,0,0,0,0.9,0\nb,,0,1.2,0,0,1,0,0,0,0.2,0\nc,link,0,1,0,0,1,0,0,0,1,0\n"
    )
    for name, head in (("power.csv", "claim,part,readings"), ("sides.csv", "result,seeds,claim,sentence,side,verdict")):
        (tmp_path / name).write_text(head + "\n")
    _, _, promises, *_ = _tables_before_power(tmp_path)
    assert promises[-1] == "| readings run |  | 2 |"
    assert "| 13 | 1.1 | 1 |" in promises
    assert "| 3 | 1.4 | 1 |" in promises


def _tables_before_power(folder: Path) -> list[list[str]]:
    tables = page_tables(folder)
    return [next(tables) for _ in range(3)]


def test_a_file_that_lacks_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It names the file."""
    (tmp_path / PAGE).write_text("")
    assert main(["page", str(tmp_path), "--out", str(tmp_path)]) == 1
    assert "run.csv" in capsys.readouterr().err
