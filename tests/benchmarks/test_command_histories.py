"""The count of what goes wrong with commands to clients that are cut off at any moment."""

from click.testing import CliRunner

from benchmarks.command_histories import main


def test_nothing_goes_wrong_with_who_is_back_at_the_same_broker() -> None:
    """What a link has lost, and what was commanded without one, is said in its order."""
    result = CliRunner().invoke(main, ["--agent", "simple", "--runs", "20"])
    assert (result.exit_code, result.output) == (0, "20 histories: nothing wrong\n")


def test_nothing_goes_wrong_with_who_moves() -> None:
    """A word that a migration has overtaken is outdated."""
    result = CliRunner().invoke(main, ["--agent", "phoenix", "--runs", "20", "--seed", "160"])
    assert (result.exit_code, result.output) == (0, "20 histories: nothing wrong\n")


def test_what_fails_is_counted_and_fails_the_command() -> None:
    """To the letter the order of what is said at two brokers is lost."""
    result = CliRunner().invoke(main, ["--runs", "40", "--param", "number_migrations=false"])
    assert result.exit_code == 1
    assert "not told" in result.output
