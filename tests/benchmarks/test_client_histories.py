"""The count of what goes wrong in random histories of caching."""

from click.testing import CliRunner

from benchmarks.client_histories import main


def test_nothing_goes_wrong() -> None:
    """Clients may move faster than their words."""
    result = CliRunner().invoke(main, ["--runs", "10", "--freezes"])
    assert (result.exit_code, result.output) == (0, "10 histories: nothing wrong\n")


def test_what_fails_is_counted_and_fails_the_command() -> None:
    """To the letter a client that moves on loses what was under way to it."""
    result = CliRunner().invoke(main, ["--runs", "40", "--param", "follow_client=false"])
    assert result.exit_code == 1
    assert "lost" in result.output
