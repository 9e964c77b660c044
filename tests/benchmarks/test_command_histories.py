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


def test_numbers_tell_a_broker_off_the_way_of_a_migration_what_came_later() -> None:
    """Without them a broker keeps an entry that nobody wants, and has lost another for ever."""
    for parameter, code in (("number_commands=false", 1), ("number_commands=true", 0)):
        result = CliRunner().invoke(main, ["--runs", "1", "--seed", "389", "--param", parameter])
        assert result.exit_code == code
        assert ("wrong table" in result.output) == bool(code)


def test_what_fails_is_counted_and_fails_the_command() -> None:
    """To the letter the order of what is said at two brokers is lost."""
    result = CliRunner().invoke(main, ["--runs", "40", "--param", "number_migrations=false"])
    assert result.exit_code == 1
    assert "not told" in result.output
