from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class Header(_message.Message):
    __slots__ = ("roambus_version", "ini", "radio_file_name", "radio_file", "agent", "level")
    ROAMBUS_VERSION_FIELD_NUMBER: _ClassVar[int]
    INI_FIELD_NUMBER: _ClassVar[int]
    RADIO_FILE_NAME_FIELD_NUMBER: _ClassVar[int]
    RADIO_FILE_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    roambus_version: str
    ini: str
    radio_file_name: str
    radio_file: bytes
    agent: str
    level: str
    def __init__(self, roambus_version: _Optional[str] = ..., ini: _Optional[str] = ..., radio_file_name: _Optional[str] = ..., radio_file: _Optional[bytes] = ..., agent: _Optional[str] = ..., level: _Optional[str] = ...) -> None: ...
