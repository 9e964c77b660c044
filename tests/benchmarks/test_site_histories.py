"""The count of what goes wrong in random histories of replicated brokers."""

from click.testing import CliRunner

from benchmarks.site_histories import main


def test_nothing_goes_wrong() -> None:
    """Whatever fails, whoever leaves, and however slow the links are."""
    result = CliRunner().invoke(main, ["--runs", "10"])
    assert (result.exit_code, result.output) == (0, "10 histories: nothing wrong\n")
