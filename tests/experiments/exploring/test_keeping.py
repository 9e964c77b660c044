"""A search that is kept goes on in another process, to what it would have found without an end."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from roambus.bridge.errors import UserError
from roambus.experiments.exploring.exploration import Report
from roambus.experiments.exploring.parallel import Request, explore_all
from roambus.experiments.exploring.search import Bounds
from tests.experiments.exploring.exploring import AGENTS

MFT = """agent mft
tree
  b1/p1
    b2
    b3
clients s1@b2
may s1 subscribes f1
may p1 publishes e1
may 1 client moves
must no phantoms
must probes arrive
must nothing twice
"""
CLOCKS = f"agent {AGENTS}:Clock\nlinks n1-n2\nmay n1 crashes\nmay n1 recovers\nmust no loops\n"


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    """Asks about MFT-PubSub, and keeps the search."""
    (tmp_path / "question.txt").write_text(MFT)
    return Request(tmp_path / "question.txt", keep=tmp_path / "kept", enough=1)


def explored(request: Request, *, depth: int | None = None, jobs: int = 1) -> Report:
    """What is found up to a depth, or all."""
    (found,) = explore_all(replace(request, bounds=Bounds(depth=depth)), jobs)
    return found


def figures(found: Report) -> dict[str, object]:
    """All but times and memory, which are those of the process."""
    return {
        name: getattr(found, name)
        for name in (
            "states",
            "transitions",
            "depth",
            "quiet_states",
            "node_states",
            "verdicts",
            "wrong",
            "is_complete",
        )
    }


@pytest.mark.parametrize("text", [MFT, MFT.replace("agent mft", "agent mft correct_old=false"), CLOCKS])
def test_a_search_goes_on_where_it_was(request_: Request, text: str) -> None:
    """After each depth anew, and what is found in the end is the same in every figure and transcript."""
    request_.path.write_text(text)
    whole = explored(replace(request_, keep=None))
    for depth in range(1, whole.depth):
        part = explored(request_, depth=depth)
        assert part.ended_by == f"the bound of {depth} steps"
        assert part.states < whole.states
    assert figures(explored(request_)) == figures(whole)
    assert figures(explored(request_)) == figures(whole)


@pytest.mark.slow
def test_several_processes_go_on_too(request_: Request) -> None:
    """As many as before."""
    whole = explored(replace(request_, keep=None))
    assert explored(request_, depth=4, jobs=2).ended_by == "the bound of 4 steps"
    with pytest.raises(UserError, match="this was kept of a search by 2 processes, and not by 1"):
        explored(request_)
    found = explored(request_, jobs=2)
    assert (found.states, found.transitions, found.verdicts) == (whole.states, whole.transitions, whole.verdicts)


def test_what_was_kept_is_one_file(request_: Request) -> None:
    """Each time it replaces that of the time before, and nothing else is left."""
    explored(request_, depth=3)
    explored(request_, depth=6)
    assert len(list((request_.folder("question") or Path()).iterdir())) == 2


@pytest.mark.parametrize(
    "other",
    [
        lambda request: replace(request, parameters={"correct_old": "false"}),
        lambda request: replace(request, reduce=False),
        lambda request: replace(request, agent="phoenix"),
        lambda request: _rewritten(request, MFT.replace("1 client", "2 client")),
    ],
)
def test_another_search_is_refused(request_: Request, other: Callable[[Request], Request]) -> None:
    """By its file, and with what to do."""
    explored(request_, depth=3)
    with pytest.raises(UserError, match=r"search-\d+.0: this was kept of another scenario, or other options; give"):
        explored(other(request_))


def test_comments_and_the_place_of_the_file_may_change(request_: Request, tmp_path: Path) -> None:
    """They say nothing about the search."""
    explored(request_, depth=3)
    (tmp_path / "other").mkdir()
    moved = replace(request_, path=tmp_path / "other" / "question.txt")
    assert explored(_rewritten(moved, f"# a remark\n{MFT}")).is_complete


def _rewritten(request: Request, text: str) -> Request:
    request.path.write_text(text)
    return request


@pytest.mark.parametrize("label", ["agent", "properties", "roambus"])
def test_other_code_is_refused(request_: Request, label: str) -> None:
    """Numbers stand for what this very code does."""
    explored(request_, depth=3)
    path = _file(request_)
    header, _, rest = path.read_bytes().partition(b"\n")
    changed = json.loads(header)
    changed["labels"][label] = "0"
    path.write_bytes(json.dumps(changed).encode() + b"\n" + rest)
    with pytest.raises(UserError, match=r"this was kept of (an agent|properties|another version)"):
        explored(request_)


def _file(request: Request) -> Path:
    (found,) = (request.folder("question") or Path()).glob("search-*")
    return found


@pytest.mark.parametrize("place", range(0, 4000, 131))
def test_a_damaged_file_is_refused_or_harmless(request_: Request, place: int) -> None:
    """Whatever a byte is changed to, nobody gets an error of Python, and no search without end."""
    if not request_.keep or not request_.keep.exists():
        explored(request_, depth=5)
    path = _file(request_)
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 0x55
    path.write_bytes(content)
    with suppress(UserError):
        assert explored(request_, depth=6).depth >= 5


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[1]\n", b"\x80\x04.", b'{"labels": {}, "byteorder": "little"}\n', b"[" * 100_000]
)
def test_what_is_no_search_is_refused(request_: Request, content: bytes) -> None:
    """It is named, and nothing of it is run."""
    explored(request_, depth=3)
    _file(request_).write_bytes(content)
    with pytest.raises(UserError, match=r"(is not a search kept by roambus explore|was kept of)"):
        explored(request_)


def test_a_file_that_claims_to_be_longer_than_it_is_is_refused(request_: Request) -> None:
    """Before memory for it is asked for."""
    explored(request_, depth=3)
    path = _file(request_)
    head, _, rest = path.read_bytes().partition(b"\n")
    header = json.loads(head)
    header["blocks"][0] = 2**60
    path.write_bytes(json.dumps(header).encode() + b"\n" + rest)
    with pytest.raises(UserError, match="is not a search kept by roambus explore"):
        explored(request_)


def test_a_wrong_list_of_files_is_refused(request_: Request) -> None:
    """It is a file like any other."""
    explored(request_, depth=3)
    (_file(request_).parent / "kept.json").write_text('{"kept": "many"}')
    with pytest.raises(UserError, match=r"this does not say what was kept of a search; remove the folder"):
        explored(request_)
