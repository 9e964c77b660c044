"""The count of what goes wrong on random moving trees."""

from click.testing import CliRunner

from benchmarks.moving_trees import main


def test_mft_passes_every_property() -> None:
    """A line a property, none of them failed."""
    result = CliRunner().invoke(main, ["--runs", "20", "--no-faults"])
    assert result.exit_code == 0, result.output
    assert [line.rsplit(": ", 1)[1] for line in result.output.splitlines()[:4]] == ["0 of 20 runs"] * 4


def test_mft_passes_every_property_in_bundles() -> None:
    """With the profile for a shared channel, and crashes."""
    result = CliRunner().invoke(main, ["--runs", "5", "--bundles", "--param", "profile=tuned"])
    assert result.exit_code == 0, result.output
    assert [line.rsplit(": ", 1)[1] for line in result.output.splitlines()[:4]] == ["0 of 5 runs"] * 4


def test_what_fails_is_counted_and_fails_the_command() -> None:
    """To the letter the first approach leaves subscribers without what they want."""
    letter = ("connected_only", "sub_redirects", "follow_table", "tell_late")
    options = [text for name in letter for text in ("--param", f"{name}=false")]
    result = CliRunner().invoke(main, ["--agent", "first-approach", *options, "--runs", "300", "--seed", "1"])
    assert result.exit_code == 1
    assert "stored for a subscriber within reach: 0" not in result.output
