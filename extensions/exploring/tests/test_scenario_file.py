"""Files that say what is to be explored: errors name their line."""

from pathlib import Path

import pytest

from roambus.bridge.system.errors import UserError
from roambus.bridge.transcript.transcript import Overrides
from roambus.extensions.exploring.initial_state import begin
from roambus.extensions.exploring.scenario_file import parse_question, read_question

HEAD = "agent mft\ntree\n  b1/p1\n    b2\nclients s1@b2\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("> s1 subscribes f1", r"q.txt:6: an exploration has no commands"),
        ("must be good", r"q.txt:6: unknown property 'be good'"),
        ("must gone.py:nothing", r"q.txt:6: property 'gone.py:nothing': there is no file .*gone.py"),
        ("order none", r"q.txt:6: 'order none' is none"),
        ("messages late", r"q.txt:6: 'messages late' is none"),
        ("nodes equal", r"q.txt:6: 'nodes equal' is none"),
        ("graphs 9", r"q.txt:6: graphs of '9' nodes: there can be 2 to 6"),
        ("for ever", r"q.txt:6: "),
        ("may s1 freezes", r"q.txt:6: 's1 freezes': freezes cannot be explored"),
        ("may 2 times s1 freezes when quiet", r"q.txt:6: '2 times s1 freezes when quiet': freezes cannot be explored"),
        ("setup\n  s1 freezes", r"q.txt: a node is frozen when the setup is over"),
        ("may fly", r"q.txt:6: 'fly' is not a command"),
        ("may 2 flights", r"q.txt:6: '2 flights' is nothing that may happen"),
        ("may 1 loss when quiet", r"q.txt:6: '1 loss when quiet' can never happen"),
        ("may 1 loss\nmay 2 losses", r"q.txt:7: another line allows losses already"),
        ("may show table", r"q.txt:6: 'show table' cannot be one of the things that may happen"),
        ("may s9 subscribes f1", r"q.txt:6: unknown node 's9'"),
        ("may s1 subscribes within 30 of me", r"q.txt:6: within 30 of me: nodes do not move during exploration"),
        ("may 2 subscriptions to within 30 of me", r"q.txt:6: within 30 of me: nodes do not move during exploration"),
        ("mey s1 subscribes f1", r"q.txt:6: unknown keyword 'mey'"),
    ],
)
def test_the_error_for_a_wrong_line_has_its_number(line: str, message: str) -> None:
    """The numbers are those of the file, although lines are taken out of it."""
    with pytest.raises(UserError, match=message):
        begin(parse_question(Path("q.txt"), f"{HEAD}{line}\nmust no loops\n"), Overrides())


def test_something_must_hold() -> None:
    """Else there is nothing to find out."""
    with pytest.raises(UserError, match=r"nothing must hold; write a line such as: must probes arrive"):
        parse_question(Path("q.txt"), HEAD)


def test_a_property_of_ones_own_is_found_beside_the_file(tmp_path: Path) -> None:
    """A path counts from the folder of the file that names it."""
    (tmp_path / "mine.py").write_text(
        "from roambus.extensions.exploring.properties import View, once_quiet\n\n\n"
        "@once_quiet\ndef nobody_speaks(view: View) -> str | None:\n"
        '    """No notification is ever published."""\n'
        '    return "somebody has spoken" if view.published() else None\n'
    )
    (tmp_path / "q.txt").write_text(f"{HEAD}must mine.py:nobody_speaks\n")
    (found,) = read_question(tmp_path / "q.txt").must
    assert (found.name, found.at_any_time) == ("nobody speaks", False)


def test_a_setup_must_be_over() -> None:
    """What is under way when the exploration begins would not be seen by it."""
    text = f"slot 1ms\n{HEAD}setup\n  s1 subscribes f1\nmust no loops"
    with pytest.raises(
        UserError,
        match="1 messages are under way when the setup is over; let it end with a longer wait, such as: wait 10s",
    ):
        begin(parse_question(Path("q.txt"), text), Overrides())
