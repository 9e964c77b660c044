"""The server of a page answers who knows its address, and nobody else; benchmarks/page_strangers.py tries thousands."""

from pathlib import Path

from benchmarks.page_strangers import try_requests


def test_every_request_with_the_address_is_answered_and_nobody_else_sees_the_page(tmp_path: Path) -> None:
    """While others sit there and say nothing; and nothing is on stderr."""
    findings = try_requests(tmp_path, 200, seed=5)
    assert findings.tried.total() == 200
    assert findings.faults == []
