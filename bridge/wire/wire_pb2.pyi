from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FromSimulator(_message.Message):
    __slots__ = ("hello", "step", "finished", "failed")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    hello: Hello
    step: Step
    finished: Finished
    failed: Failed
    def __init__(self, hello: _Optional[_Union[Hello, _Mapping]] = ..., step: _Optional[_Union[Step, _Mapping]] = ..., finished: _Optional[_Union[Finished, _Mapping]] = ..., failed: _Optional[_Union[Failed, _Mapping]] = ...) -> None: ...

class ToSimulator(_message.Message):
    __slots__ = ("welcome", "reject", "reply", "goodbye", "failed")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    REJECT_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    GOODBYE_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    welcome: Welcome
    reject: Reject
    reply: Reply
    goodbye: Goodbye
    failed: Failed
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping]] = ..., reject: _Optional[_Union[Reject, _Mapping]] = ..., reply: _Optional[_Union[Reply, _Mapping]] = ..., goodbye: _Optional[_Union[Goodbye, _Mapping]] = ..., failed: _Optional[_Union[Failed, _Mapping]] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("protocol_version", "schema_hash", "token", "simulator", "seed", "time_resolution", "time_limit", "processing_delay", "nodes", "wants_notes", "least_delay", "delay_per_byte", "most_bytes", "header_bytes", "queue", "bits_per_second", "steers")
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_HASH_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    SIMULATOR_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    TIME_RESOLUTION_FIELD_NUMBER: _ClassVar[int]
    TIME_LIMIT_FIELD_NUMBER: _ClassVar[int]
    PROCESSING_DELAY_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    WANTS_NOTES_FIELD_NUMBER: _ClassVar[int]
    LEAST_DELAY_FIELD_NUMBER: _ClassVar[int]
    DELAY_PER_BYTE_FIELD_NUMBER: _ClassVar[int]
    MOST_BYTES_FIELD_NUMBER: _ClassVar[int]
    HEADER_BYTES_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    BITS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    STEERS_FIELD_NUMBER: _ClassVar[int]
    protocol_version: int
    schema_hash: bytes
    token: str
    simulator: str
    seed: int
    time_resolution: int
    time_limit: int
    processing_delay: int
    nodes: _containers.RepeatedCompositeFieldContainer[Node]
    wants_notes: bool
    least_delay: int
    delay_per_byte: int
    most_bytes: int
    header_bytes: int
    queue: int
    bits_per_second: int
    steers: bool
    def __init__(self, protocol_version: _Optional[int] = ..., schema_hash: _Optional[bytes] = ..., token: _Optional[str] = ..., simulator: _Optional[str] = ..., seed: _Optional[int] = ..., time_resolution: _Optional[int] = ..., time_limit: _Optional[int] = ..., processing_delay: _Optional[int] = ..., nodes: _Optional[_Iterable[_Union[Node, _Mapping]]] = ..., wants_notes: _Optional[bool] = ..., least_delay: _Optional[int] = ..., delay_per_byte: _Optional[int] = ..., most_bytes: _Optional[int] = ..., header_bytes: _Optional[int] = ..., queue: _Optional[int] = ..., bits_per_second: _Optional[int] = ..., steers: _Optional[bool] = ...) -> None: ...

class Node(_message.Message):
    __slots__ = ("start", "clock_rate")
    START_FIELD_NUMBER: _ClassVar[int]
    CLOCK_RATE_FIELD_NUMBER: _ClassVar[int]
    start: int
    clock_rate: float
    def __init__(self, start: _Optional[int] = ..., clock_rate: _Optional[float] = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("wake_up", "batching", "lookahead", "moves")
    WAKE_UP_FIELD_NUMBER: _ClassVar[int]
    BATCHING_FIELD_NUMBER: _ClassVar[int]
    LOOKAHEAD_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    wake_up: int
    batching: bool
    lookahead: bool
    moves: bool
    def __init__(self, wake_up: _Optional[int] = ..., batching: _Optional[bool] = ..., lookahead: _Optional[bool] = ..., moves: _Optional[bool] = ...) -> None: ...

class Reject(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class Step(_message.Message):
    __slots__ = ("now", "more", "arrivals", "failures", "quiet", "deaths", "moves")
    NOW_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    ARRIVALS_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    QUIET_FIELD_NUMBER: _ClassVar[int]
    DEATHS_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    now: int
    more: bool
    arrivals: _containers.RepeatedCompositeFieldContainer[Arrival]
    failures: _containers.RepeatedCompositeFieldContainer[Failure]
    quiet: Quiet
    deaths: _containers.RepeatedScalarFieldContainer[int]
    moves: _containers.RepeatedCompositeFieldContainer[Move]
    def __init__(self, now: _Optional[int] = ..., more: _Optional[bool] = ..., arrivals: _Optional[_Iterable[_Union[Arrival, _Mapping]]] = ..., failures: _Optional[_Iterable[_Union[Failure, _Mapping]]] = ..., quiet: _Optional[_Union[Quiet, _Mapping]] = ..., deaths: _Optional[_Iterable[int]] = ..., moves: _Optional[_Iterable[_Union[Move, _Mapping]]] = ...) -> None: ...

class Quiet(_message.Message):
    __slots__ = ("until", "room")
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    ROOM_FIELD_NUMBER: _ClassVar[int]
    until: int
    room: int
    def __init__(self, until: _Optional[int] = ..., room: _Optional[int] = ...) -> None: ...

class Arrival(_message.Message):
    __slots__ = ("time", "sender", "payload", "receivers", "rssi_dbm", "lqi_db")
    TIME_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    RECEIVERS_FIELD_NUMBER: _ClassVar[int]
    RSSI_DBM_FIELD_NUMBER: _ClassVar[int]
    LQI_DB_FIELD_NUMBER: _ClassVar[int]
    time: int
    sender: int
    payload: bytes
    receivers: _containers.RepeatedScalarFieldContainer[int]
    rssi_dbm: _containers.RepeatedScalarFieldContainer[float]
    lqi_db: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, time: _Optional[int] = ..., sender: _Optional[int] = ..., payload: _Optional[bytes] = ..., receivers: _Optional[_Iterable[int]] = ..., rssi_dbm: _Optional[_Iterable[float]] = ..., lqi_db: _Optional[_Iterable[float]] = ...) -> None: ...

class Failure(_message.Message):
    __slots__ = ("time", "node", "destination", "payload", "reason")
    TIME_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    time: int
    node: int
    destination: int
    payload: bytes
    reason: str
    def __init__(self, time: _Optional[int] = ..., node: _Optional[int] = ..., destination: _Optional[int] = ..., payload: _Optional[bytes] = ..., reason: _Optional[str] = ...) -> None: ...

class Reply(_message.Message):
    __slots__ = ("sends", "wake_up", "notes", "courses")
    SENDS_FIELD_NUMBER: _ClassVar[int]
    WAKE_UP_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    COURSES_FIELD_NUMBER: _ClassVar[int]
    sends: _containers.RepeatedCompositeFieldContainer[Send]
    wake_up: int
    notes: _containers.RepeatedCompositeFieldContainer[Note]
    courses: _containers.RepeatedCompositeFieldContainer[Course]
    def __init__(self, sends: _Optional[_Iterable[_Union[Send, _Mapping]]] = ..., wake_up: _Optional[int] = ..., notes: _Optional[_Iterable[_Union[Note, _Mapping]]] = ..., courses: _Optional[_Iterable[_Union[Course, _Mapping]]] = ...) -> None: ...

class Course(_message.Message):
    __slots__ = ("time", "node", "x", "y", "until", "to_x", "to_y")
    TIME_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    TO_X_FIELD_NUMBER: _ClassVar[int]
    TO_Y_FIELD_NUMBER: _ClassVar[int]
    time: int
    node: int
    x: float
    y: float
    until: int
    to_x: float
    to_y: float
    def __init__(self, time: _Optional[int] = ..., node: _Optional[int] = ..., x: _Optional[float] = ..., y: _Optional[float] = ..., until: _Optional[int] = ..., to_x: _Optional[float] = ..., to_y: _Optional[float] = ...) -> None: ...

class Send(_message.Message):
    __slots__ = ("time", "node", "destination", "payload")
    TIME_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    time: int
    node: int
    destination: int
    payload: bytes
    def __init__(self, time: _Optional[int] = ..., node: _Optional[int] = ..., destination: _Optional[int] = ..., payload: _Optional[bytes] = ...) -> None: ...

class Note(_message.Message):
    __slots__ = ("time", "node", "text")
    TIME_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    time: int
    node: int
    text: str
    def __init__(self, time: _Optional[int] = ..., node: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class Finished(_message.Message):
    __slots__ = ("sends", "deliveries", "counts", "energy_mj", "moves")
    SENDS_FIELD_NUMBER: _ClassVar[int]
    DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    ENERGY_MJ_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    sends: int
    deliveries: int
    counts: _containers.RepeatedCompositeFieldContainer[Count]
    energy_mj: _containers.RepeatedScalarFieldContainer[float]
    moves: _containers.RepeatedCompositeFieldContainer[Move]
    def __init__(self, sends: _Optional[int] = ..., deliveries: _Optional[int] = ..., counts: _Optional[_Iterable[_Union[Count, _Mapping]]] = ..., energy_mj: _Optional[_Iterable[float]] = ..., moves: _Optional[_Iterable[_Union[Move, _Mapping]]] = ...) -> None: ...

class Count(_message.Message):
    __slots__ = ("name", "values")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    name: str
    values: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, name: _Optional[str] = ..., values: _Optional[_Iterable[int]] = ...) -> None: ...

class Move(_message.Message):
    __slots__ = ("time", "node", "x", "y")
    TIME_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    time: int
    node: int
    x: float
    y: float
    def __init__(self, time: _Optional[int] = ..., node: _Optional[int] = ..., x: _Optional[float] = ..., y: _Optional[float] = ...) -> None: ...

class Goodbye(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Failed(_message.Message):
    __slots__ = ("reason", "node", "time", "event", "traceback")
    REASON_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    TRACEBACK_FIELD_NUMBER: _ClassVar[int]
    reason: str
    node: int
    time: int
    event: str
    traceback: str
    def __init__(self, reason: _Optional[str] = ..., node: _Optional[int] = ..., time: _Optional[int] = ..., event: _Optional[str] = ..., traceback: _Optional[str] = ...) -> None: ...
