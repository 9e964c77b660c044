"""A search by several processes finds what one process finds, at the same depth, and counts the same."""

import threading
from pathlib import Path
from typing import Any

import pytest

from roambus.bridge.errors import BackendError, RoambusError, UserError
from roambus.experiments.exploring.exploration import Report, explore
from roambus.experiments.exploring.parallel import Request, explore_all, figures, sum_of
from roambus.experiments.exploring.partition import Codes, SharedSearch, digest_of
from roambus.experiments.exploring.scenario_file import parse_question
from roambus.experiments.exploring.search import Bounds
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.vocabulary import Role
from tests.experiments.exploring.exploring import AGENTS
from tests.experiments.exploring.small_agents import Word

STAR = f"agent {AGENTS}:Told\nlinks n1-n2 n1-n3 n1-n4\nmay n1 publishes e1\nmust no loops\n"
WORDS = f"agent {AGENTS}:Told\nlinks n1-n2\nmay 3 times n1 publishes e1\nmust no loops\n"
DICE = f"agent {AGENTS}:Dice\nlinks n1-n2\nmay n1 publishes e1\nmust no loops\n"
TWO_WORDS_IN_ANY_ORDER = f"order any\n{WORDS.replace('3 times', '2 times')}"
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
"""


def explored(folder: Path, text: str, jobs: int, **options: object) -> Report:
    """What so many processes find, which share the states as soon as there are two."""
    path = folder / "question.txt"
    path.write_text(text)
    (found,) = explore_all(Request(path, enough=1, **options), jobs)  # type: ignore[arg-type]
    return found


class Rooms:
    """Connects searches in threads of one process."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.batches: dict[int, list[bytes]] = {}
        self.barrier = threading.Barrier(count)

    def swap(self, index: int, batches: list[bytes]) -> list[bytes]:
        """Waits until all have given theirs, and until all have taken theirs."""
        self.batches[index] = batches
        self.barrier.wait()
        found = [self.batches[one][index] for one in range(self.count)]
        self.barrier.wait()
        return found


class Room:
    """The line of one of them."""

    def __init__(self, rooms: Rooms, index: int) -> None:
        self.rooms, self.index, self.count = rooms, index, rooms.count

    def swap(self, batches: list[bytes]) -> list[bytes]:
        """As `Exchange` says."""
        return self.rooms.swap(self.index, batches)


def shared(text: str, count: int, enough: int = 1) -> list[SharedSearch]:
    """So many searches that share their states as soon as there are enough for each."""
    rooms = Rooms(count)
    question = parse_question(Path("question.txt"), text)
    searches = [explore(question, reduce=False, exchange=Room(rooms, index)).search for index in range(count)]

    def search(one: Any) -> None:
        one.run_alone(Bounds(), lambda: False, enough)
        for depth in range(one.found.depth, 20):
            one.work_off_round(depth, Bounds(), lambda: False)

    threads = [threading.Thread(target=search, args=(one,)) for one in searches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return searches  # type: ignore[return-value]  # with an exchange they are these


@pytest.mark.parametrize(
    ("text", "expected"),
    [(STAR, (9, 13, 4)), (TWO_WORDS_IN_ANY_ORDER, (7, 8, 4)), (WORDS, (10, 12, 6)), (DICE, (5, 4, 2))],
)
@pytest.mark.parametrize("count", [2, 3])
def test_what_is_counted_by_hand_is_counted_by_several(text: str, count: int, expected: tuple[int, int, int]) -> None:
    """States, transitions and depth are those that are worked out in `test_counts`; and each has found some."""
    total = sum_of([figures(one) for one in shared(text, count)])
    assert (total.found.states, total.found.transitions, total.found.depth) == expected
    assert total.depth is None


def test_each_has_its_share() -> None:
    """Of the states of a protocol each process finds a good part, and none is found by both."""
    one, other = shared(MFT, 2)
    alike = one.shared_from[0]
    sizes = [len(search) - alike for search in (one, other)]
    assert min(sizes) > 0.4 * sum(sizes)
    codes = [Codes(search.network) for search in (one, other)]
    digests = [
        {code.write(search.state(place)) for place in range(alike, len(search))}
        for code, search in zip(codes, (one, other), strict=True)
    ]
    assert digests[0].isdisjoint(digests[1])


@pytest.mark.parametrize("parameters", [{}, {"correct_old": "false"}])
def test_several_find_the_same_as_one(tmp_path: Path, parameters: dict[str, str]) -> None:
    """The same states with the same verdicts; or the same that is wrong, on as short a way."""
    alone, together = (
        explored(tmp_path, MFT.replace("1 client", "2 client"), jobs, parameters=parameters) for jobs in (1, 2)
    )
    assert together.verdicts == alone.verdicts
    assert [(one.name, one.steps) for one in together.wrong] == [(one.name, one.steps) for one in alone.wrong]
    if not alone.wrong:
        assert (together.states, together.transitions) == (alone.states, alone.transitions)
        assert (together.quiet_states, together.depth) == (alone.quiet_states, alone.depth)


def test_a_bound_ends_all(tmp_path: Path) -> None:
    """It is told by name, and nothing is proved beyond it."""
    found = explored(tmp_path, MFT, 2, bounds=Bounds(depth=3))
    assert (found.ended_by, found.depth, found.is_complete) == ("the bound of 3 steps", 3, False)
    assert found.verdicts == {
        "no phantoms": "not decided: the search was cut at the bound of 3 steps",
        "probes arrive": "not decided: the search was cut at the bound of 3 steps",
    }


@pytest.mark.slow
def test_what_one_raises_ends_all(tmp_path: Path) -> None:
    """It is told as if there were one process; an error of an agent is a finding."""
    with pytest.raises(RoambusError, match=r"self.numbers is a generator"):
        explored(tmp_path, WORDS.replace("Told", "Reader"), 2)
    (wrong,) = explored(tmp_path, WORDS.replace("Told", "Careless"), 2).wrong
    assert (wrong.name, wrong.steps) == ("agents raise no errors", 4)


def test_what_is_asked_of_all_states_is_asked_by_one(tmp_path: Path) -> None:
    """Circles cannot be seen by a process that knows a part only."""
    with pytest.raises(UserError, match="'eventually quiet' is asked of all states: explore with --jobs 1"):
        explored(tmp_path, WORDS.replace("no loops", "eventually quiet"), 2)


def test_a_process_that_is_gone_is_told(tmp_path: Path) -> None:
    """An agent that ends its process ends the search, and no thread of it is left."""
    before = set(threading.enumerate())
    with pytest.raises(BackendError, match="one of the processes of the search has ended"):
        explored(tmp_path, WORDS.replace("Told", "Deadly"), 2)
    assert set(threading.enumerate()) <= before


def test_digests_tell_values_apart() -> None:
    """Whatever could be taken for each other if only the texts of values were joined."""
    values = [
        *(None, 0, False, 0.0, "", b"", "0", (), ((),), ((), ()), (0,), ("0",), frozenset(), frozenset({0})),
        *("a)", ("a", ")"), ("a", (")",)), Role.BROKER, Role.PUBLISHER, int, str, range(2), len, digest_of),
        *(Notification(NotificationId(1, number), (("topic", 1),)) for number in (1, 2)),
        *(Word(Notification(NotificationId(number, 1), ())) for number in (1, 2)),
    ]
    assert len({digest_of(one) for one in values}) == len(values)


def test_what_only_one_process_knows_has_no_digest() -> None:
    """It says so."""
    with pytest.raises(UserError, match="cannot be told to another process: explore with --jobs 1"):
        digest_of(threading.Lock())
