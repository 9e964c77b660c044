"""What the compiler of protobuf made is what the definitions say now."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from roambus.bridge.wire import wire_pb2
from roambus.extensions.recording import record_pb2


@pytest.mark.parametrize(
    ("module", "made"), [(wire_pb2, wire_pb2.DESCRIPTOR), (record_pb2, record_pb2.DESCRIPTOR)], ids=["wire", "record"]
)
def test_the_generated_module_is_that_of_the_definition(
    module: ModuleType, made: FileDescriptor, tmp_path: Path
) -> None:
    """After a change of either, `make wire` makes them agree."""
    out = tmp_path / "set"
    folder = str(Path(str(module.__file__)).parent)
    compiler = [sys.executable, "-m", "grpc_tools.protoc", "-I", folder, f"--descriptor_set_out={out}", made.name]
    subprocess.run(compiler, check=True)
    (defined,) = FileDescriptorSet.FromString(out.read_bytes()).file
    generated = FileDescriptorProto()
    made.CopyToProto(generated)
    for each in (defined, generated):
        for message in [*each.message_type]:
            for field in message.field:
                field.ClearField("json_name")
    assert generated == defined
