"""The protocol between the host and a simulator in another process.

`wire.proto` declares the messages, of which `wire_pb2` is made; `conversion` translates them to the classes of the
back-ends' interface and back, and checks everything that a simulator says.
"""
