"""The protocol between the host and a simulator in another process.

`wire.proto` generates `wire_pb2`; `conversion` checks a simulator's messages and translates both directions.
"""
