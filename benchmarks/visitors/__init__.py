"""Strangers who come to a host's socket: what they say, how they come and go, and the host that they come to."""
