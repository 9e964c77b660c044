"""The wire between simulator and host: the messages that cross the socket.

`wire.proto` says what every field means, and `wire_pb2` is made from it. `conversion` turns these messages into the
classes of the back-ends' interface and back, without any socket.
"""
