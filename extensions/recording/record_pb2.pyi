from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Header(_message.Message):
    __slots__ = ("roambus_version", "ini", "radio_file_name", "radio_file", "agent", "level", "movements", "agent_hash")
    ROAMBUS_VERSION_FIELD_NUMBER: _ClassVar[int]
    INI_FIELD_NUMBER: _ClassVar[int]
    RADIO_FILE_NAME_FIELD_NUMBER: _ClassVar[int]
    RADIO_FILE_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    MOVEMENTS_FIELD_NUMBER: _ClassVar[int]
    AGENT_HASH_FIELD_NUMBER: _ClassVar[int]
    roambus_version: str
    ini: str
    radio_file_name: str
    radio_file: bytes
    agent: str
    level: str
    movements: _containers.RepeatedCompositeFieldContainer[MovementFile]
    agent_hash: str
    def __init__(self, roambus_version: _Optional[str] = ..., ini: _Optional[str] = ..., radio_file_name: _Optional[str] = ..., radio_file: _Optional[bytes] = ..., agent: _Optional[str] = ..., level: _Optional[str] = ..., movements: _Optional[_Iterable[_Union[MovementFile, _Mapping]]] = ..., agent_hash: _Optional[str] = ...) -> None: ...

class MovementFile(_message.Message):
    __slots__ = ("name", "content")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    name: str
    content: bytes
    def __init__(self, name: _Optional[str] = ..., content: _Optional[bytes] = ...) -> None: ...
