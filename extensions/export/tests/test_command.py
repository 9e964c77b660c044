"""`roambus export`, as it is called."""

from __future__ import annotations

from pathlib import Path

from tests.roambus.conftest import Roambus, folder, roambus  # noqa: F401  # fixtures


def test_a_dissector_is_written_for_results_or_for_agents_that_are_named(folder: Path, roambus: Roambus) -> None:  # noqa: F811  # the fixtures
    """The code of an agent that results alone name is not run: it has to be named."""
    assert roambus("export", "--format", "dissector", "--agents", "mft,mine.py").out == "roambus.lua\n"
    assert all(name in (folder / "roambus.lua").read_text() for name in ("mft", "mine"))
    run = ("run", "field", "--set", "nodes=2", "--set", "time_limit=1", "--backend", "ideal", "--agent")
    for agent in ("beacon", "mine.py"):
        assert roambus(*run, agent, "--out", f"of-{agent}").code == 0
    written = roambus("export", "of-beacon", "--format", "dissector")
    assert (written.code, written.out) == (0, "of-beacon/export/roambus.lua\n")
    refused = roambus("export", "of-mine.py", "--format", "dissector")
    assert (refused.code, "its agent 'mine.py' is not installed" in refused.err) == (1, True)
    assert roambus("export", "of-mine.py", "--format", "dissector", "--agents", "mine.py").code == 0
    assert roambus("export", "--format", "sca").code == 2
