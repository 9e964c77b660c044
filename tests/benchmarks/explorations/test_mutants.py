"""Mutants that explorations and hunts judge: one that they notice, and the table of what became of all."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.explorations import mutants
from benchmarks.explorations.mutants import DOES_NOT_END, Verdict, drawn, look, main, read_kept, table

SIMPLE = "python_protocol/papers/simple.py"
KILLED = Verdict("simple", SIMPLE, 88, "RoutingTable.add", "only `return None`", True, "hunt_simple: probes arrive")
EXPLORED = Verdict("simple", SIMPLE, 9, "f", "swap", True, "simple_entries: every entry serves somebody")
ENDLESS = Verdict("aodv", "python_protocol/aodv/agent.py", 9, "g", "swap", True, DOES_NOT_END)
MISSED = Verdict("aodv", "python_protocol/aodv/agent.py", 10, "h", "swap", True, None)
SAME = Verdict("aodv", "python_protocol/aodv/agent.py", 11, "i", "swap", False, None)


def test_of_each_protocol_as_many_mutants_are_drawn_each_time() -> None:
    """The same ones, and all of a protocol that has not so many."""
    assert drawn(("simple", "phoenix"), 20) == drawn(("simple", "phoenix"), 20)
    assert [one.protocol for one in drawn(("phoenix", "simple"), 20)].count("phoenix") == 20
    assert 5 < len(drawn(("simple",), 1000)) < 20


def test_a_mutant_is_noticed_by_a_hunt_or_by_an_exploration(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that takes no entries, whoever looks; nothing of that is left in this process."""
    (mutant,) = (one for one in drawn(("simple",), 1000) if one[3:5] == ("RoutingTable.add", "only `return None`"))
    assert look(mutant) == (True, "hunt_simple: probes arrive")
    monkeypatch.setattr(mutants, "hunts", lambda *_: [("hunt_none", None, [])])
    monkeypatch.setattr(mutants, "_histories", lambda *_: iter(()))
    assert look(mutant) == (True, "simple_entries: every entry serves somebody")


def test_the_table_counts_what_became_of_mutants(tmp_path: Path) -> None:
    """The share is of those that change a trace; a verdict that is kept twice counts once."""
    keep = tmp_path / "kept.jsonl"
    verdicts = [KILLED, EXPLORED, ENDLESS, MISSED, SAME, KILLED]
    keep.write_text("".join(f"{json.dumps(asdict(one))}\n" for one in verdicts))
    assert read_kept(keep) == verdicts[:-1]
    assert list(table(read_kept(keep)))[2:] == [
        "| simple | 2 | 2 | 1 | 1 | 0 | 100% |",
        "| aodv | 3 | 2 | 0 | 0 | 1 | 50% |",
        "| all | 5 | 4 | 1 | 1 | 1 | 75% |",
    ]


def test_what_is_kept_is_not_judged_again(tmp_path: Path) -> None:
    """The command prints the table alone, and names on stderr what nothing has noticed."""
    keep = tmp_path / "kept.jsonl"
    every = [
        Verdict(one.protocol, one.module, one.line, one.method, one.what, True, None) for one in drawn(("simple",), 3)
    ]
    keep.write_text("".join(f"{json.dumps(asdict(one))}\n" for one in every))
    result = CliRunner().invoke(main, ["--each", "3", "--protocol", "simple", "--keep", str(keep)])
    assert (result.exit_code, result.stderr.count("NOT KILLED")) == (0, 3)
    assert result.stdout.splitlines()[-1] == "| all | 3 | 3 | 0 | 0 | 0 | 0% |"
