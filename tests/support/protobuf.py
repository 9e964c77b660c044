"""Compares a module that protobuf's compiler made with its definition."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet


def check_generated(module: ModuleType, made: FileDescriptor, folder: Path) -> None:
    """Raise AssertionError if the definition beside the module says something else."""
    out = folder / "set"
    place = str(Path(str(module.__file__)).parent)
    compiler = [sys.executable, "-m", "grpc_tools.protoc", "-I", place, f"--descriptor_set_out={out}", made.name]
    subprocess.run(compiler, check=True)
    (defined,) = FileDescriptorSet.FromString(out.read_bytes()).file
    generated = FileDescriptorProto()
    made.CopyToProto(generated)
    for each in (defined, generated):
        for message in [*each.message_type]:
            for field in message.field:
                field.ClearField("json_name")
    assert generated == defined
