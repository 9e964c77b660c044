"""The transcripts of tests/scenarios: each runs, and what follows each command is what the file says.

`pytest tests/test_scenarios.py --rewrite` writes what follows into the files; the difference is then for you to read.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.transcript.transcript import Overrides, transcribe
from tests.support.transcripts import difference

SCENARIOS = Path(__file__).parent / "scenarios"


OPTIONS = (
    "caching_deliver_once",
    "caching_drop_by_request",
    "caching_fast_return",
    "caching_find_left",
    "caching_follow_client",
    "caching_spare_kept",
    "first_approach_answer_late",
    "first_approach_break_circles",
    "first_approach_pass_back",
    "first_approach_follow_table",
    "first_approach_filters_again",
    "first_approach_keep_connected",
    "first_approach_sub_redirects",
    "first_approach_tell_late",
    "mft_ask_gaps",
    "mft_correct_old",
    "mft_forget_ways",
    "mft_greet_back",
    "mft_home_decides",
    "mft_replay_always",
    "mft_tell_turns",
    "phoenix_lost",
    "phoenix_outdated",
    "phoenix_overtaken",
    "phoenix_twice",
    "skip_ring_ask_first",
    "skip_ring_check_labels",
    "replicated_follow_delays",
    "skip_ring_doubt_silence",
    "replicated_close_gaps",
    "replicated_renumber",
    "replicated_tell_empty",
    "replicated_tell_empty_two",
)
TWINS = [
    ("figure_1d", "mft_figure_1d"),
    ("figure_1d", "figure_1d_connected_only_off"),
    ("first_approach_phantom", "mft_no_phantom"),
    ("first_approach_there_and_back", "mft_there_and_back"),
    *(("caching_figure_3_both", f"caching_figure_3_{name}") for name in ("reactive", "proactive", "none")),
    *((f"{name}_off", f"{name}_on") for name in OPTIONS),
]
"""Transcripts of the same network and commands, with another agent or parameter."""


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.txt")), ids=lambda path: path.stem)
def test_transcript(path: Path, request: pytest.FixtureRequest) -> None:
    """Message for message, with contents."""
    run = transcribe(path)
    if request.config.getoption("rewrite"):
        path.write_text(run, encoding="utf-8")
    name = f"{path.parent.parent.name}/{path.parent.name}/{path.name}"
    found = difference(name, path.read_text(encoding="utf-8"), run)
    if found:
        pytest.fail(found, pytrace=False)


@pytest.mark.parametrize(("first", "second"), TWINS)
def test_twins_differ_by_their_agent_only(first: str, second: str) -> None:
    """So what differs in their outputs comes from that."""
    texts = [transcribe(SCENARIOS / f"{name}.txt", Overrides(agent="mft")) for name in (first, second)]
    bare, other_bare = ([line for line in text.splitlines() if not line.startswith(("#", "agent"))] for text in texts)
    assert bare == other_bare
