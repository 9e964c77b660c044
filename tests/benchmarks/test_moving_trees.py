"""The count of what goes wrong on random moving trees."""

from click.testing import CliRunner

from benchmarks.moving_trees import main


def test_mft_passes_every_property() -> None:
    """A line a property, none of them failed."""
    result = CliRunner().invoke(main, ["--runs", "20", "--no-faults"])
    assert result.exit_code == 0, result.output
    assert [line.rsplit(": ", 1)[1] for line in result.output.splitlines()[:4]] == ["0 of 20 runs"] * 4


def test_what_fails_is_counted_and_fails_the_command() -> None:
    """The letter of the first approach claims subscribers that have left."""
    options = ["--agent", "first-approach", "--param", "connected_only=false", "--runs", "150", "--seed", "2"]
    result = CliRunner().invoke(main, options)
    assert result.exit_code == 1
    assert "stored for a subscriber within reach: 0" not in result.output
