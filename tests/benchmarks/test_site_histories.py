"""The count of what goes wrong in random histories of replicated brokers."""

from click.testing import CliRunner

from benchmarks.site_histories import main


def test_nothing_goes_wrong() -> None:
    """Whatever fails, whoever leaves, and however slow the links are."""
    result = CliRunner().invoke(main, ["--runs", "10"])
    assert (result.exit_code, result.output) == (0, "10 histories: nothing wrong\n")


def test_crashes_at_any_instant_are_counted_by_what_they_leave() -> None:
    """Where two brokers are without a copy at once, the paper's site dies, and the judge says so."""
    arguments = ["--runs", "3", "--seed", "4", "--crashes-at-any-instant"]
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, result.output.splitlines()[0]) == (0, "3 histories: nothing wrong")
    of_paper = CliRunner().invoke(main, [*arguments, "--param", "tell_empty=false"])
    assert (of_paper.exit_code, "does not serve" in of_paper.output) == (1, True)
