"""The server of a page answers who knows its address, and nobody else; `benchmarks.trials page` tries thousands."""

from pathlib import Path
from random import Random

from benchmarks.trials.page import trials


def test_every_request_with_the_address_is_answered_and_nobody_else_sees_the_page(tmp_path: Path) -> None:
    """While others sit there and say nothing; and nothing is on stderr."""
    *requests, page, server = trials(tmp_path, 200, Random(5), [])
    assert len(requests) == 200
    assert (page.harm, server.harm) == ("page at the end", "all of it")
    assert [one for one in (*requests, page, server) if one.complaints] == []
