"""What the compiler of protobuf made is what the definition says now."""

from pathlib import Path

from roambus.extensions.recording import record_pb2
from tests.support.protobuf import check_generated


def test_the_generated_module_is_that_of_the_definition(tmp_path: Path) -> None:
    """After a change, `make wire` makes them agree."""
    check_generated(record_pb2, record_pb2.DESCRIPTOR, tmp_path)
