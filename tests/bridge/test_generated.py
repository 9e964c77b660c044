"""What the compiler of protobuf made is what the definitions say now."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from roambus.bridge.record import record_pb2
from roambus.bridge.wire import wire_pb2


@pytest.mark.parametrize(("proto", "module"), [("wire.proto", wire_pb2), ("record.proto", record_pb2)])
def test_the_generated_module_is_that_of_the_definition(proto: str, module: ModuleType, tmp_path: Path) -> None:
    """After a change of either, `make wire` makes them agree."""
    out, folder = tmp_path / "set", Path(module.__file__ or "").parent
    compiler = [sys.executable, "-m", "grpc_tools.protoc", "-I", str(folder), f"--descriptor_set_out={out}", proto]
    subprocess.run(compiler, check=True)
    (defined,) = FileDescriptorSet.FromString(out.read_bytes()).file
    generated = FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(generated)
    for each in (defined, generated):
        for message in [*each.message_type]:
            for field in message.field:
                field.ClearField("json_name")
    assert generated == defined
