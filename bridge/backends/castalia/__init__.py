"""The `castalia` back-end: real Castalia on OMNeT++, over ZeroMQ (docs/bridge.md)."""
