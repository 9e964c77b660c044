"""What the compiler of protobuf made is what the definitions say now."""

import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from roambus.bridge.record import record_pb2
from roambus.bridge.wire import wire_pb2

BRIDGE = Path(wire_pb2.__file__).parent


@pytest.mark.parametrize(
    ("proto", "made"), [("wire.proto", wire_pb2.DESCRIPTOR), ("record.proto", record_pb2.DESCRIPTOR)]
)
def test_the_generated_module_is_that_of_the_definition(proto: str, made: FileDescriptor, tmp_path: Path) -> None:
    """After a change of either, `make wire` makes them agree."""
    out = tmp_path / "set"
    compiler = [sys.executable, "-m", "grpc_tools.protoc", "-I", str(BRIDGE), f"--descriptor_set_out={out}", proto]
    subprocess.run(compiler, check=True)
    (defined,) = FileDescriptorSet.FromString(out.read_bytes()).file
    generated = FileDescriptorProto()
    made.CopyToProto(generated)
    for each in (defined, generated):
        for message in [*each.message_type]:
            for field in message.field:
                field.ClearField("json_name")
    assert generated == defined
